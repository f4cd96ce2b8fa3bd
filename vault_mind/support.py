"""Whether the user's words say what a sentence says: checked by the program, word by word, and not by a mind. Pure.

A mind proposes a sentence and the words that it rests on. That the words are the user's proves nothing yet of the
sentence. So every word of it that tells something must be theirs: the same in another form, one that means the same,
the name that a pronoun stands for, a date that their words can be reckoned to. Names, numbers and denials must agree,
and whoever is spoken of must be spoken of by both. It knows words and not meanings: where it is in doubt it says no.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from vault_mind import wording
from vault_mind.analysis import terms
from vault_mind.clauses import (
    CONDITION,
    FIRST,
    OF_WRITER,
    Clause,
    Word,
    alike,
    clauses,
    counted,
    folded,
    holds_any,
    in_order,
    is_exact,
    is_number,
    is_of_telling,
    is_said,
    kinships,
    language_of,
    matches,
    places,
    sentence_spans,
    spoken_of,
    telling,
    tokens,
)
from vault_mind.pasted import FOREIGN, own
from vault_mind.reckoning import Times, number, numbers_in
from vault_mind.third_person import SentencePattern, word_set

ANSWER = 25  # words up to which a message may be the answer to a question
RESOLVED = 3  # words that pronouns of a message may stand for
WIDEST = 300  # characters of the user's own words that are kept as they stand
REQUEST = 40  # words up to which a message may be a request for how to be answered

ELSEWHERE = "these are not words of your own"
ASKED = "you asked it and did not say it"
SUPPOSED = "you only supposed it"
REPORTED = "somebody else says it"
DENIED = "you said the opposite, or not that"
ANOTHER = "you said it of somebody else"
EMPTY = "it says nothing"
_PRONOUN = SentencePattern(
    r"\b(?:he|she|it|they|him|her|his|hers|its|them|their|he's|she's|it's|they're|this|these|those|there|one|ones"
    r"|er|sie|es|ihn|ihm|ihr\w*"
    r"|él|ella|ellos|lo|la|il|elle|lui|leur|we)\b"
)
_ELSEWHERE = SentencePattern(
    r"\b(?:he|she|it|they|him|her|his|its|them|their|he's|she's|it's|they're|this|that|these|those|there|you|your"
    r"|er|sie|ihn|ihm|él|ella|lui|elle)\b"
)
_OPENS = SentencePattern(
    r"\A(?:i|i'm|i've|i'd|i’m|i’ve|i’d|my|our|we|we're|we've|ich|mein\w*|unser\w*|wir|yo|mi|mis|je|mon|ma)\b"
)
# One who was named before, in the sentence or in the one ahead of it.
_ABSENT = SentencePattern(
    r"\b(?:he|she|it|they|him|her|his|its|them|their|he's|she's|it's|they're|er|sie|es|ihn|ihm|él|ella|il|elle|lui)\b"
)
_POINTS = SentencePattern(r"\b(?:this|that|these|those|there|you|your|dies\w*|du|dein\w*|usted|tú|vous|ceci|cela)\b")
_NAMED_LAST = SentencePattern(r",\s+(?:my|our|mein\w*|unser\w*|mi|mon|ma)\s+(?P<who>\w[\w'-]*)\W*\Z")
# Who leaves the "I" away; what may be an order as well ("prefer", "use", "never") is not among them.
_DROPPED = SentencePattern(
    r"\A\W*(?:(?:and|also|but|still|just|currently|btw|plus|und|auch)\b[, ]*)*(?:hate|love|want|need|can't stand"
    r"|cannot stand|can't eat|got|had|moved|was born|born|bought|sold|gave up|work as|live in"
    r"|(?:training|learning|working|living|driving|studying|planning|hoping|trying|saving|expecting|allergic"
    r"|vegetarian|vegan)(?= (?:to|for|in|at|on|as|an?|my|the|with|from|by)\b|\W*\Z)|(?:learning|driving|studying) \w)"
)
_MANNER = SentencePattern(
    r"\b(?:short|shorter|brief|concise|longer|detailed|simple|plain|formal|informal|casual|metric|imperial|celsius"
    r"|fahrenheit|steps?|bullets?|bullet points|lists?|tables?|headings|emojis?|jargon|english|german|french|spanish"
    r"|italian|kurz|knapp|ausführlich|einfach|duzen?|siezen?|deutsch|aufzählungen|court\w*|bref|tutoyer|vouvoyer"
    r"|français|corto|breve|español|tutear|tutéame)\b"
)
_REQUEST = SentencePattern(
    r"\A\W*(?:(?:please|and|also|no|ok|just|always|from now on|bitte|und|immer|por favor|s'il te plaît|tu peux"
    r"|du kannst)\b[, ]*)*(?:use|keep|make|write|answer|reply|respond|stick to|give|be|chunk|break|split|avoid|skip"
    r"|don't use|no|halt\w*|kurz|knapp|antworte|schreib\w*|duze?|sieze?|benutze?|verwende|réponds|écris|sois|me tutoyer"
    r"|responde|escribe|usa|sé|tutéame)\b"
)
_ME = frozenset("me us mir mich uns moi nos".split())
_YES = SentencePattern(
    r"\A\W*(?:yes|yeah|yep|yup|sure|right|correct|exactly|of course|indeed|absolutely|agreed|please|ja|jawohl"
    r"|genau|sí|si|oui|sì|da|はい)\b"
)
_NO = SentencePattern(r"\A\W*(?:no|nope|nah|not|never|nein|non|nee|nej|nei|いいえ)\b")
_DOUBT = SentencePattern(
    r"\b(?:maybe|perhaps|not sure|don't know|dunno|think about it|depends|no idea|possibly|might|vielleicht|weiß"
    r" nicht|quizás|no sé"
    r"|peut-être|je ne sais pas)\b"
)
_OFFER = SentencePattern(r"\b(?:i (?:could|can|will|would)|shall i|should i|let me)\b")
_SHE = SentencePattern(
    r"\A\W*(?:(?:and|but|so|because|that|while)\s+)*(?:he|she|he's|she's|they|they're|er|sie|él|ella|il|elle)\b"
)
_CALLED = SentencePattern(r"\A\W*(?:the user|they) (?:is|are|goes|wants? to be) (?:also )?(?:called|named|by)\b")
# "I want my neighbour to move": what follows is of the neighbour.
_OF_THEIRS = SentencePattern(
    r"\b(?:want|wanted|hope|hoped|need|wish|think|thought|know|knew|believe|expect|asked|told|heard|see|saw|glad|sad)"
    r" (?:that )?(?:my|our)(?: [\w-]+){0,2}? (?P<who>[\w-]+)\b(?! and i\b)"
)
# A number that one can ring; and those who expect nothing but a child.
_RING = SentencePattern(
    r"\b(?:number(?:'s| is|:)?|call|ring|reach|text|tel\w*|mobile|cell)\b[^.!?\n]{0,40}?"
    r"(?:\+?\d[\d /()-]*[ /()-]\d{3,}|\+\d{7,}|\b0\d{6,})"
)
_EXPECTING = SentencePattern(
    r"\b(?:we're|we are|i am|i'm|and i are|she's|she is|wife is|partner is|is) expecting\b"
    r"(?=\W*\Z|[,.;!]? *(?:due|in|next|this|our (?:first|second|third))\b)"
)
_PREFERRED = SentencePattern(r"\bprefers? (?P<better>.+?) (?:to|over|rather than|than|instead of) (?P<worse>.+)")
_THAN = SentencePattern(r"(?P<better>.+?) (?:over|than|instead of|not) (?P<worse>.+)")
_TEXT_OF_USER = SentencePattern(
    r"\A\W*the user (?!and\b)|\A\W*the user's (?:\w+ )?(?:goal|aim|objective|target|preference|birthday|age|hobby"
    r"|job)\b|\A\W*they\b|\A\W*(?:der|die) nutzer\w* |\A\W*(?:el|la) usuari[oa] |\A\W*l'utilisat\w+ "
)
_CODE = re.compile(r"\S*(?:://|@|www\.|\\|[\w-]\.[a-z]{2,}(?:/|\b)(?!\.?\s*$)|[/]\w+/)\S*", re.IGNORECASE)
# What is said where one of these strict words is told.
_NEAR = {
    "all": word_set("always every everything each"),
    "every": word_set("each daily weekly always all nights"),
    "most": word_set("mostly best mainly favourite favorite especially"),
    "more": word_set("again longer over rather better shorter"),
    "before": word_set("till until by ten"),
    "after": word_set("since from once"),
    "only": word_set("just sole but"),
    "both": word_set("two and"),
}


def objection(text: str, quote: str, message: str, before: str = "", at: datetime | None = None) -> str | None:
    """Why the sentence `text` is not borne out by `quote` and what stands around it in `message`; None when it is.

    `before` is the reply that the message followed on: a short answer may take words from its question.
    With `at`, the moment of the message, relative dates of it bear out the dates that they were.
    """
    if not text.strip():
        return EMPTY
    spans = places(quote, own(message))
    if not spans:
        return ELSEWHERE
    language = language_of(f"{message} {text}")
    said = clauses(own(message), language, told=False)
    here = [clause for clause in said if any(clause.start < stop and start < clause.stop for start, stop in spans)]
    told = clauses(text, language, told=True)
    case = _Case(text, told, said, here, before, at, message, language)
    return case.objection()


def stands_alone(quote: str, message: str, *, request: bool = False) -> str | None:
    """The words of `message` around `quote` that its writer says of themselves and that make sense alone.

    They are the clause that it is, or else its whole sentence, with the one before it where it opens with a
    pronoun for who is named there. None where that is asked, supposed, reported, pasted, or speaks of what stands
    elsewhere. With `request` they may also be one for how to be answered.
    """
    mine, language = own(message), language_of(message)
    every = clauses(mine, language, told=False)
    spans = sentence_spans(mine)
    for start, stop in places(quote, mine):
        first, last = next(((a, b) for a, b in spans if a <= start < b), (0, 0))
        within = [clause for clause in every if first <= clause.start < last]
        if stop > last or FOREIGN in mine[first:last]:
            continue
        ends = {clause.stop for clause in within} | {last}
        if any(clause.start == start for clause in within) and (stop in ends or not mine[stop:last].strip(" .!")):
            here = [clause for clause in within if start <= clause.start < stop]
            words_of = message[start:stop]
            if _OPENS.match(words_of) and _is_said_plainly(here, words_of):
                return " ".join(words_of.split())
        if within and _is_said_plainly(within, message[first:last]):
            return " ".join(message[first:last].split())
        ahead = [(a, b) for a, b in spans if b <= first][-1:]
        begins = first if _is_resolved(within, message[first:last]) else None
        if begins is None and ahead and _SHE.match(message[first:last]) and FOREIGN not in mine[ahead[0][0] : last]:
            before = [clause for clause in every if ahead[0][0] <= clause.start < ahead[0][1]]
            named = _is_said_plainly(before, message[ahead[0][0] : ahead[0][1]]) and _names_one(before)
            begins = ahead[0][0] if named and _is_unframed(within, message[first:last]) else None
        if begins is None and request and _is_request(within, message[first:last], mine):
            begins = first
        if begins is not None and last - begins <= WIDEST:
            return " ".join(message[begins:last].split())
    return None


def names_only(text: str, message: str) -> bool:
    """Whether every telling word of `text` stands in the writer's own part of `message`."""
    language = language_of(f"{message} {text}")
    said = [word for clause in clauses(own(message), language, told=False) for word in clause.told]
    told = [word for clause in clauses(text, language, told=True) for word in clause.told]
    return all(is_of_telling(word.low) or is_said(word, said) for word in told)


class _Case:
    """One sentence beside the words that it is to rest on."""

    def __init__(
        self,
        text: str,
        told: Sequence[Clause],
        said: Sequence[Clause],
        here: list[Clause],
        before: str,
        at: datetime | None,
        message: str,
        language: str,
    ) -> None:
        self._text, self._said, self._here, self._before, self._at = text, said, here, before, at
        self._message, self._language = message, language
        self._mine = own(message).replace(FOREIGN, " ")
        self._low = f" {folded(text)} "
        self._rings = bool(_RING.search(self._mine))
        self._question = self._answered()
        hedged, reported = holds_any(text, wording.HEDGES), holds_any(text, wording.REPORTING)
        self._sources = [
            clause
            for clause in said
            if not clause.asks and (hedged or not clause.supposes) and (reported or not clause.reports)
        ]
        self._told = self._weighed(told)

    def _weighed(self, told: Sequence[Clause]) -> list[Clause]:
        """The clauses without the words that only tell what the user's words told without them."""
        sources = [*self._sources, *self._question]
        said = [word for clause in sources for word in clause.told]
        denied = any(clause.denies or clause.leans for clause in sources)

        def counts(word: Word, clause: Clause) -> bool:
            if is_exact(word, said):
                return True
            if word.low in ("phone", "telephone") and self._rings:
                return False
            if word.low == "baby" and _EXPECTING.search(self._mine):
                return False
            if denied and (
                word.low in word_set(wording.DENYING)
                or word.low.startswith("intoleran")
                or ((clause.denies or clause.leans) and word.low in word_set(wording.TAKING))
            ):
                return False
            return not is_of_telling(word.low) and word.low not in word_set(wording.STRICT)

        return [replace(clause, told=tuple(word for word in clause.told if counts(word, clause))) for clause in told]

    def objection(self) -> str | None:
        """The first of what can be said against it."""
        usable = [clause for clause in self._here if clause in self._sources]
        if not usable:
            return _why_not(self._here)
        return (
            self._codes()
            or self._dates()
            or self._words(usable)
            or self._contrasts()
            or self._denials()
            or self._likings(usable)
            or self._whose()
            or self._pairs()
        )

    def _answered(self) -> list[Clause]:
        """The question that the message answers, as clauses; none where it is no answer."""
        if not self._before or len(self._message.split()) > ANSWER or _DOUBT.search(self._message):
            return []
        sentences = [self._before[a:b] for a, b in sentence_spans(self._before)]
        yes = _YES.match(self._message)
        asked = [
            one for one in sentences if one.rstrip("\"')]* ").endswith(("?", "？")) or (yes and _OFFER.search(one))
        ]
        if not asked or all(clause.asks for clause in self._said):
            return []
        no = bool(_NO.match(self._message)) or bool(
            re.search(r"\b(?:don't|do not|not)\b", self._message, re.IGNORECASE) and not yes
        )
        found = clauses(asked[-1], self._language, told=False)
        return [Clause(one.text, one.told, one.denies != no, one.leans) for one in found]

    def _codes(self) -> str | None:
        said = folded(self._mine)
        for code in _CODE.findall(self._text):
            bare = folded(code).strip(".,;:!?()\"'")
            if bare and bare not in said:
                return _not_said(code)
        return None

    def _dates(self) -> str | None:
        said = " ".join((self._mine, *(clause.text for clause in self._question)))
        here = " ".join(clause.text for clause in self._here)
        self._bare, unsaid = Times(said, self._at, self._language, here).unsaid(self._text)
        return _not_said(unsaid) if unsaid else None

    def _words(self, usable: list[Clause]) -> str | None:
        """Every word that tells something must be said; and one of them at least in the quote."""
        bare = self._weighed(clauses(self._bare, self._language, told=True))
        told = [word for clause in bare for word in clause.told]
        if not told:
            return EMPTY if self._bare == self._text and not self._question else None
        said = [word for clause in (*self._sources, *self._question) for word in clause.told]
        missing = [word for word in told if not is_said(word, said)]
        missing = [
            word for word in missing if not (is_number(word) and number(word.low) in numbers_in(self._all_said()))
        ]
        if missing:
            missing = self._resolved(missing)
        if missing:
            return _not_said(missing[0].low)
        here = [word for clause in usable for word in clause.told]
        if not any(is_said(word, here) for word in told):
            answers = self._question and (_YES.match(self._message) or _NO.match(self._message))
            return None if answers else DENIED if not self._question else ELSEWHERE
        return None

    def _all_said(self) -> str:
        return " ".join(clause.text for clause in (*self._sources, *self._question))

    def _resolved(self, missing: list[Word]) -> list[Word]:
        """Those that no pronoun of the message can stand for: names and nouns of what was said before are taken."""
        questions = [word for clause in self._said if clause.asks for word in clause.told if word.name]
        missing = [word for word in missing if not is_exact(word, questions)]
        if len(missing) > RESOLVED or not _PRONOUN.search(self._mine) or not self._before:
            return missing
        before = [word for clause in clauses(self._before, self._language, told=False) for word in clause.told]
        return [word for word in missing if is_number(word) or not is_exact(word, before)]

    def _contrasts(self) -> str | None:
        strict = word_set(wording.STRICT)
        said = set(tokens(self._all_said()))
        for word in tokens(self._bare):
            if word in strict and word not in said and not said & alike(word) and not _near_strict(word, said):
                return _not_said(word)
        return None

    def _denials(self) -> str | None:
        """A clause that denies needs one that does, and one that does not may not rest on denied words alone."""
        sources = [*self._sources, *self._question]
        for clause in self._told:
            words_of = [word for word in clause.told if not is_number(word)] or list(clause.told)
            if not words_of and not clause.denies:
                continue
            if clause.denies:
                near = [one for one in sources if not words_of or any(is_said(w, one.told) for w in words_of)]
                if not any(one.denies or self._leans(one) for one in near):
                    return DENIED
            elif not clause.leans:
                for word in clause.told:
                    exact = [one for one in sources if is_exact(word, one.told)] or [
                        one for one in sources if is_said(word, one.told)
                    ]
                    if exact and all(one.denies for one in exact):
                        return DENIED
        return None

    def _leans(self, clause: Clause) -> bool:
        """Whether it holds a word that denies by what it means, which the sentence does not hold itself."""
        leaning = set(tokens(clause.text)) & (word_set(wording.DENYING) | word_set(wording.FORBIDDING))
        mine = {stem for word in tokens(self._text) for stem in terms(word)}
        return any(not set(terms(word)) & mine for word in leaning)

    def _likings(self, usable: list[Clause]) -> str | None:
        """What is liked may not be told as disliked, nor the other way round."""
        likes, dislikes = (holds_any(self._text, group) for group in (wording.LIKING, wording.DISLIKING))
        denied = any(clause.denies for clause in self._told)
        mine = " ".join(clause.text for clause in usable)
        said_dislikes = holds_any(mine, wording.DISLIKING) or re.search(
            r"\b(?:can't|cannot|can not) (?:stand|bear)\b", mine, re.IGNORECASE
        )
        if likes and not dislikes and not denied and said_dislikes and not holds_any(mine, wording.LIKING):
            named = set(tokens(self._bare)) & word_set(wording.LIKING)
            return None if named <= {"prefer", "prefers"} and len(usable) > 1 else DENIED
        if dislikes and not likes and holds_any(mine, wording.LIKING) and not said_dislikes:
            return None if any(clause.denies for clause in usable) else DENIED
        return None

    def _whose(self) -> str | None:
        """What is said of somebody else may not be told of the user."""
        if not _TEXT_OF_USER.match(self._text):
            return None
        told = [word for clause in self._told for word in clause.told]
        people = [word for word in told if word.name or word.low in word_set(wording.PEOPLE)]
        if self._asked_of_another(told) or self._bears_anothers_name(told):
            return ANOTHER
        for clause in self._sources:
            theirs = _SHE.match(clause.text) and not OF_WRITER.search(clause.text)
            someone = [word for word in people if word.name or not is_exact(word, clause.told)]
            if theirs and not someone and self._only_from([clause], told):
                return ANOTHER
            if self._is_of_theirs(clause, told):
                return ANOTHER
            who = spoken_of(clause)
            if who is None or any(is_said(word, told) for word in who):
                continue
            rest = [word for word in clause.told if word not in who]
            others = [one for one in self._sources if one is not clause and spoken_of(one) is None]
            said = [word for one in (*others, *self._question) for word in one.told]
            if any(is_said(word, rest) and not is_said(word, said) for word in told):
                return ANOTHER
        return None

    def _is_of_theirs(self, clause: Clause, told: list[Word]) -> bool:
        """Whether it only says what the user wants, hopes or knows of somebody whom the sentence does not name."""
        for match in _OF_THEIRS.finditer(clause.text):
            who = folded(match["who"])
            if who not in word_set(wording.PEOPLE) or any(word.low == who for word in told):
                continue
            if is_said(next(telling(who, self._language, told=False)), told):
                continue
            rest = list(telling(clause.text[match.end() :], self._language, told=False))
            others = [word for one in (*self._sources, *self._question) if one is not clause for word in one.told]
            if any(is_said(word, rest) and not is_said(word, others) for word in told):
                return True
        return False

    def _asked_of_another(self, told: list[Word]) -> bool:
        """Whether the question was of "your wife", of whom the sentence says nothing."""
        for clause in self._question:
            theirs = [word for word in clause.told if word.low in word_set(wording.PEOPLE)]
            of_user = OF_WRITER.search(clause.text) or re.search(r"\byou\b", clause.text, re.IGNORECASE)
            if theirs and not of_user and not any(is_said(word, told) for word in theirs):
                return True
        return False

    def _bears_anothers_name(self, told: list[Word]) -> bool:
        """Whether the user is called by what somebody of theirs is."""
        kin = [pair for clause in self._sources for pair in kinships(clause)]
        called = _CALLED.match(self._text)
        return bool(called) and any(is_exact(name, told) and not is_said(who, told) for who, name in kin)

    def _only_from(self, among: list[Clause], told: list[Word]) -> bool:
        """Whether a word of the sentence is said in those clauses and nowhere else."""
        others = [word for one in (*self._sources, *self._question) if one not in among for word in one.told]
        here = [word for one in among for word in one.told]
        return any(is_said(word, here) and not is_said(word, others) for word in told)

    def _pairs(self) -> str | None:
        """A number may not be told of what the user said another number of, nor a name of another's kin."""
        sources = [*self._sources, *self._question]
        said = [pair for clause in sources for pair in counted(clause)]
        for count, thing in (pair for clause in self._told for pair in counted(clause)):
            of_thing = {value for value, other in said if matches(thing, other)}
            if of_thing and count not in of_thing:
                return _not_said(f"{count} {thing.low}")
        order = {pair for clause in sources for pair in in_order(clause)}
        if any(pair[::-1] in order and pair not in order for clause in self._told for pair in in_order(clause)):
            return DENIED
        kin = [pair for clause in sources for pair in kinships(clause)]
        for who, name in (pair for clause in self._told for pair in kinships(clause)):
            others = [one for one, named in kin if is_exact(name, [named])]
            if others and not is_said(who, others):
                return ANOTHER
        return self._compared()

    def _compared(self) -> str | None:
        """What is preferred to what may not be turned round."""
        match = _PREFERRED.search(self._text)
        if match is None:
            return None
        better, worse = (list(telling(part, self._language, told=True)) for part in (match["better"], match["worse"]))
        for first, last in sentence_spans(self._mine):
            compared = _THAN.search(self._mine[first:last])
            if compared is None:
                continue
            ahead, behind = (
                list(telling(part, self._language, told=False)) for part in (compared["better"], compared["worse"])
            )
            ahead, behind = (
                [w for w in ahead if not is_exact(w, behind)],
                [w for w in behind if not is_exact(w, ahead)],
            )
            if any(is_exact(word, behind) for word in better) and any(is_exact(word, ahead) for word in worse):
                return DENIED
        return None


def _is_said_plainly(clauses: list[Clause], words_of: str) -> bool:
    if any(clause.asks or clause.supposes or clause.reports for clause in clauses) or CONDITION.match(words_of):
        return False
    of_writer = {found.casefold() for found in FIRST.findall(words_of)} - _ME  # "write me a haiku" states nothing
    return bool(of_writer) and not _ELSEWHERE.search(words_of)


def _is_unframed(within: list[Clause], words_of: str) -> bool:
    """Whether a sentence is asserted by its writer and points at nothing that is seen elsewhere."""
    framed = any(clause.asks or clause.supposes or clause.reports for clause in within)
    return bool(within) and not framed and not CONDITION.match(words_of) and not _POINTS.search(words_of)


def _is_resolved(within: list[Clause], words_of: str) -> bool:
    """Whether a sentence says itself whom its pronouns stand for, or only leaves the "I" away."""
    if not _is_unframed(within, words_of):
        return False
    absent = _ABSENT.search(words_of)
    if absent is None:
        return bool(_DROPPED.match(words_of))
    last = _NAMED_LAST.search(words_of)
    if last and folded(last["who"]) in word_set(wording.PEOPLE):
        return True
    ahead = [clause for clause in within if clause.stop - within[0].start <= absent.start()]
    return bool(ahead) and _is_said_plainly(ahead, words_of[: absent.start()])


def _names_one(said: list[Clause]) -> bool:
    return any(word.name or word.low in word_set(wording.PEOPLE) for clause in said for word in clause.told)


def _is_request(within: list[Clause], words_of: str, mine: str) -> bool:
    """Whether it asks for a manner of being answered, in a short message that nothing was brought into."""
    if FOREIGN in mine or "\n" in mine.strip() or ":" in mine or len(mine.split()) > REQUEST or _CODE.search(words_of):
        return False
    if any(clause.asks or clause.supposes or clause.reports for clause in within):
        return False
    return bool(_MANNER.search(words_of)) and any(_REQUEST.match(clause.text) for clause in within)


def _near_strict(word: str, said: set[str]) -> bool:
    weekly = word == "every" and any(one.endswith("days") for one in said)
    return weekly or bool(_NEAR.get(word, frozenset()) & said)


def _not_said(word: str) -> str:
    return f"your words do not say “{word.strip()}”"


def _why_not(here: list[Clause]) -> str:
    if any(clause.asks for clause in here):
        return ASKED
    if any(clause.supposes for clause in here):
        return SUPPOSED
    return REPORTED if here else ELSEWHERE
