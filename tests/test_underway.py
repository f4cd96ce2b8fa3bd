"""Vectors made behind a chat: how far it is, what came of it, and what stays when the chat ends."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.embeddings_api import EmbeddingsApi, Reply, serving
from vault_mind import Session, Vault
from vault_mind.underway import Underway

LONG = 60  # seconds; only a machine that is busy with other things needs them
MEMORIES = 150  # three requests, after one by which the model is known again

Opened = Callable[..., Session]
Write = Callable[..., Path]


@pytest.fixture
def embeddings() -> Iterator[EmbeddingsApi]:
    """An embeddings server of one's own."""
    with serving() as api:
        yield api


@pytest.fixture
def session(vault: Vault, write: Write, opened: Opened, embeddings: EmbeddingsApi) -> Session:
    """A vault of memories without vectors."""
    for number in range(MEMORIES):
        write(f"{number}.md", f"The user owns lamp {number}.\n")
    return opened(vault.root, {"VAULT_MIND_EMBEDDING_MODEL": f"{embeddings.url}#words"})


class Begun:
    """Making vectors, begun; `seen` is what it was doing whenever that changed."""

    def __init__(self, session: Session) -> None:
        self.seen: list[str | None] = []
        self.ended = threading.Event()
        self.underway = Underway(session, MEMORIES, moved=self._moved, ring=self.ended.set)
        self.underway.begin()

    def _moved(self) -> None:
        self.seen.append(self.underway.doing)

    def told(self) -> tuple[str, bool] | None:
        """What came of it, once it has ended."""
        assert self.ended.wait(LONG)
        return self.underway.told()


def test_it_says_how_far_it_is_and_once_that_it_is_done(session: Session) -> None:
    begun = Begun(session)

    told = begun.told()

    assert begun.seen == [*(f"making vectors: {done} of 150" for done in (0, 64, 128, 150)), None]
    assert told == ("150 vectors made", False)
    assert not begun.underway.news
    assert begun.underway.told() is None
    assert not begun.underway.leave()
    assert session.index.waiting() == 0


@pytest.mark.parametrize("fault", [Reply(status=401), Reply(status=404), Reply(raw=b"[]")])
def test_it_says_what_went_wrong_and_how_far_it_came(session: Session, embeddings: EmbeddingsApi, fault: Reply) -> None:
    embeddings.replies[:] = [Reply(), Reply(), Reply(), fault]
    begun = Begun(session)

    what, failed = begun.told() or ("", False)

    assert failed
    assert what.startswith(f"making vectors broke off at 128 of 150: {embeddings.url}")
    assert begun.seen[-1] is None
    session.index.sync()
    assert session.index.waiting() == 22


def test_what_nobody_foresaw_is_told_as_well(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "embed", lambda *_, **__: 1 / 0)

    assert Begun(session).told() == ("making vectors broke off at 0 of 150: division by zero", True)


def test_memories_whose_text_the_model_does_not_take_are_counted(
    vault: Vault, write: Write, opened: Opened, embeddings: EmbeddingsApi
) -> None:
    write("a.md", "Tea.")
    write("b.md", "Milk and bread.")
    refused = Reply(status=413, raw=b"too large")
    embeddings.replies[:] = [Reply(), refused, refused, Reply(), Reply(), refused]  # both, one, the other; once more

    begun = Begun(opened(vault.root, {"VAULT_MIND_EMBEDDING_MODEL": f"{embeddings.url}#words"}))

    assert begun.told() == ("1 vector made; 1 memory without one", False)


def test_whoever_leaves_keeps_what_was_made_and_is_told_nothing(session: Session, embeddings: EmbeddingsApi) -> None:
    go_on, asked = threading.Event(), threading.Event()

    def held(good: object) -> object:
        asked.set()
        assert go_on.wait(LONG)
        return good

    embeddings.replies[:] = [Reply(), Reply(), Reply(held), Reply()]
    begun = Begun(session)
    assert asked.wait(LONG)

    threading.Timer(0.2, go_on.set).start()
    left = begun.underway.leave()

    assert left
    assert not begun.underway.news
    session.index.sync()
    assert session.index.waiting() == MEMORIES - 128


def test_whoever_leaves_as_the_last_one_is_made_leaves_nothing(session: Session, embeddings: EmbeddingsApi) -> None:
    go_on, asked = threading.Event(), threading.Event()

    def held(good: object) -> object:
        asked.set()
        assert go_on.wait(LONG)
        return good

    embeddings.replies[:] = [Reply(), Reply(), Reply(), Reply(held)]
    begun = Begun(session)
    assert asked.wait(LONG)

    threading.Timer(0.2, go_on.set).start()
    begun.underway.leave()

    assert begun.told() == ("150 vectors made", False)
    assert begun.underway.doing is None
