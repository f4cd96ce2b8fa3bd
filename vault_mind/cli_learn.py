"""The command that learns without a chat, from what waits in the journal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from vault_mind import declared as typer  # in its words
from vault_mind import render
from vault_mind.command import NO_MATCH, JsonFlag, OfflineFlag, VaultOption, app, opened, print_json, say, sync
from vault_mind.screen import Screen
from vault_mind.session import Session

if TYPE_CHECKING:
    from vault_mind.agent import Learned
    from vault_mind.journal import Exchange, Waiting


@app.command(epilog="Example: vault-mind learn --again")
def learn(
    ctx: typer.Context,
    vault: VaultOption = None,
    again: Annotated[bool, typer.Option("--again", help="Also from what has failed too often to be tried.")] = False,
    offline: OfflineFlag = False,
    json: JsonFlag = False,
) -> None:
    """Learn from the exchanges that chats have left in the journal; exit 1 when some still wait."""
    session = opened(ctx, vault, offline=offline or None)
    done: list[tuple[Exchange, Learned]] = []
    try:
        for said, what in _worked_through(session, again=again):
            done.append((said, what))
            if not json:
                _put(said, what)
    except KeyboardInterrupt:
        say("stopped; what was not learned from goes on waiting", "dim")
    left = session.journal.waiting()
    if json:
        learned = [render.exchange_data(*each) for each in done]
        print_json({"exchanges": learned, "waiting": [render.waiting_data(one.exchange) for one in left]})
    tried = any(what.failed for _, what in done)
    for why in _why(session, left, tried=tried) if left else ["nothing waits to be learned from"]:
        say(why, "dim")
    if damaged := len(session.journal.damaged()):
        say(f"{_exchanges(damaged)} in the journal cannot be read; see: vault-mind doctor", "yellow")
    if left:
        raise typer.Exit(NO_MATCH)


def _worked_through(session: Session, *, again: bool) -> Iterator[tuple["Exchange", "Learned"]]:
    """Each exchange that could be tried, with what came of it; oldest first."""
    waiting = session.agent.waiting(again=again)
    if waiting:
        sync(session)
    for number, one in enumerate(waiting, 1):
        words = render.first_words(one.exchange.message)
        with Screen(stderr=True).status(f"learning from {number:,} of {len(waiting):,}: {words}"):
            what = session.agent.learn_from(one)
        if what is not None:  # else another process is at it, or was
            yield one.exchange, what
            if what.stuck:
                return


def _put(said: "Exchange", what: "Learned") -> None:
    """Print an exchange and what came of it; at once, for the next may take long."""
    out = Screen()
    out.put(render.exchange(said, what))
    out.file.flush()
    for problem in what.news:
        say(render.problem(problem))
    for memory in what.wished:
        say(f"you asked to forget; to do so: vault-mind forget {render.one_line(memory.path)}", "dim")


def _why(session: Session, left: "list[Waiting]", *, tried: bool) -> list[str]:
    """Why each of those that are `left` goes on waiting, in sentences; `tried`: some have just failed."""
    from vault_mind.journal import MOST_TRIES  # late: the other commands start faster without what learns

    mind, told = session.mind.name, []
    others: dict[str, int] = {}
    for one in left:
        if one.exchange.mind != mind:
            others[one.exchange.mind] = others.get(one.exchange.mind, 0) + 1
    ours = [one for one in left if one.exchange.mind == mind]
    given_up = [one for one in ours if one.exchange.tries >= MOST_TRIES]
    if len(ours) > len(given_up):
        later = "try again later" if tried else "another vault-mind is at it"
        told.append(f"{_exchanges(len(ours) - len(given_up))} still to be learned from: {later}")
    if given_up:
        told.append(
            f"{_exchanges(len(given_up))} failed {MOST_TRIES} times or more; to try again: vault-mind learn --again"
        )
        told += [f"  {render.first_words(one.exchange.message)}" for one in given_up]
    without = "leave --offline (or the `offline` setting) out" if session.settings.offline else "set ANTHROPIC_API_KEY"
    how = {
        "claude": f"Claude: {without}",
        "offline": "the offline mind: vault-mind learn --offline",
    }
    told += [f"{_exchanges(number)} waiting for {how.get(name, name)}" for name, number in others.items()]
    return told


def _exchanges(number: int) -> str:
    return "1 exchange" if number == 1 else f"{number:,} exchanges"
