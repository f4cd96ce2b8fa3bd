"""What a person states about themselves, recognised by plain English rules and told in the third person. Pure.

From the outside in: which sentences are the writer's own words about how things are; which clauses of them will still
mean something next year; which kind of memory each is; how it is told. What is doubtful on any floor is dropped.
"""

import re
from dataclasses import dataclass

LONGEST = 10_000  # characters of a message that are looked at
LONGEST_CLAUSE = 400  # characters; a memory is one sentence


@dataclass(frozen=True)
class Statement:
    """One thing that was stated: the kind of memory it is, a sentence about "the user", the words it rests on."""

    kind: str
    text: str
    quote: str


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL | re.MULTILINE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- whose words a sentence is -----------------------------------------------------------------------------------

_FOREIGN = "\0"  # stands for every character of what was quoted or pasted
_PASTED = _pattern(
    r"```.*?(?:```|\Z)|^[ \t]*+>[^\n]*|`[^`\n]*`|\"[^\"]*(?:\"|\Z)|[“„«][^”“»]*(?:[”“»]|\Z)"
    r"|(?<!\w)['‘](?=\w)[^\n]{0,300}?'(?!\w)"
)
_SPEAKS = _pattern(r"\A(?:```|\s*>)|\b(?:i|me|my|mine|we|our)\b")
_SENTENCE = _pattern(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_NO_END = re.compile(
    r"\b(?:[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|Sr|Jr|vs|e\.g|i\.e|approx)\."
    rf"|\b\d\d?\.(?=\s(?i:{_MONTHS}))|\b[A-Z]\.(?!\s(?:I\b|My\b))"
)
_OPENING = _pattern(
    r"(?:(?:hi|hello|hey|well|so|ok|okay|oh|yes|yeah|btw|by the way|fyi|just so you know|for the record|also|and|but|"
    r"about me|(?:please|you can|you may)(?= call me)|you should know(?: that)?|in fact|to be clear)(?: there)?\b"
    r"[,:!.]*+\s++)+"
)
_MARKS = r"\s.!?…;:,"
_CLOSING = _pattern(
    rf"(?<![{_MARKS}])[{_MARKS}]++"
    rf"(?:(?:thanks|thank you|btw|by the way|though|(?:so )?please\b.*|(?<=[:;])-?[()])[{_MARKS}]*+)?\Z"
)
_QUESTION = _pattern(
    r"(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|will|would|should|shall|"
    r"have|has|may|if|say|what's|who's|where's|how's)\b"
)
_SUPPOSED = _pattern(
    r"\b(?:hypothetically|pretend|imagine|suppose|assum(?:e|ing)|let's|wish|dream|maybe|perhaps|might|as if|what if|"
    r"role-?play|my (?:main )?character|in (?:my|the|a) (?:\w+ )?(?:story|novel|game|book|play|film|poem|song))\b"
)
_REPORTED = _pattern(
    r"\b(?:said|says|told|tells)\b|\b(?:writ(?:es?|ing)|wrote|ask(?:s|ed)?|claim(?:s|ed)?|thinks?|thought|guess|replied|"
    r"believe[sd]?|answer(?:s|ed)|heard?|reads)(?: \w+)?(?:[:,]| that\b| (?=i\b|my\b))"
)
# From here on a message is a part to be played or a text to be worked on; "this" is what stands before or after.
_TASK = _pattern(
    r"(?:(?:please|now|can you|could you) )*(?:translate|summari[sz]e|rewrite|proofread|paraphrase|rephrase|"
    r"pretend|imagine|suppose|assume|hypothetically|let's (?:say|pretend|imagine|assume)|act as|role-?play|"
    r".*\b(?:which of these|the following|below|these (?:sentences|lines|texts|words)))\b"
)
_TEXT = _pattern(r"\b(?:this|that|these|it|above|text)\b")
_HEAD = _pattern(r"(?P<head>.*?):(?=\s|\Z)")
_ASKED = _pattern(
    r"(?:please |(?P<politely>(?:can|could|will|would) you ))*"
    r"(?:remember|note|don't forget|do not forget|keep in mind|save)"
    r"(?: (?:this|that)\b[:,]*|[:,]| (?=(?:my|i|i'm|the)\b))\s*(?P<what>\S.*)"
)
_ACTUALLY = _pattern(r"(?:actually|correction|sorry|no)\b[,:]*\s+(?P<what>\S.*)")
_OF_ONES_OWN = _pattern(r"(?:i|i'm|i've|my)\b")
_NEGATION = _pattern(r"\b(?:not|no longer|any ?more|instead)\b|n't\b")

# --- what a clause may say ---------------------------------------------------------------------------------------

_LIKINGS = "prefer|like|love|enjoy|adore|hate|dislike|detest|loathe|can't stand|cannot stand|can't bear"
_STATES = (
    "vegetarian|vegan|pescatarian|coeliac|celiac|diabetic|teetotal|left-handed|right-handed|colou?r-?blind|married|"
    "divorced|single|widowed|retired|engaged|pregnant|dyslexic|autistic|epileptic|asthmatic"
)
_ILLNESSES = (
    "asthma|diabetes|epilepsy|adhd|autism|arthritis|dyslexia|eczema|migraines|tinnitus|hay fever|co?eliac disease|"
    "high blood pressure|low blood pressure|type \\d diabetes"
)
_HABITS = "own|drive|ride|play|speak|use|run|keep|take|practi[sc]e|collect|sing|wear|read|cook|grow|eat|drink"
_DOES = (
    "is|are|was|were|has|have|lives?|works?|likes?|loves?|hates?|needs?|takes?|plays?|speaks?|died|starts?|prefers?|"
    "teaches|studies|owns?|means|knows?|drinks?|eats?|goes|comes|wants?|drives?|opens|closes|leaves|arrives|moved|"
    "always|never|can|can't|cannot|will|won't|must|isn't|aren't|wasn't|hasn't|doesn't|don't|didn't"
)
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|no|some|another|more)"
# Nouns of the work at hand and of this very talk; and nouns, states and times that pass.
_AT_HAND = (
    r"(?:code|tests?|builds?|functions?|scripts?|regex(?:es)?|apps?|goals?|inputs?|outputs?|lists?|files?|loops?|bugs?|"
    r"\w*errors?|issues?|problems?|quer(?:y|ies)|lines?|steps?|pages?|emails?|reports?|essays?|paragraphs?|questions?|"
    r"requests?|answers?|messages?|conversations?|repl(?:y|ies)|options?|versions?|suggestions?|ideas?|solutions?|ones?|"
    r"drafts?|examples?|explanations?|points?|tasks?|favou?rs?|guess|turn|mistakes?|apologies|understanding)\b"
)
_PASSING = (
    r"(?:bit|little|lot|mess|fool|tad|sec|feeling|moments?|look|minutes?|hours?|seconds?|time|meetings?|headache|fever|"
    r"deadlines?|hunch|clue|doubt|cold|exams?|train to|bus to|flight|chance|choice|plan|appointment|interview)\b"
)
_PASSING_STATE = (
    r"(?:delayed|charging|dead|cold|due|late|slow|broken|down|sick|ill|full|empty|ready|done|bad|waiting|gone|lost|"
    r"stuck|freezing|crashing)\b"
)
_PASSING_TIME = (
    r"(?:right now|at the moment|today|tonight|tomorrow|yesterday|later|soon|this (?:morning|afternoon|evening|week)|"
    r"next week|the next \w+|in \w+ (?:minutes|hours))\b"
)
_WHICH = r"(?:previous|last|first|second|third|next|new|newest|old|current|latest|main|other|unit|own|\w+er) "
_WITH_OTHERS = _pattern(r"\b(?:you|your|yours|yourself|this|these|here|we|we're|we've|our|ours|us|let's)\b")
_TASK_AS_SUBJECT = _pattern(rf"(?:my (?!.*@)(?:{_WHICH})?{_AT_HAND}|the (?:{_WHICH})?{_AT_HAND} (?!for|of|to))")
_OF_THE_TASK = _pattern(
    rf"\A{_TASK_AS_SUBJECT.pattern}|\b(?:the|both|all) (?:[\w-]+ )?{_AT_HAND}|\b(?:option|version|line|step) \w+\b"
    rf"|\b(?:have|got|get|getting|writing|building|run|use|read|moved to|come from) (?:{_COUNT} |the )?"
    rf"(?:(?!(?:to|of|for|with|who|that|called|in)\b)[\w.-]+ ){{0,2}}{_AT_HAND}"
)
_OF_THE_HOUR = _pattern(
    rf"\b{_PASSING_TIME}|\b(?:have|i've|got|i'm|am|take|come from) {_COUNT} (?:[\w-]+ )?{_PASSING}|\bmy god\b"
    rf"|\b(?:is|are|was) (?:(?:so|very|too|still|already|not) )*{_PASSING_STATE}(?: \w+)?\Z|\bkeep \w+ing\b"
)
_POINTING = _pattern(
    rf"\b(?:it|it's|its|those|there)\b|\bthat(?: as\b.*)?\Z|'d (?:like|love|prefer)\b|\bwould like\b|\brather not say\b"
    rf"|\b(?:{_LIKINGS}|use)(?: to)? (?:that|them|how|when|what|know|see|ask)\b"
)
_UNFINISHED = _pattern(
    r"(?:\A|[\s,;])(?:a|an|the|my|and|or|but|not|in|at|to|of|with|for|from|as|by|than|that|is|are|am)\Z"
)
_INITIAL = re.compile(r"\b[A-Z]\. ")
_TOGETHER = _pattern(rf"(?!i\b)[\w'-]+(?: (?!(?:{_DOES})\b)[\w'-]+){{0,3}} and (?:i\b(?!')|my\b)")
_SUBJECT = rf"(?=(?:i|i'm|i've)\s|my (?:[\w'-]+ ){{1,5}}?(?:{_DOES})\b|my favou?rite\b)"
_CLAUSE = _pattern(rf"(?<![\s,;])(?:[,;]|\s++[-–]+)?+\s++(?:and|but|while)\s++{_SUBJECT}|[,;]\s++{_SUBJECT}")
_SUBJECT_AND_VERB = _pattern(rf"i(?:'\w+)? [\w'].*|(?:[\w'.-]+ ){{1,8}}?(?:{_DOES}) .+")
_NOT_A_NAME = _words(
    """
    sorry done back ready fine good great ok okay sure happy sad tired lost stuck here home new glad afraid hungry late
    busy sick ill later when if maybe in at on not so very the an from just still also please tomorrow today out off up
    """
)
_NOT = _pattern(r"\A(i(?:'m| am)) not |\A(i) (?:don't|do not|no longer) ")


def _i(rest: str) -> str:
    often = r"(?:(?:really|very|much|usually|always|generally|mostly|currently|now|still|also|just|only|do) )*"
    return rf"i {often}(?:{rest})"


def _am(rest: str) -> str:
    return rf"i(?:'m| am) (?:(?:very|severely|slightly|also|still|now|currently|originally) )*(?:{rest})"


def _have(rest: str) -> str:
    return rf"i(?:'ve| have)(?: got)? (?:(?:just|recently|always|also) )*(?:{rest})"


# Tried in order on one clause, capitals aside; the first that fits says what kind of memory it is.
_RULES = tuple(
    (kind, _pattern(pattern))
    for kind, pattern in (
        ("preference", r"i(?:'d| would) rather \S.*"),
        ("preference", _i(rf"(?:{_LIKINGS}) .+")),
        ("preference", _i(r"(?:(?:don't|do not) )?(?:really )?want to be called .+")),
        ("preference", _i(r"(?:don't|do not|no longer) (?:really )?(?:like|eat|drink|enjoy) .+")),
        ("preference", _am(r"(?:not )?(?:a )?(?:big |huge )?(?:fan of|fond of|into) .+")),
        ("preference", r"my (?:\w+ )?favou?rite .*?(?:is|are) .+"),
        ("fact", r"my name(?:'s| is) (?!not\b).+"),
        ("fact", r"call me (?P<name>.+)"),
        ("fact", _am(r"(?:called|named) .+")),
        ("fact", _am(r"(?:\w+ )?(?:allergic|intolerant) to .+|\w+[ -]intolerant")),
        ("fact", _have(rf"an? (?:\w+ )?(?:allergy|intolerance)\b.*|(?:{_ILLNESSES})")),
        ("fact", r"i (?:can't|cannot|can not) (?:eat|drink|tolerate|digest) .+"),
        ("fact", _am(rf"(?:an? )?(?:strict )?(?:{_STATES})\b.*")),
        ("fact", _am(rf"an? (?!{_PASSING}).+")),
        ("fact", _am(r"(?:from|based in|married to|engaged to|learning|studying|writing an?|building an?) .+")),
        ("fact", _am(r"(?:working|employed) (?:at|for|as) .+")),
        ("fact", _am(r"\d+(?: years old)?(?:, not \d+)?")),
        ("fact", _am(r"(?P<name>[^,]+?)(?:,? (?:an?|from) .+)?")),
        ("fact", _i(r"(?:live|work|study|teach|commute|grew up|was born|come from|moved to|relocated to) .+")),
        ("fact", _have(rf"(?:moved to|lived in|worked (?:at|for|as)) .+|been (?:{_STATES})\b.*")),
        ("fact", _i(r"used to (?:live|work|study|teach|play|smoke|own|be) .+")),
        ("fact", _i(rf"(?:{_HABITS}) (?!out\b|into\b|up\b).+")),
        ("fact", _have(rf"{_COUNT} .+")),
        ("fact", r"i (?:always|never|usually) .+"),
        ("fact", rf"my (?!name\b)(?:[\w'-]+ ){{1,5}}?(?:{_DOES}) .+"),
        ("fact", r"my [\w' -]{1,40}'s (?:on|in|at|called|named|an?|\d+) .+"),
    )
)


def statements(message: str) -> list[Statement]:
    """Everything that a rule recognises in `message`, in its order; questions and quoted speech are passed over."""
    straight = message[:LONGEST].replace("’", "'")
    sentences = _sentences(_PASTED.sub(_hidden, straight))
    if len(message) > LONGEST:
        del sentences[-1:]  # it may go on
    return [statement for sentence in _own(sentences) for statement in _of_sentence(sentence)]


def _hidden(pasted: re.Match[str]) -> str:
    return _FOREIGN * len(pasted[0]) if _SPEAKS.search(pasted[0]) else pasted[0]


def _sentences(text: str) -> list[str]:
    within = {stop.end() for stop in _NO_END.finditer(text)}
    ends = [end for end in _SENTENCE.finditer(text) if end.start() not in within]
    starts = [0, *(end.end() for end in ends)]
    stops = [*(end.start() for end in ends), len(text)]
    return [text[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]


def _own(sentences: list[str]) -> list[str]:
    """Those of `sentences` in which the writer speaks as themselves: none from where a task brings a text or a part."""
    own: list[str] = []
    for sentence in map(_begun, sentences):
        task, brings = _TASK.match(sentence), _brings_a_text(sentence)
        if task and not brings and _TEXT.search(sentence):
            return []  # the text to be worked on may stand before
        if task or brings:
            return own
        if sentence and _FOREIGN not in sentence:
            own.append(sentence)
    return own


def _brings_a_text(sentence: str) -> bool:
    """Whether a colon stands in it after anything but a statement ("My friend told me: …")."""
    opened = _ASKED.match(sentence) or _ACTUALLY.match(sentence)
    head = _HEAD.match(opened["what"] if opened else sentence)
    return head is not None and not _lasting(_plain(head["head"]))


def _of_sentence(sentence: str) -> list[Statement]:
    asked, question = _ASKED.fullmatch(sentence), _is_question(sentence)
    if asked and (asked["politely"] or not question):
        return _asked(_begun(asked["what"]))
    plain = " ".join(sentence.split())
    if asked or question or _SUPPOSED.search(plain) or _REPORTED.search(plain) or _TOGETHER.match(plain):
        return []
    actually = _ACTUALLY.fullmatch(sentence)
    rest = actually["what"] if actually else sentence
    if actually and _OF_ONES_OWN.match(rest) and _NEGATION.search(rest) and _lasting(_plain(rest)):
        return _statement("correction", rest)
    clauses = map(_begun, _CLAUSE.split(rest))
    return [statement for clause in clauses for statement in _statement(_lasting(_plain(clause)), clause)]


def _asked(what: str) -> list[Statement]:
    """What was asked to be remembered: more may be, if only it is a whole clause that speaks of the world."""
    plain = _plain(what)
    if _WITH_OTHERS.search(plain) or _TASK_AS_SUBJECT.match(plain) or _TOGETHER.match(plain):
        return []
    kind = _kind(plain) or ("fact" if _SUBJECT_AND_VERB.fullmatch(plain) else None)
    return _statement(kind, what)


def _statement(kind: str | None, clause: str) -> list[Statement]:
    quote = _CLOSING.sub("", clause)
    if kind is None or len(quote) > LONGEST_CLAUSE or _UNFINISHED.search(quote) or _INITIAL.search(quote):
        return []
    text = third_person(quote)
    return [Statement(kind, text, quote)] if text else []


def _lasting(plain: str) -> str | None:
    """The kind of a clause that speaks of its writer, and not of this talk, the work at hand or the hour."""
    passing = (_WITH_OTHERS, _OF_THE_TASK, _OF_THE_HOUR, _POINTING)
    return None if any(pattern.search(plain) for pattern in passing) else _kind(plain)


def _kind(plain: str) -> str | None:
    if len(plain) > LONGEST_CLAUSE:
        return None
    for said in (plain, _NOT.sub(r"\1\2 ", plain)):
        for kind, rule in _RULES:
            fits = rule.fullmatch(said)
            if fits and ("name" not in rule.groupindex or _is_name(fits["name"])):
                return kind
    return None


def _is_question(sentence: str) -> bool:
    ending = sentence[len(sentence.rstrip(" \n.!?？…\"')]")) :]
    return "?" in ending or "？" in ending or bool(_QUESTION.match(sentence))


def _is_name(words: str) -> bool:
    names = words.replace("Dr. ", "").split()
    like_names = all(name[0].isupper() and not name.isupper() and re.fullmatch(r"[\w'-]+", name) for name in names)
    return like_names and len(names) <= 4 and names[0].lower() not in _NOT_A_NAME


def _begun(sentence: str) -> str:
    """`sentence` without the words that only open it ("Hi, well, ")."""
    opening = _OPENING.match(sentence)
    return sentence[opening.end() :] if opening else sentence


def _plain(clause: str) -> str:
    """`clause` with single blanks, without its last marks and the words that only close it (", thanks!")."""
    return " ".join(_CLOSING.sub("", clause).split())


# --- how it is told ----------------------------------------------------------------------------------------------

_ADVERBS = _words(
    """
    really always never usually often also just still now currently generally actually mostly sometimes rarely hardly
    seldom recently once already much only probably mainly typically normally ever even no longer
    """
)
_THIRD = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't"}
_MODALS = _words(
    """
    can could will would shall should may might must cannot can't won't wouldn't couldn't shouldn't do don't did didn't
    """
)
_PAST = _words(
    """
    was wasn't had hadn't used ought went got made bought met left grew began took gave said told saw came knew wrote
    lost won sold sent built kept felt found became quit put cut hit let set thought taught brought caught chose drove
    ate fell flew forgot held heard led lent lay paid ran rode sang sat slept spent spoke stood swam wore woke broke
    drank drew learnt understood dreamt bit rang rose shook shone shot shut stole stuck struck swore swept threw tore
    fought bred bled bent blew burnt dealt dug fed forgave froze hid hurt laid meant rid sank smelt spelt spent spilt
    spoilt sprang wept wound withdrew overcame undertook
    """
)
_PRESENT_ALIKE = _words("put cut hit set let quit shut hurt")  # past or present: a habit is told in the present
_EED = _words("need feed bleed breed speed exceed proceed succeed")
_ING = _words("sing ring bring swing fling cling spring sting wring")
_LY = _words("fly apply rely reply supply comply multiply")
_NO_VERB = _words(
    "a an the and or but not in at to of on my me mine with for from i i'm i've that as by than too so is are were"
)
# What after "and" is a second verb, or may be a noun just as well.
_VERBS = _words("am have don't do live hate eat swim go make bake teach sing own wear drive ride speak write read sew")
_VERBS_OR_NOUNS = _words(
    "work study play run love like cook drink dance sail walk use need help paint hike take keep grow wash sleep clean"
)
_FIRST_PERSON = _pattern(r"\b(?:i|me|my|mine|myself|we|us|our|ours|you|your)\b")
_OTHERS = _words("who whom whose she he they her his him")
_FIRST = {"me": "the user", "my": "the user's", "mine": "the user's", "myself": "the user"}
_LATER = {"me": "them", "my": "their", "mine": "theirs", "myself": "themselves"}
_CONTRACTED = {"i": "", "i'm": "is", "i've": "has", "i'd": "would", "i'll": "will"}
_PLURAL = {"is": "are", "has": "have"}
_NAMING = _pattern(r"\A(?:my name's|call me|i(?:'m| am) (?:called|named))\b")
_GOT = _pattern(r"\bi(?:'ve| have) got (?=(?:an?|the|my|no|some|\w+s|one|two|three|four|five|six|\d+)\b)")
_SHORT_IS = _pattern(r"(?<=\w)'s(?= (?:on|in|at|called|named|an?|\d+)\b)")


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
