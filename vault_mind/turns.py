"""Turns that are to be versions: what each holds, and those that wait, noted in the state folder."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vault_mind.config import state_folder
from vault_mind.errors import VaultMindError
from vault_mind.files import private_folder, read_regular
from vault_mind.history import History


@dataclass(frozen=True)
class Turn:
    """What one commit is to hold: paths of the vault, a subject in the user's language, and trailers."""

    paths: tuple[str, ...]
    subject: str
    trailers: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, bytes] = field(default_factory=dict)
    by_hand: str = ""


def message(turn: Turn) -> bytes:
    """Its commit message: the subject on one line, and the trailers that say something."""

    def line(text: str) -> str:
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())

    trailers = [f"{line(name)}: {line(value)}" for name, value in turn.trailers.items() if line(value)]
    paragraphs = [line(turn.subject) or "vault-mind", *(["\n".join(trailers)] if trailers else [])]
    return ("\n\n".join(paragraphs) + "\n").encode("utf-8", "replace")


def waiting(history: History) -> list[str]:
    """The paths of ours that are on disk and in no version yet."""
    paths = (path for _, turn in noted(history) for path in turn.paths)
    return sorted(dict.fromkeys(paths))


def _notes(history: History) -> Path:
    return state_folder(history.root) / "uncommitted"


def noted(history: History) -> list[tuple[Path, Turn]]:
    """The turns that wait, oldest first, each with its note: a file of its own, so that no two writers meet in one."""
    found = []
    folder = _notes(history)
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        with suppress(VaultMindError, ValueError, KeyError, TypeError):  # a note half written by one that died
            read = json.loads(read_regular(file, None)[0])
            found.append((file, Turn(tuple(map(str, read["paths"])), str(read["subject"]), dict(read["trailers"]))))
    return found


def note(history: History, turn: Turn) -> Path:
    """Note that a turn waits. Raises OSError and WriteFailedError."""
    file = private_folder(_notes(history)) / f"{time.time_ns():020d}-{os.getpid()}.json"
    held = {"paths": turn.paths, "subject": turn.subject, "trailers": dict(turn.trailers)}
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as note:
        json.dump(held, note)  # ASCII: a name that is not UTF-8 is kept as its escapes
    return file
