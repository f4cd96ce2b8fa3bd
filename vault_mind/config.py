"""The settings, where each came from, and the folders that belong to a vault."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

import platformdirs

from vault_mind.errors import SettingsError, UnreadableError, VaultNotFoundError
from vault_mind.files import read_regular

try:  # as `random` does: hashlib loads OpenSSL, which every search would wait for
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]  # Python 3.12
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256

VAULT_FILE = ".vault-mind.toml"
DEFAULT_VAULT = "~/vault-mind"
PREFIX = "VAULT_MIND_"
ANTHROPIC = "https://api.anthropic.com"
EMBEDDING_KEY = PREFIX + "EMBEDDING_KEY"  # for an address of one's own: no other key is ever sent there


@dataclass(frozen=True)
class Settings:
    """Every setting. Set in the user's or the vault's file, by VAULT_MIND_NAME, or by a flag."""

    model: str = "claude-opus-4-8"
    extraction_model: str = "claude-haiku-4-5"
    max_tokens: int = 16_000
    extraction_max_tokens: int = 1_024
    top_k: int = 6
    history_turns: int = 36
    dedupe_threshold: float = 0.7
    language: str = "english"
    ignore: tuple[str, ...] = ()
    offline: bool = False
    embedding_model: str = "none"
    watch_poll: float = 0.0
    commit: str = "ours"
    recall: str = "both"
    prices: tuple[str, ...] = ()
    learn: str = "always"
    secrets: str = "refuse"
    never: tuple[str, ...] = ()


# A vault may come from somebody else: its file says how to search it, never whom to talk to.
OF_A_VAULT = ("top_k", "history_turns", "dedupe_threshold", "language", "ignore", "commit", "watch_poll")

_CHOICES = {
    "recall": ("off", "auto", "tool", "both"),
    "commit": ("off", "ours", "all"),
    "learn": ("always", "asked", "off"),
    "secrets": ("refuse", "mask"),
}

_MEANINGS = {
    "model": "the model that answers",
    "extraction_model": "the model that proposes memories",
    "max_tokens": "longest answer, in tokens",
    "extraction_max_tokens": "longest list of proposed memories, in tokens",
    "top_k": "memories recalled for a message",
    "history_turns": "exchanges of this chat that are sent along; when there are more, a third of them stays",
    "recall": "how memories reach the model: off, auto (those that bear on the message), tool (it looks), or both",
    "dedupe_threshold": "from this overlap on (0 to 1) two sentences say the same",
    "language": "whose stemming and stopwords search uses (a Snowball name)",
    "ignore": "files not read, as in .gitignore",
    "offline": "never talk to a model",
    "commit": "what becomes a commit: off, ours (each turn), or all (your edits before it, too)",
    "embedding_model": "the model that gives vectors for search by meaning, or none",
    "watch_poll": "seconds between two looks of a watcher, for disks that tell no events; 0: by events",
    "prices": "dollars for a million tokens, as MODEL=IN/OUT or MODEL=IN/OUT/READ/WRITTEN, before the known ones",
    "learn": "whether a chat is learned from: always, asked (when the answering model says so), off",
    "secrets": "what becomes of a memory with a key, a card number, a password in it: refuse, or mask",
    "never": "what is never remembered: words, /regexes/, kind:KIND",
}


_RANGES: Mapping[str, tuple[float, float]] = {
    "dedupe_threshold": (0.0, 1.0),
    "top_k": (0, 100),
    "history_turns": (0, 1000),
    "watch_poll": (0.0, 86_400.0),
}


# What Docker and Kubernetes set by themselves in every container beside a service that is called vault-mind.
_OF_A_SERVICE = re.compile(r"(?:NAME|ENV_.*|SERVICE_HOST|SERVICE_PORT.*|PORT|PORT_\d+_(?:TCP|UDP|SCTP).*)")


@dataclass(frozen=True)
class Config:
    """The settings in force, and for each name where its value came from."""

    settings: Settings
    origins: Mapping[str, str]

    def meaning(self, name: str) -> str:
        """What a setting is for, in a few words."""
        return _MEANINGS[name]


@dataclass(frozen=True)
class Endpoint:
    """How to reach Claude, as the environment says; the secrets never show in a repr."""

    url: str
    key: str = field(repr=False)
    token: str = field(repr=False)

    @property
    def usable(self) -> bool:
        """Whether there is somebody to talk to: a key, or a server of one's own that may need none."""
        return bool(self.key or self.token or self.url != ANTHROPIC)

    @property
    def masked(self) -> str:
        """The key as it may be shown."""
        secret = self.key or self.token
        return f"…{secret[-4:]}" if len(secret) > 12 else "set" if secret else "not set"


def load(vault: Path | None, environment: Mapping[str, str], flags: Mapping[str, object]) -> Config:
    """Defaults < the user's file < the vault's file < environment < flags (None: not given).

    Raises SettingsError for an unknown name, a value that makes no sense, or a file that is no TOML.
    """
    values: dict[str, object] = {}
    origins = {setting.name: "default" for setting in fields(Settings)}
    layers = [(_file(user_file()), str(user_file()))]
    if vault is not None:
        layers.append((_file(vault / VAULT_FILE, only=OF_A_VAULT), str(vault / VAULT_FILE)))
    for setting in fields(Settings):
        name = PREFIX + setting.name.upper()
        if environment.get(name, "").strip():
            layers.append(({setting.name: environment[name].strip()}, name))
    layers.append(({name: value for name, value in flags.items() if value is not None}, "flag"))
    for layer, origin in layers:
        for name, value in layer.items():
            values[name] = _sound(name, value, origin)
            origins[name] = origin
    if "model" in values and "extraction_model" not in values and _own_server(environment):
        values["extraction_model"] = values["model"]  # another server hardly has both of ours
        origins["extraction_model"] = "as model, on a server of one's own"
    return Config(Settings(**values), origins)  # type: ignore[arg-type]  # _sound gave each its type


def strangers(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that begin like ours, hold something and set nothing; for each what may have been meant, or "".

    They are no error: whoever set them may have meant another program.
    """
    known = {PREFIX + setting.name.upper() for setting in fields(Settings)} | {PREFIX + "VAULT", EMBEDDING_KEY}
    found = [
        name
        for name, value in environment.items()
        if name.startswith(PREFIX) and name not in known and value.strip()
        if not _OF_A_SERVICE.fullmatch(name.removeprefix(PREFIX))
    ]
    if not found:
        return {}
    from difflib import get_close_matches  # late: hardly anybody needs it

    names = sorted(name.removeprefix(PREFIX) for name in known)
    near = {name: get_close_matches(name.removeprefix(PREFIX).upper(), names, 1, 0.7) for name in sorted(found)}
    return {name: PREFIX + meant[0] if meant else "" for name, meant in near.items()}


def version() -> str:
    """The version of this program that is installed."""
    from importlib.metadata import version as installed  # late: it costs a tenth of a start

    return installed("vault-mind")


def _own_server(environment: Mapping[str, str]) -> bool:
    url = environment.get("ANTHROPIC_BASE_URL", "").strip()
    return bool(url) and not url.startswith(ANTHROPIC)


def reach(environment: Mapping[str, str]) -> Endpoint:
    """Read ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL, stray blanks and quotes taken off."""
    secrets = {}
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        secret = environment.get(name, "").strip().strip("\"'").strip()
        if not (secret.isascii() and secret.isprintable()) or " " in secret:
            raise SettingsError(name, "malformed key, it holds a blank or a character that no key has", "environment")
        secrets[name] = secret
    url = environment.get("ANTHROPIC_BASE_URL", "").strip().strip("\"'").rstrip("/") or ANTHROPIC
    if not url.startswith(("http://", "https://")):
        raise SettingsError("ANTHROPIC_BASE_URL", f"{url!r} does not begin with http:// or https://", "environment")
    return Endpoint(url, secrets["ANTHROPIC_API_KEY"], secrets["ANTHROPIC_AUTH_TOKEN"])


def find_vault(flag: Path | None, environment: Mapping[str, str], here: Path | None) -> tuple[Path, str]:
    """The vault's folder and how it was chosen: flag, VAULT_MIND_VAULT, the folder one stands in (`here`), default.

    Raises VaultNotFoundError when a folder that was named is none; the default need not exist yet.
    """
    named = str(flag) if flag else environment.get(PREFIX + "VAULT", "").strip()
    if named:
        try:
            folder = Path(named).expanduser()
        except RuntimeError as error:  # ~somebody who is not on this machine
            raise VaultNotFoundError(named, str(error).lower()) from error
        if not folder.is_dir():
            raise VaultNotFoundError(named, "it is a file" if folder.exists() else "no such folder")
        return folder, "--vault" if flag else PREFIX + "VAULT"
    for folder in (here, *here.parents) if here else ():
        with suppress(OSError):  # a folder above us that is closed to us
            if (folder / VAULT_FILE).is_file():
                return folder, "the folder you are in"
    return Path(DEFAULT_VAULT).expanduser(), "default"


def user_file() -> Path:
    """The user's own settings file."""
    return platformdirs.user_config_path("vault-mind") / "config.toml"


def cache_folder(vault: Path) -> Path:
    """Where the vault's index lives; may be deleted at any time."""
    return platformdirs.user_cache_path("vault-mind") / _key(vault)


def state_folder(vault: Path) -> Path:
    """Where the vault's lock, journal and chat history live."""
    return platformdirs.user_state_path("vault-mind") / _key(vault)


def _key(vault: Path) -> str:
    real = vault.resolve()
    readable = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in real.name)[:40]
    return f"{readable or 'vault'}-{sha256(os.fsencode(real)).hexdigest()[:12]}"


def _file(path: Path, only: tuple[str, ...] | None = None) -> dict[str, object]:
    try:
        if not path.exists():
            return {}
    except OSError as error:  # the folder is closed to us
        why = f"it cannot be read: {(error.strerror or str(error)).lower()}; give yourself the right to open its folder"
        raise SettingsError("file", why, str(path)) from error
    try:
        values = _parsed(read_regular(path)[0].decode("utf-8-sig"))
    except UnreadableError as error:
        raise SettingsError("file", f"it cannot be read: {error.why}", str(path)) from error
    except (ValueError, RecursionError) as error:  # what tomllib raises, its own and what it lets pass
        raise SettingsError("file", f"it cannot be read as TOML: {error}", str(path)) from error
    for name in values:
        if only is not None and name not in only and name in _MEANINGS:
            raise SettingsError(name, f"a vault's file may not set it; put it into {user_file()}", str(path))
    return values


def _parsed(text: str) -> dict[str, object]:
    if all(not line or (line.startswith("#") and line.isprintable()) for line in text.split("\n")):
        return {}  # what `init` writes sets nothing
    import tomllib  # late: most vaults and users set nothing, and it compiles many patterns

    return tomllib.loads(text)


def _sound(name: str, value: object, origin: str) -> object:
    known = {setting.name: setting for setting in fields(Settings)}
    if name not in known:
        raise SettingsError(name, f"unknown; known are {', '.join(known)}", origin)
    read, wanted = _READERS[type(known[name].default)]
    try:
        sound = read(value)
    except (TypeError, ValueError) as error:
        raise SettingsError(name, f"{_shown(value)} is no {wanted}", origin) from error
    return _in_range(name, sound, origin)


def _in_range(name: str, value: object, origin: str) -> object:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        lowest, highest = _RANGES.get(name, (1, 1_000_000))
        if not lowest <= value <= highest:
            raise SettingsError(name, f"{value} is not between {lowest} and {highest}", origin)
    if name in _CHOICES and value not in _CHOICES[name]:
        raise SettingsError(name, f"{value!r} is none of {', '.join(_CHOICES[name])}", origin)
    if isinstance(value, str) and not value.strip():
        raise SettingsError(name, "it is empty", origin)
    return value


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # a number with more digits than Python prints
        return "so long a number"


def _boolean(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    try:
        return words[str(value).lower()]
    except KeyError as error:
        raise ValueError(value) from error


def _integer(value: object) -> int:
    return int(str(value))  # by its text: neither true nor 1.5 is a whole number


def _number(value: object) -> float:
    return float(str(value))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _patterns(value: object) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise TypeError(value)
    return tuple(_text(item).strip() for item in items)


_READERS: Mapping[type, tuple[Callable[[object], object], str]] = {
    bool: (_boolean, "yes or no"),
    int: (_integer, "whole number"),
    float: (_number, "number"),
    str: (_text, "text"),
    tuple: (_patterns, "list of patterns"),
}
