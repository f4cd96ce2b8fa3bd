"""A clause that somebody said of themselves, told in the third person as a sentence of its own. Pure."""

import re
from functools import cached_property
from typing import Any


class SentencePattern:
    """A pattern about sentences, capitals aside and over lines; compiled when it is first used."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, re.IGNORECASE | re.DOTALL | re.MULTILINE)

    def __getattr__(self, name: str) -> Any:
        """What a compiled pattern can do: match, search, sub and the rest."""
        return getattr(self._compiled, name)


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(text.split())


_ADVERBS = word_set(
    """
    really always never usually often also just still now currently generally actually mostly sometimes rarely hardly
    seldom recently once already much only probably mainly typically normally ever even no longer
    """
)
_THIRD = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't"}
_MODALS = word_set(
    """
    can could will would shall should may might must cannot can't won't wouldn't couldn't shouldn't do don't did didn't
    """
)
_PAST = word_set(
    """
    was wasn't had hadn't used ought went got made bought met left grew began took gave said told saw came knew wrote
    lost won sold sent built kept felt found became quit put cut hit let set thought taught brought caught chose drove
    ate fell flew forgot held heard led lent lay paid ran rode sang sat slept spent spoke stood swam wore woke broke
    drank drew learnt understood dreamt bit rang rose shook shone shot shut stole stuck struck swore swept threw tore
    fought bred bled bent blew burnt dealt dug fed forgave froze hid hurt laid meant rid sank smelt spelt spent spilt
    spoilt sprang wept wound withdrew overcame undertook
    """
)
_PRESENT_ALIKE = word_set("put cut hit set let quit shut hurt")  # past or present: a habit is told in the present
_EED = word_set("need feed bleed breed speed exceed proceed succeed")
_ING = word_set("sing ring bring swing fling cling spring sting wring")
_LY = word_set("fly apply rely reply supply comply multiply")
_NO_VERB = word_set(
    "a an the and or but not in at to of on my me mine with for from i i'm i've that as by than too so is are were"
)
# What after "and" is a second verb, or may be a noun just as well.
_VERBS = word_set(
    "am have don't do live hate eat swim go make bake teach sing own wear drive ride speak write read sew"
)
_VERBS_OR_NOUNS = word_set(
    "work study play run love like cook drink dance sail walk use need help paint hike take keep grow wash sleep clean"
)
_FIRST_PERSON = SentencePattern(r"\b(?:i|me|my|mine|myself|we|us|our|ours|you|your)\b")
_OTHERS = word_set("who whom whose she he they her his him")
_FIRST = {"me": "the user", "my": "the user's", "mine": "the user's", "myself": "the user"}
_LATER = {"me": "them", "my": "their", "mine": "theirs", "myself": "themselves"}
_CONTRACTED = {"i": "", "i'm": "is", "i've": "has", "i'd": "would", "i'll": "will"}
_PLURAL = {"is": "are", "has": "have"}
_NAMING = SentencePattern(r"\A(?:my name's|call me|i(?:'m| am) (?:called|named))\b")
_GOT = SentencePattern(r"\bi(?:'ve| have) got (?=(?:an?|the|my|no|some|\w+s|one|two|three|four|five|six|\d+)\b)")
_SHORT_IS = SentencePattern(r"(?<=\w)'s(?= (?:on|in|at|called|named|an?|\d+)\b)")


_MOVED = re.compile(
    r"(?:The user(?:'s [\w' -]+?)?|I)(?:'ve| has| have)?(?: just| recently| finally)? (?:moved|relocated)(?: house)?"
    r"(?: from [A-Z][\w' -]*?)? to (?P<place>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)(?P<rest>.*)"
)
# What people move to without moving house.
_NO_PLACES = word_set(
    """
    linux windows mac macos ubuntu debian fedora arch android iphone ios vim neovim emacs vscode python rust go java
    javascript typescript kotlin swift slack teams discord zoom notion obsidian evernote todoist git github gitlab
    firefox chrome safari brave signal whatsapp telegram postgres mysql sqlite kubernetes docker aws azure gcp google
    microsoft apple spotify netflix monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december react vue svelte django proton gmail outlook claude
    chatgpt
    """
)
_NO_LONGER_SO = re.compile(r"\b(?:\d{4}|and|but|when|until|as|once|before|after|then|where|which)\b")


def moved_home(sentence: str) -> bool:
    """Whether `sentence` says that its subject has moved to a place, not to a tool or a day, as far as can be told."""
    match = _MOVED.match(sentence.replace("’", "'"))
    return bool(match and match["place"].split()[0].lower() not in _NO_PLACES)


def lives_there(sentence: str) -> str:
    """A sentence about a move, with the words by which a home is looked for: "… and lives there."."""
    match = _MOVED.match(sentence)
    if match is None or not moved_home(sentence) or _NO_LONGER_SO.search(match["rest"]) or len(match["rest"]) > 40:
        return sentence
    return f"{sentence.rstrip('.')} and lives there."


def third_person(clause: str) -> str | None:
    """`I take my tea black` as `The user takes their tea black.`, a sentence of its own; None when it is in doubt."""
    plain = " ".join(clause.split()).rstrip(" .!…;:,")
    for short, long in ((_NAMING, "my name is"), (_GOT, "I have "), (_SHORT_IS, " is")):
        plain = short.sub(long, plain)
    telling = _Telling()
    words = plain.split()
    told = [telling.tell(word, following) for word, following in zip(words, [*words[1:], ""], strict=True)]
    text = " ".join(told)
    if telling.doubtful or not text or _FIRST_PERSON.search(text):
        return None
    return f"{text[:1].upper()}{text[1:]}."


class _Telling:
    """A clause on its way into the third person, told word by word."""

    def __init__(self) -> None:
        self.doubtful = False
        self._said: list[str] = []  # the words so far, in small letters
        self._of_user = False  # the clause began with "I"
        self._others = False  # somebody else was spoken of, so that "they" would be in doubt
        self._subject = ""  # whose verb comes next: "the user", "they" or nobody's
        self._verb = ""  # the first of "the user"

    def tell(self, word: str, following: str) -> str:
        """`word`, as it is told before `following`."""
        core = word.strip(",;:()")
        before, after = word[: word.find(core)], word[word.find(core) + len(core) :]
        low = core.lower()
        self._of_user |= not self._said and low in _CONTRACTED
        if low in _CONTRACTED:
            core = self._as_subject(low, following)
        elif low in _FIRST:
            core = (_FIRST if self._by_name() else _LATER)[low]
        elif self._subject and not self._is_adverb(low):
            core = self._first_verb(core)
        elif core in (low, core.upper()) and self._is_second_verb(low, following):
            core = _conjugated(core)
        self._others |= low in _OTHERS
        self._said.append(low + after)
        return before + core + after

    def _by_name(self) -> bool:
        return not self._of_user or self._others

    def _as_subject(self, low: str, following: str) -> str:
        self.doubtful |= not following or bool(self._said and self._said[-1].endswith(":"))
        subject = "the user" if self._by_name() or not self._said else "they"
        self._subject = subject if low == "i" else ""
        self.doubtful |= low == "i'd" and (following.endswith("ed") or following in _PAST | {"better", "been"})
        verb = _CONTRACTED[low]
        return f"{subject} {_PLURAL.get(verb, verb) if subject == 'they' else verb}".strip()

    def _is_adverb(self, low: str) -> bool:
        return low in _ADVERBS or (low.endswith("ly") and low not in _LY)

    def _first_verb(self, verb: str) -> str:
        subject, self._subject = self._subject, ""
        low = verb.lower()
        self.doubtful |= not low[:1].isalpha() or low in _NO_VERB or low.endswith("'s")
        self.doubtful |= low.endswith("ing") and low not in _ING
        if subject == "they":
            return {"am": "are", "was": "were", "wasn't": "weren't"}.get(low, verb)
        self._verb = self._verb or low
        habit = self._said[-1] in ("always", "never", "usually", "often", "sometimes")
        return _conjugated(verb, habit=habit)

    def _is_second_verb(self, low: str, following: str) -> bool:
        joined = self._said and (self._said[-1] in ("and", "but", "or", "then") or self._said[-1].endswith(","))
        if not joined or not self._of_user:
            return False
        if len(self._said) > 1 and self._said[-2] == self._verb and self._said[-1] in ("and", "or"):
            self.doubtful |= self._verb in _MODALS or low in _NO_VERB or self._is_adverb(low)
            return True  # "I cook and clean"
        if low not in _VERBS | _VERBS_OR_NOUNS:
            return False
        sure = low in _VERBS or following.lower() in _NO_VERB
        self.doubtful |= not sure or self._others or "to" in self._said or self._verb in _MODALS
        return True


def _conjugated(verb: str, *, habit: bool = False) -> str:
    """`verb` as it goes with "the user"; what is past or needs no ending stays."""
    low = verb.lower()
    if verb.isupper() and len(verb) > 1 and verb != low:
        return _conjugated(low, habit=habit).upper()
    if low in _THIRD:
        return _THIRD[low]
    past = low in _PAST or (low.endswith("ed") and low not in _EED)
    if low in _MODALS - {"do"} or (past and not (habit and low in _PRESENT_ALIKE)):
        return verb
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
