"""Text and query into terms: the one analysis that ranking, the index and duplicates share."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import Stemmer

from vault_mind.errors import SettingsError
from vault_mind.stopwords import FUNCTION_WORDS

MOST = 256  # terms of a query; somebody who pastes a book asks about its beginning
LONGEST = 64  # characters of a term; what is longer is no word, and both sides are cut alike
UNBROKEN = 1 << 16  # characters without a break that are looked at; a longer chain is nothing that people wrote
REMEMBERED = 1 << 17  # words of a language whose terms are kept at hand
OTHERS = 1 << 13  # of them numbers, compounds, words with a comma and the like
MET = 1 << 12  # words of questions of which it is kept at hand whether they are stopwords
FEW = 16  # terms of what is kept at hand; what has more is a sentence of a script without spaces

STOPWORDS: Mapping[str, frozenset[str]] = {"english": frozenset(FUNCTION_WORDS["english"].split())}

# What people call the languages that Snowball stems: ISO 639 codes and their own names.
_NAMES = """
    arabic ar ara العربية | armenian hy hye arm հայերեն | basque eu eus baq euskara | catalan ca cat català
    | czech cs ces cze čeština česky | danish da dan dansk | dutch nl nld dut nederlands vlaams flemish
    | english en eng | esperanto eo epo | estonian et est eesti | finnish fi fin suomi | french fr fra fre français
    | german de deu ger deutsch | greek el ell gre ελληνικά | hindi hi hin हिन्दी | hungarian hu hun magyar
    | indonesian id ind bahasa | irish ga gle gaeilge | italian it ita italiano | lithuanian lt lit lietuvių
    | nepali ne nep नेपाली | norwegian no nb nn nor nob nno norsk bokmål nynorsk | persian fa fas per farsi فارسی
    | polish pl pol polski | portuguese pt por português | romanian ro ron rum română | russian ru rus русский
    | serbian sr srp српски srpski | sesotho st sot | spanish es spa español castellano castilian
    | swedish sv swe svenska | tamil ta tam தமிழ் | turkish tr tur türkçe | yiddish yi yid ייִדיש
"""
# Languages whose words, or whose stemmer, know no diacritics: one stem serves the word with and without.
_PLAIN = {"english", "porter", "indonesian", "sesotho", "greek", "hindi", "nepali", "tamil"}

# Scripts written without spaces: Thai, Lao, Burmese, Khmer, kana, Han, Hangul (particles join its words).
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and other marks that belong to a letter although Python counts them as no part of a word.
_MARKS = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:(?![{_UNSPACED}])[\w{_MARKS}])"
# Vowels that Hebrew and Arabic are mostly written without; hyphens, joiners and directions that nobody sees.
_UNSEEN = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670"
    "\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
# What is typed for an apostrophe beside the straight and the curly one; a grave accent, which Markdown puts
# around code, only before what it can hardly be anything else before (don`t).
_APOSTROPHE = re.compile(
    r"(?<=[^\W\d_]|[\u0300-\u036f])(?:[´′‘‛՚׳]|`(?=(?:[dmst]|ll|re|ve)(?!\w)))(?=[^\W\d_])", re.IGNORECASE
)
_PLAINER = str.maketrans(dict.fromkeys("ʹʻʼꞌ", "'") | {"‐": "-"})  # letters that are none; the hyphen that is no minus
_JOINED = r"(?:['’._&-]|(?<=\d),(?=\d{3}(?!\d)))"
# No possessive groups here: before Python 3.11.5 they match wrongly (possessive classes do not).
_ASCII_CHUNK = re.compile(rf"(?:(?<!\.)[#.])?\w++(?:{_JOINED}\w++)*[+#]*+", re.ASCII)
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_POSSESSIVE = re.compile(r"['’][sS](?![^\W_])")
_PART = rf"(?:[^\W_]++|[{_MARKS}])+"
_PARTS = re.compile(rf"{_PART}(?:['’]{_PART})*")
_HUMPS = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    r"|(?<=[A-Za-z]{2})(?=\d)|(?<=\d)(?=[A-Za-z]{2})(?!(?:st|nd|rd|th)(?![A-Za-z]))|(?<=(?<![^\W_])[vV])(?=\d)"
)
_JOINTS = re.compile(r"[-_'’&]|(?<!\d)\.|\.(?!\d)")
_NUMBERED = (
    re.compile(r"v?((\d+\.\d+)(?:\.\d+)*)"),
    re.compile(r"([^\W\d_]{2,})\d+$"),
    re.compile(r"(\d+)(?:st|nd|rd|th)$"),
)
# Accents; that of й makes a letter of its own, which endings have.
_ACCENTS = re.compile("(?<!и)\u0306|[\u0300-\u0305\u0307-\u036f\u0653-\u0655]")
# Letters that carry their stroke or ligature inside and so do not come apart under NFKD.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})


def terms(text: str, language: str = "english") -> list[str]:
    """The terms of `text`, in its order, stopwords included; never raises on any text.

    Words are NFKC-normalised, Snowball-stemmed, and case- and diacritic-folded; compounds
    (`max_retry_count`, `BilgePump`, `PMP-204`, `v2.10.1`) give their parts and the whole; scripts
    without spaces give bigrams. Raises SettingsError for a language that Snowball does not know.
    """
    return joined(text, language).split()


def joined(text: str, language: str = "english") -> str:
    """As `terms`, joined by single blanks, which no term holds: how the index is fed."""
    return " ".join(filter(None, map(_table(language).__getitem__, text.split())))


def query_terms(text: str, language: str = "english", also: Sequence[str] = ()) -> list[str]:
    """The distinct terms of a query, stopwords left out unless nothing else is left.

    `also` names the other languages that memories of the vault are in: a word is then given as each
    of them stems it, and the stopwords are those of the language that most of the query's are of.
    """
    return asked_terms(telling(text, language, also), language, also)


def asked_terms(telling: Sequence[str], language: str = "english", also: Sequence[str] = ()) -> list[str]:
    """The distinct terms of the words of a query that `telling` gave."""
    if not also and (found := " ".join(map(_table(language).__getitem__, telling))).isascii():  # as most are
        return list(dict.fromkeys(found.split()))[:MOST]
    spoken = dict.fromkeys((language, *also))
    return list(dict.fromkeys(term for word in telling for one in spoken for term in _asked(word, one)))[:MOST]


def telling(text: str, language: str = "english", also: Sequence[str] = ()) -> Sequence[str]:
    """The words of a query that are not stopwords, as they were written; all where nothing else is left."""
    spoken = dict.fromkeys((language, *also))
    chunks = list(_chunks(text))
    tables = map(_stopword_table, spoken)
    told = min(([chunk for chunk in chunks if not table[chunk]] for table in tables), key=len)
    # What is left may be no term at all: an accent that stands alone.
    return told if any(_asked(chunk, one) for chunk in told for one in spoken) else chunks


def words(text: str) -> list[str]:
    """The words of `text` as they were written, compounds whole, punctuation left out."""
    return [chunk.lstrip("#.") for chunk in _chunks(text)]


def languages() -> list[str]:
    """What Snowball can stem."""
    return [str(name) for name in Stemmer.algorithms()]


def language_named(text: str) -> str | None:
    """Snowball's name of the language that `de`, `de-AT`, `deu`, `German` or `Deutsch` means; None when unknown."""
    known = _named()
    name = folded(text.strip())
    tries = (name, *(re.split("[-_.@]", word)[0] for word in reversed(name.split())))
    return next((known[one] for one in tries if one in known), None)


@lru_cache(maxsize=64)
def stopwords(language: str) -> frozenset[str]:
    """The stopwords of a language, folded as terms are; none for one that has no list."""
    return frozenset(map(folded, FUNCTION_WORDS.get(language, "").split()))


def folded(text: str) -> str:
    """`text` as terms are written: without capitals and diacritics."""
    if text.isascii():
        return text.lower()
    apart = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", apart.replace("’", "'")).translate(_LETTERS)


def unspaced(word: str) -> bool:
    """Whether a word, as `words` gives it, is a run of a script without spaces: no word is of both kinds."""
    return word[0] >= "\u0e00" and bool(_unspaced().match(word))


@lru_cache(maxsize=1)
def _named() -> dict[str, str]:
    rows = [row.split() for row in _NAMES.split("|")]
    return {name: name for name in languages()} | {folded(name): row[0] for row in rows for name in row}


def _chunks(text: str) -> Iterable[str]:
    if text.isascii():
        return _ASCII_CHUNK.findall(_APOSTROPHE.sub("'", text) if "`" in text else text)
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", _APOSTROPHE.sub("'", text)))  # NFKC takes ´ for a blank
    return _any_chunk().findall(plain.translate(_PLAINER))


@lru_cache(maxsize=1)
def _any_chunk() -> re.Pattern[str]:
    """Takes milliseconds to compile, which plain ASCII need not wait for."""
    return re.compile(rf"[{_UNSPACED}]+|(?:(?<!\.)[#.])?{_LETTER}+(?:{_JOINED}{_LETTER}+)*[+#]*+")


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


class _Stopwords(dict[str, bool]):
    """Whether a word is a stopword of one language, looked up when it is first met."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, chunk: str) -> bool:
        found = _looked_up(chunk, self._language)
        if len(chunk) <= LONGEST:
            if len(self) >= MET:
                self.clear()
            self[chunk] = found
        return found


@lru_cache(maxsize=64)
def _stopword_table(language: str) -> _Stopwords:
    return _Stopwords(language)


def _looked_up(chunk: str, language: str) -> bool:
    """Whether it is a stopword, or is made of nothing else by apostrophes (`qu'il`, `c'est`)."""
    known = stopwords(language)
    word = folded(chunk.lstrip("#."))
    if word in known or ("'" in word and all(part in known for part in word.split("'"))):
        return True
    return not word.strip("_")  # which has no terms


class _Table(dict[str, str]):
    """The terms, joined, of what stands between two blanks in one language, worked out when it is first met.

    No chunk reaches over a blank or depends on what stands behind one, and to cut at blanks is ten times as fast.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        self._others: dict[str, str] = {}  # dates, numbers, names of things: many of them are met only once
        _stemmer(language)  # an unknown one is told at once, whatever the text

    def __missing__(self, written: str) -> str:
        word = written.rstrip(".,;:!?)")
        if _is_plain(word):
            found = self.get(word)
            if found is None:
                found = self._keep(word, " ".join(_stemmed(word[:LONGEST], self._language)))
            return found if word == written else self._keep(written, found)
        found = self._others.get(written)
        return self._other(written, word) if found is None else found

    def _other(self, written: str, word: str) -> str:
        chunks = [word] if word.isascii() and word.isalnum() else list(_chunks(written))
        if chunks == [written]:
            return self._keep(written, self._of(written))
        known = [self.get(chunk, self._others.get(chunk)) for chunk in chunks]
        terms = [
            self._keep(chunk, self._of(chunk)) if found is None else found
            for chunk, found in zip(chunks, known, strict=True)
        ]
        return self._keep(written, " ".join(filter(None, terms)))

    def _of(self, chunk: str) -> str:
        return " ".join(filter(None, _chunk_terms(chunk, self._language)))

    def _keep(self, written: str, found: str) -> str:
        if len(written) > LONGEST or (len(found) > LONGEST and found.count(" ") >= FEW):
            return found
        told = written if found == written else found
        if (written[:-1] or written).isalpha():  # a word, perhaps with a comma
            if len(self) >= REMEMBERED:
                self.clear()
            self[written] = told
        else:
            if len(self._others) >= OTHERS:
                self._others.clear()
            self._others[written] = told
        return found


@lru_cache(maxsize=64)
def _table(language: str) -> _Table:
    return _Table(language)


def _is_plain(word: str) -> bool:
    """Whether it is plain letters in the case of a sentence: nine words in ten, which give their stem and no more."""
    return word.isascii() and word.isalpha() and (word.islower() or word.istitle())


def _chunk_terms(chunk: str, language: str) -> Iterable[str]:
    if _is_plain(chunk):
        return _stemmed(chunk[:LONGEST], language)
    chunk = chunk[:UNBROKEN]
    if unspaced(chunk):
        return _run_terms(chunk)
    plain = chunk.lstrip("#.")
    simple = plain.isascii() and plain.isalnum()  # as most names of things are: nothing to take out or to part
    if simple and plain[0].isalpha() and chunk[0] != "." and not _HUMPS.search(plain[: LONGEST + 1]):
        return _stemmed(plain[:LONGEST], language)
    plain = plain if simple else _undressed(plain)
    pieces = [_pieces(part) for part in ([plain] if simple else _PARTS.findall(plain))]
    known = _table(language)  # what a compound is made of is mostly met alone as well
    found: list[str] = []
    for part in chain.from_iterable(pieces):
        found += (known[part],) if _is_plain(part) else _stems(part, language)
    if len(pieces) > 1:  # the `MP3` of `MP3-player`
        found += [stem for parts in pieces if len(parts) > 1 for stem in _stems("".join(parts), language)]
    if sum(map(len, pieces)) > 1 or plain[-1] in "+#" or plain[0].isdigit():
        found += [term for term in _wholes(plain, language) if term not in found]
    if chunk[0] == "." or (chunk[0] == "#" and plain[0].isdigit()):  # `.NET`, `#123`; but #tea is tea
        found.append(chunk[0] + folded(plain)[:LONGEST])
    return found


def _undressed(compound: str) -> str:
    """Without the commas between digits and the possessive endings."""
    if "," in compound:
        compound = _GROUPED.sub("", compound)
    return _POSSESSIVE.sub("", compound) if "'" in compound or "’" in compound else compound


def _run_terms(run: str) -> list[str]:
    """The characters, since Han and Hangul have words of one, and their pairs."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]


def _asked(chunk: str, language: str) -> Iterable[str]:
    """What a query asks of a word: of kana, and of the letters of Thai and its like, nothing but pairs."""
    found = _table(language)[chunk].split()
    if len(chunk) > 1 and unspaced(chunk):
        return [term for term in found if len(term) > 1 or term > "\u30ff"]
    return found


def _pieces(part: str) -> list[str]:
    return [part] if _is_plain(part) or len(part) > LONGEST else _HUMPS.split(part)


def _wholes(compound: str, language: str) -> Iterator[str]:
    """A compound in one word; of `v2.10.1` also `2.10.1` and `2.10`, of `iPhone15` also `iphone`, of `7th` the 7."""
    joined = compound if compound.isalnum() else _JOINTS.sub("", compound)
    whole = folded(joined)[:LONGEST]
    yield from _stems(joined, language) if whole.isalnum() else [whole]
    for pattern in () if whole.isalpha() else _NUMBERED:
        if forms := pattern.match(whole):
            for form in dict.fromkeys(forms.groups()):
                if form != whole:
                    yield from _stemmed(form, language)


def _stems(word: str, language: str) -> Iterator[str]:
    """The stem of what stands behind an apostrophe (`l'amour`, `O'Brien`), and of the word without any."""
    if word.isalnum():
        yield from _stemmed(word[:LONGEST], language)
        return
    head, *tails = word.replace("’", "'").split("'")
    for one in (*(tail for tail in tails if len(tail) > 2), head + "".join(tails)):
        yield from _stemmed(one[:LONGEST], language)


def _stemmed(word: str, language: str) -> Iterable[str]:
    """The stem, folded; where accents tell the stemmer something, also that of the word without them."""
    stem = _stemmer(language).stemWord
    bare = str(stem(folded(word)))
    if language in _PLAIN or word.isascii():
        return (bare,)
    return dict.fromkeys((folded(stem(unicodedata.normalize("NFC", word.casefold()))), bare))


@lru_cache(maxsize=64)
def _stemmer(language: str) -> Stemmer.Stemmer:
    try:
        return Stemmer.Stemmer(language, 0)  # without a cache of its own, which for new words costs more than stemming
    except KeyError as error:
        raise SettingsError("language", f"unknown {language!r}; known: {', '.join(languages())}", "analysis") from error
