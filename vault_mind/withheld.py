"""What must reach no memory: words marked private, secrets, and what the user's rules name. Pure."""

import re
from collections.abc import Sequence
from functools import cached_property

from vault_mind.analysis import terms
from vault_mind.errors import BadPatternError, SettingsError, WithheldError
from vault_mind.secrecy import MASK, masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vault_mind.regex import Pattern

PRIVATE = "[private]"  # stands where private words stood, so that no quote can reach over the gap
REFUSE, MASKED = SECRETS = ("refuse", "mask")  # what the setting `secrets` may say

_TAG = re.compile(r"<\s*(/?)\s*private\s*/?\s*>", re.IGNORECASE)


def public(text: str) -> tuple[str, bool]:
    """`text` with PRIVATE in the place of what stands in <private>…</private>, and whether there was any.

    A tag that is never closed hides all that follows.
    """
    kept, depth, start = "", 0, 0
    for tag in _TAG.finditer(text):
        within = text[start : tag.start()]
        if depth == 0:
            kept += within
        if tag[1]:
            sentence = within.rstrip()[-1:] in tuple(".!?…")  # then what follows is a sentence of its own
            kept += (PRIVATE + "\n" * sentence) if depth == 1 else ""
            depth = max(depth - 1, 0)
        else:
            depth += 1
        start = tag.end()
    rest = PRIVATE if depth else text[start:]
    return kept + rest, kept + rest != text


class Withheld:
    """The user's say on what is never kept: `secrets` is "refuse" or "mask", `never` words, /regexes/, kind:KIND."""

    def __init__(self, secrets: str, never: Sequence[str] = (), language: str = "english") -> None:
        self._secrets, self._never, self._language = secrets, tuple(filter(None, never)), language

    def screened(self, message: str) -> tuple[str, tuple[str, ...]]:
        """What of `message` may be written down at all, and what was taken out, in words that repeat none of it."""
        text, private = public(message)
        text, found = masked(text)
        return text, (*(("words that you marked private",) if private else ()), *found)

    def objection(self, kind: str, *texts: str) -> str | None:
        """Why a memory of that `kind` that says `texts` may not be kept; None when it may."""
        told = "\n".join(texts)
        if PRIVATE in told:
            return "it rests on words that you marked private"
        if self._secrets == REFUSE and (MASK in told or masked(told)[1]):
            return "it holds a secret"
        rule = next((rule for rule in self._never if self._meets(rule, kind, texts)), None)
        return f"your setting `never` says so: {rule}" if rule else None

    def checked(self, kind: str, text: str, tags: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
        """`text` as it may be remembered at the user's own word, and what was masked in it.

        Raises WithheldError for what may not.
        """
        text, private = public(text)
        if private:
            raise WithheldError("it holds words that are marked private", "or write the file yourself")
        masks, found = masked("\n".join((text, *tags)))
        if found and (self._secrets == REFUSE or any(MASK in tag for tag in masks.split("\n")[-len(tags) :] if tags)):
            raise WithheldError(f"it holds {' and '.join(found)}", 'or set secrets = "mask"')
        if found and not any(c.isalnum() for c in masked(text)[0].replace(MASK, "")):
            raise WithheldError(f"it holds {' and '.join(found)} and nothing else", "and say where it is kept")
        if why := self.objection(kind, text, *tags):
            raise WithheldError(why, "or change the setting `never`")
        return masked(text)[0], found

    def _meets(self, rule: str, kind: str, texts: Sequence[str]) -> bool:
        if rule.lower().startswith("kind:"):
            return rule[5:].strip().casefold() == kind.casefold()
        if pattern := self._patterns.get(rule):
            return any(next(iter(pattern.lines(text)), None) is not None for text in texts)
        wanted = terms(rule, self._language)
        return any(_run(wanted, terms(text, self._language)) for text in texts)

    @cached_property
    def _patterns(self) -> "dict[str, Pattern]":
        """The rules that are regexes. Raises SettingsError for one that does not compile."""
        found = {}
        for rule in self._never:
            if match := re.fullmatch(r"/(.+)/(i?)", rule, re.DOTALL):
                from vault_mind.regex import Pattern  # late: few users have such a rule

                try:
                    found[rule] = Pattern(match[1], ignore_case=bool(match[2]))
                except BadPatternError as error:
                    raise SettingsError("never", str(error), rule) from error
        return found


def _run(wanted: Sequence[str], said: Sequence[str]) -> bool:
    """Whether all of `wanted` stand next to each other in `said`."""
    size = len(wanted)
    return size > 0 and any(list(said[at : at + size]) == list(wanted) for at in range(len(said) - size + 1))
