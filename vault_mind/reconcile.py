"""Whether two sentences say the same: a candidate is new, or a memory says it already."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from vault_mind.analysis import STOPWORDS, query_terms, stopwords, terms, words
from vault_mind.memory import Memory

SURE = 50  # words of a text that are looked at for terms that tell it from others

# Words that begin a new phrase: "works | at Acme | as an engineer" is the same in another order.
_LINKS = frozenset(
    """
    about above across after against along among and around as at because before behind below between but by
    despite down during for from if in inside instead into like near of off on onto or out outside over per since so
    than through till to toward towards under unless until up upon via when where while with within without
    """.split()
)
# Words that change what is said although a search need not tell them apart; both sentences must have the same.
_CONTRASTS = frozenset(
    """
    no not never none nor neither nothing nobody nowhere without hardly barely rarely seldom except
    more less most least all some few many only both either last left right
    was were had did used former formerly once ago future will would should could can might may must
    he him his she her hers we us our
    """.split()
)
_NEGATING = frozenset("no not never none nor neither nothing without hardly rarely seldom used".split())
_NUMBERS = frozenset(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million
    first second third fourth fifth sixth seventh eighth ninth tenth half quarter twice
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december
    """.split()
)
# Words that add nothing to a fact.
_FILLERS = frozenset(
    terms(
        """
        really usually generally mostly mainly typically normally also still currently now just quite much
        definitely absolutely strongly particularly especially simply actually please
        """
    )
)
# Verbs that say the same of a person and a thing; the first stands for all.
_ALIKE = {
    term: terms(group)[0]
    for group in (
        "like love enjoy adore",
        "drink take",
        "live reside",
        "work employ",
        "call name",
        "have own",
        "need require",
    )
    for term in terms(group)
}
_CONTRACTED = (
    ("won't", "will not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("shan't", "shall not"),
    ("n't", " not"),
)


def twin(text: str, memories: Iterable[Memory], *, threshold: float, language: str = "english") -> Memory | None:
    """The first of `memories` that says already what `text` says, or None."""
    return next((memory for memory in memories if same(text, memory.body, threshold, language)), None)


def same(new: str, old: str, threshold: float, language: str = "english") -> bool:
    """Whether `new` says no more than `old`: the same text, or analysed terms that overlap and nothing that differs.

    The overlap is Jaccard's (shared terms over all terms), at least `threshold`. Whatever it is, two
    sentences differ when a number, a name, a negation or a word of contrast is in one only, and when
    `new` has a phrase that `old` has not: another word in it, one more, or the same in another order.
    Of what only `old` has, no more than "and this and that" is passed over. When in doubt they differ:
    better a fact twice than a fact lost.
    """
    new, old = _written_out(new), _written_out(old)
    if _bare(new) == _bare(old):
        return bool(new.strip()) and _marks(new) == _marks(old)
    ours, theirs = set(query_terms(new, language)), set(query_terms(old, language))
    if not ours or not theirs or _overlap(ours, theirs) < threshold:
        return False
    if _marks(new) != _marks(old) or _names(new) != _names(old) or _forms_differ(new, old, language):
        return False
    said, known = _phrases(new, language), _phrases(old, language)
    if _sorted_pair(said) == _sorted_pair(known):
        return True
    several = _names(old).total() + sum(any(c.isdigit() for c in word) for word in words(old)) > 1
    if several or {phrase[0] for phrase in said + known} & {"and", "or", "not", "but"}:
        # What belongs to what is told by the order alone.
        following = iter(known)
        if not all(phrase in following for phrase in said):
            return False
    more = Counter(known)
    more.subtract(said)
    return min(more.values()) >= 0 and all(phrase[0] == "and" for phrase in more.elements())


def covers(whole: str, part: str, language: str = "english") -> bool:
    """Whether `whole` says at least what `part` says, as far as a program can tell.

    It holds every name and number of `part`, as many negations, and most of its telling terms.
    """
    whole, part = _written_out(whole), _written_out(part)
    ours, theirs = telling(whole, language), telling(part, language)
    told = theirs - {"user"}
    if len(told & ours) < 0.6 * len(told) or _marks(part) - _marks(whole) or _names(part) - _names(whole):
        return False
    return all(_marks(whole)[word] == _marks(part)[word] for word in _NEGATING)


def telling(text: str, language: str = "english") -> frozenset[str]:
    """The terms by which sentences are compared: of verbs that say the same the first, without words that add nothing.

    What `same` takes for said already by a sentence has no other terms than that sentence.
    """
    return frozenset({_ALIKE.get(term, term) for term in query_terms(_written_out(text), language)} - _FILLERS)


def unlike(text: str) -> tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]:
    """What must not differ between two sentences that say the same: numbers, negations and the like; names.

    Those of one wording may have their names in other letters.
    """
    text = _written_out(text)
    return frozenset(_marks(text).items()), frozenset(_names(text).items())


def sure_terms(text: str, language: str = "english") -> list[str]:
    """Terms that every sentence holds of which `text` would be a `twin` at the threshold 1; none where that is unsure.

    They are those of its plain words: of no contraction, no word that may be another's, no compound.
    """
    said = words(_written_out(text))
    unsure = stopwords(language) | STOPWORDS["english"] | _CONTRASTS | _LINKS
    found = []
    for word, follower in list(zip(said, [*said[1:], ""], strict=False))[:SURE]:
        plain = word.isascii() and (word.isdigit() or (word.isalpha() and word[1:] == word[1:].lower()))
        if plain and word.lower() not in unsure and follower.casefold() != "not":
            own = terms(word, language)
            found += own if len(own) == 1 and own[0] not in _FILLERS and own[0] not in _ALIKE else []
    return list(dict.fromkeys(found))


def _overlap(ours: set[str], theirs: set[str]) -> float:
    ours, theirs = ({_ALIKE.get(term, term) for term in side} - _FILLERS for side in (ours, theirs))
    return len(ours & theirs) / max(len(ours | theirs), 1)


def _phrases(text: str, language: str) -> list[tuple[str, ...]]:
    """The sentence cut before each linking word, every phrase as its telling terms in their order."""
    stopwords = STOPWORDS.get(language, frozenset())
    phrases: list[list[str]] = []
    for part in re.split(r"[,;:]\s", text):
        phrases.append([])
        for word in words(part):
            low = word.casefold()
            if low in _LINKS or low == "not":
                phrases.append([low])
            elif low not in stopwords:
                phrases[-1] += [_ALIKE.get(term, term) for term in terms(word, language) if term not in _FILLERS]
    return [tuple(phrase) for phrase in phrases if phrase]


def _sorted_pair(phrases: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The phrases with a closing "a and b" in alphabetical order: nothing follows that could belong to one of them."""
    if len(phrases) < 2 or len(phrases[-1]) != 2 or phrases[-1][0] != "and":
        return phrases
    first, second = sorted((phrases[-2][-1], phrases[-1][1]))
    return [*phrases[:-2], (*phrases[-2][:-1], first), ("and", second)]


def _marks(text: str) -> Counter[str]:
    """Numbers, signs, negations and words of contrast; and am, US or IT where they are no little words."""
    marks = Counter(c for c in text if unicodedata.category(c) in ("So", "Sc", "Sm"))
    marks.update(re.findall(r"(?<![\w-])-\d+", text))
    before = ""
    for word in words(text):
        low = word.casefold()
        clock = low in ("am", "pm") and (before in _NUMBERS or before[-1:].isdigit())
        acronym = word.isupper() and not text.isupper() and len(word) > 1 and low in STOPWORDS["english"]
        if any(c.isdigit() for c in word) or low in _CONTRASTS or low in _NUMBERS or clock or acronym:
            marks[word if acronym else low] += 1
        before = low
    return marks


def _names(text: str) -> Counter[str]:
    """Names: words with a capital that do not only begin a sentence; in any case when compared."""
    found: Counter[str] = Counter()
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        for i, word in enumerate(words(sentence)):
            bare = re.sub(r"'s$", "", word)
            if bare[:1].isupper() and bare != "I" and (i > 0 or bare[1:] != bare[1:].lower()):
                found[bare.casefold()] += 1
    return found


def _forms_differ(new: str, old: str, language: str) -> bool:
    """Whether a word that both hold has a form that tells: lived and lives, fish and fishing, Ann and Anne."""
    if language != "english":
        return False
    theirs = _forms(old)
    return any(_tells(word, theirs.get(term, word)) for term, word in _forms(new).items())


def _forms(text: str) -> dict[str, str]:
    """The words by their terms; of "is working" the form of "works"."""
    forms = {}
    before = ""
    for word in words(text):
        low = word.lower().removesuffix("'s")
        plain = low.removesuffix("ing") if before in ("is", "are", "am", "be") else low
        forms.update({_ALIKE.get(term, term): plain for term in terms(word)[:1]})
        before = low
    return forms


def _tells(one: str, other: str) -> bool:
    endings = [next((ending for ending in ("ed", "ing") if word.endswith(ending)), "") for word in (one, other)]
    return endings[0] != endings[1] or one == other + "e" or other == one + "e"


def _written_out(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    for short, whole in _CONTRACTED:
        text = re.sub(rf"{short}\b", whole, text, flags=re.IGNORECASE)
    return text


def _bare(text: str) -> list[str]:
    """The words alone, in any case; of a text without words the text."""
    return [word.casefold() for word in words(text)] or text.split()
