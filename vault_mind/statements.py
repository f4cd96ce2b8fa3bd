"""What a person states about themselves, recognised by plain English rules and told in the third person. Pure.

From the outside in: which sentences are the writer's own words about how things are; which clauses of them will still
mean something next year; which kind of memory each is; how it is told. What is doubtful on any floor is dropped.
"""

import re
from dataclasses import dataclass

from vault_mind.third_person import SentencePattern, lives_there, third_person, word_set

LONGEST = 10_000  # characters of a message that are looked at
LONGEST_CLAUSE = 400  # characters; a memory is one sentence


@dataclass(frozen=True)
class Statement:
    """One thing that was stated: the kind of memory it is, a sentence about "the user", the words it rests on."""

    kind: str
    text: str
    quote: str


# --- whose words a sentence is -----------------------------------------------------------------------------------

_FOREIGN = "\0"  # stands for every character of what was quoted or pasted
_PASTED = SentencePattern(
    r"```.*?(?:```|\Z)|^[ \t]*+>[^\n]*|`[^`\n]*`|\"[^\"]*(?:\"|\Z)|[“„«][^”“»]*(?:[”“»]|\Z)"
    r"|(?<!\w)['‘](?=\w)[^\n]{0,300}?'(?!\w)"
)
_SPEAKS = SentencePattern(r"\A(?:```|\s*>)|\b(?:i|me|my|mine|we|our)\b")
_SENTENCE = SentencePattern(r"(?<=[.!?…])[\"')\]]*\s+|\n+")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_NO_END = re.compile(
    r"\b(?:[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|Sr|Jr|vs|e\.g|i\.e|approx)\."
    rf"|\b\d\d?\.(?=\s(?i:{_MONTHS}))|\b[A-Z]\.(?!\s(?:I\b|My\b))"
)
_OPENING = SentencePattern(
    r"(?:(?:hi|hello|hey|well|so|ok|okay|oh|yes|yeah|btw|by the way|fyi|just so you know|for the record|also|and|but|"
    r"about me|(?:please|you can|you may)(?= call me)|you should know(?: that)?|in fact|to be clear)(?: there)?\b"
    r"[,:!.]*+\s++)+"
)
_MARKS = r"\s.!?…;:,"
_CLOSING = SentencePattern(
    rf"(?<![{_MARKS}])[{_MARKS}]++"
    rf"(?:(?:thanks|thank you|btw|by the way|though|(?:so )?please\b.*|(?<=[:;])-?[()])[{_MARKS}]*+)?\Z"
)
_QUESTION = SentencePattern(
    r"(?:who|what|when|where|why|how|which|whose|do|does|did|is|are|am|was|were|can|could|will|would|should|shall|"
    r"have|has|may|if|say|what's|who's|where's|how's)\b"
)
_SUPPOSED = SentencePattern(
    r"\b(?:hypothetically|pretend|imagine|suppose|assum(?:e|ing)|let's|wish|dream|maybe|perhaps|might|as if|what if|"
    r"role-?play|my (?:main )?character|in (?:my|the|a) (?:\w+ )?(?:story|novel|game|book|play|film|poem|song))\b"
)
_REPORTED = SentencePattern(
    r"\b(?:said|says|told|tells)\b|\b(?:writ(?:es?|ing)|wrote|ask(?:s|ed)?|claim(?:s|ed)?|thinks?|thought|guess|replied|"
    r"believe[sd]?|answer(?:s|ed)|heard?|reads)(?: \w+)?(?:[:,]| that\b| (?=i\b|my\b))"
)
# From here on a message is a part to be played or a text to be worked on; "this" is what stands before or after.
_TASK = SentencePattern(
    r"(?:(?:please|now|can you|could you) )*(?:translate|summari[sz]e|rewrite|proofread|paraphrase|rephrase|"
    r"pretend|imagine|suppose|assume|hypothetically|let's (?:say|pretend|imagine|assume)|act as|role-?play|"
    r".*\b(?:which of these|the following|below|these (?:sentences|lines|texts|words)))\b"
)
_TEXT = SentencePattern(r"\b(?:this|that|these|it|above|text)\b")
_HEAD = SentencePattern(r"(?P<head>.*?):(?=\s|\Z)")
_ASKED = SentencePattern(
    r"(?:please |(?P<politely>(?:can|could|will|would) you ))*"
    r"(?:remember|note|don't forget|do not forget|keep in mind|save)"
    r"(?: (?:this|that)\b[:,]*|[:,]| (?=(?:my|i|i'm|the)\b))\s*(?P<what>\S.*)"
)
_ACTUALLY = SentencePattern(r"(?:actually|correction|sorry|no)\b[,:]*\s+(?P<what>\S.*)")
_OF_ONES_OWN = SentencePattern(r"(?:i|i'm|i've|my)\b")
_NEGATION = SentencePattern(r"\b(?:not|no longer|any ?more|instead)\b|n't\b")

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
_HABITS = (
    "own|drive|ride|play|speak|use|run|keep|take|practi[sc]e|collect|sing|wear|read|cook|grow|eat|drink|weigh|inject"
)
_LIVING = (
    "dog|cat|horse|rabbit|parrot|pet|mother|mum|mom|father|dad|sister|brother|wife|husband|partner|son|daughter|friend|"
    "grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew|neighbou?r|teacher|boss"
)
_TURNS = (  # of a life, in the past tense
    r"(?:quit|left|lost) my job\b.*|quit (?:smoking|drinking)\b.*|sold my .+|retired\b.*"
    r"|got (?:married|divorced|engaged)\b.*|(?:gave|given) up (?:smoking|drinking|meat|coffee|alcohol|sugar)\b.*"
    r"|switched (?:from .+ )?to .+|started (?:working|a new job) (?:at|for|as) .+"
    r"|stopped (?:smoking|drinking|eating|playing|driving|wearing)\b.*"
)
_DOES = (
    "is|are|was|were|has|have|lives?|works?|likes?|loves?|hates?|needs?|takes?|plays?|speaks?|died|starts?|prefers?|"
    "teaches|studies|owns?|means|knows?|drinks?|eats?|goes|comes|wants?|drives?|opens|closes|leaves|arrives|moved|"
    "runs at|costs|weighs|hangs|lies|"
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
_WITH_OTHERS = SentencePattern(r"\b(?:you|your|yours|yourself|this|these|here|we|we're|we've|our|ours|us|let's)\b")
_TASK_AS_SUBJECT = SentencePattern(rf"(?:my (?!.*@)(?:{_WHICH})?{_AT_HAND}|the (?:{_WHICH})?{_AT_HAND} (?!for|of|to))")
_OF_THE_TASK = SentencePattern(
    rf"\A{_TASK_AS_SUBJECT.pattern}|\b(?:the|both|all) (?:[\w-]+ )?{_AT_HAND}|\b(?:option|version|line|step) \w+\b"
    rf"|\b(?:have|got|get|getting|writing|building|run|use|read|moved to|come from) (?:{_COUNT} |the )?"
    rf"(?:(?!(?:to|of|for|with|who|that|called|in)\b)[\w.-]+ ){{0,2}}{_AT_HAND}"
)
_OF_THE_HOUR = SentencePattern(
    rf"\b{_PASSING_TIME}|\b(?:have|i've|got|i'm|am|take|come from) {_COUNT} (?:[\w-]+ )?{_PASSING}|\bmy god\b"
    rf"|\b(?:is|are|was) (?:(?:so|very|too|still|already|not) )*{_PASSING_STATE}(?: \w+)?\Z|\bkeep \w+ing\b"
)
_POINTING = SentencePattern(
    rf"\b(?:it|it's|its|those|there)\b|\bthat(?: as\b.*)?\Z|'d (?:like|love|prefer)\b|\bwould like\b|\brather not say\b"
    rf"|\b(?:{_LIKINGS}|use)(?: to)? (?:that|them|how|when|what|know|see|ask)\b"
)
_UNFINISHED = SentencePattern(
    r"(?:\A|[\s,;])(?:a|an|the|my|and|or|but|not|in|at|to|of|with|for|from|as|by|than|that|is|are|am)\Z"
)
_INITIAL = re.compile(r"\b[A-Z]\. ")
_TOGETHER = SentencePattern(rf"(?!i\b)[\w'-]+(?: (?!(?:{_DOES})\b)[\w'-]+){{0,3}} and (?:i\b(?!')|my\b)")
_SUBJECT = rf"(?=(?:i|i'm|i've)\s|my (?:[\w'-]+ ){{1,5}}?(?:{_DOES})\b|my favou?rite\b)"
_CLAUSE = SentencePattern(rf"(?<![\s,;])(?:[,;]|\s++[-–]+)?\s++(?:and|but|while)\s++{_SUBJECT}|[,;]\s++{_SUBJECT}")
_SUBJECT_AND_VERB = SentencePattern(rf"i(?:'\w+)? [\w'].*|(?:[\w'.-]+ ){{1,8}}?(?:{_DOES}) .+")
_NOT_A_NAME = word_set(
    """
    sorry done back ready fine good great ok okay sure happy sad tired lost stuck here home new glad afraid hungry late
    busy sick ill later when if maybe in at on not so very the an from just still also please tomorrow today out off up
    """
)
_NOT = SentencePattern(r"\A(i(?:'m| am)) (?:not|no longer) |\A(i) (?:don't|do not|no longer) ")


def _i(rest: str) -> str:
    often = r"(?:(?:really|very|much|usually|always|generally|mostly|currently|now|still|also|just|only|do) )*"
    return rf"i {often}(?:{rest})"


def _am(rest: str) -> str:
    return rf"i(?:'m| am) (?:(?:very|severely|slightly|also|still|now|currently|originally) )*(?:{rest})"


def _have(rest: str) -> str:
    return rf"i(?:'ve| have)(?: got)? (?:(?:just|recently|always|also) )*(?:{rest})"


# Tried in order on one clause, capitals aside; the first that fits says what kind of memory it is.
_RULES = tuple(
    (kind, SentencePattern(pattern))
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
        ("fact", rf"i(?:'ve| have)? (?:just |recently )?(?:{_TURNS})"),
        ("fact", rf"my (?:[\w'-]+ ){{0,3}}?(?:{_LIVING})(?: [\w'-]+)? (?:died|passed away)(?: .+)?"),
        ("fact", rf"my (?!name\b)(?:[\w'-]+ ){{1,5}}?(?:{_DOES}) .+"),
        ("fact", r"my [\w' -]{1,40}'s (?:on|in|at|called|named|an?|\d+) .+"),
    )
)


def statements(message: str) -> list[Statement]:
    """Everything that a rule recognises in `message`, in its order; questions and quoted speech are passed over."""
    return [statement for sentence in own_sentences(message) for statement in _of_sentence(sentence)]


def own_sentences(message: str) -> list[str]:
    """The sentences in which the writer of `message` speaks as themselves, without the words that only open them."""
    straight = message[:LONGEST].replace("’", "'")
    sentences = _sentences(_PASTED.sub(_hidden, straight))
    if len(message) > LONGEST:
        del sentences[-1:]  # it may go on
    return _own(sentences)


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
    return [Statement(kind, lives_there(text), quote)] if text else []


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
