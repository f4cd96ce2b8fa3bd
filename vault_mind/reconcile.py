"""What a candidate does to the vault: it is new, or it says what a memory says already."""

import re
from collections.abc import Iterable

from vault_mind.analysis import query_terms, terms, words
from vault_mind.memory import Memory

# Words that change what a sentence says although a search need not tell them apart.
_CONTRASTS = frozenset(
    """
        no not never none nor neither nothing nobody nowhere without cannot hardly barely rarely seldom before
        after above below over under up down in out on off from to with into against left right more less most
        least all some few many only both either first last was were had did used former formerly once will
        would
    """.split()
)
_NUMBERS = frozenset(
    """
        zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
        million first second third fourth fifth sixth seventh eighth ninth tenth half quarter twice monday
        tuesday wednesday thursday friday saturday sunday january february march april may june july august
        september october november december
    """.split()
)
# Verbs that say the same of a person and a thing; one standing for another is no new fact.
_ALIKE = tuple(
    frozenset(group.split())
    for group in (
        "like love enjoy adore",
        "drink take have",
        "live reside",
        "work employ",
        "call name",
        "own have",
        "need require",
    )
)
# Words that add nothing to a fact.
_FILLERS = frozenset(
    terms(
        """
        really usually generally mostly mainly typically normally often regularly always also still currently now
        just quite much lot kind sort every daily definitely absolutely strongly particularly especially simply
        actually please well
        """
    )
)


def twin(text: str, memories: Iterable[Memory], *, threshold: float, language: str = "english") -> Memory | None:
    """The first of `memories` that says already what `text` says, or None."""
    return next((memory for memory in memories if same(text, memory.body, threshold, language)), None)


def same(new: str, old: str, threshold: float, language: str = "english") -> bool:
    """Whether `new` says no more than `old`: analysed terms that overlap, and no difference that tells.

    The overlap is Jaccard's (shared terms over all terms), at least `threshold`. A number, a name,
    a negation or a word of contrast in only one of them makes them two facts whatever the overlap;
    so does a telling word that only `new` has ("allergic to nuts *and penicillin*", "blue" for "green").
    """
    ours, theirs = set(query_terms(new, language)), set(query_terms(old, language))
    if not ours or not theirs or len(ours & theirs) / len(ours | theirs) < threshold:
        return False
    if _marks(new) != _marks(old) or _names(new, old) or _tenses(new, old, language):
        return False
    added = ours - theirs - _FILLERS
    return not added or any(ours ^ theirs <= group for group in _ALIKE)


def _marks(text: str) -> list[str]:
    """Numbers, negations and words of contrast, in their order: "from 9 to 5" is not "from 5 to 9"."""
    lowered = [word.lower().replace("’", "'") for word in words(text)]
    return [
        "not" if word.endswith(("n't", "cannot")) else word
        for word in lowered
        if any(c.isdigit() for c in word) or word in _CONTRASTS or word in _NUMBERS or word.endswith("n't")
    ]


def _names(new: str, old: str) -> bool:
    """Whether a name stands in one of them only, or the names in another order."""
    ours, theirs = _capitalised(new), _capitalised(old)
    known = {word.casefold() for word in ours + theirs}  # a name in one is a name in the other's first word too
    return [w for w in _plain(new) if w in known] != [w for w in _plain(old) if w in known]


def _capitalised(text: str) -> list[str]:
    found = []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        inner = words(sentence)
        found += [w for i, w in enumerate(inner) if w[:1].isupper() and (i > 0 or w[1:] != w[1:].lower()) and w != "I"]
    return [re.sub(r"['’]s$", "", word) for word in found]


def _plain(text: str) -> list[str]:
    return [re.sub(r"['’]s$", "", word).casefold() for word in words(text)]


def _tenses(new: str, old: str, language: str) -> bool:
    """Whether a verb that both hold is past in one of them only ("lived", "lives")."""
    if language != "english":
        return False
    return any(ours != theirs for stem, ours in _past(new).items() if (theirs := _past(old).get(stem)) is not None)


def _past(text: str) -> dict[str, bool]:
    return {term: word.lower().endswith("ed") for word in words(text) for term in terms(word)[:1]}
