"""What a turn wrote, made a version of the vault; and forgetting in such a way that it can come back."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_mind.errors import GitError
from vault_mind.memory import Memory
from vault_mind.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vault_mind.commits import Outcome
    from vault_mind.history import History
    from vault_mind.undo import Plan

LONGEST = 200  # characters of a subject


@dataclass(frozen=True)
class Forgotten:
    """How a memory left the vault: `kept` says where it can be had again; `told` are sentences for the user."""

    kept: str
    told: tuple[str, ...] = ()


class Record:
    """The vault's versions as turns make them; `how` is off, ours, or all (the owner's edits as well, as theirs).

    A version that cannot be made now never fails a turn: what was written stays, and sentences say why.
    """

    def __init__(self, vault: Vault, how: str) -> None:
        self._vault, self._how = vault, how
        self._opened: History | None = None

    @property
    def history(self) -> "History":
        """The vault's git."""
        from vault_mind.history import History  # late: a search starts faster without what asks git

        self._opened = self._opened or History(self._vault.root)
        return self._opened

    @property
    def on(self) -> bool:
        """Whether turns become versions: they are wanted, and the vault has a `.git` in or above it."""
        return self._how != "off" and self.history.wanted

    def start(self, made: Sequence[str]) -> tuple[str, ...]:
        """Give the vault a history: a repository unless it is in one, with what we `made` as a first version.

        Sentences for the user: what was done, or why it could not be.
        """
        from vault_mind.undo import BEGUN  # late, as above

        try:
            new = self.history.start()
        except GitError as error:
            return (f"without a history: {error.why}",)
        top = self.history.place().top
        own = new or top == self.history.root
        told = ("its history is kept by git",) if own else (f"its history is that of {top}",)
        return told + self.write(made, ["Begin a vault"], {"Source": BEGUN})

    def begin(self) -> tuple[str, ...]:
        """Before a turn writes: with `all`, commit what the owner edited. Sentences for the user."""
        if self._how != "all" or not self.on:
            return ()
        from vault_mind.commits import commit_by_hand  # late, as above

        return _told(commit_by_hand(self.history, "Edited by hand"))

    def write(
        self,
        paths: Sequence[str],
        said: Sequence[str],
        trailers: Mapping[str, str],
        before: Mapping[str, bytes] | None = None,
    ) -> tuple[str, ...]:
        """Make one version of `paths`; `said` are the sentences that it says. Sentences for the user.

        `before` are the bytes of files that existed, as the turn found them.
        """
        if not paths or not self.on:
            return ()
        from vault_mind.commits import commit  # late, as above

        turn = {"Turn": secrets.token_hex(6), **trailers}
        return _told(commit(self.history, paths, subject(said), turn, before=before))

    def forget(self, memory: Memory, trailers: Mapping[str, str]) -> Forgotten:
        """Take a memory out of the vault. Raises MemoryChangedError when its file is another by now.

        Where turns become versions, `undo` brings it back; elsewhere its file goes to the vault's `.trash`.
        """
        with self._vault.lock():
            told = self.begin()
            doubts = self._put_by(memory)
            if doubts is None:
                self._vault.forget(memory)
                told += self.write([memory.path], [f"Forget: {headline(memory)}"], trailers)
                return Forgotten("vault-mind undo brings it back", told)
            return Forgotten(self._vault.discard(memory), told + doubts)

    def taking_back(self, name: str | None) -> "Plan":
        """How the version of that name, or the last turn, would be taken back.

        Raises UndoRefusedError and VersionNotFoundError.
        """
        from vault_mind.undo import plan  # late, as above

        return plan(self.history, name)

    def take_back(self, planned: "Plan") -> tuple[str, ...]:
        """Do it, as a version of its own; sentences for the user. Raises MemoryChangedError with all as it was."""
        from vault_mind.undo import undo  # late, as above

        with self._vault.lock():
            trailers = {"Source": "user", "Turn": secrets.token_hex(6)}
            return _told(undo(self.history, planned, f"Undo: {planned.version.subject}"[:LONGEST], trailers))

    def _put_by(self, memory: Memory) -> tuple[str, ...] | None:
        """See that a version holds the file as it is, its owner's edits too; else why none does, in sentences."""
        if not self.on or self.history.off:
            return ()
        from vault_mind.commits import commit  # late, as above

        return _told(commit(self.history, [memory.path], f"Edited by hand: {memory.path}", {})) or None


def subject(said: Sequence[str]) -> str:
    """A commit's subject: the first sentence, and how many more there are."""
    first = " ".join(said[0].split()) if said else "vault-mind"
    first = first if len(first) <= LONGEST else first[: LONGEST - 1].rstrip() + "…"
    return first if len(said) < 2 else f"{first} (and {len(said) - 1} more)"


def headline(memory: Memory) -> str:
    """The first line of what it says."""
    return memory.body.strip().partition("\n")[0] or memory.title


def _told(outcome: "Outcome") -> tuple[str, ...]:
    return (*((outcome.why,) if outcome.why else ()), *outcome.left_out)
