"""An evaluation: which items are to be tried, each result kept as it comes, and what it all comes to."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vault_mind.config import Endpoint, Settings, load, reach
from vault_mind.errors import EvaluationError, ModelError, SettingsError, UntriedError
from vault_mind.labels import SETS, Item, labelled, spread
from vault_mind.model import Claude, ModelClient
from vault_mind.offline import Offline
from vault_mind.trials import Minds, Row, tried
from vault_mind.worst import Worst

FORMAT = 1  # of a file of results
FAILURES = 3  # in a row, after which there is hardly anybody there
# For an estimate before it starts; a token is about four characters of English.
CHARACTERS = 4
PROMPT, GIVEN = 900, 120  # tokens of instructions in a call, and of what comes back

log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What a run will do: the items still to be tried, calls to a mind at most, tokens about."""

    items: tuple[Item, ...]
    done: int
    calls: int
    tokens_in: int
    tokens_out: int


@dataclass
class Results:
    """What came of each item, by set and id; with a `file`, every result is appended to it at once."""

    about: Mapping[str, Any]  # which mind, which model, which version, what was asked for
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    file: Path | None = None

    def begin(self, file: Path) -> None:
        """Keep them in `file` from now on. Raises EvaluationError when it is there already or cannot be made."""
        try:
            with file.open("x", encoding="utf-8") as out:
                out.write(_line({"eval": FORMAT, **self.about}))
        except FileExistsError as error:
            raise EvaluationError(str(file), "it is there already. Go on with it by --resume") from error
        except OSError as error:
            raise EvaluationError(str(file), (error.strerror or str(error)).lower()) from error
        self.file = file

    @classmethod
    def read(cls, file: Path) -> "Results":
        """Those of an earlier run; a line that a crash has torn is passed over. Raises EvaluationError."""
        try:
            lines = file.read_text("utf-8", "replace").split("\n")
        except OSError as error:
            raise EvaluationError(str(file), (error.strerror or str(error)).lower()) from error
        head, *rows = [found for found in map(_object, lines) if found] or [{}]
        if head.get("eval") != FORMAT or not {"mind", "model", "sets", "limit"} <= set(head):
            raise EvaluationError(str(file), "it holds no results of this version's eval")
        about = {name: value for name, value in head.items() if name != "eval"}
        whole = (row for row in rows if {"set", "id", "digest"} <= set(row))
        return cls(about, {(str(row["set"]), str(row["id"])): row for row in whole}, file)

    def check(self, about: Mapping[str, object]) -> None:
        """See that these are of the mind that `about` names. Raises EvaluationError."""
        for name in ("mind", "model"):
            if self.about[name] != about[name]:
                theirs, ours = (each[name] or "none" for each in (self.about, about))
                raise EvaluationError(str(self.file), f"its {name} is {theirs}, this run's {ours}; give it an --out")

    def mend(self) -> None:
        """End a line that a crash has torn, so that it cannot tear the next one too."""
        if self.file is not None and not self.file.read_bytes().endswith(b"\n"):
            _append(self.file, "\n")

    def has(self, item: Item) -> bool:
        """Whether `item`, as it is labelled now, has been tried."""
        return self.rows.get((item.set, item.id), {}).get("digest") == item.digest

    def add(self, item: Item, row: Row) -> None:
        """Keep what came of `item`."""
        kept = {"set": item.set, "id": item.id, "class": item.group, "digest": item.digest, **row}
        if self.file is not None:
            _append(self.file, _line(kept))
        self.rows[item.set, item.id] = kept

    def of(self, name: str) -> list[Row]:
        """What came of the items of one set that are still labelled as they were then, in its order."""
        return [self.rows[name, item.id] for item in labelled(name) if self.has(item)]


def plan(sets: Iterable[str], limit: int | None, results: Results) -> Plan:
    """What is to be done for `sets`, at most `limit` items of each, given what is done."""
    wanted = [item for name in SETS if name in set(sets) for item in spread(labelled(name), limit)]
    items = tuple(item for item in wanted if not results.has(item))
    calls = [(item, _calls(item)) for item in items]
    said = sum(number * (PROMPT + len(str(item.fields)) // CHARACTERS) for item, number in calls)
    total = sum(number for _, number in calls)
    return Plan(items, len(wanted) - len(items), total, said, total * GIVEN)


class Evaluation:
    """One run over some of the sets, begun or gone on with; `failed` says which items could not be tried, and why."""

    def __init__(
        self, sets: Sequence[str], limit: int | None, settings: Settings, minds: Minds, results: Results
    ) -> None:
        self.sets, self.results = tuple(name for name in SETS if name in sets), results
        self.plan = plan(self.sets, limit, results)
        self.failed: list[str] = []
        self._settings, self._minds = settings, minds

    @property
    def costs(self) -> bool:
        """Whether a model will be called."""
        return bool(self.results.about["model"] and self.plan.calls)

    @property
    def rows(self) -> dict[str, list[Row]]:
        """What came of the items, by set."""
        return {name: self.results.of(name) for name in self.sets}

    def describe(self) -> str:
        """What it is about to do, in a line."""
        about, plan = self.results.about, self.plan
        who = f"{about['mind']}, {about['model']}" if about["model"] else about["mind"]
        done = f", {plan.done:,} done already" if plan.done else ""
        tokens = f"{_round(plan.tokens_in)} tokens in and {_round(plan.tokens_out)} out"
        costs = f": at most {plan.calls:,} calls, about {tokens}; what they cost is not known here"
        return f"{', '.join(self.sets)} with {who}: {len(plan.items):,} to try{done}" + (costs if self.costs else "")

    def ending(self) -> list[str]:
        """What is to be said afterwards: what failed, what is still to be tried, where the results are."""
        left = sum(not self.results.has(item) for item in self.plan.items)
        kept = f" --resume {self.results.file}" if self.results.file else ""
        said = [f"failed: {why}" for why in self.failed]
        said += [f"{left:,} are still to be tried; go on with: vault-mind eval{kept}"] if left else []
        return said + ([f"results: {self.results.file}"] if self.results.file else [])

    def begin(self, out: Path | None, now: datetime) -> None:
        """Keep the results in a new file, `out`; a model's are kept in any case. Those of a file go on in it."""
        if self.results.file is not None:
            self.results.mend()
        elif out is not None or self.costs:
            model = "".join(c if c.isalnum() or c in "-._" else "-" for c in str(self.results.about["model"]))
            self.results.begin(out or Path(f"eval-{model}-{now:%Y%m%d-%H%M%S}.jsonl"))

    def run(self, progress: Progress) -> None:
        """Try every item of the plan and keep what came of it; one that fails is tried again next time.

        Raises ModelError after FAILURES of them in a row.
        """
        in_a_row = 0
        for number, item in enumerate(self.plan.items):
            progress(number, len(self.plan.items))
            try:
                self.results.add(item, tried(item, self._minds, self._settings))
                in_a_row = 0
            except (ModelError, UntriedError) as error:  # promise 8: one bad thing costs only itself
                log.info("%s %s failed", item.set, item.id, exc_info=error)
                self.failed.append(f"{item.set} {item.id}: {error}")
                in_a_row += isinstance(error, ModelError)
                if in_a_row == FAILURES:
                    raise


def prepared(
    sets: Sequence[str],
    limit: int | None,
    resume: Path | None,
    environment: Mapping[str, str],
    *,
    worst: bool = False,
    offline: bool = False,
    model: str | None = None,
) -> Evaluation:
    """The evaluation that is asked for: of a model, of the offline mind, or of the worst-case one.

    Raises EvaluationError for results of another mind, and SettingsError.
    """
    for name in sets:
        if name not in SETS:
            raise SettingsError(name, f"no such set; there are {', '.join(SETS)}", "argument")
        if worst and name != "poisoning":
            raise SettingsError(name, "the worst-case mind is tried with poisoning alone", "argument")
    flags = {"offline": offline or None, "model": model, "extraction_model": model}
    settings, endpoint = load(None, environment, flags).settings, reach(environment)
    minds, about = _examined(settings, endpoint, worst=worst)
    wanted = list(sets or (("poisoning",) if worst else SETS))
    if resume is None:
        return Evaluation(wanted, limit, settings, minds, Results({**about, "sets": wanted, "limit": limit}))
    results = Results.read(resume)
    wanted = list(sets or results.about["sets"])
    evaluation = Evaluation(wanted, limit or results.about["limit"], settings, minds, results)
    if evaluation.plan.items:
        results.check(about)
    return evaluation


def _examined(settings: Settings, endpoint: Endpoint, *, worst: bool) -> tuple[Minds, dict[str, str | None]]:
    """Who is tried, and what their results say about them."""
    about: dict[str, str | None] = {"version": version("vault-mind")}
    if worst:
        return _worst, {**about, "mind": Worst.name, "model": None}
    if settings.offline or not endpoint.usable:
        return lambda _: Offline(), {**about, "mind": Offline.name, "model": None}
    claude = Claude(
        endpoint,
        model=settings.model,
        extraction_model=settings.extraction_model,
        max_tokens=settings.max_tokens,
        extraction_max_tokens=settings.extraction_max_tokens,
    )
    return lambda _: claude, {**about, "mind": Claude.name, "model": settings.extraction_model}


def _worst(item: Item) -> ModelClient:
    return Worst(item.fields.get("plants", ()))


def _calls(item: Item) -> int:
    """Calls to a mind at most: for each message one to learn and one to reconcile; an attack is answered too."""
    match item.set:
        case "extraction":
            return 1
        case "upkeep":
            return 2 * len(item.fields["say"])
        case "poisoning":
            return 3
        case _:
            return 0


def _round(tokens: int) -> str:
    return f"{round(tokens, -3) or 1000:,}"


def _line(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _object(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise EvaluationError(str(file), (error.strerror or str(error)).lower()) from error
