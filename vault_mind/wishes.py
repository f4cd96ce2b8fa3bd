"""What a message asks to have forgotten, in its writer's own words. Pure."""

import re
from dataclasses import dataclass

from vault_mind.statements import own_sentences
from vault_mind.third_person import SentencePattern, third_person

_PLEASE = (
    r"(?:(?:please|bitte|ok(?:ay)?|now|and|also|so|actually|no|hey|hi|you (?:can|may|should|must)"
    r"|(?:can|could|would|will) you|kannst du)[,:!.]* )*"
)
_ENGLISH = r"(?:forget|delete|erase|remove|stop remembering|do(?:n't| not) remember)(?! to\b)"
_OTHERS = (
    r"(?:vergiss|vergessen sie|lösche?|oublie[sz]?|supprime[sz]?|olvida|borra|dimentica|cancella|vergeet|esqueça"
    r"|esquece|glöm|glem|zapomnij)"
)
_WISH = SentencePattern(
    rf"{_PLEASE}(?:{_ENGLISH}|{_OTHERS})\b,? ?(?:please |bitte )?"
    r"(?P<link>(?:everything|all|what(?:ever)?) (?:you (?:know|remember|have) |i (?:said|told you) )?about"
    r"|(?:the (?:fact|memory|note|one) )?(?:that|about)|what i (?:said|told you) about"
    r"|(?:the|your) (?:memory|note) (?:of|on)|,? ?dass|que|che|dat|att|at|że)?,? ?(?P<what>.+)"
)
_COURTESY = SentencePattern(r",? (?:please|bitte|thanks|thank you)[\s.!]*\Z")
_NOTHING = SentencePattern(
    r"(?:it|that|this|them|him|her|me|what i (?:just )?said|about it|about that|everything|all|das|es)?[\s.!]*\Z"
)
_TASK = SentencePattern(
    r".*\b(?:files?|lines?|folders?|columns?|rows?|functions?|paragraphs?|words?|comments?|branch|spaces|duplicates)\b"
)


@dataclass(frozen=True)
class Wish:
    """Something to forget: a sentence or words that say what, and the stretch of the message that asks for it."""

    text: str
    quote: str


def wishes(message: str) -> list[Wish]:
    """Every wish of `message` that names what to forget; "forget it" names nothing."""
    found = []
    for sentence in own_sentences(message):
        match = _WISH.fullmatch(sentence)
        what = _COURTESY.sub("", match["what"]).strip(" .!?,;:") if match else ""
        if match is None or not what or _NOTHING.match(what) or (_TASK.match(what) and not match["link"]):
            continue
        told = third_person(what) if re.match(r"(?:i|i'm|i've|my)\b", what, re.IGNORECASE) else None
        found.append(Wish(told or what, sentence.strip(" .!?,;:")))
    return found


def asks(message: str, quote: str) -> bool:
    """Whether `quote` lies within a sentence of `message` in which its writer asks to forget something."""
    wanted = " ".join(quote.replace("’", "'").split()).casefold()
    return any(
        wanted in " ".join(wish.quote.split()).casefold() or " ".join(wish.quote.split()).casefold() in wanted
        for wish in wishes(message)
    )
