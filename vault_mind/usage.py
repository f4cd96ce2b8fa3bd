"""Tokens that a model's server counted: kept, added up, and priced where a price is known."""

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

from vault_mind.config import ANTHROPIC
from vault_mind.errors import SettingsError, VaultMindError
from vault_mind.files import private_folder

ANSWER, LEARNING = "answer", "learning"
MILLION = 1_000_000

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Usage:
    """Tokens in, as the server bills them: `fresh` ones, those `read` from its cache and `written` to it; and `out`.

    `uncounted` are about as many as came of replies that were cut short before their server said how many.
    """

    fresh: int = 0
    read: int = 0
    written: int = 0
    out: int = 0
    uncounted: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))

    @property
    def sent(self) -> int:
        """All tokens in."""
        return self.fresh + self.read + self.written


@dataclass(frozen=True)
class Spent:
    """What one request used: when, `use` (answer or learning), whose model, at which server.

    `turn` counts the turns of the chat that it belongs to, from 1; 0: to none of them, or not known any more.
    """

    at: datetime
    use: str
    model: str
    server: str
    usage: Usage
    turn: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens of each kind."""

    fresh: Decimal
    out: Decimal
    read: Decimal
    written: Decimal

    def of(self, usage: Usage) -> Decimal:
        """What `usage` costs."""
        parts = ((self.fresh, usage.fresh), (self.out, usage.out), (self.read, usage.read))
        return (sum((price * tokens for price, tokens in parts), Decimal()) + self.written * usage.written) / MILLION


@dataclass(frozen=True)
class Cost:
    """Dollars, of all that was counted and has a known price (None: of nothing), and the models without one."""

    dollars: Decimal | None
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Account:
    """What answers and learning used, and what both cost."""

    answers: Usage
    learning: Usage
    cost: Cost


@dataclass
class Ledger:
    """What was used, in `file` a JSON object a line, for its owner alone; and of it what this process used."""

    file: Path
    here: list[Spent] = field(default_factory=list, init=False)
    _turn: int = field(default=0, init=False)

    def note(self, use: str, model: str, server: str, usage: Usage) -> None:
        """Keep what a request used. A disk that refuses costs the line and nothing else."""
        if usage == Usage():
            return
        spent = Spent(datetime.now(UTC), use, model, server, usage, self._turn)
        self.here.append(spent)
        line = {"at": spent.at.isoformat(), "use": use, "model": model, "server": server, **vars(usage)}
        try:
            private_folder(self.file.parent)
            handle = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, json.dumps(line).encode() + b"\n")  # in one piece, so that two processes may write
            finally:
                os.close(handle)
        except (OSError, VaultMindError) as error:
            log.info("usage was not kept", exc_info=error)

    def begin_turn(self) -> int:
        """What is noted from now on belongs to another turn; its number."""
        self._turn += 1
        return self._turn

    def go_on(self, turn: int) -> None:
        """What is noted from now on belongs to that turn."""
        self._turn = turn

    def beside(self) -> "Ledger":
        """The same, for a thread that works for another turn than the one that goes on here (`go_on`)."""
        other = Ledger(self.file)
        other.here = self.here
        return other

    @property
    def turn(self) -> Sequence[Spent]:
        """What this turn used."""
        return [spent for spent in self.here if spent.turn == self._turn]

    def all(self) -> list[Spent]:
        """What was ever used; lines that make no sense are left out."""
        try:
            lines = self.file.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            log.info("what was used cannot be read", exc_info=error)
            return list(self.here)
        return [spent for line in lines if (spent := _read(line)) is not None]


def account(spent: Sequence[Spent], prices: Mapping[str, Price]) -> Account:
    """What was `spent`, added up; dollars by `prices`, else by those that are known."""
    answers, learning = (sum((one.usage for one in spent if one.use == use), Usage()) for use in (ANSWER, LEARNING))
    return Account(answers, learning, cost(spent, prices))


def parse_prices(settings: Sequence[str]) -> dict[str, Price]:
    """The prices of the setting: `MODEL=IN/OUT`, or `MODEL=IN/OUT/READ/WRITTEN`, dollars for a million tokens.

    Without the last two, what is read from or written to a cache counts as any token in. Raises SettingsError.
    """
    prices = {}
    for setting in settings:
        model, _, figures = setting.rpartition("=")
        try:
            numbers = [Decimal(figure.strip()) for figure in figures.split("/")]
        except InvalidOperation as error:
            raise SettingsError(
                "prices", f"{setting!r} is not like NAME=3/15 or NAME=3/15/0.3/3.75", "prices"
            ) from error
        if not model or len(numbers) not in (2, 4) or not all(n.is_finite() and n >= 0 for n in numbers):
            raise SettingsError("prices", f"{setting!r} is not like NAME=3/15 or NAME=3/15/0.3/3.75", "prices")
        fresh, out, read, written = (*numbers, numbers[0], numbers[0])[:4]
        prices[model.strip()] = Price(fresh, out, read, written)
    return prices


def cost(spent: Iterable[Spent], prices: Mapping[str, Price]) -> Cost:
    """What it cost: by `prices`, those of the settings, else by those of Anthropic that genai-prices knows."""
    dollars: Decimal | None = None
    unknown: dict[str, None] = {}
    for one in spent:
        price = prices[one.model].of(one.usage) if one.model in prices else _listed(one)
        if price is None:
            unknown[one.model] = None
        else:
            dollars = (dollars or Decimal()) + price
    return Cost(dollars, tuple(unknown))


def _listed(one: Spent) -> Decimal | None:
    if one.server != ANTHROPIC:  # whoever else serves a model of that name has prices of their own
        return None
    try:
        import genai_prices  # late and optional: only who asks for money needs it
    except ImportError:
        return None
    usage = genai_prices.Usage(
        input_tokens=one.usage.sent,
        cache_read_tokens=one.usage.read,
        cache_write_tokens=one.usage.written,
        output_tokens=one.usage.out,
    )
    try:
        found = genai_prices.calc_price(usage, one.model, provider_id="anthropic", genai_request_timestamp=one.at)
    except (LookupError, ValueError) as error:  # no such model; or a way of counting that it does not price
        log.info("no price for %s", one.model, exc_info=error)
        return None
    return Decimal(found.total_price)


def _read(line: bytes) -> Spent | None:
    try:
        found = json.loads(line)
        counts = [int(found[name]) for name in ("fresh", "read", "written", "out")]
        counts.append(int(found.get("uncounted", 0)))  # an older version kept none
        use, model, server = (str(found[name]) for name in ("use", "model", "server"))
        return Spent(datetime.fromisoformat(found["at"]), use, model, server, Usage(*counts))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
