"""A text as clauses: what each tells, word by word, and whether it denies, asks, supposes or reports. Pure.

Two words are compared by their stems, by how they begin, and by a short list of words that mean the same.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise

from vault_mind import wording
from vault_mind.analysis import STOPWORDS, stopwords, terms, words
from vault_mind.reckoning import BESIDE_UNIT, Number, number
from vault_mind.stopwords import FUNCTION_WORDS
from vault_mind.third_person import SentencePattern, word_set

MOST_PLACES = 20  # of one quote in a message that are looked at
LEAST, SHARE = 5, 0.75  # letters that two forms of a word begin with, and how much of the shorter that is

_SENTENCE = SentencePattern(r"(?<=[.!?…])[\"')\]]*\s+|\n+|(?<=[。！？])")
_NO_END = re.compile(
    r"\b(?:[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|[Ss]r|[Jj]r|vs|e\.g|i\.e|approx|No)\.|\b\d\d?\.(?=\s\w)|\b[A-Z]\."
)
_VERBS = (
    r"(?:i|i'm|i've|i'd|i'll|my|he|she|it|we|they|you|is|am|are|was|were|have|has|had|do|does|did|can|could|will"
    r"|would|not"
    r"|no|never|don't|doesn't|didn't|can't|won't|isn't|aren't|wasn't|hasn't|haven't|ich|mein\w*|er|sie|wir|our"
    r"|his|her|nicht|kein\w*"
    r"|yo|mi|no|je|mon|ma|ne)"
)
_CLAUSE = SentencePattern(
    rf"\s*[,;:()。、—–]+\s*|\s+-+\s+|\s+(?:but|while|although|though|whereas|aber|sondern|pero|sino|mais|ma|maar|men)\s+"
    rf"|\s+(?:and|or|so|because|und|oder|weil|y|porque|et|e|en|och|og)\s+(?={_VERBS}\b)"
)
_QUESTION = SentencePattern(
    r"\A\W*(?:(?:and|but|so|or|then|well|hey|hi|hello|ok|okay|please|und|y|et)\b[, ]*)*"
    r"(?:who|whom|whose|what|when|where|why|how|which|do|does|did|is|are|am|was|were|can|could|will|would|should|shall"
    r"|have|has|had|may|might|don't|doesn't|didn't|isn't|aren't|won't|what's|who's|where's|how's|when's|any|shouldn't"
    r"|wer|wen|wem|was|wann|wo|wohin|woher|wie|warum|welche\w*|ist|sind|bin|hast|habe|hat|kann|kannst|soll|darf|weißt"
    r"|qué|quién|cuándo|dónde|cómo|cuál|puedes|qui|que|quoi|quand|où|comment|pourquoi|est-ce|quel\w*|peux|chi"
    r"|cosa|dove)\b"
)
_ASKING = SentencePattern(
    r"\A\W*(?:(?:do|does|did|is|are|am|was|were|can|could|will|would|should|have|has)"
    r"\s+(?:i|you|he|she|it|we|they|my|your|our|the|there|this|that|anyone|somebody)\b"
    r"|(?:what|where|who|which|how|why|when)(?:'s| is| are| was| were| do| does| did| can| should| would| will)\b"
    r"|(?:what|which|how)\s+(?:\w+\s+){1,2}(?:do|does|did|is|are|was|were|can|should)\b|¿)"
)
_POLITE = SentencePattern(
    r"(?:can|could|will|would) you (?:please )?(?:also )?(?:remember|note|keep in mind|save|store|write down)(?: down)?"
    r"(?: (?:this|that))?[:,]?\s+"
)
_SUPPOSING = SentencePattern(
    r"\A\W*(?:(?:ok|okay|so|well|now|please)[, ]+)*(?:suppose|supposing|imagine|let's (?:say|pretend|imagine"
    r"|assume)|say i\b"
    r"|pretend|hypothetically|assum(?:e|ing)|what if"
    r"|if (?:i|we|my \w+)\b[^,]*, *(?:then )?(?:i|we|my \w+)(?:'d| would)\b"
    r"|if (?:i|my \w+|we|only)\b[^,]*\b(?:were|was|had|could|would)\b"
    r"|if only|had i\b|were i\b|role-?play|act as|stell dir vor|angenommen|nehmen wir an|wenn ich [^,]*(?:wäre|hätte)"
    r"|si yo |si je |imagina|supón|imagin\w*|もし)|\bin (?:my|the|a|this) (?:\w+ )?(?:novel|story|game|play|film"
    r"|movie|dream|poem|song)\b"
    r"|\b(?:my|the) (?:main )?character\b|\bonce upon a time\b|\bhypothetical(?:ly)?\b"
)
_PERHAPS = SentencePattern(
    r"\b(?:might|maybe|perhaps|i wish|i'd wish|as if|as though|if i (?:were|was|had|could)|vielleicht|quizás|tal"
    r" vez|peut-être"
    r"|forse|misschien|ich wünschte|ojalá|would have been|could have been|i dream(?:t|ed)? (?:of|that))\b"
)
CONDITION = SentencePattern(r"\A\W*(?:if|unless|in case|falls|wenn|si|se|als)\b")
_SAYS = SentencePattern(
    r"(?P<who>[\w'’.-]+)(?: (?:has|have|had|just|always|once|also|keeps?|never|often|wrongly|would|will"
    r"|really|do|does|did|do(?:es)? not|did not|don['’]t|doesn['’]t|didn['’]t|can['’]?t|cannot))*"
    r" (?:says?|said|told|tells|wrote|writes|claims?|claimed|shout(?:s|ed)|thinks?|thought|believes?|believed"
    r"|reckons?|insists?"
    r"|insisted|suggests?|suggested|announced|swears|swore|sagte?|schrieb|meinte?|behauptet\w*|glaubt|dijo|dice"
    r"|cree|dit"
    r"|prétend|zegt|zei)\b"
    r"|\bsaid (?:the|a|my|his|her) |\baccording to\b|\bi (?:was|am|have been|'ve been) told\b|と(?:言|い)"
)
_SPEAKERS_OWN = frozenset("i we ich wir yo je you nobody one people to don can not".split())
FIRST = SentencePattern(
    r"\b(?:i|i'm|i've|i'd|i'll|im|ive|me|my|mine|myself|we|we're|we've|we'll|our|ours|us|ich|mir|mich|mein\w*|wir"
    r"|uns\w*|yo|mi|mis"
    r"|me|nos|nuestr\w+|soy|estoy|tengo|je|j'\w+|moi|mon|ma|mes|nous|notre|nos|io|mio|mia|sono|ho|ik|mijn|wij|jag"
    r"|min|mitt|mina|jeg"
    r"|eu|meu|minha|ja|mój|moja|я|мой|моя|у меня|меня)\b|[私僕俺]|自分"
)
OF_WRITER = SentencePattern(
    r"\b(?:i|i'm|i've|i'd|i'll|im|ive|me|mine|we|we're|we've|we'll|us|myself|ich|mir|mich|wir|yo|je|j'\w+|moi"
    r"|nous|io|ik|jag|jeg|eu)\b"
)
_MISTAKEN = SentencePattern(
    r"\A\W*(?:you (?:keep|still|said|say|think|thought|wrote|told|mixed|got|had|have)\b|i said\b(?! that\b| so\b)"
    r"|i meant not\b)"
)
_WHO = SentencePattern(
    r"\A\W*(?:(?:and|but|so|because|or|that|also|plus|though|still|und|auch|y|también|et|aussi)\s+)*(?:my|our|his|her|their|mein\w*|unser\w*|mi|mis"
    r"|nuestr\w+|mon|ma|mes|notre|nos)\s+"
)
_THIRD = SentencePattern(
    r"\A\W*(?:(?:and|but|so|because|or|also|plus|still|just|mostly|really)\s+)*"
    r"(?!(?:and|but|so|because|or|also|plus|still|just|mostly|really)\b)(?P<subject>[\w.-]+(?: [\w.-]+)?)"
    r"(?:'s|\s+(?:is|are|was|were|has|have|had|does|did|lives?|works?|likes?|loves?|hates?|plays?|takes?|needs?"
    r"|wants?|will|can"
    r"|cannot|moved|died|visits?|comes?|goes|prefers?|drinks?|eats?|speaks?|owns?|teaches|studies|drives?|never|always"
    r"|ist|hat|heißt|wohnt|arbeitet|spielt|hasst|liebt|mag|geht|isst|trinkt|kommt|macht|fährt|lernt|studiert|braucht"
    r"|spricht|es|está|tiene|vive|trabaja|odia|ama|toca|juega|come|bebe|habla|estudia|quiere|prefiere|est|a|habite"
    r"|travaille|adore|déteste|aime|joue|mange|boit|parle|étudie|préfère|veut)\b)"
)
_CONTRACTED = (
    ("won't", "will not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("n't", " not"),
    ("'ve", " have"),
    ("'m", " am"),
)
_ELIDED = re.compile(r"^(?:l|d|j|m|t|s|n|c|qu|un|dell|all|nell|sull)'(?=\w\w)")
_CJK = re.compile("[\u3005-\u3007\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\u0e00-\u0eff]")
_RUN = re.compile("[\u3005-\u3007\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+|[\uac00-\ud7a3]+")
_CJK_TELLING = "ユーザー|利用者|用户|使用者|사용자"
_CJK_NOT = re.compile("ない|ません|なく|不|没|無|无|ず|않|안 ")


@dataclass(frozen=True)
class Word:
    """A word that tells something: as it stands, and its stems."""

    low: str
    stems: frozenset[str]
    name: bool = field(default=False, compare=False)


@dataclass(frozen=True, eq=False)  # each is itself: the same words may be said twice
class Clause:
    """A stretch of a sentence with one say: its words as they stand, what they tell, whether it denies."""

    text: str
    told: tuple["Word", ...]
    denies: bool
    leans: bool  # it holds a word that denies by what it means
    asks: bool = False
    supposes: bool = False
    reports: bool = False
    start: int = 0
    stop: int = 0


def places(quote: str, mine: str) -> list[tuple[int, int]]:
    """Where `quote` stands in a message of which only the writer's own words are left."""
    parts = quote.replace("’", "'").replace("“", '"').replace("”", '"').replace("‘", "'").split()
    if not parts:
        return []
    pattern = r"\s+".join(re.escape(part) for part in parts)
    straight = mine.replace("’", "'").replace("“", '"').replace("”", '"').replace("‘", "'")
    return [match.span() for match in islice(re.finditer(pattern, straight, re.IGNORECASE), MOST_PLACES)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text begins and ends."""
    within = {stop.end() for stop in _NO_END.finditer(text)}
    spans, start = [], 0
    for end in _SENTENCE.finditer(text):
        if end.start() in within:
            continue
        spans.append((start, end.start()))
        start = end.end()
    spans.append((start, len(text)))
    return [(a, b) for a, b in spans if text[a:b].strip()]


@lru_cache(maxsize=64)  # every candidate of a message asks again
def clauses(text: str, language: str, *, told: bool) -> tuple[Clause, ...]:
    """The clauses of a text: of a sentence that is `told`, or of a message, in which much is not asserted."""
    found: list[Clause] = []
    for first, last in sentence_spans(text):
        sentence = text[first:last]
        asks_from = len(sentence) if told else _asks_from(sentence)
        supposes = not told and bool(_SUPPOSING.search(sentence))
        reported = len(sentence) if told else _reported_from(sentence)
        inherited = False
        for start, stop in _cut(sentence):
            part = sentence[start:stop]
            denies, leans = (
                _denies(part) or (not told and bool(_MISTAKEN.match(part))),
                holds_any(part, wording.DENYING),
            )
            if (
                not denies
                and inherited
                and not re.search(
                    rf"\A\W*(?:{_VERBS}|rather|just|only|instead|always|got|moved|started|diagnosed|born)\b",
                    part,
                    re.IGNORECASE,
                )
            ):
                denies = len(part.split()) > 0 and not _has_verb(part)
            inherited = denies and len(part.split()) > 1  # "No, use metric" denies what was said before
            found.append(
                Clause(
                    part,
                    tuple(telling(part, language, told=told)),
                    denies,
                    leans,
                    start >= asks_from,
                    supposes or (not told and bool(_PERHAPS.search(part) or CONDITION.match(part))),
                    stop > reported,
                    first + start,
                    first + stop,
                )
            )
    return tuple(found)


def _cut(sentence: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _CLAUSE.finditer(sentence):
        around = sentence[max(match.start() - 1, 0) : match.start()] + sentence[match.end() : match.end() + 1]
        if len(match[0]) == 1 and len(around) == 2 and around.isdigit():
            continue  # 7:12, 1,400
        if sentence[start : match.start()].strip():
            yield start, match.start()
        start = match.end() if not match[0].strip().isalpha() else match.start()
    if sentence[start:].strip():
        yield start, len(sentence)


def _has_verb(part: str) -> bool:
    return bool(re.search(rf"\b{_VERBS}\b", part, re.IGNORECASE)) and len(part.split()) > 3


def _asks_from(sentence: str) -> int:
    """Where the question begins that `sentence` is or ends in; its length where there is none."""
    polite = _POLITE.search(sentence)
    ends = sentence.rstrip(" \"')]!…").endswith(("?", "？"))
    if polite and _QUESTION.match(sentence):
        return len(sentence)
    if not ends:
        return 0 if _ASKING.match(sentence) else len(sentence)
    parts = list(_cut(sentence))
    asking = [
        start
        for start, stop in parts
        if _QUESTION.match(sentence[start:stop]) or sentence[start:].lstrip().startswith("¿")
    ]
    return int(asking[0]) if asking else 0


def _reported_from(sentence: str) -> int:
    """Where what others are said to say begins in `sentence`; its length where there is none."""
    for match in _SAYS.finditer(sentence):
        who = (match["who"] or "").casefold().split("'")[0]
        if who in _SPEAKERS_OWN:
            continue
        after = sentence[match.end() :].strip(" .!,;:")
        if not match["who"] or not after:
            return 0  # "…, said the leaflet"; "…, my wife says"
        return int(match.start())
    return len(sentence)


def _denies(part: str) -> bool:
    spelt = _spelt(part)
    if _in_cjk_script(part):
        return bool(_CJK_NOT.search(part))
    denying = [word for word in re.findall(r"[\w'’-]+", spelt) if word in negations()]
    return len(denying) > spelt.count("not only")


@lru_cache(maxsize=1)
def negations() -> frozenset[str]:
    """The words that deny."""
    return word_set(wording.NEGATIONS)


def _spelt(text: str) -> str:
    text = folded(text)
    for short, whole in _CONTRACTED:
        text = re.sub(rf"{short}\b", whole, text)
    return text


def folded(text: str) -> str:
    """In small letters, with straight apostrophes."""
    return unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").casefold()


def tokens(text: str) -> list[str]:
    """Every word of a text, contractions written out."""
    return re.findall(r"[\w'-]+", _spelt(text))


def telling(part: str, language: str, *, told: bool) -> Iterator[Word]:
    """The words of a clause that tell something, in their order."""
    spaced = " ".join(
        BESIDE_UNIT.sub(" ", word) if _is_amount(word) else word for word in part.replace("’", "'").split()
    )
    first = True
    for word in words(spaced) + [sign for sign in spaced if sign in "€$£%"]:
        low = folded(word).strip("'-_.")
        low = re.sub(r"'s$|(?<=s)'$", "", low)
        low = _ELIDED.sub("", low)
        if not low:
            continue
        if _in_cjk_script(low):
            yield from (Word(run, frozenset({run})) for run in _runs(low))
            continue
        name = word[:1].isupper() and not first and language != "german"
        name = name or (len(word) > 1 and word[1:] != word[1:].lower())
        first = False
        value = number(low)
        if value is not None and low not in ("a", "an", "one", "un", "una", "uno", "une", "ein", "eine", "both", "to"):
            yield Word(low, frozenset({f"#{value}"}))
        elif low in _units():
            yield Word(low, frozenset({_units()[low]}))
        elif low in negations() or _is_stop(low, language):
            continue
        else:
            if told and "-" in low:
                yield from telling(low.replace("-", " "), language, told=True)
                continue
            yield Word(low, _stems(low, language), name)
            if "-" in low:
                yield from (Word(part_of, _stems(part_of, language)) for part_of in low.split("-") if len(part_of) > 1)


def _runs(low: str) -> Iterator[str]:
    for run in _RUN.findall(re.sub(_CJK_TELLING, " ", low)):
        if len(run) == 1 or re.match("[\u30a0-\u30ff\uac00-\ud7a3]", run):
            yield run
        else:
            yield from (run[i : i + 2] for i in range(len(run) - 1))


def _is_amount(word: str) -> bool:
    return bool(re.fullmatch(r"\W*[€$£]?\d[\d.,]*[^\W\d_]{0,3}[€$£%]?\W*", word)) and not re.fullmatch(
        r"\W*\d+(?:st|nd|rd|th)\W*", word
    )


def _in_cjk_script(text: str) -> bool:
    return bool(_CJK.search(text)) or bool(re.search("[\u3040-\u309f]", text))


@lru_cache(maxsize=1)
def _units() -> Mapping[str, str]:
    return {name: f"unit {line.split()[0]}" for line in wording.UNITS.strip().splitlines() for name in line.split()}


@lru_cache(maxsize=1)
def _of_telling() -> frozenset[str]:
    return word_set(wording.TELLING)


def is_of_telling(low: str) -> bool:
    """Whether a word holds any fact and so tells none."""
    return low in _of_telling()


def _is_stop(low: str, language: str) -> bool:
    plain = low.replace("'", "")
    return (
        low in STOPWORDS["english"]
        or plain in STOPWORDS["english"]
        or (language != "english" and low in stopwords(language))
        or (len(low) < 2 and not low.isdigit())
    )


@lru_cache(maxsize=1 << 12)
def _stems(low: str, language: str) -> frozenset[str]:
    found = set(terms(low, "english"))
    if language != "english":
        found |= set(terms(low, language))
    return frozenset(found | {_bare(low)} | ({_aliases()[low]} if low in _aliases() else set()))


@lru_cache(maxsize=1)
def _aliases() -> Mapping[str, str]:
    return {name: f"alias {line.split()[0]}" for line in wording.ALIASES.strip().splitlines() for name in line.split()}


def _bare(word: str) -> str:
    apart = unicodedata.normalize("NFKD", word)
    return "".join(c for c in apart if not unicodedata.combining(c)).replace("ß", "ss").replace("ø", "o")


@lru_cache(maxsize=1)
def _groups() -> Mapping[str, frozenset[str]]:
    alike: dict[str, set[str]] = {}
    for line in wording.SAME.strip().splitlines():
        group = {stem for word in line.split() for stem in (*terms(word), word)}
        for stem in group:
            alike.setdefault(stem, set()).update(group)
    return {stem: frozenset(group) for stem, group in alike.items()}


def alike(word: str) -> frozenset[str]:
    """The stems of the words that mean the same as this one."""
    known = _groups()
    return frozenset().union(*(known.get(stem, frozenset()) for stem in (word, *terms(word))))


def is_exact(word: Word, said: Iterable[Word]) -> bool:
    """Whether a form of the word is among those."""
    return any(word.stems & other.stems for other in said)


def is_said(word: Word, said: Iterable[Word]) -> bool:
    """Whether the word, or one that means the same, is among those."""
    return any(matches(word, other) for other in said)


def matches(word: Word, other: Word) -> bool:
    """Whether one word may stand for the other; of names and numbers only the same."""
    if word.stems & other.stems:
        return True
    if is_number(word) or word.name:
        return False
    known = _groups()
    if any(other.stems & known.get(stem, frozenset()) for stem in word.stems):
        return True
    return not is_number(other) and any(_akin(one, two) for one in word.stems for two in other.stems)


def _akin(one: str, other: str) -> bool:
    """Whether two stems begin alike for so long that they are forms of one word: allergic and allergy."""
    shorter = min(len(one), len(other))
    alike = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), shorter)
    return alike >= LEAST and alike >= SHARE * shorter and max(len(one), len(other)) - alike <= 5


def is_number(word: Word) -> bool:
    """Whether it counts something."""
    return any(stem.startswith("#") for stem in word.stems)


def spoken_of(clause: Clause) -> tuple[Word, ...] | None:
    """The words by which a clause names somebody else as who it is about; None where it is about its writer."""
    if OF_WRITER.search(clause.text):
        return None
    opening = _WHO.match(clause.text)
    low = [
        re.sub(r"'s?$", "", folded(word)).removesuffix("'s")
        for word in clause.text[opening.end() if opening else 0 :].split()
    ]
    people = [word for word in low[:4] if word.strip(",.") in word_set(wording.PEOPLE)]
    if opening and people:
        return tuple(word for word in clause.told if word.low in people) or None
    match = _THIRD.match(clause.text)
    if match is None or opening or FIRST.search(clause.text):
        return None
    named = [folded(word) for word in match["subject"].split()]
    return tuple(word for word in clause.told if word.low in named) or None if match["subject"][:1].isupper() else None


def counted(clause: Clause) -> Iterator[tuple[Number, Word]]:
    """Each number with what it counts: the word behind it, or behind its unit."""
    for at, one in enumerate(clause.told):
        value = number(one.low)
        if value is None or not is_number(one):
            continue
        following = [word for word in clause.told[at + 1 : at + 3] if not is_number(word)]
        if following and any(stem.startswith("unit ") for stem in following[0].stems):
            following = following[1:]
        yield from ((value, word) for word in following[:1])


def in_order(clause: Clause) -> list[tuple[Number | None, Number | None]]:
    """The numbers of a clause, each with the next."""
    values = [number(word.low) for word in clause.told if is_number(word)]
    return list(pairwise(values))


def kinships(clause: Clause) -> Iterator[tuple[Word, Word]]:
    """Names with the word just before them that says who that is: my sister Roos."""
    people = word_set(wording.PEOPLE)
    for one, following in pairwise(clause.told):
        if one.low in people and following.name:
            yield one, following


def holds_any(text: str, group: str) -> bool:
    """Whether a word of `group` is in the text."""
    return bool(set(tokens(text)) & word_set(group))


def language_of(text: str) -> str:
    """The language that most function words of a text are of; English in doubt."""
    low = [folded(word) for word in words(text)]
    counts = {name: sum(word in stopwords(name) for word in low) for name in FUNCTION_WORDS}
    best = max(counts, key=lambda name: (counts[name], name == "english"))
    return best if counts[best] > counts["english"] else "english"
