"""What a turn wrote, made a version of the vault; and forgetting in such a way that it can come back."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from vault_mind.config import state_folder
from vault_mind.errors import GitError, VaultMindError
from vault_mind.files import in_repository
from vault_mind.memory import Memory
from vault_mind.vault import JOURNAL, Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vault_mind.commits import Outcome
    from vault_mind.history import History
    from vault_mind.journal import Exchange
    from vault_mind.undo import Plan

LONGEST = 200  # characters of a subject
QUEUE = 120.0  # seconds that a turn waits for others, where it may not begin before they are committed
_NOT_YET = "not yet in git: "


@dataclass(frozen=True)
class Forgotten:
    """How something left the vault: `kept` says how it can be had again; `told` are sentences for the user."""

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
        return self._how != "off" and in_repository(self._vault.root)

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
        merging, before, doubts = self._merge_by_keys()
        said = "Begin a vault" if made else "Merge memories key by key"
        return told + doubts + self.write([*made, *merging], [said], {"Source": BEGUN}, before)

    def _merge_by_keys(self) -> tuple[list[str], dict[str, bytes], tuple[str, ...]]:
        """Have git merge memories so on this machine: the file that says so if it is new, what it was, and doubts."""
        from vault_mind.merge_driver import ATTRIBUTES, install  # late, as above

        file = self._vault.root / ATTRIBUTES
        before = file.read_bytes() if file.is_file() else None
        try:
            install(self._vault.root)
        except VaultMindError as error:  # a vault whose merges are git's own is still one
            return [], {}, (f"git merges memories by lines: {error}",)
        if before == file.read_bytes():
            return [], {}, ()
        return [ATTRIBUTES], {} if before is None else {ATTRIBUTES: before}, ()

    @contextmanager
    def turn(self) -> Iterator[tuple[str, ...]]:
        """Around a turn, from before its first write to its commit: with `all`, first commit what the owner edited.

        The vault is then locked to the end, so that no other turn takes what this one writes for an edit. Sentences
        for the user. Raises BusyError.
        """
        if self._how != "all" or not self.on:
            yield ()
            return
        from vault_mind.commits import commit_by_hand  # late, as above

        with self._vault.lock(QUEUE):
            yield _told(commit_by_hand(self.history, "Edited by hand", self._unfinished()))

    def of(self, exchange: "Exchange") -> list[Memory]:
        """Every memory of the vault that was learned from `exchange`.

        Several may be said in one second, from a pipe: they are told apart by the quotes that were found in each.
        """
        at = datetime.fromisoformat(exchange.at).replace(microsecond=0)
        quotes = {one.quote.encode("utf-8", "replace").decode("utf-8") for one in exchange.proposed or ()}
        return [
            memory
            for memory in self._vault.memories()
            if (memory.chat, memory.created_at) == (exchange.chat, at) and (not memory.quote or memory.quote in quotes)
        ]

    def _unfinished(self) -> list[str]:
        """What a learning has written that was cut off: whoever goes on with it makes the version."""
        from vault_mind.journal import MOST_TRIES, Journal  # late, as above

        waiting = (each.exchange for each in Journal(state_folder(self._vault.root) / JOURNAL).waiting())
        begun = (exchange for exchange in waiting if exchange.proposed and exchange.tries < MOST_TRIES)
        return [memory.path for exchange in begun for memory in self.of(exchange)]

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
        import secrets  # late, as above

        from vault_mind.commits import commit  # late, as above

        turn = {"Turn": secrets.token_hex(6), **trailers}
        return _told(commit(self.history, paths, subject(said), turn, before=before))

    def forget(self, memory: Memory, trailers: Mapping[str, str]) -> Forgotten:
        """Take a memory out of the vault. Raises MemoryChangedError when its file is another by now.

        Where turns become versions, `undo` brings it back; elsewhere its file goes to the vault's `.trash`.
        """
        with self.turn() as begun, self._vault.lock():
            held = self._put_by(memory)
            if held:
                self._vault.forget(memory)
            kept = "vault-mind undo brings it back" if held else self._vault.discard(memory)
            told = self.write([memory.path], [f"Forget: {headline(memory)}"], trailers)
            if held and told:
                kept = "once that is in git, vault-mind undo brings it back"
            return Forgotten(kept, once(begun, tuple(_gone(sentence) for sentence in told)))

    def taking_back(self, name: str | None) -> "Plan":
        """How the version of that name, or the last turn, would be taken back.

        Raises UndoRefusedError and VersionNotFoundError.
        """
        from vault_mind.undo import plan  # late, as above

        return plan(self.history, name)

    def take_back(self, planned: "Plan") -> Forgotten:
        """Do it, as a version of its own. Raises MemoryChangedError with all as it was."""
        from vault_mind.undo import undo  # late, as above

        with self._vault.lock():
            import secrets  # late, as above

            trailers = {"Source": "user", "Turn": secrets.token_hex(6)}
            outcome = undo(self.history, planned, f"Undo: {planned.version.subject}"[:LONGEST], trailers)
        told = tuple(sentence.replace("Saved, but", "Done, but", 1) for sentence in _told(outcome))
        if outcome.version is None:
            return Forgotten("once that is in git, vault-mind undo and its id from the log bring it back", told)
        return Forgotten(f"vault-mind undo {outcome.version.id[:10]} brings it back", told)

    def _put_by(self, memory: Memory) -> bool:
        """See that a version holds the file as it is, its owner's edits too; whether one does."""
        if not self.on:
            return False
        from vault_mind.commits import put_by  # late, as above

        return put_by(self.history, memory.path, f"Edited by hand: {memory.path}")


def subject(said: Sequence[str]) -> str:
    """A commit's subject: the first sentence, and how many more there are."""
    first = " ".join(said[0].split()) if said else "vault-mind"
    first = first if len(first) <= LONGEST else first[: LONGEST - 1].rstrip() + "…"
    return first if len(said) < 2 else f"{first} (and {len(said) - 1} more)"


def once(begun: Sequence[str], told: Sequence[str]) -> tuple[str, ...]:
    """The sentences of a turn's beginning and end; a reason why nothing is in git is given once."""
    reasons = [sentence.partition(_NOT_YET)[2] for sentence in told if _NOT_YET in sentence]
    said = (s for s in begun if not any(why.startswith(s.partition(_NOT_YET)[2] or s) for why in reasons))
    return (*said, *told)


def _gone(sentence: str) -> str:
    return sentence.replace("Saved, but", "It is gone from the vault, but that is", 1)


def headline(memory: Memory) -> str:
    """The first line of what it says."""
    return memory.body.strip().partition("\n")[0] or memory.title


def _told(outcome: "Outcome") -> tuple[str, ...]:
    return (*((outcome.why,) if outcome.why else ()), *outcome.left_out)
