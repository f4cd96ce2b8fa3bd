"""File names that other systems cannot hold. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

LONGEST_NAME = 255  # bytes; where Linux ends a name
LONGEST_PATH = 240  # characters below the vault; Windows ends a path at 260, the vault's own folder among them

_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) *(?:\..*)?", re.IGNORECASE | re.DOTALL
)
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]')


def unfit(name: str) -> str | None:
    """Why some system cannot hold a file or folder of this one name; None when every system can."""
    if found := _FORBIDDEN.search(name):
        shown = found[0] if found[0].isprintable() else ascii(found[0])[1:-1]
        return f"Windows and Android allow no {shown} in a name"
    if name.endswith((" ", ".")):
        return "Windows drops the dot or blank at the end of a name"
    if _RESERVED.fullmatch(name):
        return f"Windows keeps the name {name.partition('.')[0].strip()} for itself"
    return None


def too_long(path: str) -> str | None:
    """Why a path, relative to the vault, is too long for some system; None when it is not."""
    longest = max((len(part.encode("utf-8", "surrogateescape")) for part in path.split("/")), default=0)
    if longest > LONGEST_NAME:
        return f"a name of {longest} bytes is too long for Linux, which ends one at {LONGEST_NAME}"
    characters = len(path.encode("utf-16-le", "surrogatepass")) // 2  # as Windows counts them
    if characters > LONGEST_PATH:
        return f"a path of {characters} characters is too long for Windows, which ends one at 260 with all folders"
    return None


def alike(paths: Iterable[str]) -> Iterator[list[str]]:
    """Files or folders of one folder whose names differ only in case or Unicode form: some systems hold but one.

    Folders are told from the `paths` of the files in them and end in `/`.
    """
    places: dict[str, None] = {}
    for path in paths:
        places[path] = None
        folder = path.rpartition("/")[0]
        while folder and f"{folder}/" not in places:
            places[f"{folder}/"] = None
            folder = folder.rpartition("/")[0]
    groups: dict[tuple[str, str], list[str]] = {}
    for place in places:
        folder, _, name = place.removesuffix("/").rpartition("/")
        groups.setdefault((folder, _as_one(name)), []).append(place)
    return (sorted(group) for group in groups.values() if len(group) > 1)


def _as_one(name: str) -> str:
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
