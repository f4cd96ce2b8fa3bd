"""What one sentence of a memory does to another, by plain English rules: take its place, say more, or nothing. Pure.

A sentence is read as a claim: whose it is, which slot it fills (where somebody lives, what a thing is called), with
what. Only slots that hold one value at a time count, and only claims of the very same person or thing are compared.
What is doubtful is no relation at all: better two memories than a wrong one taken away.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from vault_mind.analysis import STOPWORDS, terms, words
from vault_mind.third_person import SentencePattern, moved_home

KEPT = 1 << 10  # sentences kept as they were read: one is held against many others
# What is asked for by its name, and the word by which a sentence tells it.
MEASURES = {"weight": "weighs", "height": "tall", "age": "old", "birthday": "born"}
SUPERSEDE, UPDATE, KNOWN = "supersede", "update", "none"


class Claim(NamedTuple):
    """That `subject` has `value` in `slot`, or (`holds` is False) no longer has it."""

    subject: str
    slot: str
    value: str
    holds: bool = True


_CONTRACTED = (("won't", "will not"), ("can't", "can not"), ("cannot", "can not"), ("n't", " not"))
_ADVERBS = SentencePattern(
    r"\b(?:now|currently|actually|really|just|recently|these days|nowadays|at the moment|since (?:last|this) \w+"
    r"|finally|again|still|anymore|any more)\b(?!,)"
)
_WHEN = SentencePattern(
    r" (?:(?:last|this|next) (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)"
    r"|(?:in|on|since|from|around) (?:the week of )?(?:\d+ )?(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)?(?: ?\d{4})?|for (?:work|good|love|a (?:new )?job)|yesterday|today)$"
)
_YEAR = SentencePattern(r"\b(?:in|since|from|until|back in) (?:\w+ )?((?:19|20)\d\d)\b")

_SUBJECT = r"(?P<subject>the user(?:'s (?:[\w.'-]+ ){0,4}?[\w.'-]+)?|(?:the )?(?!the\b)[\w.'-]+(?: [\w.'-]+){0,4}?)"
_HAS = r"(?:(?:has|have|had) )?"
_NOT_ANY_MORE = r"no longer|(?:does|do) not"
_LEFT = (
    rf"(?:quit|left|lost|resigned from|retired from|was (?:fired|laid off) (?:from|by)|stopped working (?:at|for)"
    rf"|(?:{_NOT_ANY_MORE}) works? (?:at|for)) "
    r"(?:their (?:\w+ )?job (?:at|with|as an?) )?(?P<value>(?!home\b|school\b).+)"
)
_WORKS = r"works|is working|is employed|started (?:working|work)"
_NEW_JOB = r"(?:started|got|has) a (?:new )?job"
_CLAIMS = tuple(
    (slot, holds, SentencePattern(rf"{_SUBJECT} {_HAS}(?:{rest})"))
    for slot, holds, rest in (
        ("residence", False, rf"(?:moved away from|moved out of|(?:{_NOT_ANY_MORE}) lives? in) (?P<value>.+)"),
        ("residence", True, r"(?:lives?|resides?|is living|is based|are living) (?:in|at) (?P<value>.+)"),
        ("residence", True, r"(?:moved|relocated)(?: house)?(?: from [^,]+?)? (?:to|into) (?P<value>.+)"),
        ("employer", False, _LEFT),
        ("employer", True, r"(?:is|are) employed (?:by|at|with) (?P<value>.+?)(?: as an? .+)?"),
        ("employer", True, rf"(?:{_WORKS}|{_NEW_JOB}) (?:at|for) (?P<value>.+?)(?: as an? .+)?"),
        ("employer", True, r"joined (?P<value>(?!an? |the |their |some ).+?) as an? .+"),
        ("job", True, rf"(?:{_WORKS}) as (?:an? )?(?P<value>.+?)(?: (?:at|for) .+)?"),
        ("name", True, r"(?:is|are) (?:called|named) (?P<value>.+)"),
        ("age", True, r"(?:is|turned|will be) (?P<value>\d{1,3})(?: years old)?"),
        (
            "marital",
            True,
            r"(?:is|got|became) (?P<value>(?:married|divorced|single|engaged|widowed|separated)(?: to .+)?)",
        ),
        ("birthday", True, r"(?:has (?:her|his|their|its) birthday (?:on )?|was born on )(?P<value>.+)"),
        ("diet", True, r"(?:is|became|become) (?:an? )?(?:strict )?(?P<value>vegan|vegetarian|pescatarian|omnivore)"),
    )
)
_IS = SentencePattern(
    rf"{_SUBJECT} (?:is|are|was changed to|has been moved to|has moved to|was moved to) (?P<value>.+)"
)
_WHERE = SentencePattern(
    r"(?:in|at|on|under|behind|with|beside|next to|near|above|below|inside|by) (?!favou?r\b|sale\b|fire\b|love\b).+"
)
_LIKES = SentencePattern(
    rf"{_SUBJECT} (?P<no>(?:does|do) not |no longer |never )?"
    r"(?P<verb>likes?|loves?|enjoys?|adores?|hates?|dislikes?|detests?|loathes?|(?:can not|could not) (?:stand|bear)"
    r"|(?:is|are) (?:not )?(?:fond of|a (?:big )?fan of|into))(?: to)? (?P<value>.+)"
)
_DISLIKING = ("hate", "dislike", "detest", "loathe", "can not", "could not")
_PREFERS = SentencePattern(rf"{_SUBJECT} prefers? (?P<value>.+?) (?:to|over|rather than) (?P<other>.+)")
_GONE = SentencePattern(
    rf"{_SUBJECT} {_HAS}(?:sold|lost|got rid of|gave away|gave up|given up|given away|quit"
    r"|stopped (?:drinking|eating|playing|smoking|taking|using|driving|wearing)"
    r"|no longer (?:has|owns|drives|plays|takes|uses|drinks|eats)"
    r"|does not (?:have|own|drive|use|play|take)(?= (?:an?|any|the|their)\b)) "
    r"(?:(?:the|their|his|her|an?|any) )?(?P<value>.+)"
)
_NO_MORE = SentencePattern(r"\b(?:no longer|any ?more)\b")
_DOES_NOT = SentencePattern(rf"{_SUBJECT} (?:does not|do not|no longer) (?P<verb>\w+) (?P<value>.+)")
_DOES = SentencePattern(r"(?P<verb>\w+) (?P<value>.+)")
_WHERE_OR_WHEN = SentencePattern(r" (?:in|at|on|every|each|for|with|once|twice|most|since)\b")
_SWITCHED = SentencePattern(rf"{_SUBJECT} {_HAS}(?:switched|changed) from (?P<value>.+?) to (?P<rest>.+)")
_HOME = SentencePattern(r"(?:an? [\w-]+ )?in (?P<value>[\w -]+)")
_HAVING = SentencePattern(
    r"(?:has|owns|drives|rides|plays|takes|uses|drinks|eats|smokes|wears) (?:an? |the |their |one )?(?P<value>.+)"
)
_OWNER = SentencePattern(
    r"(?P<subject>the user's (?:[\w.'-]+ ){0,4}?[\w.'-]+|(?!the user\b)[\w.'-]+(?: [\w.'-]+){0,3}?) "
    r"(?:is|are|was|has|lives?|works?|likes?|loves?|hates?|moved|died|plays?|drinks?|eats?|studies|teaches|speaks?|runs?"
    r"|prefers?|wants?|needs?|owns?|got|will|can|does)\b"
)
_DIED = SentencePattern(rf"{_SUBJECT} {_HAS}(?:died|passed away|is dead|was put down)\b.*")
_INSTEAD = SentencePattern(
    r"^(?P<new>.+?),? (?:and )?(?:(?<!does )(?<!do )(?<!is )(?<!are )not|instead of|no longer) "
    r"(?P<old>(?!only\b|just\b|on\b.* only).+)$"
)
_AS_WELL = SentencePattern(r"\b(?:also|too|as well|second|part[- ]time|another|sometimes)\b")
_AT_TIMES = SentencePattern(r"\b(?:in (?:summer|winter|spring|autumn)|at weekends|during the week)\b")
_A_KIND_OF = SentencePattern(r".*\b(?:in|at) (?:an?|the|their) ")
_CALLED = SentencePattern(r" (?:called|named|which|that|who|with)\b")
_NEGATIONS = frozenset("not no never none without nor neither".split())
# Between the old words and the new they turn what is said into something else.
_TURNS = frozenset(
    """
    if unless except when while until before after almost nearly only want wants wanted plan plans hope hopes try tries
    trying learn learns learning will would might may could should used formerly once ago had was were did sometimes
    rarely seldom hardly not no never or but instead than both either half former ex last past was
    """.split()
)
_PEOPLE = frozenset(
    """
    sister brother mother father mum mom dad son daughter wife husband partner girlfriend boyfriend friend cousin aunt
    uncle niece nephew grandmother grandfather grandma grandpa colleague boss neighbour neighbor flatmate roommate
    teacher student child kid baby twin godson goddaughter stepmother stepfather stepson stepdaughter landlord doctor
    cat dog pet horse rabbit hamster parrot bird
    """.split()
)
_SEVERAL = _PEOPLE - {"mother", "father", "mum", "mom", "dad", "wife", "husband", "partner", "girlfriend", "boyfriend",
                      "boss", "landlord", "doctor"}  # fmt: skip
# Of these one has one at a time, whatever it is.
_ONE_OF_EACH = SentencePattern(
    r"\b(?:name|birthday|address|phone number|mobile number|number|e-?mail(?: address)?|nationality|hometown|home town"
    r"|birthplace|job|employer|boss|manager|landlord|doctor|dentist|gp|blood (?:group|type)|size|height|weight|age"
    r"|favou?rite .+|deadline|main \w+|mother tongue|native language|star sign|zodiac sign|postcode|zip code|plate"
    r"|wife|husband|partner|girlfriend|boyfriend|salary|rent|capital|colou?r|price|time ?zone|password|username|handle"
    r"|bedtime|budget|goal)$"
)
_COLOURS = frozenset(
    "red green blue yellow black white brown grey gray orange purple pink violet silver gold beige turquoise".split()
)
_NUMBER_WORDS = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand noon midnight
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december
    """.split()
)
_MEASURED = SentencePattern(
    r"\b(?:has|have|is|are|runs?|costs?|opens|closes|leaves|arrives|starts|ends|begins|wakes|weighs|takes place|earns"
    r"|pays|owns|needs|departs)\b"
)
_COUNTRIES = frozenset(
    """
    afghanistan albania algeria argentina armenia australia austria azerbaijan bangladesh belarus belgium bolivia brazil
    bulgaria cambodia cameroon canada chile china colombia croatia cuba cyprus denmark ecuador egypt england estonia
    ethiopia europe asia africa finland france georgia germany ghana greece guatemala hungary iceland india indonesia
    iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kuwait latvia lebanon lithuania luxembourg
    malaysia malta mexico moldova mongolia morocco nepal netherlands nigeria norway pakistan panama peru philippines
    poland portugal qatar romania russia scotland senegal serbia singapore slovakia slovenia spain sweden switzerland
    syria taiwan tanzania thailand tunisia turkey uganda ukraine uruguay uk usa us uzbekistan venezuela vietnam wales
    bavaria california texas scandinavia
    """.split()
)


def relation(new: str, old: str) -> str | None:
    """What the sentence `new` does to `old`: SUPERSEDE, UPDATE (it says all of it and more), KNOWN, or None.

    KNOWN: `old` says it already. None: they do not touch, or it is in doubt.
    """
    said, known = plain(new).removesuffix(" and lives there"), plain(old).removesuffix(" and lives there")
    if not said or not known or _tells_of_the_past(said):
        return None
    if apart(new, old):
        return None
    if said == known or _is_home_already(said, known, old):
        return KNOWN
    if re.search(r" (?:moved|relocated)\b.* to ", said) and not (moved_home(new) or re.search(r"\bfrom .+ to\b", said)):
        return None  # to another team, or to Linux
    if _stops(new, said, known) or _switches(said, known):
        return SUPERSEDE
    if any(rule(said, known) for rule in (_fills, _reverses, _turns_taste, _ends, _corrects, _recounts)) or _is_so_now(
        new, said, known
    ):
        return SUPERSEDE
    if _says_more(said, known, new, old):
        return UPDATE
    return KNOWN if _says_less(said, known) else None


def _is_home_already(said: str, known: str, old: str) -> bool:
    """Whether the new sentence says no more than that somebody lives where the other says that they moved to."""
    ours, theirs = _claim(said), _claim(known)
    if ours is None or ours != theirs or ours.slot != "residence":
        return False
    return ours.holds and " lives in " in said and old.endswith("and lives there.")


def apart(new: str, old: str) -> bool:
    """Whether the sentences speak of two people or things: the user's sister and brother, Ann and Eve."""
    ours, theirs = _owner(plain(new)), _owner(plain(old))
    if ours is None or theirs is None or ours == theirs:
        return False
    one, other = set(ours.split()) & _PEOPLE, set(theirs.split()) & _PEOPLE
    if one and other and one != other:
        return True
    names = [_names(text, subject) for text, subject in ((new, ours), (old, theirs))]
    return all(names) and not names[0] & names[1]


@lru_cache(maxsize=KEPT)
def plain(sentence: str) -> str:
    """`sentence` in small letters, contractions written out, without its end mark and the words that only colour it."""
    text = unicodedata.normalize("NFKC", sentence).replace("’", "'").casefold()
    for short, whole in _CONTRACTED:
        text = re.sub(rf"{short}\b", whole, text)
    text = text.replace("favorite", "favourite").replace("color", "colour").replace(" without ", " with no ")
    text = re.sub(r"\s+", " ", _ADVERBS.sub(" ", text.replace(" no longer ", " no_longer "))).replace(
        "no_longer", "no longer"
    )
    return text.replace(" ,", ",").strip(" .!;,")


@lru_cache(maxsize=KEPT)
def related(sentence: str) -> str:
    """Words that a memory of the same slot may use instead, to look for it by."""
    claim = _claim(plain(sentence))
    more = {
        "residence": "live lives moved home",
        "employer": "works work job employed joined",
        "job": "works job",
        "name": "called named name",
        "birthday": "birthday born",
        "marital": "married divorced single engaged",
        "diet": "vegan vegetarian eats meat",
    }
    if claim and claim.slot in more:
        return more[claim.slot]
    return " ".join(known for name, known in MEASURES.items() if re.search(rf"\b{name}\b", sentence.casefold()))


def _tells_of_the_past(said: str) -> bool:
    """Whether it says how things were, and so nothing of how they are."""
    return (
        bool(re.search(r"\b(?:used to|formerly|as a child|in (?:his|her|their) (?:youth|childhood))\b", said))
        and " not " not in said
    )


@lru_cache(maxsize=KEPT)
def _claim(said: str) -> Claim | None:
    for slot, holds, pattern in _CLAIMS:
        if match := pattern.fullmatch(said):
            value = _WHEN.sub("", match["value"])
            if slot == "name" and _ONE_OF_EACH.search(match["subject"]):
                slot = "is"  # "the user's boss is called Nora" is "the user's boss is Nora"
            return Claim(match["subject"], slot, re.sub(r"^(?:the|an?|their) ", "", value), holds)
    if match := _IS.fullmatch(said):
        subject, value = match["subject"], match["value"]
        for ending, slot in (
            ("'s employer", "employer"),
            ("'s name", "name"),
            ("'s birthday", "birthday"),
            ("'s age", "age"),
        ):
            if subject.endswith(ending):
                return Claim(subject.removesuffix(ending), slot, value.removeprefix("on ").partition(", ")[0])
        if subject.endswith("'s home") and (home := _HOME.fullmatch(value)):
            return Claim(subject.removesuffix("'s home"), "residence", home["value"])
        return Claim(subject, "is", value)
    return None


def _fills(said: str, known: str) -> bool:
    """Whether both fill one slot of one subject, with different things."""
    corrected = _INSTEAD.fullmatch(said)
    ours, theirs = _claim(corrected["new"] if corrected else said), _claim(known)
    if ours is None or theirs is None or ours.subject != theirs.subject or not theirs.holds:
        return False
    if not ours.holds:
        return ours.slot == theirs.slot and (ours.value == "job" or _same(ours.value, theirs.value))
    if (
        _ends_a_job(ours, theirs)
        or ours.slot != theirs.slot
        or re.search(r"\b(?:also|too|as well|second|part[- ]time|another|sometimes)\b", said)
    ):
        return False
    if _same(ours.value, theirs.value) or _holds(ours.value, theirs.value) or _holds(theirs.value, ours.value):
        return False
    if ours.slot == "residence":
        return _settles(ours, theirs, said, known)
    if ours.slot == "name":
        return not _is_one_of_several(ours.subject)
    return _is_other(ours, theirs) if ours.slot == "is" else True


def _ends_a_job(ours: Claim, theirs: Claim) -> bool:
    return ours.slot == "employer" and not ours.holds and theirs.slot != "employer"


def _settles(ours: Claim, theirs: Claim, said: str, known: str) -> bool:
    """Whether a new home is one in the stead of the old; a wider place, a kind of flat or a year long ago is none."""
    if (
        bool(set(ours.value.split()) & _COUNTRIES) != bool(set(theirs.value.split()) & _COUNTRIES)
        and "moved" not in said
    ):
        return False
    kinds = [bool(re.match(r".*\b(?:in|at) (?:an?|the|their) ", text)) for text in (said, known)]
    year = _YEAR.search(said)
    return (
        kinds[0] == kinds[1]
        and not (year and _YEAR.search(known))
        and not re.search(r"\b(?:in (?:summer|winter)|at weekends)", said + known)
    )


def _is_other(ours: Claim, theirs: Claim) -> bool:
    """Of "X is Y" and "X is Z": whether X can only be one of them."""
    subject = ours.subject
    if subject == "the user":
        return False
    if _WHERE.fullmatch(ours.value) and _WHERE.fullmatch(theirs.value):
        return not set(subject.split()) & _SEVERAL
    if _ONE_OF_EACH.search(subject):
        return True
    if set(subject.split()) & _SEVERAL:
        return False
    kinds = [_sort(value) for value in (ours.value, theirs.value)]
    return kinds[0] == kinds[1] and kinds[0] is not None


def _sort(value: str) -> str | None:
    """What sort of thing a value is, where two of a sort cannot both hold."""
    last = value.split()
    if all(word in _COLOURS for word in last):
        return "colour"
    if any(
        word.isdigit() or word in _NUMBER_WORDS or re.fullmatch(r"[\d:.,]+(?:st|nd|rd|th|am|pm)?", word)
        for word in last
    ):
        return "number " + " ".join(word for word in last if not (word[0].isdigit() or word in _NUMBER_WORDS))
    return None


def _reverses(said: str, known: str) -> bool:
    """Whether one says with "not" what the other says without, or that what is was."""
    ours, theirs = _negations(said), _negations(known)
    used = re.sub(r"\bused to (?:be )?", "", said)
    if used != said:
        return False
    return bool(ours) != bool(theirs) and len(ours) + len(theirs) == 1 and _bare(said) == _bare(known) != []


def _turns_taste(said: str, known: str) -> bool:
    """Whether the same thing is liked by one sentence and disliked by the other, or two are preferred the other way."""
    ours, theirs = _PREFERS.fullmatch(said), _PREFERS.fullmatch(known)
    if ours and theirs:
        return (
            ours["subject"] == theirs["subject"]
            and _same(ours["value"], theirs["other"])
            and _same(ours["other"], theirs["value"])
        )
    ours, theirs = _LIKES.fullmatch(said), _LIKES.fullmatch(known)
    return bool(
        ours and theirs and ours["subject"] == theirs["subject"] and _same(ours["value"], theirs["value"])
        and _likes(ours) is not _likes(theirs)
    )  # fmt: skip


def _likes(match: re.Match[str]) -> bool:
    dislikes = match["verb"].startswith(_DISLIKING) or " not " in f" {match['verb']} "
    return dislikes is bool(match["no"])


def _ends(said: str, known: str) -> bool:
    """Whether something is sold, given up or dead that the other sentence says somebody has."""
    if (died := _DIED.fullmatch(said)) and died["subject"].startswith("the user's "):
        dead = set(terms(died["subject"].removeprefix("the user's ")))
        having = re.fullmatch(r"the user has (?:an? |one )(?P<value>.+)", known)
        wanted = (
            died["subject"].removeprefix("the user's ")
            if having and " called " in having["value"]
            else _noun(died["subject"])
        )
        return bool(having and dead & set(terms(" ".join(_PEOPLE))) and _holds(having["value"], wanted))
    gone = _GONE.fullmatch(said)
    if not gone or not known.startswith(gone["subject"] + " "):
        return False
    having = _HAVING.fullmatch(known.removeprefix(gone["subject"] + " "))
    value = _WHEN.sub("", gone["value"])
    return bool(
        having
        and (
            _same(value, having["value"])
            or _same(value, re.split(r" (?:called|named|which|that|who|with)\b", having["value"])[0])
        )
    )


def _stops(new: str, said: str, known: str) -> bool:
    """Whether somebody no longer does what the other sentence says of them, wherever and whenever they did it."""
    if not _NO_MORE.search(new) or _negations(known):
        return False
    ours = _DOES_NOT.fullmatch(said)
    if ours is None or not known.startswith(ours["subject"] + " "):
        return False
    does = _DOES.fullmatch(known.removeprefix(ours["subject"] + " "))
    return bool(
        does
        and terms(ours["verb"])[:1] == terms(does["verb"])[:1]
        and _same(ours["value"], _WHERE_OR_WHEN.split(does["value"])[0])
    )


def _switches(said: str, known: str) -> bool:
    """Whether somebody went over from what the other sentence says they use or have."""
    ours = _SWITCHED.fullmatch(said)
    if ours is None or not known.startswith(ours["subject"] + " "):
        return False
    having = _HAVING.fullmatch(known.removeprefix(ours["subject"] + " "))
    return bool(having) and _telling(ours["value"]) == _telling(having["value"]) - _telling(ours["rest"])


def _noun(subject: str) -> str:
    words_of = subject.removeprefix("the user's ").split()
    return next((word for word in words_of if word in _PEOPLE), words_of[-1])


def _corrects(said: str, known: str) -> bool:
    """Of "X, not Y": whether the other sentence says Y where this one says X."""
    match = _INSTEAD.fullmatch(said)
    if not match or _negations(known):
        return False
    wrong, right, held = _telling(match["old"]), _telling(match["new"]), _telling(known)
    wrong -= right
    if not wrong or not wrong <= held:
        return False
    rest = held - wrong - right
    return (len(rest) <= 1 and len(held & right - {"user"}) > 0) or (not rest and len(held) > len(wrong))


def _recounts(said: str, known: str) -> bool:
    """Whether both say the same but for numbers, of something that has one number at a time."""
    return _MEASURED.search(said) is not None and _counts_otherwise(said, known)


def _counts_otherwise(said: str, known: str) -> bool:
    if _negations(said) or _negations(known):
        return False
    ours, theirs = ([_is_number(word) for word in re.findall(r"[\w.:,%-]+", text)] for text in (said, known))
    pairs = list(zip(re.findall(r"[\w.:,%-]+", said), re.findall(r"[\w.:,%-]+", known), strict=False))
    if len(ours) != len(theirs) or ours != theirs or sum(ours) != 1:
        return False
    differ = [(one, other) for one, other in pairs if one.rstrip(".,") != other.rstrip(".,")]
    return len(differ) == 1 and _is_number(differ[0][0])


def _is_so_now(new: str, said: str, known: str) -> bool:
    """Whether "now" is said of the same doing with another end: takes coffee with milk now, drives a Tesla now."""
    if not re.search(r"\b(?:now|these days|nowadays|again)\b", new) or _AS_WELL.search(said):
        return False
    head = _WHEN.sub("", _ADVERBS.sub("", said.partition(", ")[0]).strip())  # "9 hens now, the fox came"
    if _counts_otherwise(head, known) or _prefers_otherwise(head, known):
        return True
    driving = [re.fullmatch(r"(.+) drives an? [\w-]+(?: [\w-]+)?", text) for text in (head, known)]
    if all(driving):
        return driving[0][1] == driving[1][1] and said != known  # type: ignore[index]  # all of them match
    ours, theirs = _content(said), _content(known)
    alike = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), 0)
    return alike >= 3 and 1 <= len(ours) - alike <= 2 and 1 <= len(theirs) - alike <= 2


def _prefers_otherwise(said: str, known: str) -> bool:
    """Whether one word differs of what is preferred."""
    ours, theirs = (_content(text) for text in (said, known))
    differ = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    return " prefers " in said and " prefers " in known and len(ours) == len(theirs) and len(differ) == 1


def _is_number(word: str) -> bool:
    word = word.rstrip(".,")
    return word[:1].isdigit() or (word in _NUMBER_WORDS and word != "may")


def _says_more(said: str, known: str, new: str, old: str) -> bool:
    """Whether `said` holds all words of `known` in their order, and only adds to them."""
    ours, theirs = _content(said), _content(known)
    if len(ours) <= len(theirs) or not theirs or ours[:2] != theirs[:2] or _negations(said) != _negations(known):
        return False
    following = iter(ours)
    if not all(word in following for word in theirs):
        return False
    more = _counted_out(re.findall(r"[\w']+", said), re.findall(r"[\w']+", known))
    if any(word in _TURNS for word in more) or any(word in _TURNS for word in re.findall(r"[\w']+", known)):
        return False
    return _names_of(old) <= _names_of(new) and _digits(known) <= _digits(said)


def _says_less(said: str, known: str) -> bool:
    """Whether `known` begins with all of `said` and goes on with what it is called or what comes with it."""
    rest = known.removeprefix(said)
    return (
        known.startswith(said)
        and re.match(r" (?:called|named|and|who|which)\b|,", rest) is not None
        and not _negations(rest)
    )


def _counted_out(ours: list[str], theirs: list[str]) -> list[str]:
    left = list(ours)
    for word in theirs:
        if word in left:
            left.remove(word)
    return left


def _content(text: str) -> list[str]:
    stop = STOPWORDS["english"] - {"not", "no"}
    return [term for word in words(text) if word not in stop for term in terms(word)[:1]]


def _telling(text: str) -> set[str]:
    return set(_content(text))


def _bare(text: str) -> list[str]:
    plain_words = [
        word
        for word in re.findall(r"[\w'-]+", text)
        if word not in _NEGATIONS and word not in ("longer", "always", "does", "do", "did", "any", "a", "an", "ever")
    ]
    return [
        term for word in plain_words for term in terms({"has": "have", "is": "be", "are": "be"}.get(word, word))[:1]
    ]


def _negations(text: str) -> list[str]:
    return [word for word in re.findall(r"[\w'-]+", text) if word in _NEGATIONS]


def _same(one: str, other: str) -> bool:
    return _content(one) == _content(other) != []


def _holds(whole: str, part: str) -> bool:
    """Whether all words of `part` are in `whole`, so that one is only told more closely."""
    ours, theirs = _telling(whole), _telling(part)
    return bool(theirs) and theirs <= ours


def _is_one_of_several(subject: str) -> bool:
    return bool(set(subject.split()) & _SEVERAL)


def _owner(text: str) -> str | None:
    """The words before the first verb that is surely one."""
    match = _OWNER.match(text)
    return match["subject"] if match else None


def _names(text: str, subject: str) -> set[str]:
    """Names among the words of the subject, in their own capitals; the first word of a sentence may be none."""
    count = len(subject.split())
    head = text.split()[:count]
    own = head if not text.casefold().startswith(("the ", "a ", "an ")) else head[1:]
    return {
        word.strip(".,'s").casefold() for word in own if word[:1].isupper() and word.casefold() not in ("the", "user's")
    }


def _names_of(text: str) -> set[str]:
    return {re.sub(r"'s$", "", word).casefold() for word in words(text)[1:] if word[:1].isupper()}


def _digits(text: str) -> set[str]:
    return {word for word in re.findall(r"[\w.:]+", text) if any(c.isdigit() for c in word) or word in _NUMBER_WORDS}
