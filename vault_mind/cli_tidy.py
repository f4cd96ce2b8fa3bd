"""The command that tidies a vault: it proposes, asks, writes, and takes back what would lose a fact."""

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from vault_mind import declared as typer  # in its words
from vault_mind import render
from vault_mind.command import (
    NO_MATCH,
    JsonFlag,
    OfflineFlag,
    VaultOption,
    YesFlag,
    app,
    confirm,
    opened,
    print_json,
    progressing,
    right_now,
    say,
    sync,
)
from vault_mind.screen import Screen
from vault_mind.session import Session

if TYPE_CHECKING:
    from vault_mind.errors import ModelError
    from vault_mind.settling import Settled
    from vault_mind.tidying import Estimate, Proposal, Survey

    Ready = list[tuple[Proposal, str]]


@app.command(epilog="Example: vault-mind tidy --dry-run --duplicates-only")
def tidy(
    ctx: typer.Context,
    vault: VaultOption = None,
    duplicates: Annotated[bool, typer.Option("--duplicates-only", help="Leave contradictions; no model.")] = False,
    offline: OfflineFlag = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show what it proposes and write nothing.")] = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Find memories that say the same, or are out of date, and mark them as superseded; it shows a diff and asks."""
    from vault_mind.settling import Settled, Settling  # late: only this command tidies
    from vault_mind.tidying import prepared

    session, now = opened(ctx, vault, offline=offline or None), right_now()
    sync(session)
    settling = Settling(session.vault, session.index, session.record, session.settings, now)
    found, proposals, failed = _proposed(session, only_duplicates=duplicates, yes=yes)
    ready, problems = prepared(proposals, settling.link, now)
    for problem in problems:
        say(render.problem(problem), "yellow")
    if not json or not (yes or dry_run):
        _show(ready, stderr=json)
    chosen = [] if dry_run else _chosen(len(ready), yes=yes)
    settled = Settled()
    if chosen:
        with progressing("tidying") as tells:
            settled = settling.carry_out([ready[number - 1][0] for number in chosen], tells)
    if json:
        _print_data(found, ready, settled, dry_run=dry_run)
    if ready or failed is None:  # an error is no empty result
        _tell(session, ready, settled, dry_run=dry_run)
    if failed:
        raise failed
    if ready and not (settled.done and not settled.back):
        raise typer.Exit(NO_MATCH)


def _proposed(
    session: Session, *, only_duplicates: bool, yes: bool
) -> "tuple[Survey, tuple[Proposal, ...], ModelError | None]":
    """What a look found, all that is proposed, and why a mind could not be asked to the end."""
    from vault_mind.tidying import contradictions, estimate, neighbourhoods, survey  # late, as above

    now = right_now()
    with progressing("comparing") as tells:
        found = survey(session.index, session.settings, now, tells)
    if only_duplicates or session.offline:
        if not only_duplicates:
            say("only duplicates are looked for: it takes a model to see contradictions", "dim")
        return found, found.duplicates, None
    with progressing("looking for neighbours of") as tells:
        batches = neighbourhoods(found, session.index, session.settings, now, tells)
    if not batches:
        return found, found.duplicates, None
    say(_price(session, estimate(batches)), "dim")
    if not yes and not confirm("Ask the model for contradictions?"):
        return found, found.duplicates, None
    with progressing("asked") as tells:
        return found, *contradictions(found, batches, session.mind, session.settings, tells)


def _price(session: Session, takes: "Estimate") -> str:
    """What asking the model takes, in a line."""
    from vault_mind.usage import LEARNING, Spent, Usage, cost, parse_prices  # late, as above

    model = session.settings.extraction_model
    usage = Usage(fresh=takes.tokens_in, out=takes.tokens_out)
    spent = Spent(right_now(), LEARNING, model, session.endpoint.url, usage)
    dollars = cost([spent], parse_prices(session.settings.prices)).dollars
    price = "what they cost is not known here" if dollars is None else f"about ${dollars:.4f}"
    calls = f"{takes.calls:,} call{'s' if takes.calls != 1 else ''}"
    tokens = f"about {takes.tokens_in:,} tokens in and {takes.tokens_out:,} out"
    return f"contradictions with {render.one_line(model)}: {calls}, {tokens}; {price}"


def _show(ready: "Ready", *, stderr: bool) -> None:
    from vault_mind import retelling  # late, as above

    out = Screen(stderr=stderr)
    for number, (proposal, changed) in enumerate(ready, 1):
        out.put(retelling.proposal(number, len(ready), proposal, changed))


def _chosen(of: int, *, yes: bool) -> list[int]:
    """The numbers of the proposals that are to be carried out; none where nobody says which."""
    if yes or not of:
        return list(range(1, of + 1))
    while True:
        Screen(stderr=True).say(f"Write which of {of:,}? all, none, or numbers as in 1,3-5 [none] ", end="")
        answer = sys.stdin.readline() if sys.stdin is not None else ""
        if not answer.endswith("\n"):
            say("")
        if (numbers := numbered(answer, of)) is not None:
            return numbers
        if not answer.endswith("\n"):
            return []
        say(f"{render.one_line(answer)!r} names none of them", "yellow")


def numbered(answer: str, of: int) -> list[int] | None:
    """The numbers from 1 to `of` that an answer names: all, none, or 1,3-5; None where it makes no sense."""
    said = answer.strip().lower()
    if said in ("", "n", "no", "none"):
        return []
    if said in ("a", "all", "y", "yes"):
        return list(range(1, of + 1))
    numbers: set[int] = set()
    for part in re.split(r"[,\s]+", re.sub(r"\s*-\s*", "-", said).strip(" ,")):
        span = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part, re.ASCII)
        if span is None:
            return None
        first, last = int(span[1]), int(span[2] or span[1])
        if not 1 <= first <= last <= of:
            return None
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def _print_data(found: "Survey", ready: "Ready", settled: "Settled", *, dry_run: bool) -> None:
    from vault_mind import retelling  # late, as above

    done = {memory.path for proposal in settled.done for memory in proposal.gone}
    back = {proposal.kept.path: why for proposal, why in settled.back}
    proposals = [
        {
            **retelling.proposal_data(number, proposal, changed),
            "done": [memory.path for memory in proposal.gone if memory.path in done],
            "taken_back": back.get(proposal.kept.path),
        }
        for number, (proposal, changed) in enumerate(ready, 1)
    ]
    print_json(
        {
            "proposals": proposals,
            "dry_run": dry_run,
            "questions": settled.questions,
            "left": settled.left,
            "left_alone": found.left_alone,
            "told": settled.told,
        }
    )


def _tell(session: Session, ready: "Ready", settled: "Settled", *, dry_run: bool) -> None:
    """Say how it went."""
    if not ready:
        say("nothing to tidy", "dim")
        return
    for problem in settled.left:
        say(render.problem(problem), "yellow")
    for proposal, why in settled.back:
        say(f"taken back: {_paths(memory.path for memory in proposal.gone)}: {render.one_line(why)}", "red")
    for told in settled.told:
        say(render.one_line(told), "yellow")
    if settled.done:
        gone = sum(len(proposal.gone) for proposal in settled.done)
        marked = "1 memory is" if gone == 1 else f"{gone:,} memories are"
        checked = f"{settled.questions:,} question{'s' if settled.questions != 1 else ''}"
        undone = "; vault-mind undo takes it back" if session.record.on and not settled.told else ""
        say(f"{marked} superseded now; {checked} checked{undone}", "dim")
    elif not settled.back:
        say("nothing was written" if dry_run else "kept", "dim")


def _paths(paths: Iterable[str]) -> str:
    every = [render.one_line(path) for path in paths]
    return ", ".join(every[:3]) + (f" and {len(every) - 3} more" if len(every) > 3 else "")
