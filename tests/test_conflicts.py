"""Which names are those of conflict copies, and which texts hold git's markers."""

import pytest

from vault_mind.conflicts import alike, original, originals, unmerged


@pytest.mark.parametrize(
    "stem",
    [
        "Door.sync-conflict-20260112-184501-7ABCDEF",  # Syncthing
        "Door.sync-conflict-20260112-184501",  # an older one
        "Door (Ann's conflicted copy 2026-01-11)",  # Dropbox
        "Door (conflicted copy 2026-01-10 113000)",  # Nextcloud
        "Door (Conflicted copy Pixel 8 202601121845)",  # Obsidian Sync
        "Door (Case Conflict)",
        "Door (Case Conflict 2)",
        "Door (Unicode Encoding Conflict)",
        "Door (Selective Sync Conflict)",
        "Door (In Konflikt stehende Kopie von Ann 2026-01-11)",
        "Door (Copie en conflit de Ann 2026-01-11)",
        "Door (SFConflict ann@example.org 2026-01-12-18-45-01)",  # Seafile
        "Door [conflicted]",  # pCloud
        "Door_conflict-20260112-184501",  # ownCloud
        "Door.Conflict",  # Resilio
        "Door_BACKUP_4711",  # git mergetool
        "Door_REMOTE_4711",
        "Door_ANN-PC_Nov-29-184207-2026_Conflict",  # Synology
        "Door.conflict1",  # rclone
        "Door (Edit conflict 2026-01-11 4AB7C2D)",
        "Door (конфликтующая копия с Ann 2026-01-11)",  # Dropbox again
        "Door (kopia powodująca konflikt użytkownika Ann 2026-01-11)",
        "Door (Annの競合コピー 2026-01-11)",
        "Door (Ann 的冲突副本 2026-01-11)",
    ],
)
def test_a_name_that_says_so_is_that_of_a_conflict_copy(stem: str) -> None:
    assert original(stem) == ("Door", True)


@pytest.mark.parametrize(
    "stem",
    [
        "Door 2",
        "Door 17",
        "Door (1)",
        "Door(1)",
        "Door-DESKTOP-4AB7C2D",
        "Door-Anns-MacBook-Pro",
        "Door-conflict",
        "Door_Conflict",
        "Door (conflicted)",
    ],
)
def test_a_name_that_people_give_as_well_may_be_one(stem: str) -> None:
    assert original(stem) == ("Door", False)


@pytest.mark.parametrize(
    "stem",
    [
        "Conflict of interest",
        "conflict",
        "Door conflict",
        "The conflicted copyist",
        "On conflict (and its copies)",
        "Door",
        "Door 2026",
        "Door 1",
        "2026-01-12",
        "door-2",
        "Door (2026-01-12)",
        "(1)",
        " 2",
        "",
        "well-known",
        "Notes (in conflict zones)",
        "Plan (conflicted feelings)",
        "War (the folder conflict)",
        "Team (case conflict of 2020)",
        "pros (edit conflict notes)",
        "server_backup_2026",
        "data_local_2",
    ],
)
def test_an_ordinary_name_is_none(stem: str) -> None:
    assert original(stem) is None


def test_a_copy_of_a_copy_may_be_one_of_either() -> None:
    twice = "Door (Ann's conflicted copy 2026-01-11) 2"

    assert list(originals(twice)) == [("Door (Ann's conflicted copy 2026-01-11)", False), ("Door", True)]
    assert list(originals("Chapter 2")) == [("Chapter", False)]
    assert list(originals("Door")) == []


def test_texts_that_share_most_of_their_words_are_versions_of_one() -> None:
    assert alike("The door code is 4711 since May.", "The door code is 1111 since May.")
    assert not alike("The first chapter tells of a door.", "In the second, nobody comes home.")
    assert not alike("", "The door code is 4711.")


CONFLICT = "tea\n<<<<<<< HEAD\ngreen\n=======\nblack\n>>>>>>> other\nmilk\n"


@pytest.mark.parametrize(
    "text",
    [
        CONFLICT,
        CONFLICT.replace("\n", "\r\n"),
        "---\nkind: fact\n<<<<<<< HEAD\ntags: [a]\n=======\ntags: [b]\n>>>>>>> x\n---\ntea\n",
        CONFLICT.replace("=======\n", "||||||| base\nwhite\n=======\n"),
        CONFLICT.replace("green\n", "```\nfenced, and the fence not closed\n"),
        "```\na listing\n```\n" + CONFLICT,
        CONFLICT + CONFLICT,
        "<<<<<<<\na\n=======\nb\n>>>>>>>",
    ],
)
def test_the_three_markers_in_their_order_are_a_conflict(text: str) -> None:
    assert unmerged(text)


@pytest.mark.parametrize(
    "text",
    [
        "tea\n",
        "<<<<<<< HEAD alone\n",
        ">>>>>>> x\n=======\n<<<<<<< HEAD\n",
        "How to read this:\n\n```diff\n" + CONFLICT + "```\n",
        "~~~\n" + CONFLICT + "~~~\n",
        "    " + CONFLICT.replace("\n", "\n    "),
        "A heading\n=======\n\n>>>>>>> quoted seven deep\n",
        "<<<<<<<<<<\n==========\n>>>>>>>>>>\n",
    ],
)
def test_anything_less_is_none(text: str) -> None:
    assert not unmerged(text)
