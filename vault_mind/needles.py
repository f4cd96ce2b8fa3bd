"""A text that is to be found wherever it stands, in whatever form programs write it down, and taken out. Pure.

Forms that count: UTF-8 and UTF-16 of either order; composed and decomposed letters; capitals or not; wrapped over
lines, quoted with `>`, set apart by `*`; words joined by - or _ as in a file's name; escaped as in JSON, YAML or a
URL; straight and curly quotation marks. Not looked into: what is compressed, encrypted, or in base64.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import groupby

REPLACEMENTS = (
    "(purged)",
    "(gone)",
)  # legal at any place of Markdown, YAML and JSON; the second if the first is sought
LEAST = 4  # letters; what is shorter stands inside too many words
SHORT = 8  # letters; below, its owner is warned of the same
_TELLING = 3  # words that a sentence must have to be looked for in other files
_PIECE = 1 << 24  # bytes that are looked at in one go
_OVERLAP = 1 << 16  # bytes that two such pieces share

_ALIKE = {"'": "'’‘ʼ", '"': '"“”„', "’": "'’‘ʼ", "“": '"“”„', "”": '"“”„'}
_ESCAPED = {"'": ("''", "\\'"), '"': ('\\"', "&quot;"), "\\": ("\\\\",), "/": ("\\/",), "&": ("&amp;",)}
_BETWEEN = (" ", "\t", "\r", "\n", "\u00a0", "-", "_", "*", ">", "#", "+", "\\")
_BETWEEN_ESCAPED = ("\\n", "\\r", "\\t", "%20", "%0A", "%0D", "\\u00a0")
_WIDE = ("utf-16-le", "utf-16-be")


class Needle:
    """One such text."""

    def __init__(self, text: str) -> None:
        whole = unicodedata.normalize("NFC", text).strip()
        self.text = _inner(whole) or whole

    def __repr__(self) -> str:
        """As it was given."""
        return f"Needle({self.text!r})"

    @property
    def letters(self) -> int:
        """How many letters and digits it has; one of a script without spaces counts as two."""
        return sum(2 if c >= "\u2e80" else 1 for c in self.text if _is_word(c))

    @property
    def telling(self) -> bool:
        """Whether it says enough that it can be looked for in other files without asking."""
        return self.letters >= 12 and (len(self.text.split()) >= _TELLING or any(c >= "\u2e80" for c in self.text))

    def count(self, data: bytes) -> int:
        """How often it stands in `data`, in any form."""
        return sum(len(pattern.findall(data)) for pattern, _ in self._patterns_for(data, data.lower()))

    def within(self, data: bytes, lowered: bytes | None = None) -> bool:
        """Whether it stands in `data`, in any form; whoever asks often gives `data.lower()` too."""
        low = data.lower() if lowered is None else lowered
        return any(pattern.search(data) for pattern, _ in self._patterns_for(data, low))

    def scrubbed(self, data: bytes, replacement: str) -> bytes:
        """`data` without it. In a text `replacement` stands there; in other bytes as many `*` as it was long."""
        for pattern, encoding in self._patterns_for(data, data.lower()):
            put, star = replacement.encode(encoding), "*".encode(encoding)
            blank = _is_binary(data, encoding)
            parts, at = [], 0
            for match in pattern.finditer(data):
                parts += [data[at : match.start()], star * (len(match[0]) // len(star)) if blank else put]
                at = match.end()
            data = b"".join((*parts, data[at:]))
        return data

    @cached_property
    def _run(self) -> bytes:
        """Its longest run of plain letters, which every form holds as it is; nothing can be found without it."""
        return max(re.findall(r"[a-z0-9]+", self.text.lower()), key=len, default="").encode()

    @cache  # noqa: B019  # as long as the needle itself, and there are three
    def _pattern(self, encoding: str) -> re.Pattern[bytes]:
        return re.compile(_pattern(self.text, encoding), re.IGNORECASE)

    def _patterns_for(self, data: bytes, lowered: bytes) -> Iterator[tuple[re.Pattern[bytes], str]]:
        """Of its patterns those that may match in `data`, which most of the time are none."""
        if self._run in lowered:
            yield self._pattern("utf-8"), "utf-8"
        if (b"\0" in data or not data.isascii()) and b"\0".join(bytes([c]) for c in self._run) in lowered:
            for encoding in reversed(_WIDE) if data.startswith(b"\xfe\xff") else _WIDE:
                yield self._pattern(encoding), encoding


class Needles:
    """Several of them, the longest first, so that what holds another is taken out whole."""

    def __init__(self, texts: Iterable[str]) -> None:
        made = {needle.text.casefold(): needle for needle in map(Needle, texts) if needle.letters}
        self.each = tuple(sorted(made.values(), key=lambda needle: -len(needle.text)))
        free = (new for new in REPLACEMENTS if not any(needle.within(new.encode()) for needle in self.each))
        self.replacement = next(free, "…")

    @property
    def texts(self) -> tuple[str, ...]:
        """What is looked for."""
        return tuple(needle.text for needle in self.each)

    def within(self, data: bytes) -> bool:
        """Whether any of them stands in `data`."""
        lowered = data.lower()
        return any(needle.within(data, lowered) for needle in self.each)

    def found(self, data: bytes) -> list[int]:
        """The numbers of those that stand in `data`."""
        lowered = data.lower()
        return [number for number, needle in enumerate(self.each) if needle.within(data, lowered)]

    def scrubbed(self, data: bytes) -> bytes:
        """`data` without any of them."""
        while True:  # what is left and right of a text that went may form another
            new = data
            for needle in self.each:
                new = needle.scrubbed(new, self.replacement)
            if new == data:
                return data
            data = new

    def leaves_nothing(self, text: str) -> bool:
        """Whether a text that was scrubbed says nothing any more."""
        return not any(map(_is_word, text.replace(self.replacement, "")))


def pieces(data: bytes) -> Iterator[bytes]:
    """`data` in pieces that overlap, none of them large."""
    for start in range(0, max(len(data), 1), _PIECE):
        yield data[start : start + _PIECE + _OVERLAP] if len(data) > _PIECE else data


def telling(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Of `texts` those that can be looked for in other files, and those that say too little."""
    needles = [Needle(text) for text in dict.fromkeys(texts) if text.strip()]
    return [n.text for n in needles if n.telling], [n.text for n in needles if not n.telling]


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"


def _inner(text: str) -> str:
    """`text` without the punctuation around it."""
    at = [number for number, character in enumerate(text) if _is_word(character)]
    return text[at[0] : at[-1] + 1] if at else ""


def _is_binary(data: bytes, encoding: str) -> bool:
    if encoding == "utf-8":
        return b"\0" in data
    return not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def _pattern(text: str, encoding: str) -> bytes:
    """The regex of all forms of `text` in `encoding`."""
    parts: list[bytes] = []
    for is_word, characters in groupby(text, _is_word):
        if is_word:
            parts += [_any(_forms(character, encoding), encoding) for character in characters]
        else:  # what stands between two words may be written as anything that sets words apart
            own = [form for character in characters for form in _forms(character, encoding)]
            escaped = _BETWEEN_ESCAPED if encoding == "utf-8" else ()
            parts.append(_any((*_BETWEEN, *escaped, *own), encoding) + b"{1,80}")
    return b"".join(parts)


def _forms(character: str, encoding: str) -> Sequence[str]:
    """Every way to write one character."""
    if character.isascii() and character.isalnum():
        return (character,)
    plain = dict.fromkeys(c for one in _ALIKE.get(character, character) for c in (one, one.lower(), one.upper()))
    both = [unicodedata.normalize(form, c) for c in plain for form in ("NFC", "NFD")]
    forms = dict.fromkeys(both)
    if encoding == "utf-8":
        forms |= dict.fromkeys(_ESCAPED.get(character, ()))
        for one in both:
            forms |= dict.fromkeys(_escapes(one))
        forms |= {form.replace("\\", "\\\\"): None for form in forms}  # JSON within JSON
    return tuple(forms)


def _escapes(text: str) -> Iterator[str]:
    units = text.encode("utf-16-be")
    yield "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))
    yield "".join(f"%{byte:02x}" for byte in text.encode())
    if len(text) == 1:
        yield f"&#{ord(text)};"
        yield f"\\x{ord(text):02x}" if ord(text) < 256 else f"\\U{ord(text):08x}"
        if not text.isascii():  # as the base letter plus an escaped mark, and as git quotes a path
            yield "".join(f"\\{byte:03o}" for byte in text.encode())


def _any(forms: Iterable[str], encoding: str) -> bytes:
    ordered = sorted(dict.fromkeys(forms), key=len, reverse=True)
    return b"(?:" + b"|".join(re.escape(form.encode(encoding)) for form in ordered) + b")"
