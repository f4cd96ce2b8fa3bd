"""Learning behind the prompt: in order, in a thread of its own, and nothing is lost when that ends."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.messages_api import Answer, MessagesApi, remembering
from vault_mind import Memory, Session, Vault
from vault_mind.behind import Behind
from vault_mind.errors import ModelError
from vault_mind.journal import Exchange
from vault_mind.meanwhile import Meanwhile
from vault_mind.model import Request, Schema
from vault_mind.offline import Offline
from vault_mind.usage import Usage
from vault_mind.watcher import Change

Opened = Callable[..., Session]
OSLO = ("fact", "The user lives in Oslo.", "I live in Oslo")
LONG = 60  # seconds; only a machine that is busy with other things needs them


class Mind:
    """A mind that finds in each message what it says, once it may go on; asked for a message, it may fail."""

    name = "mind"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.fails: dict[str, Exception] = {}

    def reply(self, request: Request) -> Iterator[str]:
        yield "ok"

    def value(self, request: Request, schema: Schema) -> object:
        if request.cases:
            return {"decisions": []}
        self.asked.append(request.said)
        self.begun.set()
        assert self.go_on.wait(LONG)
        if error := self.fails.get(request.said):
            raise error
        text = f"The user says: {request.said}"
        return {"memories": [{"kind": "fact", "text": text, "quote": request.said, "tags": []}], "forget": []}


class Learning:
    """A chat's session and agent, and the thread beside them; both with that mind."""

    def __init__(self, session: Session, mind: Mind | None = None) -> None:
        self.session, self.beside, self.rung, self.written = session, session.beside(), 0, list[Memory]()
        if mind is not None:
            for each in (session, self.beside):
                each.__dict__["mind"] = mind  # a cached property: what stands there is taken
        self.behind = Behind(self.beside, ring=self._ring, wrote=self.written.append)

    def say(self, *messages: str) -> None:
        """Say each in a turn of its own; nothing is waited for."""
        for message in messages:
            turn = self.session.ledger.begin_turn()
            self.behind.learn(self.session.agent.note(message, "ok"), turn)

    def bodies(self) -> list[str]:
        """What the vault holds, in the order in which it was written."""
        found = (file for file in (self.session.vault.root / "memories").glob("*.md"))
        return [self.session.vault.read(f"memories/{file.name}").body for file in sorted(found, key=_age)]

    def _ring(self) -> None:
        self.rung += 1


def _age(file: Path) -> int:
    return file.stat().st_mtime_ns


@pytest.fixture
def mind() -> Iterator[Mind]:
    """A mind that a test may hold up; afterwards it goes on."""
    made = Mind()
    yield made
    made.go_on.set()


@pytest.fixture
def learning(vault: Vault, opened: Opened, mind: Mind) -> Iterator[Learning]:
    """Learning beside a chat with `mind`."""
    made = Learning(opened(vault.root, {}), mind)
    yield made
    mind.go_on.set()
    made.behind.leave()


def test_what_is_said_waits_in_the_journal_and_is_learned_in_order_behind(learning: Learning, mind: Mind) -> None:
    mind.go_on.clear()

    learning.say("tea", "rice", "bread")
    assert mind.begun.wait(LONG)
    waiting = [each.exchange.message for each in learning.session.journal.waiting()]
    mind.go_on.set()

    assert waiting == ["tea", "rice", "bread"]
    assert learning.behind.finish(LONG)
    assert mind.asked == ["tea", "rice", "bread"]
    assert learning.bodies() == [f"The user says: {said}" for said in ("tea", "rice", "bread")]
    assert learning.session.journal.waiting() == []
    assert learning.rung == 3
    assert [what.saved[0].body for what in learning.behind.told()] == learning.bodies()
    assert learning.behind.told() == []
    assert [memory.body for memory in learning.written] == learning.bodies()


def test_a_turn_that_comes_meanwhile_recalls_remembers_and_forgets_without_waiting(
    learning: Learning, mind: Mind
) -> None:
    mind.go_on.clear()
    learning.say("I am slow to learn from.")
    assert mind.begun.wait(LONG)

    kept, _ = learning.session.agent.remember("The spare key is with Mrs Low.", kind="fact")
    recalled = learning.session.agent.recall("Who has the spare key?")
    learning.session.record.forget(kept, {})

    assert [hit.memory.path for hit in recalled.hits] == [kept.path]
    assert learning.behind.busy
    mind.go_on.set()
    assert learning.behind.finish(LONG)
    assert learning.bodies() == ["The user says: I am slow to learn from."]


def test_what_could_not_be_learned_is_tried_again_before_what_is_said_next(learning: Learning, mind: Mind) -> None:
    mind.fails["one"] = ModelError("the model gave no JSON", "")
    learning.say("one")
    assert learning.behind.finish(LONG)
    first = learning.behind.told()
    mind.fails.clear()

    learning.say("two")

    assert learning.behind.finish(LONG)
    assert [what.failed for what in first] == ["the model gave no JSON"]
    assert mind.asked == ["one", "one", "two"]
    assert learning.session.journal.waiting() == []


def test_one_exchange_that_nothing_can_be_made_of_does_not_keep_the_next_from_being_learned(
    learning: Learning, mind: Mind
) -> None:
    mind.fails["one"] = ModelError("the model gave no JSON", "")

    learning.say("one", "two")

    assert learning.behind.finish(LONG)
    assert learning.bodies() == ["The user says: two"]
    assert [each.exchange.message for each in learning.session.journal.waiting()] == ["one"]


def test_a_server_that_cannot_be_reached_is_said_once_a_turn_and_costs_no_try(learning: Learning, mind: Mind) -> None:
    mind.fails = dict.fromkeys(("one", "two"), ModelError("it cannot be reached", "", answered=False))

    learning.say("one")
    assert learning.behind.finish(LONG)
    learning.say("two")
    assert learning.behind.finish(LONG)

    assert mind.asked == ["one", "one"]
    assert len(learning.behind.told()) == 2
    waiting = [(each.exchange.message, each.exchange.tries) for each in learning.session.journal.waiting()]
    assert waiting == [("one", 0), ("two", 0)]


def test_what_nobody_foresaw_costs_one_exchange_and_is_told(learning: Learning, mind: Mind) -> None:
    mind.fails["one"] = ZeroDivisionError("who would have thought")

    learning.say("one", "two")

    assert learning.behind.finish(LONG)
    assert "who would have thought" in {what.failed for what in learning.behind.told()}
    assert learning.bodies() == ["The user says: two"]
    assert [(one.exchange.message, one.exchange.tries) for one in learning.session.journal.waiting()] == [("one", 2)]


def test_a_vault_that_cannot_be_opened_beside_is_said_and_the_exchange_waits(vault: Vault, opened: Opened) -> None:
    learning = Learning(opened(vault.root, {}))
    object.__setattr__(learning.beside, "vault", None)  # as if it were gone

    learning.say("I live in Oslo.")

    assert learning.behind.finish(LONG)
    assert learning.behind.told()[0].failed
    assert [one.exchange.message for one in learning.session.journal.waiting()] == ["I live in Oslo."]
    learning.behind.leave()


def test_what_is_to_be_forgotten_waits_in_the_journal_until_the_user_has_been_asked(
    learning: Learning, vault: Vault
) -> None:
    vault.save("The user has a cat.", kind="fact", source="user", created_at=NOW)
    for each in (learning.session, learning.beside):
        each.__dict__["mind"] = Offline()

    learning.say("Forget that I have a cat.", "I live in Oslo.")

    assert learning.behind.finish(LONG)
    first, second = learning.behind.told()
    assert [memory.body for memory in first.wished] == ["The user has a cat."]
    assert [memory.body for memory in second.saved] == ["The user lives in Oslo."]
    assert [one.file for one in learning.session.journal.waiting()] == [first.held and first.held.file]
    learning.say("I have a dog.")
    assert learning.behind.finish(LONG)
    assert [what.wished for what in learning.behind.told()] == [()]  # not asked a second time
    (again,) = learning.session.agent.catch_up()  # as the next start would, had this one been killed
    assert again.wished == first.wished
    assert learning.session.journal.waiting() == []


def test_what_earlier_chats_left_is_learned_first(learning: Learning, mind: Mind) -> None:
    learning.session.journal.add(Exchange("earlier", "", "ok", NOW.isoformat(), "before", "mind"))

    learning.behind.catch_up()
    learning.say("now")

    assert learning.behind.finish(LONG)
    assert mind.asked == ["earlier", "now"]
    chats = {memory.body: memory.chat for memory in learning.session.vault.memories()}
    assert chats == {"The user says: earlier": "before", "The user says: now": learning.session.agent.chat}


def test_what_another_chat_notes_meanwhile_is_left_to_it(learning: Learning, mind: Mind) -> None:
    learning.behind.catch_up()
    assert learning.behind.finish(LONG)
    theirs = learning.session.journal.add(Exchange("theirs", "", "ok", NOW.isoformat(), "other", "mind"))

    learning.say("ours")

    assert learning.behind.finish(LONG)
    assert mind.asked == ["ours"]
    assert [one.file for one in learning.session.journal.waiting()] == [theirs.file]
    assert learning.behind.left == 0


def test_what_another_chat_is_at_is_left_to_it(learning: Learning, mind: Mind) -> None:
    theirs = learning.session.journal.add(Exchange("theirs", "", "ok", NOW.isoformat(), "other", "mind"))

    with learning.session.journal.claimed(theirs):
        learning.behind.catch_up()
        learning.say("ours")
        assert learning.behind.finish(LONG)

    assert mind.asked == ["ours"]
    assert [each.exchange.message for each in learning.session.journal.waiting()] == ["theirs"]


def test_whoever_leaves_waits_so_long_and_begins_nothing_more(learning: Learning, mind: Mind) -> None:
    mind.go_on.clear()
    learning.say("one", "two")
    assert mind.begun.wait(LONG)

    done, left = learning.behind.finish(0.05), learning.behind.left
    learning.behind.leave()
    mind.go_on.set()

    assert (done, left) == (False, 2)
    deadline = time.monotonic() + LONG
    while any(thread.name == "learning" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert mind.asked == ["one"]
    assert [each.exchange.message for each in learning.session.journal.waiting()] == ["two"]


def test_what_there_is_to_learn_later_is_no_more_than_what_may_be_written_down(learning: Learning) -> None:
    noted = learning.session.agent.note("<private>I love flamingos.</private>", "Saved!")
    learning.session.agent.off = True
    off = learning.session.agent.note("I live in Oslo.", "ok")

    learning.behind.learn(noted, 1)
    learning.behind.learn(off, 2)

    assert (noted.waiting, off.waiting) == (None, None)
    assert noted.told.withheld
    assert noted.told.claimed
    assert not learning.behind.busy
    assert learning.session.journal.waiting() == []


def test_a_reply_that_claims_what_was_not_done_is_found_out_behind_as_well(
    vault: Vault, online: MessagesApi, opened: Opened
) -> None:
    online.learning = [remembering(), remembering(OSLO)]
    learning = Learning(opened(vault.root, dict(os.environ)))
    for message in ("Hello.", "I live in Oslo."):
        learning.behind.learn(learning.session.agent.note(message, "I've saved that."), 1)

    assert learning.behind.finish(LONG)

    assert [what.claimed for what in learning.behind.told()] == [True, False]
    learning.behind.leave()


def test_the_tokens_of_learning_are_counted_to_the_turn_that_was_learned_from(
    vault: Vault, online: MessagesApi, opened: Opened
) -> None:
    held = threading.Event()
    fifth = {"input_tokens": 5, "output_tokens": 1}
    seventh = {"input_tokens": 7, "output_tokens": 1}
    online.learning = [
        Answer('{"memories": []}', until=held, usage=fifth),
        Answer('{"memories": []}', usage=seventh),
    ]
    learning = Learning(opened(vault.root, dict(os.environ)))
    ledger = learning.session.ledger

    learning.say("one")
    ledger.note("answer", "m", "s", Usage(fresh=1))
    learning.say("two")  # the first turn is over, and is not yet learned from
    held.set()
    assert learning.behind.finish(LONG)

    assert [(spent.turn, spent.usage.fresh) for spent in ledger.here] == [(1, 1), (1, 5), (2, 7)]
    assert [spent.usage.fresh for spent in ledger.turn] == [7]
    assert [spent.usage.fresh for spent in ledger.all()] == [1, 5, 7]
    learning.behind.leave()


def test_what_learning_writes_behind_is_not_told_as_a_change_of_somebody_else(
    vault: Vault, opened: Opened, mind: Mind
) -> None:
    session, meanwhile = opened(vault.root, {}), Meanwhile()
    learning = Learning(session, mind)
    behind = Behind(learning.beside, wrote=meanwhile.wrote)
    behind.learn(session.agent.note("tea", "ok"), 1)
    assert behind.finish(LONG)

    (memory,) = vault.memories()
    meanwhile.hear(Change(NOW, "new", memory.path, memory=memory))

    assert meanwhile.told().paths == ()
    behind.leave()


def test_a_model_that_does_not_answer_keeps_no_process_alive_and_the_exchange_waits(
    vault: Vault, online: MessagesApi, opened: Opened
) -> None:
    held = threading.Event()
    online.learning = [Answer('{"memories": []}', until=held)]
    program = (
        "import os\n"
        "from vault_mind import open_session\n"
        "from vault_mind.behind import Behind\n"
        "session = open_session(None, os.environ)\n"
        "behind = Behind(session.beside())\n"
        "behind.learn(session.agent.note('I live in Oslo.', 'ok'), 1)\n"
        "print('noted', flush=True)\n"
        "input()\n"
        "print(behind.finish(0.01), flush=True)\n"
        "behind.leave()\n"
        "session.close()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + LONG
        while not online.requests:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        out, err = process.communicate("\n", timeout=LONG)
    held.set()

    assert (out.split(), err, process.returncode) == (["noted", "False"], "", 0)
    waiting = opened(vault.root, {}).journal.waiting()
    assert [(each.exchange.message, each.exchange.tries) for each in waiting] == [("I live in Oslo.", 0)]
