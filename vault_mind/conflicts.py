"""Copies that sync tools leave beside a file when two machines changed it, and git's conflict markers in one.

Pure: whether the original is there, and what it says, is for the caller to look at.
"""

import re
from collections.abc import Iterator
from functools import cache

COMPARED = 4_000  # words of each text that are compared
DEEPEST = 5  # copies of copies
ALIKE = 0.75  # share of words in common, in order, from which on two texts are versions of one

# What tools write into the parentheses or behind the name: Dropbox, Nextcloud, ownCloud, Seafile, Obsidian Sync,
# Box, Tresorit, pCloud, Resilio, Synology; Syncthing; rclone; git's mergetool, which shouts.
_SAYS_SO = r"""
    (?P<of>.+?) (?:
        \.sync-conflict-\d{8}-\d{6}(?:-[a-z0-9]{7})?
      | [ ]? [(\[] (?:
            [^()\[\]]* \b(?: conflicted[ ]copy | conflict[ ]copy | sync[ ]conflict | sfconflict
              | in[ ]konflikt[ ]stehende[ ]kopie | konfliktkopie | copie[ ]en[ ]conflit | copia[ ]en[ ]conflicto
              | copia[ ]in[ ]conflitto | c[oó]pia[ ]em[ ]conflito | conflicterende[ ]kopie
              | kopia[ ]powodująca[ ]konflikt | конфликтующая[ ]копия ) \b [^()\[\]]*
          | [^()\[\]]* (?: の競合コピー | 的冲突副本 | 的衝突複本 ) [^()\[\]]*
          | (?: case | unicode[ ]encoding | white[ ]?space | selective[ ]sync | folder | edit ) [ ]conflict
            (?: [ ]\d+ | [ ] [^()\[\]]* \d{4}-\d\d-\d\d [^()\[\]]* )?
        ) [)\]]
      | [ ]? \[conflicted\]
      | [._-] conflict [._-] [\d._-]+
      | \.conflict\d+
      | (?-i: \.Conflict | _[^_]+_[A-Z][a-z]{2}-\d\d-\d{6}-\d{4}_Conflict )
      | (?-i: _(?: BACKUP | BASE | LOCAL | REMOTE )_\d+ )
    )
    """
# Names that people give as well: iCloud and Google Drive number, OneDrive adds the name of the machine.
_MAY_BE = (
    r"(?P<of>.+?)(?: (?:[2-9]|[1-9]\d)| ?\(\d\d?\)|-(?:(?:DESKTOP|LAPTOP|PC|WIN|SURFACE)-?[A-Z0-9]{3,}"
    r"|[\w-]*(?:MacBook|iMac|iPhone|iPad)[\w-]*)|[._-](?i:conflict)| ?\((?i:conflicted)\))"
)
_LAST = frozenset("0123456789)]")
_OURS, _BETWEEN, _THEIRS = ("<" * 7, "=" * 7, ">" * 7)


def originals(stem: str) -> Iterator[tuple[str, bool]]:
    """The stems of the files that one called `stem` may be a copy of, and whether the name alone says so.

    Nearest first: what is a copy of a copy is one of the original as well.
    """
    for _ in range(DEEPEST):
        found = original(stem)
        if found is None:
            return
        yield found
        stem = found[0]


def original(stem: str) -> tuple[str, bool] | None:
    """The first of `originals`."""
    if not stem.isascii() or "onfl" in stem.lower() or stem[-1:].isdigit():
        found = _says_so().fullmatch(stem)
        if found:
            return found["of"], True
    if (stem[-1:] in _LAST or "-" in stem or stem[-8:].lower() == "conflict") and (found := _may_be().fullmatch(stem)):
        return found["of"], False
    return None


@cache
def _says_so() -> re.Pattern[str]:
    """Compiled when first asked for, as the next: it takes milliseconds, and a search looks at few names or none."""
    return re.compile(_SAYS_SO, re.VERBOSE | re.IGNORECASE)


@cache
def _may_be() -> re.Pattern[str]:
    return re.compile(_MAY_BE)


def alike(text: str, other: str) -> bool:
    """Whether two texts are versions of one, by the words that they share."""
    some, others = text.split()[:COMPARED], other.split()[:COMPARED]
    from difflib import SequenceMatcher  # late: only where two such files lie side by side

    match = SequenceMatcher(None, some, others, autojunk=False)
    return match.real_quick_ratio() >= ALIKE and match.quick_ratio() >= ALIKE and match.ratio() >= ALIKE


def unmerged(text: str) -> bool:
    """Whether git left its markers in `text`: all three, each at the beginning of a line, in their order.

    A fenced block that shows such markers is none.
    """
    if _OURS not in text or _THEIRS not in text:
        return False
    wanted, fence = [_OURS, _BETWEEN, _THEIRS], ""
    for line in text.splitlines():
        mark = line.lstrip()[:3]
        if len(wanted) == 3 and mark in ("```", "~~~"):
            fence = "" if fence == mark else fence or mark
        elif not fence and (line == wanted[0] or line.startswith(wanted[0] + " ")):
            wanted.pop(0)
            if not wanted:
                return True
    return False
