"""What a reply says of learning: by a mark that nobody is shown, that it is worth it; or that it is done. Pure."""

import re
from collections.abc import Generator, Iterable

MARK = "<learn/>"
ASKED = f"""

When the user's last message tells something of themselves, their people, things, work or wishes that is worth \
remembering for years, changes such a thing, or asks you to forget one, end your reply with a last line that holds \
{MARK} and nothing else; it is taken out before the user sees it. Leave it out of every other reply."""

# The mark, or as much of its beginning as a text may end with; and the blanks before it.
_END = re.compile(r"\s*(?:<(?:l(?:e(?:a(?:r(?:n(?:\s*(?:/\s*(?:>\s*)?)?)?)?)?)?)?)?)?\Z", re.IGNORECASE)
_WHOLE = re.compile(r"\s*<learn\s*/\s*>\s*", re.IGNORECASE)
_DONE = (
    r"(?:saved|stored|noted|recorded|captured|memori[sz]ed|remembered|forgotten|deleted|erased|removed|updated|gespeichert"
    r"|gemerkt|notiert|gelöscht|vergessen)\b"
)
_CLAIM = re.compile(
    rf"(?:^|[.!,:;–—-]\s+|\b(?:i|i've|i have|it's|it is|that's|now|already|been|habe ich) (?:now |already )?){_DONE}"
    r"|\bi(?:'ll| will|'ve| have) (?:remember|made a note)\b",
    re.IGNORECASE | re.MULTILINE,
)


def claims(reply: str) -> bool:
    """Whether `reply` says that something was saved or forgotten, which only the program can know."""
    own = "\n".join(line for line in reply.replace("’", "'").splitlines() if not line.startswith(">"))
    return bool(_CLAIM.search(own))


class Unmarked:
    """The pieces of a reply without the mark at its end; afterwards `worth` says whether it stood there.

    Where it was not `asked` for, the pieces are given as they come.
    """

    def __init__(self, pieces: Iterable[str], *, asked: bool = True) -> None:
        self._pieces, self._asked = pieces, asked
        self.worth = False

    def __iter__(self) -> Generator[str, None, object]:
        """The pieces; what may yet turn out to be the mark is held back. It ends in what they end in."""
        pieces = iter(self._pieces)
        held, ended = "", None
        while True:
            try:
                held += next(pieces)
            except StopIteration as stop:
                ended = stop.value
                break
            if not self._asked:
                yield held
                held = ""
                continue
            end = _END.search(held, max(0, len(held) - 200))
            start = end.start() if end else len(held)
            if start:
                yield held[:start]
            held = held[start:]
        self.worth = self._asked and bool(_WHOLE.fullmatch(held))
        if held and not self.worth:
            yield held
        return ended
