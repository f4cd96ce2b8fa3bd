"""git, run: in the repository around one folder and no other, bounded in time, asking nobody anything."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer

from vault_mind.errors import GitError

SECONDS = 60.0  # that one question to git may take; rewriting history is given more

# What git itself takes for the place of a repository (`git rev-parse --local-env-vars`), and what would change
# what it prints or runs. Identity (GIT_AUTHOR_*, GIT_COMMITTER_*) and the user's configuration stay.
_STRIPPED = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CEILING_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_CONFIG_COUNT"
    " GIT_CONFIG_PARAMETERS GIT_DIFF_OPTS GIT_DIR GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_EXTERNAL_DIFF"
    " GIT_GLOB_PATHSPECS GIT_GRAFT_FILE GIT_ICASE_PATHSPECS GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE"
    " GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_NOGLOB_PATHSPECS GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY"
    " GIT_PREFIX GIT_QUARANTINE_PATH GIT_REFLOG_ACTION GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE GIT_WORK_TREE"
).split()
_SET = {
    "GIT_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
    "SSH_ASKPASS": "true",
}
# A vault may come from somebody else: its repository may not name programs to run while we only look.
_ALWAYS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "color.ui=false")


def installed() -> bool:
    """Whether there is a git to run."""
    return shutil.which("git") is not None


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment that git is given, with `extra` on top."""
    kept = {name: value for name, value in os.environ.items() if name not in _STRIPPED}
    kept = {name: value for name, value in kept.items() if not name.startswith("GIT_TRACE")}
    return {**kept, **_SET, **(extra or {})}


def ask(
    folder: Path,
    *words: str,
    given: bytes | None = None,
    extra: Mapping[str, str] | None = None,
    fine: tuple[int, ...] = (0,),
    seconds: float = SECONDS,
) -> bytes:
    """What `git WORDS` prints in `folder`, fed with `given`. Raises GitError for any other exit code than `fine`."""
    code, out, err = run(folder, *words, given=given, extra=extra, seconds=seconds)
    if code not in fine:
        question = next(word for before, word in zip(("", *words), words, strict=False) if "-c" not in (before, word))
        raise GitError(question, err.decode("utf-8", "replace").strip() or f"it ended with {code}")
    return out


def run(
    folder: Path,
    *words: str,
    given: bytes | None = None,
    extra: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors of `git WORDS` in `folder`.

    Raises GitError when there is no git, the folder is gone, or it takes longer than `seconds`: it is then killed,
    with whatever it started.
    """
    process = _started(folder, words, extra, subprocess.PIPE if given is not None else subprocess.DEVNULL)
    try:
        out, err = process.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise GitError(words[0], f"it took longer than {seconds:.0f} s") from error
    finally:
        if process.poll() is None:  # too long, or Ctrl-C here
            _kill(process)
    return process.returncode, out, err


@contextmanager
def talking(
    folder: Path, *words: str, extra: Mapping[str, str] | None = None, seconds: float = 3600.0
) -> Iterator["subprocess.Popen[bytes]"]:
    """`git WORDS` in `folder`, running: for what is too much to be held at once. It ends with the block.

    Raises GitError when it fails; after `seconds` it is killed.
    """
    with TemporaryFile() as errors:
        process = _started(folder, words, extra, subprocess.PIPE, errors.fileno())
        bell = Timer(seconds, process.kill)
        bell.daemon = True
        bell.start()
        try:
            yield process
        except BrokenPipeError:  # it ended before it had heard all
            process.wait()
        finally:
            bell.cancel()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]  # it was made just now
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                _kill(process)
        if process.returncode:
            errors.seek(0)
            why = errors.read().decode("utf-8", "replace").strip()
            raise GitError(words[0], why or f"it ended with {process.returncode}")


def _started(
    folder: Path, words: tuple[str, ...], extra: Mapping[str, str] | None, given: int, errors: int = subprocess.PIPE
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603  # git, with words that we chose
            ["git", *_ALWAYS, *words],  # noqa: S607  # the user's own git
            cwd=folder,
            env=environment(extra),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # no terminal to ask at; and Ctrl-C does not end it in the middle of a commit
        )
    except OSError as error:
        why = "git is not installed" if folder.is_dir() else f"{folder} is no folder"
        raise GitError(words[0], why) from error


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End it and what it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, 15)
        else:
            process.terminate()
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
