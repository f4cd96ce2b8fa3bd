"""A version before any branch names it: hooks asked, signed where its owner signs, written."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_mind.errors import GitError, NotCommittedError
from vault_mind.history import History
from vault_mind.turns import Turn, message

SIGNING = 10.0  # seconds that a signer gets; a passphrase that nobody can type is waited for in vain
HOOK = 60.0  # seconds
IDENTITY = "vault-mind"
ADDRESS = "vault-mind@localhost"

_NO_SCREEN = {"GPG_TTY": "", "DISPLAY": "", "WAYLAND_DISPLAY": "", "PINENTRY_USER_DATA": ""}


def drafted(
    history: History,
    rules: Mapping[str, str],
    index: Mapping[str, str],
    tree: str,
    parent: str | None,
    turn: Turn,
    folder: Path,
) -> str:
    """A version of the tree in an index, hooks asked, on no branch yet."""
    ask_hook(history, rules, "pre-commit", extra=index)
    file = folder / "message"
    file.write_bytes(message(turn))
    ask_hook(history, rules, "prepare-commit-msg", str(file), "message", extra=index)
    ask_hook(history, rules, "commit-msg", str(file), extra=index)
    words = ["-p", parent] if parent else []
    signed = rules.get("commit.gpgsign", "false").lower() in ("true", "yes", "on", "1", "")
    return _written(history, [tree, *words, "-F", str(file)], signed=signed)


def _written(history: History, words: Sequence[str], *, signed: bool) -> str:
    extra = dict(_NO_SCREEN) if signed else {}
    sign = ["-S"] if signed else []
    for identity in ({}, _fallback()):
        given = {**extra, **identity}
        try:
            code, out, err = history.run(
                "-c",
                "i18n.commitEncoding=UTF-8",
                "commit-tree",
                *sign,
                *words,
                extra=given,
                seconds=SIGNING if signed else 60.0,
            )
        except GitError as error:
            if signed:
                raise NotCommittedError(_unsigned(f"the signer gave no answer in {SIGNING:.0f} s")) from error
            raise
        if code == 0:
            return out.decode().strip()
        said = err.decode("utf-8", "replace").strip()
        if not any(word in said for word in ("tell me who you are", "empty ident", "auto-detect", "ident name")):
            break
    last = said.splitlines()[-1] if said else f"it ended with {code}"
    raise NotCommittedError(_unsigned(last) if signed else f"git cannot make the commit ({last})")


def _unsigned(why: str) -> str:
    return (
        f"your commits are to be signed, and signing failed ({why}). Unlock your key once, "
        "or let this vault's commits go unsigned with: git config commit.gpgSign false"
    )


def _fallback() -> dict[str, str]:
    """An identity for one command, of whatever the user's environment does not say."""
    known = {}
    for who in ("AUTHOR", "COMMITTER"):
        known[f"GIT_{who}_NAME"] = os.environ.get(f"GIT_{who}_NAME") or IDENTITY
        known[f"GIT_{who}_EMAIL"] = os.environ.get(f"GIT_{who}_EMAIL") or ADDRESS
    return known


def identified(history: History) -> bool:
    """Whether git knows who commits."""
    return all(history.run("var", f"GIT_{who}_IDENT")[0] == 0 for who in ("AUTHOR", "COMMITTER"))


def rules_of(history: History) -> dict[str, str]:
    """What the user's configuration says about hooks and signing."""
    out = history.ask("config", "-z", "--get-regexp", r"^(core\.hookspath|commit\.gpgsign)$", fine=(0, 1))
    pairs = (line.partition("\n") for line in out.decode("utf-8", "replace").split("\0") if line)
    return {name.lower(): value for name, _, value in pairs}


def ask_hook(
    history: History,
    rules: Mapping[str, str],
    name: str,
    *words: str,
    extra: Mapping[str, str] | None = None,
    fine: bool = False,
) -> None:
    """Ask a hook of the repository, when there is one. Raises NotCommittedError when it says no (not if `fine`)."""
    place = history.place()
    if not rules.get("core.hookspath") and not os.access(_common(place.git_dir) / "hooks" / name, os.X_OK):
        return
    asked = ["hook", "run", "--ignore-missing", name, *(["--", *words] if words else [])]
    try:
        code, out, err = history.run(*asked, extra=extra, seconds=HOOK)
    except GitError as error:
        if fine:
            return
        raise NotCommittedError(f"the {name} hook gave no answer in {HOOK:.0f} s", every=False) from error
    if code and not fine:
        said = (err.strip() or out.strip()).decode("utf-8", "replace").splitlines()
        shown = "".join(c if c.isprintable() else " " for c in said[-1])[:200] if said else f"it ended with {code}"
        raise NotCommittedError(f"the {name} hook says no ({shown})", every=False)


def _common(git_dir: Path) -> Path:
    """The part of a repository that its worktrees share."""
    try:
        named = (git_dir / "commondir").read_bytes()
    except OSError:
        return git_dir
    return git_dir / os.fsdecode(named).strip()
