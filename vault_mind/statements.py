"""What a person states about themselves, recognised by plain English rules and told in the third person. Pure."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Statement:
    """One thing that was stated: the kind of memory it is, a sentence about "the user", the words it rests on."""

    kind: str
    text: str
    quote: str


def _i(rest: str) -> str:
    often = r"(?:(?:really|very|much|usually|always|generally|mostly|currently|now|still|also|just|only|do) )*"
    return rf"i {often}(?:{rest})"


def _am(rest: str) -> str:
    return rf"i(?:'m| am) (?:(?:very|severely|slightly|also|still|now|currently|originally) )*(?:{rest})"


def _have(rest: str) -> str:
    return rf"i(?:'ve| have) (?:(?:just|recently|always|also) )*(?:{rest})"


_LIKINGS = "prefer|like|love|enjoy|adore|hate|dislike|detest|loathe|can't stand|cannot stand|can't bear"
_STATES = (
    "vegetarian|vegan|pescatarian|coeliac|celiac|diabetic|teetotal|left-handed|right-handed|colou?r-?blind|married|"
    "divorced|single|widowed|retired|engaged|pregnant|dyslexic"
)
_HABITS = "own|drive|ride|play|speak|use|run|keep|take|practi[sc]e|collect|sing|wear|read|cook|grow"
_FLEETING = "bit|little|lot|mess|fool|tad|sec|huge|big"
_NO_POSSESSION = (
    "question|problem|quick|feeling|moment|look|minute|meeting|bug|error|issue|idea|headache|favou?r|deadline|hunch"
)
_NO_TOPIC = "question|problem|point|guess|bad|issue|code|error|idea|apologies|mistake|turn|god|answer|understanding|own"
_DOES = (
    "is|are|was|were|has|have|lives?|works?|likes?|loves?|hates?|needs?|takes?|plays?|speaks?|died|starts?|prefers?|"
    "teaches|studies|owns?|means|knows?"
)

# Tried in order on one clause, capitals aside; the first that fits says what kind of memory it is.
_RULES = tuple(
    (kind, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for kind, pattern in (
        ("preference", r"i(?:'d| would) rather (?!not say)\S.*"),
        ("preference", _i(rf"(?:{_LIKINGS}) .+")),
        ("preference", _i(r"(?:don't|do not) (?:really )?(?:like|eat|drink|enjoy|want to be called) .+")),
        ("preference", _am(r"(?:a |not a )?(?:big |huge )?(?:fan of|fond of|into) .+")),
        ("preference", r"my (?:\w+ )?favou?rite .+? (?:is|are) .+"),
        ("fact", r"(?:call me|my name(?:'s| is)|i(?:'m| am) (?:called|named)) .+"),
        ("fact", _am(r"(?:\w+ )?(?:allergic|intolerant) .+")),
        ("fact", _have(r"an? (?:\w+ )?(?:allergy|intolerance) .+")),
        ("fact", _am(rf"(?:an? )?(?:strict )?(?:{_STATES})\b.*")),
        ("fact", _am(rf"an? (?!(?:{_FLEETING})\b).+")),
        ("fact", _am(r"(?:from|based in|married to|engaged to|learning|studying|writing an?|building an?) .+")),
        ("fact", _am(r"(?:working|employed) (?:at|for|as|in) .+")),
        ("fact", _am(r"\d+(?: years old)?")),
        ("fact", _am(r"(?-i:[^\W\d_a-z][\w'-]*[a-z][\w'-]*(?: [^\W\d_a-z][\w'-]*)*)")),
        ("fact", _i(r"(?:live|work|study|teach|commute|grew up|was born|come from|moved to|relocated to) .+")),
        ("fact", _have(r"(?:moved to|lived in|worked (?:at|for|as)) .+")),
        ("fact", _i(rf"(?:{_HABITS}) (?!out\b|into\b).+")),
        ("fact", _have(rf"(?:an?|one|two|three|four|five|six|\d+|no) (?!(?:{_NO_POSSESSION})\b).+")),
        ("fact", r"i (?:always|never|usually) .+"),
        ("fact", rf"my (?!(?:{_NO_TOPIC})\b)(?:[\w'-]+ ){{1,5}}?(?:{_DOES}) .+"),
    )
)
# What passes a rule but says nothing that will still mean something next year.
_VAGUE = re.compile(
    rf"\b(?:{_LIKINGS}|use)(?: to)? (?:it|that|this|them|those|these|your|you|how you|when you|what you|know|see|ask|"
    r"the (?:idea|answer|first|second|last|other|way you))\b|\bwould like\b|'d like\b|"
    r"\b(?:right now|at the moment|this morning|this afternoon|this evening|tonight|today)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_CLAUSE = re.compile(
    r"(?:[,;]|\s+[-–]+)?\s+(?:and|but|while)\s+(?=(?:i|i'm|i've|my)\b)|[,;]\s+(?=(?:i|i'm|i've|my)\b)", re.IGNORECASE
)
_QUESTION = re.compile(
    r"(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|will|would|should|shall|"
    r"have|has|may|if|imagine|suppose|say|what's|who's|where's|how's)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:(?:hi|hello|hey|well|so|ok|okay|oh|yes|yeah|btw|by the way|fyi|just so you know|for the record|also|and|but|"
    r"you should know(?: that)?|note that|in fact|to be clear)(?: there)?\b[,:!.]*\s+)+",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:please |can you |could you )*(?:remember|note|don't forget|do not forget|keep in mind|save)"
    r"(?: (?:this|that)\b[:,]*|[:,]| (?=(?:my|i|i'm|the)\b))\s*(?P<what>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_ACTUALLY = re.compile(r"(?:actually|correction|sorry|no)[,:]*\s+(?P<what>\S.*)", re.IGNORECASE | re.DOTALL)
_NEGATION = re.compile(r"\b(?:not|no longer|any ?more|instead)\b|n't\b", re.IGNORECASE)
_OF_ONES_OWN = re.compile(r"(?:i|i'm|i've|my|it's|the|our|we)\b", re.IGNORECASE)
_QUOTED = re.compile('["“][^"”]*["”]')
_NAMING = re.compile(r"(?:my name's|call me|i(?:'m| am) (?:called|named))\b", re.IGNORECASE)

_ADVERBS = frozenset(
    """
    really always never usually often also just still now currently generally actually mostly sometimes rarely
    hardly seldom recently once already much only probably mainly typically normally
    """.split()
)
_THIRD = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't"}
_UNCHANGED = frozenset(
    """
    can could will would shall should may might must cannot can't won't wouldn't couldn't shouldn't was wasn't
    had hadn't did didn't used ought went got made bought met left grew began took gave said told saw came knew
    wrote lost won sold sent built kept felt found became quit put cut hit let set thought taught brought caught
    chose drove ate fell flew forgot held heard led lent lay paid ran rode sang sat slept spent spoke stood swam
    wore woke broke
    """.split()
)
_FIRST = {"me": "the user", "my": "the user's", "mine": "the user's", "myself": "the user"}
_LATER = {"me": "them", "my": "their", "mine": "theirs", "myself": "themselves"}
_CONTRACTED = {"i": "", "i'm": "is", "i've": "has", "i'd": "would", "i'll": "will"}
_PLURAL = {"is": "are", "has": "have"}


def statements(message: str) -> list[Statement]:
    """Everything that a rule recognises in `message`, in its order; questions and quoted speech are passed over."""
    straight = message.replace("’", "'")
    found: list[Statement] = []
    start = 0
    for end, following in [(m.start(), m.end()) for m in _SENTENCE.finditer(straight)] + [(len(straight),) * 2]:
        found += _of_sentence(straight[start:end].strip())
        start = following
    return found


def third_person(clause: str) -> str:
    """`I take my tea black` as `The user takes their tea black.`, a sentence of its own."""
    told: list[str] = []
    named = conjugate = False
    for word in clause.strip().rstrip(".!…;,").split():
        core = word.strip(",;:()")
        before, after = word[: word.find(core)], word[word.find(core) + len(core) :]
        low = core.lower()
        if low in _CONTRACTED:
            core = _subject(low, named=named)
            conjugate, named = low == "i" and not named, True
        elif low in _FIRST:
            core = (_LATER if named else _FIRST)[low]
            named = True
        elif low == "am":
            core = "are"
        if conjugate and low not in _CONTRACTED and low not in _ADVERBS:
            core, conjugate = _conjugated(low if low == "am" else core), False
        told.append(before + core + after)
    text = " ".join(told)
    return f"{text[:1].upper()}{text[1:]}."


def _of_sentence(sentence: str) -> list[Statement]:
    sentence = _begun(sentence)
    if not sentence or sentence.endswith("?"):
        return []
    asked = _ASKED.fullmatch(sentence)
    if asked:
        return [_statement(_kind(asked["what"]) or "fact", asked["what"])]
    if _QUOTED.search(sentence) or _QUESTION.match(sentence):
        return []
    actually = _ACTUALLY.fullmatch(sentence)
    rest = actually["what"] if actually else sentence
    if actually and _NEGATION.search(rest) and _OF_ONES_OWN.match(rest) and not _VAGUE.search(rest):
        return [_statement("correction", rest)]
    clauses = [_begun(clause.strip()) for clause in _CLAUSE.split(rest)]
    kinds = [(_kind(clause), clause) for clause in clauses]
    return [_statement(kind, clause) for kind, clause in kinds if kind and not _VAGUE.search(clause)]


def _kind(clause: str) -> str | None:
    plain = clause.strip().rstrip(".!…")
    return next((kind for kind, rule in _RULES if rule.fullmatch(plain)), None)


def _statement(kind: str, clause: str) -> Statement:
    return Statement(kind, third_person(_NAMING.sub("my name is", clause, count=1)), clause.strip().rstrip(".!…"))


def _begun(sentence: str) -> str:
    """`sentence` without the words that only open it ("Hi, well, ")."""
    opening = _OPENING.match(sentence)
    return sentence[opening.end() :] if opening else sentence


def _subject(low: str, *, named: bool) -> str:
    verb = _CONTRACTED[low]
    if named:
        return f"they {_PLURAL.get(verb, verb)}".strip()
    return f"the user {verb}".strip()


def _conjugated(verb: str) -> str:
    low = verb.lower()
    if low in _THIRD:
        return _THIRD[low]
    if low in _UNCHANGED or low.endswith("ed"):
        return verb
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
