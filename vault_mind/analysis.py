"""Text and query into terms: the one analysis that ranking, the index and duplicates share."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

from vault_mind.errors import SettingsError

MOST = 256  # terms of a query; somebody who pastes a book asks about its beginning
LONGEST = 64  # characters of a term; what is longer is no word, and both sides are cut alike

# The English stopwords of the Snowball project: question words, pronouns, auxiliaries, contractions.
STOPWORDS = {
    "english": frozenset(
        """
            i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
            hers herself it its itself they them their theirs themselves what which who whom this that these
            those am is are was were be been being have has had having do does did doing would should could
            ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
            they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't
            doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's
            who's what's here's there's when's where's why's how's a an the and but if or because as until while
            of at by for with about against between into through during before after above below to from up down
            in out on off over under again further then once here there when where why how all any both each few
            more most other some such no nor not only own same so than too very
        """.split()
    )
}

# Scripts written without spaces: Thai, Lao, Burmese, Khmer, kana, Han, Hangul (particles join its words).
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and other marks that belong to a letter although Python counts them as no part of a word.
_MARKS = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:(?![{_UNSPACED}])[\w{_MARKS}])"
# Vowels that Hebrew and Arabic are mostly written without.
_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_RUN = re.compile(f"[{_UNSPACED}]+")
_CHUNK = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:['’._-]{_LETTER}+)*[+#]*")
_ASCII_CHUNK = re.compile(r"\w+(?:['._-]\w+)*[+#]*", re.ASCII)
_PARTS = re.compile(rf"(?:[^\W_]|[{_MARKS}])+(?:['’](?:[^\W_]|[{_MARKS}])+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINTS = re.compile(r"[-_'’]|(?<!\d)\.|\.(?!\d)")
# Letters that carry their stroke or ligature inside and so do not come apart under NFKD.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})


def terms(text: str, language: str = "english") -> list[str]:
    """The terms of `text`, in its order, stopwords included; never raises on any text.

    Words are NFKC-normalised, case- and diacritic-folded and Snowball-stemmed; compounds
    (`max_retry_count`, `BilgePump`, `PMP-204`) give their parts and the whole; scripts without
    spaces give bigrams. Raises SettingsError for a language that Snowball does not know.
    """
    return [term for chunk in _chunks(text) for term in _chunk_terms(chunk, language)]


def query_terms(text: str, language: str = "english") -> list[str]:
    """The distinct terms of a query, stopwords left out unless nothing else is left."""
    stopwords = STOPWORDS.get(language, frozenset())
    chunks = list(_chunks(text))
    telling = [chunk for chunk in chunks if _folded(chunk).replace("’", "'") not in stopwords]
    return list(dict.fromkeys(term for chunk in telling or chunks for term in _chunk_terms(chunk, language)))[:MOST]


def words(text: str) -> list[str]:
    """The words of `text` as they were written, compounds whole, punctuation left out."""
    return list(_chunks(text))


def languages() -> list[str]:
    """What Snowball can stem."""
    return [str(name) for name in Stemmer.algorithms()]


def _chunks(text: str) -> Iterator[str]:
    if text.isascii():
        return iter(_ASCII_CHUNK.findall(text))
    return iter(_CHUNK.findall(_POINTS.sub("", unicodedata.normalize("NFKC", text))))


@lru_cache(maxsize=1 << 16)
def _chunk_terms(chunk: str, language: str) -> tuple[str, ...]:
    if _RUN.match(chunk):
        run = chunk[: 1 << 16]
        return (*run, *(run[i : i + 2] for i in range(len(run) - 1)))
    parts = [piece for part in _PARTS.findall(chunk) for piece in _CAMEL.split(part)]
    found = [_stemmed(_folded(part), language) for part in parts]
    whole = _folded(_JOINTS.sub("", chunk))[:LONGEST]
    if len(parts) > 1 or chunk[-1] in "+#":
        found.append(_stemmed(whole, language) if whole.isalnum() else whole)
    return tuple(term for term in found if term)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", bare.replace("’", "'")).translate(_LETTERS)


def _stemmed(word: str, language: str) -> str:
    return str(_stemmer(language).stemWord(word[:LONGEST]))


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Stemmer.Stemmer:
    try:
        return Stemmer.Stemmer(language)
    except KeyError as error:
        raise SettingsError("language", f"unknown {language!r}; known: {', '.join(languages())}", "analysis") from error
