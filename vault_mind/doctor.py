"""What is wrong or odd in a vault, and what to do about each."""

from dataclasses import dataclass

from vault_mind.index import Index
from vault_mind.journal import MOST_TRIES, Journal
from vault_mind.memory import KINDS, NOTE, Memory
from vault_mind.vault import Vault

_ADVICE = (
    ("frontmatter:", "mend the YAML in an editor; until then the file is searched but not changed"),
    ("it is not UTF-8", "save it as UTF-8; until then it is searched as far as it can be read"),
    ("it is UTF-16", "save it as UTF-8; until then it is searched but not changed"),
    ("it holds NUL", "move it out of the vault if it is no text"),
    ("it is too large", "split it, or name it in the `ignore` setting"),
    ("link not followed", "remove the link, or put the file itself into the vault"),
    ("cannot be read", "give yourself the right to read it, or move it away"),
    ("not read", "rename it"),
)


@dataclass(frozen=True)
class Finding:
    """One thing to know: the path it is about (empty: the vault), what it is, and what to do.

    A `remark` needs no doing; anything else makes `doctor` exit with 1.
    """

    path: str
    what: str
    advice: str
    remark: bool = False


def examine(vault: Vault, index: Index, journal: Journal) -> list[Finding]:
    """Every finding, by path, problems first."""
    index.sync()
    found = [Finding(problem.path, problem.what, _advice(problem.what)) for problem in vault.problems()]
    for memory in index.memories():
        found += _of_memory(memory)
    found += _of_journal(journal)
    return sorted(found, key=lambda finding: (finding.remark, finding.path))


def _of_memory(memory: Memory) -> list[Finding]:
    found = []
    if memory.kind not in (*KINDS, NOTE):
        advice = f"fine if you meant it; the usual ones are {', '.join(KINDS)}"
        found.append(Finding(memory.path, f"kind {memory.kind!r} is one of your own", advice, remark=True))
    missing = [key for key in ("kind", "source", "created_at") if not memory.frontmatter.get(key)]
    if missing and not memory.broken:
        advice = "fine: it is searched as a note"
        found.append(Finding(memory.path, f"says no {', '.join(missing)}", advice, remark=True))
    return found


def _of_journal(journal: Journal) -> list[Finding]:
    waiting = journal.waiting()
    given_up = [entry for entry in waiting if entry.exchange.tries >= MOST_TRIES]
    found = []
    if len(waiting) > len(given_up):
        what = f"{len(waiting) - len(given_up)} exchanges wait to be learned from"
        found.append(Finding("", what, "the next chat does it", remark=True))
    if given_up:
        what = f"{len(given_up)} exchanges could not be learned from in {MOST_TRIES} tries"
        found.append(Finding("", what, f"read them and /remember what counts, then delete them: {journal.folder}"))
    what = "an exchange in the journal cannot be read"
    found += [Finding("", f"{what}: {file}", "look at it, then delete it") for file in journal.damaged()]
    return found


def _advice(what: str) -> str:
    return next((advice for start, advice in _ADVICE if what.startswith(start)), "look at it in an editor")
