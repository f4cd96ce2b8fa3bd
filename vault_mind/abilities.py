"""What a model's server takes: thinking, schemas, tools. Asked once, and kept in the cache."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vault_mind.errors import VaultMindError
from vault_mind.files import private_folder, read_regular, write_whole

FRESH = 30 * 24 * 3600  # seconds for which an answer is believed; servers get better

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Abilities:
    """What a model takes; `thinking` are the kinds that may be asked for, `dropped` the fields it turned away."""

    thinking: tuple[str, ...] = ()
    schemas: bool = False
    dropped: tuple[str, ...] = ()

    def without(self, field: str) -> "Abilities":
        """The same, `field` of a request turned away."""
        return replace(self, dropped=tuple(sorted({*self.dropped, field})))


PLAIN = Abilities()
UNASKED = Abilities(thinking=("adaptive", "disabled"), schemas=True)  # what today's Claude takes


def told(found: Mapping[str, Any]) -> Abilities:
    """What a model's entry in the Models API says of it; the plain forms where it says nothing."""
    capabilities = _object(found.get("capabilities"))
    types = _object(_object(capabilities.get("thinking")).get("types"))
    return Abilities(
        tuple(kind for kind in ("adaptive", "enabled", "disabled") if _supported(types.get(kind))),
        _supported(capabilities.get("structured_outputs")),
    )


class Known:
    """What is known of each model at each server, in one file of the cache, or (None) in this process only."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._here: dict[str, Abilities] = {}

    def of(self, server: str, model: str) -> Abilities | None:
        """What is known of the model; None when nothing is, or it was long ago."""
        key = f"{server} {model}"
        if key not in self._here and self._file:
            entry = _object(self._read(self._file)[1].get(key))
            asked_at = entry.get("asked_at")
            if isinstance(asked_at, (int, float)) and 0 <= time.time() - asked_at < FRESH:
                self._here[key] = Abilities(
                    _names(entry, "thinking"), entry.get("schemas") is True, _names(entry, "dropped")
                )
        return self._here.get(key)

    def keep(self, server: str, model: str, abilities: Abilities, *, kept: bool = True) -> None:
        """Know it from now on: in this process, and where it is to be `kept`, in the next too."""
        key = f"{server} {model}"
        self._here[key] = abilities
        if not (self._file and kept):
            return
        try:
            private_folder(self._file.parent)
            old, entries = self._read(self._file)
            entries[key] = {"asked_at": time.time(), **asdict(abilities)}
            write_whole(self._file, json.dumps(entries, indent=1).encode(), expected=old)
        except VaultMindError as error:  # the cache is but a cache: it will be asked again
            log.info("what %s takes was not kept", model, exc_info=error)

    @staticmethod
    def _read(file: Path) -> tuple[bytes | None, dict[str, Any]]:
        if not file.exists():
            return None, {}
        try:
            data = read_regular(file)[0]
        except VaultMindError:
            return None, {}
        try:
            return data, dict(_object(json.loads(data)))
        except (ValueError, RecursionError):
            return data, {}


def _names(entry: Mapping[str, Any], field: str) -> tuple[str, ...]:
    names = entry.get(field)
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _supported(capability: object) -> bool:
    return _object(capability).get("supported") is True


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
