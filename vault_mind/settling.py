"""A tidy's proposals carried out: marked, checked by questions made before, taken back where a fact is not found.

Only then is what stays made a version. Each mark is right by itself and nothing is deleted, so that a crash leaves
no fact nowhere: the next tidy goes on.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from vault_mind.analysis import STOPWORDS, words
from vault_mind.config import Settings
from vault_mind.contradictions import QUOTED, shared
from vault_mind.duplicates import Progress, lost
from vault_mind.errors import VaultMindError
from vault_mind.index import Index
from vault_mind.memory import Memory, revise
from vault_mind.ranking import language_of
from vault_mind.record import Record, once
from vault_mind.tidying import Proposal, Written, changes
from vault_mind.vault import Problem, Vault

FEW = 4  # telling words from which on half of them are a question, too

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """Something that was asked before and found `old`, or the memory that is kept for it; so it has to afterwards."""

    asked: str
    old: Memory
    kept: Memory


@dataclass
class Settled:
    """What became of proposals: `done` with what was really marked, `back` those taken back and why.

    `left` is what was not even begun, or not wholly; `told` are sentences for the user.
    """

    done: list[Proposal] = field(default_factory=list)
    back: list[tuple[Proposal, str]] = field(default_factory=list)
    left: list[Problem] = field(default_factory=list)
    questions: int = 0
    told: tuple[str, ...] = ()


def questions(old: Memory, kept: Memory, language: str, *, outdated: bool = False) -> list[str]:
    """What a user may ask to find what `old` says: its own words, half of them, their quote, its tags and names.

    Of what is out of date only what it shares with the newer one is still asked.
    """
    language = language_of(old, language)
    body = old.body[:QUOTED]
    if outdated:
        asked = [" ".join(shared(body, kept.body, language))]
    else:
        telling = [word for word in words(body) if word.casefold() not in STOPWORDS.get(language, frozenset())]
        middle = len(telling) // 2
        halves = [telling[:middle], telling[middle:]] if len(telling) >= FEW else []
        asked = [body, old.quote or "", *map(" ".join, halves), " ".join((*old.tags, *old.aliases))]
    return list(dict.fromkeys(question for question in asked if question.strip()))


class Settling:
    """Proposals on their way into one vault, all of them seen at the moment `at`."""

    def __init__(self, vault: Vault, index: Index, record: Record, settings: Settings, at: datetime) -> None:
        self._vault, self._index, self._record, self._settings, self._at = vault, index, record, settings, at
        self._written: dict[str, list[tuple[Memory, Memory]]] = {}  # by path of what is kept: what was, what is

    def link(self, memory: Memory) -> str:
        """How a wikilink names the memory: by its stem, where no other has it, else by its path."""
        return memory.stem if len(self._index.named(memory.path)) < 2 else memory.path.rpartition(".")[0]

    def carry_out(self, proposals: Sequence[Proposal], progress: Progress = lambda *_: None) -> Settled:
        """Mark what `proposals` name, check it, take back what fails, and make one version of the rest.

        Whatever stops it before the version is made, Ctrl-C too, everything is taken back. Raises BusyError.
        """
        settled = Settled()
        with self._record.turn() as begun, self._vault.lock():
            self._index.sync()
            asked = [question for proposal in proposals for question in self._questions(proposal)]
            settled.questions = len(asked)
            try:
                for number, proposal in enumerate(proposals):
                    progress(number, len(proposals))
                    self._mark(proposal, settled)
                self._check(asked, settled)
            except BaseException:  # Ctrl-C among them
                for path in list(self._written):
                    self._take_back(path, settled)
                raise
            steps = [step for each in self._written.values() for step in each]
            before = {old.path: old.text.encode() for old, _ in reversed(steps)}
            told = self._record.write(list(before), [subject(settled.done)], {"Source": "user"}, before)
            settled.told = once(begun, told)
        return settled

    def _questions(self, proposal: Proposal) -> list[Question]:
        """The questions that find the fact now."""
        paths = {proposal.kept.path, *(memory.path for memory in proposal.gone)}
        language = self._settings.language
        asked = (
            Question(words, old, proposal.kept)
            for old in proposal.gone
            for words in questions(old, proposal.kept, language, outdated=proposal.outdated)
        )
        return [question for question in asked if not paths.isdisjoint(self._answers(question.asked))]

    def _answers(self, asked: str) -> list[str]:
        """The paths that a chat would recall for it."""
        return [hit.memory.path for hit in self._index.ranked(asked, self._settings.top_k, now=self._at)]

    def _mark(self, proposal: Proposal, settled: Settled) -> None:
        """Change the one that is kept, then mark the others; what is not as it was seen is left, and told."""
        steps = self._written.setdefault(proposal.kept.path, [])
        begun = len(steps)
        seen = next((new for _, new in reversed(steps) if new.path == proposal.kept.path), proposal.kept)
        (kept, keys), *others = changes(replace(proposal, kept=seen), self.link, self._at)
        if not self._changed(kept, keys, steps, settled.left):
            return
        gone = [memory for memory, mark in others if self._changed(memory, mark, steps, settled.left)]
        if gone:
            settled.done.append(replace(proposal, gone=tuple(gone)))
        else:
            self._put_back(steps[begun:], settled)
            del steps[begun:]

    def _changed(self, memory: Memory, keys: Written, steps: list[tuple[Memory, Memory]], left: list[Problem]) -> bool:
        """Set `keys` in a memory that is just as it was seen; whether that could be done."""
        try:
            now = self._vault.read(memory.path)
            if now.text != memory.text or not now.current(self._at):
                left.append(Problem(memory.path, "left as it is: somebody changed it meanwhile"))
                return False
            new = replace(now, text=revise(now, keys))
            if new.text != now.text:
                steps.append((now, new))  # first, so that whatever stops us finds what to take back
                self._vault.change(now, keys, on_top=False)
        except VaultMindError as error:  # promise 8: one bad file costs only itself
            log.info("%s is left", memory.path, exc_info=error)
            steps[:] = [step for step in steps if step[0].text != memory.text or step[0].path != memory.path]
            left.append(Problem(memory.path, f"left as it is: {str(error).removeprefix(f'{memory.path}: ')}"))
            return False
        return True

    def _check(self, asked: Iterable[Question], settled: Settled) -> None:
        """Take back whatever does not hold, and look again, until all that is left holds."""
        every = list(asked)
        while True:
            self._index.sync()
            done = {memory.path: proposal for proposal in settled.done for memory in proposal.gone}
            why: dict[str, str] = {}
            for proposal in settled.done:
                if wrong := self._wrong(proposal):
                    why.setdefault(proposal.kept.path, wrong)
            for question in every:
                kept = question.kept.path
                if question.old.path in done and kept not in why and kept not in self._answers(question.asked):
                    why[kept] = f"{_cut(question.asked)} would not find it any more"
            if not why:
                return
            for path, reason in why.items():
                self._take_back(path, settled)
                settled.back += [(proposal, reason) for proposal in settled.done if proposal.kept.path == path]
            settled.done = [proposal for proposal in settled.done if proposal.kept.path not in why]

    def _wrong(self, proposal: Proposal) -> str:
        """What is wrong with a proposal that has been written; nothing where it holds."""
        try:
            kept = self._vault.read(proposal.kept.path)
        except VaultMindError as error:
            return str(error)
        if not kept.current(self._at):
            return f"{kept.path} is no longer current"
        if proposal.outdated:
            return "" if kept.body == proposal.kept.body else f"{kept.path} says something else by now"
        missing = {term for old in proposal.gone for term in lost(old, kept, self._settings.language)}
        return f"{kept.path} does not say: {', '.join(sorted(missing))}" if missing else ""

    def _take_back(self, kept: str, settled: Settled) -> None:
        """Make all files that were written for the one at `kept` as they were; others' edits since stay."""
        self._put_back(self._written.pop(kept, []), settled)

    def _put_back(self, steps: Sequence[tuple[Memory, Memory]], settled: Settled) -> None:
        for old, new in reversed(steps):
            try:
                self._vault.put_back(old, new)
            except VaultMindError as error:
                log.info("%s is not put back whole", old.path, exc_info=error)
                self._unmark(old, new, settled)

    def _unmark(self, old: Memory, new: Memory, settled: Settled) -> None:
        """Take what we set out of a file that somebody has edited since."""
        try:
            now = self._vault.read(old.path)
            ours = {key: value for key, value in new.frontmatter.items() if old.frontmatter.get(key) != value}
            still = [key for key, value in ours.items() if now.frontmatter.get(key) == value]
            if still:
                self._vault.change(now, {key: _as_written(old.frontmatter.get(key)) for key in still})
        except VaultMindError as error:
            settled.left.append(Problem(old.path, f"not taken back: {str(error).removeprefix(f'{old.path}: ')}"))


def subject(done: Sequence[Proposal]) -> str:
    """What a version says of it."""
    counts = [sum(len(each.gone) for each in done if each.outdated is kind) for kind in (False, True)]
    same, old = counts
    parts = [
        f"{same} memories that said what others say" if same > 1 else "1 memory that said what another says",
        f"{old} memories that are out of date" if old > 1 else "1 memory that is out of date",
    ]
    return "Tidy: " + " and ".join(part for part, count in zip(parts, counts, strict=True) if count)


def _as_written(value: object) -> str | list[str] | None:
    """A key's value as it is set again; None where there was none."""
    if isinstance(value, list):
        return [each for each in value if isinstance(each, str)]
    return value if isinstance(value, str) else None


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= 60 else line[:59].rstrip() + '…'}”"
