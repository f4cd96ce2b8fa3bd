"""What a chat is told of others at its next turn, and what it is not."""

from datetime import UTC, datetime

from vault_mind.meanwhile import Meanwhile, Missed
from vault_mind.memory import Memory
from vault_mind.vault import Problem
from vault_mind.watcher import Change, Notice

AT = datetime(2026, 12, 1, tzinfo=UTC)
DOOR, RED = Memory("door.md", "The door is green.\n"), Memory("door.md", "The door is red.\n")


def test_what_others_did_is_told_once() -> None:
    meanwhile = Meanwhile()
    meanwhile.hear(Change(AT, "gone", "gate.md"))
    meanwhile.hear(Change(AT, "new", "door.md", memory=DOOR))
    meanwhile.hear(Change(AT, "changed", "door.md", memory=RED))
    meanwhile.hear(Problem("bad.md", "it is not UTF-8"))
    meanwhile.hear(Notice("live watching is off", trouble=True))
    meanwhile.hear(Notice("watching by events"))

    told = meanwhile.told()

    assert told.paths == ("door.md", "gate.md")
    assert told.gone == {"gate.md"}
    assert told.problems == (Problem("bad.md", "it is not UTF-8"),)
    assert told.troubles == ("live watching is off",)
    assert meanwhile.told() == Missed()


def test_what_the_chat_wrote_itself_is_not_told_until_somebody_changes_it() -> None:
    meanwhile = Meanwhile()
    meanwhile.hear(Change(AT, "new", "door.md", memory=DOOR))  # noticed before the chat has said that it was its own
    meanwhile.wrote(DOOR)
    assert meanwhile.told() == Missed()

    meanwhile.hear(Change(AT, "changed", "door.md", memory=RED))
    assert meanwhile.told().paths == ("door.md",)

    meanwhile.wrote(RED, gone=True)
    meanwhile.hear(Change(AT, "gone", "door.md"))
    assert meanwhile.told() == Missed()
    meanwhile.hear(Change(AT, "new", "door.md", memory=RED))
    assert meanwhile.told().paths == ("door.md",)


def test_a_rename_is_told_by_its_new_path() -> None:
    meanwhile = Meanwhile()
    meanwhile.hear(Change(AT, "renamed", "door.md", "gate.md", Memory("gate.md", DOOR.text)))

    told = meanwhile.told()

    assert told.paths == ("gate.md",)
    assert not told.gone
