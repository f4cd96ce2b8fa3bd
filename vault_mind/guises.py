"""Text in disguise: characters that nobody sees, and those that look like others, read as what they stand for. Pure."""

import re
import unicodedata
from itertools import chain

FLAG = 6  # tag characters that spell the flag of a region, after its black flag

# Letters of other scripts, brackets and strokes, each with the ASCII that a reader takes it for.
_ALIKE = str.maketrans(
    {
        pair[0]: pair[1]
        for pair in """
            аa сc еe һh іi јj ӏl кk мm оo ѕs ԛq рp тt уy хx ѵv ԝw гr ԁd ɡg ıi ΑA АA ВB ЕE ІI ЈJ КK МM НH ОO РP СC ЅS ТT
            ХX УY αa εe ιi κk νn οo ρp τt υy χx ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX
            \u2039< \u27e8< \u3008< \u2329< \u276c< \u276e< \u29fc< \u02c2< \u1438< \u2044/ \u2215/ \u29f8/
        """.split()
    }
)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0001\U000e007f\U000e0100-\U000e01ef]"
)
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}  # a whole ASCII that no screen shows
_HIDDEN = re.compile(
    f"(\U0001f3f4[\U000e0020-\U000e007e]{{1,{FLAG - 1}}}\U000e007f)|[\U000e0000-\U000e007f]+"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
)
_OPENING = re.compile("[<\uff1c\ufe64\u2039\u27e8\u3008\u2329\u276c\u276e\u29fc\u02c2\u1438]")
WINDOW = 100  # characters after a bracket in which a mark must begin


def plain(text: str) -> str:
    """`text` as somebody reads it who falls for no disguise; only to look at, never to show."""
    if text.isascii():
        return text
    seen = _UNSEEN.sub("", text.translate(_TAGS))
    return unicodedata.normalize("NFKC", seen).translate(_ALIKE)


def shown(text: str) -> str:
    """`text` without what is hidden in characters that no editor shows; flags and emoji stay."""
    return text if text.isascii() else _HIDDEN.sub(lambda found: found[1] or "", text)


def defused(text: str, mark: re.Pattern[str]) -> str:
    """`text` with `&lt;` for the bracket of whatever reads like `mark`, which begins with `<`."""
    text = mark.sub(lambda found: f"&lt;{found[0][1:]}", text)
    if text.isascii():
        return text
    marks = [found.start() for found in _OPENING.finditer(text) if _reads_like(text, found.start(), mark)]
    ends = chain(marks, [len(text)])
    kept, start = [], 0
    for end in ends:
        kept.append(text[start:end])
        start = end + 1
    return "&lt;".join(kept)


def _reads_like(text: str, at: int, mark: re.Pattern[str]) -> bool:
    window = text[at : at + WINDOW]
    read = plain(window)
    padded = len(window) == WINDOW and len(read) < WINDOW // 4  # what follows may lie behind more of the unseen
    return padded or mark.match(read) is not None
