"""Text and query into terms: stems, folds, parts, scripts without spaces, and never an error."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_mind.analysis import LONGEST, STOPWORDS, languages, query_terms, terms, words
from vault_mind.errors import SettingsError

PIECES = (
    "the who's don't don’t O’Brien tea Tea running crème brûlée CAFÉ Straße ﬁne １２３ İstanbul BilgePump "
    "max_retry_count PMP-204 smith-jones C++ C# .NET node.js v1.2.3 3.11 5,000 100% HTTPServer iPhone15 e-mails "
    "U.S.A. 猫 猫が好き 한국어 커피를 ภาษาไทย हिन्दी العَرَبِيَّة שלום ½ №5 ﷺ x\u0301y 😀 … — ’ ' _ __ + # - . "
    "\x00 \x1b[31m \ufeff a’b’c a..b a--b -x- ++"
).split(" ")
ANY_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("run", "running"),
        ("boats", "boat"),
        ("allergies", "allergy"),
        ("cooked", "cooking"),
        ("Ada", "Ada's"),
        ("Ada’s", "Ada"),
        ("PUMP", "pump"),
    ],
)
def test_a_word_is_found_in_its_other_forms(asked: str, written: str) -> None:
    assert query_terms(asked) == terms(written)


def test_terms_stand_in_the_order_of_the_text_as_often_as_there() -> None:
    assert terms("tea, milk; tea!") == ["tea", "milk", "tea"]


def test_words_are_given_as_they_were_written() -> None:
    text = "Mrs Low’s C++ e-mail: max_retry_count (v1.2)!"

    found = words(text)

    assert found == ["Mrs", "Low’s", "C++", "e-mail", "max_retry_count", "v1.2"]


# --- stopwords ------------------------------------------------------------------------------------


def test_the_words_of_a_question_are_left_out_of_the_query() -> None:
    assert query_terms("What is the name of the dog?") == ["name", "dog"]


@pytest.mark.parametrize("question", ["Who's the dog?", "Who’s the dog?", "WHO’S THE DOG?", "wouldn’t the dog"])
def test_contractions_are_stopwords_however_the_apostrophe_is_curled(question: str) -> None:
    assert query_terms(question) == ["dog"]


def test_a_query_of_stopwords_alone_keeps_them() -> None:
    assert query_terms("who are you") == ["who", "are", "you"]


def test_a_query_names_each_term_once() -> None:
    assert query_terms("tea Tea teas TEA") == ["tea"]


def test_a_text_keeps_its_stopwords() -> None:
    assert terms("To be or not to be") == ["to", "be", "or", "not", "to", "be"]


def test_a_compound_is_no_stopword_because_one_of_its_parts_is() -> None:
    assert "checkout" in query_terms("check-out")
    assert query_terms("the-who") == ["the", "who", "thewho"]


def test_stopwords_are_those_of_the_language() -> None:
    assert query_terms("the dog", language="german") != ["dog"]
    assert all(word == word.lower() for word in STOPWORDS["english"])


# --- folding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("cafe", "Café"),
        ("creme brulee", "CRÈME BRÛLÉE"),
        ("strasse", "Straße"),
        ("STRASSE", "straße"),
        ("smorrebrod", "Smørrebrød"),
        ("lodz", "Łódź"),
        ("fine", "ﬁne"),
        ("abc 123", "ＡＢＣ １２３"),
        ("istanbul", "İSTANBUL"),
        ("σοφος", "ΣΟΦΌΣ"),
        ("cafe", "cafe\u0301"),
        ("Hello", "𝓗ello"),
    ],
)
def test_case_accents_and_compatibility_forms_do_not_matter(asked: str, written: str) -> None:
    assert query_terms(asked) == terms(written)


@given(ANY_TEXT)
def test_composed_and_decomposed_text_is_alike(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


@given(st.text("abcdefghij '-.", max_size=40))
def test_capitals_do_not_matter(text: str) -> None:
    assert terms(text.upper()) == terms(text)


# --- compounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compound", "parts", "whole"),
    [
        ("BilgePump", ["bilg", "pump"], "bilgepump"),
        ("openValveSlow", ["open", "valv", "slow"], "openvalveslow"),
        ("HTTPServer", ["http", "server"], "httpserver"),
        ("max_retry_count", ["max", "retri", "count"], "maxretrycount"),
        ("PMP-204", ["pmp", "204"], "pmp204"),
        ("smith-jones", ["smith", "jone"], "smithjon"),
        ("node.js", ["node", "js"], "nodej"),
        ("U.S.A.", ["u", "s", "a"], "usa"),
        ("e-mail", ["e", "mail"], "email"),
        ("3.11", ["3", "11"], "3.11"),
        ("v1.2.3", ["v1", "2", "3"], "v1.2.3"),
    ],
)
def test_a_compound_gives_its_parts_and_the_whole(compound: str, parts: list[str], whole: str) -> None:
    assert terms(compound) == [*parts, whole]


@pytest.mark.parametrize(("asked", "written"), [("email", "e-mail"), ("bilgepump", "BilgePump"), ("wifi", "Wi-Fi")])
def test_a_compound_is_found_by_the_word_in_one(asked: str, written: str) -> None:
    assert set(query_terms(asked)) <= set(terms(written))


# Once: the whole of a compound is not stemmed while a lone word is: "iphone" and "youtube" find neither.
@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("iphone", "iPhone"),
        ("youtube", "YouTube"),
        ("emails", "e-mails"),
        ("openvalveslowly", "openValveSlowly"),
        ("nonsmokers", "non-smokers"),
    ],
)
def test_a_compound_is_found_by_the_word_in_one_in_any_form(asked: str, written: str) -> None:
    assert set(query_terms(asked)) <= set(terms(written))


@pytest.mark.parametrize(("name", "found"), [("C++", "c++"), ("C#", "c#"), ("F#", "f#"), ("g++", "g++")])
def test_the_signs_of_a_language_s_name_belong_to_it(name: str, found: str) -> None:
    assert found in query_terms(name)
    assert found not in terms("C and F and g")


@pytest.mark.parametrize("version", ["3.1", "3.10", "31.0", "310"])
def test_versions_are_told_apart(version: str) -> None:
    others = {"3.1", "3.10", "31.0", "310"} - {version}

    assert version in query_terms(version)
    assert not others & set(terms(version))


@pytest.mark.parametrize("name", ["O'Brien", "O’Brien", "o'brien's", "O’BRIEN’S"])
def test_an_apostrophe_is_one_straight_or_curly(name: str) -> None:
    assert terms(name) == ["o'brien"]


# --- scripts without spaces, and others -----------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("好き", "猫が好き"),
        ("水管", "厨房的水管漏了"),
        ("도서관", "도서관에서"),
        ("กาแฟ", "ผมชอบกาแฟดำ"),
        ("コーヒー", "コーヒーを飲む"),
        ("コーヒー", "ｺｰﾋｰを飲む"),
        ("ケース", "iPhone用ケース"),
        ("wifi", "Wi-Fi用ケース"),
    ],
)
def test_a_word_is_found_inside_a_script_without_spaces(asked: str, written: str) -> None:
    assert set(query_terms(asked)) <= set(terms(written))


def test_a_run_of_such_a_script_is_cut_into_pairs() -> None:
    assert {"猫が", "が好", "好き"} <= set(terms("猫が好き"))
    assert terms("猫") == ["猫"]


# Once (SE-03): a word of one character is a term that no longer text holds, so 猫 finds nothing in 猫が好き.
@pytest.mark.parametrize(("asked", "written"), [("猫", "猫が好き"), ("厨", "厨房的水管漏了"), ("茶", "毎朝お茶を飲む")])
def test_a_word_of_one_character_is_found_inside_a_longer_run(asked: str, written: str) -> None:
    assert set(query_terms(asked)) <= set(terms(written))


@pytest.mark.parametrize("word", ["שלום", "العربية", "москва", "ελλάδα", "հայերեն", "ქართული"])
def test_a_word_of_another_alphabet_is_one_term(word: str) -> None:
    assert len(terms(word)) == 1


# Once: combining vowels (Mc, Mn) are no `\w`, so Indic words fall into bare consonants and two words become one.
@pytest.mark.parametrize(("one", "other"), [("दिन", "दान"), ("कल", "काल"), ("பல", "பால்")])
def test_indic_words_that_differ_in_a_vowel_differ(one: str, other: str) -> None:
    assert terms(one) != terms(other)


# Once: short vowels and niqqud cut an Arabic or Hebrew word into letters, so that it is not found by its bare spelling.
@pytest.mark.parametrize(("asked", "written"), [("العربية", "العَرَبِيَّة"), ("שלום", "שָׁלוֹם")])
def test_vowel_marks_do_not_matter(asked: str, written: str) -> None:
    assert set(query_terms(asked)) <= set(terms(written))


# --- any text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "nothing", ["", " ", "\n\t\r", "?!…—'’", "***", "___", "+ # -", "\x00", "\ud800", "😀", "\u200b"]
)
def test_what_holds_no_word_gives_no_terms(nothing: str) -> None:
    assert terms(nothing) == []
    assert query_terms(nothing) == []
    assert words(nothing) == [] or nothing == "___"


@given(ANY_TEXT)
def test_no_text_raises_and_every_term_is_one_word(text: str) -> None:
    for term in [*terms(text), *query_terms(text)]:
        assert term
        assert term == "".join(term.split())
        assert len(term) <= 2 * LONGEST


@given(ANY_TEXT, st.integers(0, 20), st.integers(0, 20))
def test_what_is_taken_from_a_text_is_found_in_it(text: str, start: int, count: int) -> None:
    query = " ".join(text.split()[start : start + count])

    wanted = query_terms(query)

    assert set(wanted) <= set(terms(text))


@given(ANY_TEXT)
def test_a_query_holds_nothing_that_its_text_does_not(text: str) -> None:
    wanted = query_terms(text)

    assert len(wanted) == len(set(wanted))
    assert set(wanted) <= set(terms(text))
    assert bool(wanted) == bool(terms(text))


@pytest.mark.parametrize(
    ("piece", "size"),
    [("word ", 10_000_000), ("a", 10_000_000), ("猫", 10_000_000), ("tea—", 1_000_000)],
    ids=["words", "one word", "one run", "not ASCII"],
)
def test_megabytes_of_text_are_bounded(piece: str, size: int) -> None:
    text = piece * (size // len(piece))

    found = terms(text)

    assert 1 <= len(found) <= len(text)
    assert max(map(len, found)) <= LONGEST


@pytest.mark.parametrize("piece", ["aB", "a.", "a'", "x-", "+", "_a"])
def test_a_long_chain_of_parts_is_bounded(piece: str) -> None:
    text = piece * 200_000

    assert len(terms(text)) <= len(text)


def test_a_long_word_is_found_by_itself() -> None:
    word = "ab" * 500

    assert query_terms(word) == terms(word)


# --- languages ------------------------------------------------------------------------------------


def test_words_are_stemmed_by_the_language_that_is_set() -> None:
    assert terms("Häuser", language="german") == terms("Haus", language="german")
    assert terms("Häuser") != terms("Haus")


def test_an_unknown_language_is_a_settings_error_that_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"klingon.*english.*german"):
        terms("tea", language="klingon")
    with pytest.raises(SettingsError):
        query_terms("tea", language="English!")


def test_every_language_that_is_named_can_be_used() -> None:
    for language in languages():
        assert terms("Tee und 猫 und C++", language=language)
