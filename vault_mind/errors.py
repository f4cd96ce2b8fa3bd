"""Every error a user can meet, with its exit code.

The raiser passes facts; the class writes the message: what, where, and what to do next.
Exit codes: 1 is an answer ("no match", "something to fix"), 2 an error, 3 an error of the model's server.
"""

from collections.abc import Sequence


def _told(name: str) -> str:
    """A name as it may stand in a sentence: what is no printable character is spelt out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)


class VaultMindError(Exception):
    """The root of every error that vault-mind raises on purpose."""

    exit_code = 2


class SettingsError(VaultMindError):
    """A setting that is unknown or makes no sense."""

    def __init__(self, name: str, why: str, where: str) -> None:
        super().__init__(f"setting {name} ({where}): {why}")


class VaultNotFoundError(VaultMindError):
    """The folder that was named is not there."""

    def __init__(self, folder: str, why: str = "no such folder") -> None:
        super().__init__(f"{_told(folder)} is not a vault: {why}. Make one with: vault-mind init {_told(folder)}")


class MemoryNotFoundError(VaultMindError):
    """No memory goes by that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no memory is named by {name!r}. See them with: vault-mind list")


class AmbiguousNameError(VaultMindError):
    """A name that several memories share; `paths` are all of them."""

    def __init__(self, name: str, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        shown = "\n".join(f"  {_told(path)}" for path in self.paths[:20])
        more = f"\n  and {len(self.paths) - 20} more" if len(self.paths) > 20 else ""
        super().__init__(f"{name!r} names {len(self.paths)} memories; say more of the path:\n{shown}{more}")


class PathRefusedError(VaultMindError):
    """A path that vault-mind neither reads nor writes."""

    def __init__(self, path: str, why: str) -> None:
        self.why = why
        super().__init__(f"{_told(path)}: refused, {why}")


class UnreadableError(VaultMindError):
    """A file that is there and cannot be read; `passing`: perhaps only now, as what is kept in a cloud."""

    def __init__(self, path: str, why: str, *, passing: bool = False) -> None:
        self.why = why
        self.passing = passing
        super().__init__(f"{_told(path)}: cannot be read: {why}")


class UnsafeChangeError(VaultMindError):
    """A change that could touch more than was meant; nothing was written."""

    def __init__(self, path: str, why: str) -> None:
        self.why = why
        super().__init__(f"{_told(path)}: not changed, {why}. Edit it by hand: vault-mind edit {_told(path)}")


class MemoryChangedError(VaultMindError):
    """Somebody else wrote the file since it was read; theirs stays, nothing was written."""

    def __init__(
        self, path: str, why: str = "somebody else changed it in the meantime", advice: str = "Look at it and try again"
    ) -> None:
        super().__init__(f"{_told(path)}: not changed, {why}. {advice}")


class ConflictError(MemoryChangedError):
    """Somebody else's change and ours do not go together: theirs stays at `path`, ours is in the file `copy`.

    `copy` is None when the disk did not take it.
    """

    def __init__(self, path: str, copy: str | None, why: str) -> None:
        self.path, self.copy = path, copy
        kept = f"Your version is in {_told(copy)}" if copy else "Your version could not be kept beside it"
        advice = f"{kept}: bring the two together, then delete that one" if copy else f"{kept}: make the change again"
        super().__init__(path, why, advice)


class WriteFailedError(VaultMindError):
    """The disk said no; the old file, if any, is as it was."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{_told(path)}: not written, {why}. What was there before is unchanged")


class BusyError(VaultMindError):
    """Another process held a lock for longer than we wait."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} is in use by another vault-mind process (waited {seconds:.0f} s). Try again")


class GitError(VaultMindError):
    """git did not do what it was asked; `question` is its subcommand, `why` what it said."""

    def __init__(self, question: str, why: str) -> None:
        self.question = question
        self.why = why
        super().__init__(f"git {question}: {why}")


class NotCommittedError(VaultMindError):
    """Files that are written and cannot be committed now; `every`: nor can any others."""

    def __init__(self, why: str, *, every: bool = True) -> None:
        self.why = why
        self.every = every
        super().__init__(f"saved, but not yet in git: {why}. The next commit takes it along")


class VersionNotFoundError(VaultMindError):
    """No version of the vault goes by that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no version is named by {name!r}. See them with: vault-mind log")


class NothingToUndoError(VersionNotFoundError):
    """Every turn is taken back, or there was none."""

    def __init__(self) -> None:
        VaultMindError.__init__(self, "there is no turn left to take back. See the versions with: vault-mind log")


class NoHistoryError(VaultMindError):
    """The past was asked of a vault that has none; `why` says what to do about it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"there is no history: {why}")


class UndoRefusedError(VaultMindError):
    """A version that cannot be taken back without touching what came later; nothing was written."""

    def __init__(self, what: str, why: str) -> None:
        self.why = why
        super().__init__(f"{_told(what)}: not undone, {why}")


class PurgeRefusedError(VaultMindError):
    """History was not rewritten, and nothing else was changed; `advice` says what to do first."""

    def __init__(self, why: str, advice: str) -> None:
        self.why = why
        self.advice = advice
        super().__init__(f"nothing was purged: {why}. {advice}")


class UnwritableTextError(VaultMindError):
    """A text that cannot be a memory."""

    def __init__(self, why: str) -> None:
        super().__init__(f"nothing was remembered: {why}")


class BadPatternError(VaultMindError):
    """A regex that does not compile; `position` counts characters from 0, None when unknown."""

    def __init__(self, pattern: str, why: str, position: int | None) -> None:
        self.position = position
        at = "" if position is None else f" at position {position}"
        super().__init__(f"bad pattern {pattern!r}: {why}{at}")


class QueryError(VaultMindError):
    """An operator of a query whose value makes no sense."""

    def __init__(self, clause: str, why: str) -> None:
        super().__init__(f"{_told(clause)}: {why}")


class EditorError(VaultMindError):
    """The editor could not be started or ended in an error."""

    def __init__(self, editor: str, why: str) -> None:
        super().__init__(f"editor {editor!r}: {why}. Set EDITOR to one that works")


class ModelError(VaultMindError):
    """The model gave no usable answer; `advice` says what to do, `answered` whether a server spoke at all.

    `too_long`: what was sent is more than the model can take.
    """

    exit_code = 3

    def __init__(self, why: str, advice: str, *, answered: bool = True, too_long: bool = False) -> None:
        self.why = why
        self.answered = answered
        self.too_long = too_long
        super().__init__(f"{why}. {advice}" if advice else why)


class EmbeddingError(VaultMindError):
    """No vectors could be had; `of_text`: because of what was sent, so that other texts may still pass."""

    exit_code = 3

    def __init__(self, why: str, advice: str, *, of_text: bool = False) -> None:
        self.why = why
        self.of_text = of_text
        super().__init__(f"{why}. {advice}")


class EvaluationError(VaultMindError):
    """A file of results that an evaluation cannot use."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"{_told(file)}: {why}")


class UntriedError(VaultMindError):
    """An item of an evaluation that cannot be tried here."""

    def __init__(self, why: str) -> None:
        super().__init__(f"it cannot be tried here: {why}")


class WithheldError(VaultMindError):
    """A text that the user's own settings keep out of the memories."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(f"nothing was remembered: {why}. Say it without, {advice}")
