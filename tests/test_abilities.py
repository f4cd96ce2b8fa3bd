"""What a model's server takes, as it is told and kept."""

import json
from pathlib import Path

import pytest

from tests.messages_api import able
from vault_mind.abilities import FRESH, PLAIN, Abilities, Known, told

ABLE = Abilities(thinking=("adaptive",), schemas=True, dropped=("tools",))


def test_what_the_models_api_says_is_read_and_nothing_is_made_up() -> None:
    assert told(able("enabled", "adaptive")) == Abilities(("adaptive", "enabled"), schemas=True)
    assert told(able(schemas=False)) == PLAIN
    nothings: list[object] = [None, [], {"thinking": {"types": 1}}]
    for nothing in nothings:
        assert told({"capabilities": nothing}) == PLAIN
    assert told({}) == PLAIN


def test_what_is_kept_is_known_to_the_next_process_by_server_and_model(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "servers.json"
    Known(file).keep("http://one", "m", ABLE)
    Known(file).keep("http://two", "m", PLAIN)

    known = Known(file)

    assert known.of("http://one", "m") == ABLE
    assert known.of("http://two", "m") == PLAIN
    assert known.of("http://one", "n") is None
    assert file.parent.stat().st_mode & 0o077 == 0


def test_what_is_not_to_be_kept_or_has_no_file_is_known_here_only(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    here, nowhere = Known(file), Known()
    here.keep("http://one", "m", ABLE, kept=False)
    nowhere.keep("http://one", "m", ABLE)

    assert here.of("http://one", "m") == nowhere.of("http://one", "m") == ABLE
    assert Known(file).of("http://one", "m") is None
    assert not file.exists()


def test_after_a_month_it_is_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    Known(file).keep("http://one", "m", ABLE)
    entries = json.loads(file.read_text())
    entries["http://one m"]["asked_at"] -= FRESH + 1
    file.write_text(json.dumps(entries))

    assert Known(file).of("http://one", "m") is None


@pytest.mark.parametrize(
    "content",
    [
        "", "[", "[]", '{"http://one m": 3}', '{"http://one m": {"asked_at": "now"}}', "\0", "[" * 9_000,
        '{"http://one m": {"asked_at": 9e99}}', "\udcff",
    ],
)  # fmt: skip
def test_a_damaged_file_is_as_good_as_none_and_is_made_anew(tmp_path: Path, content: str) -> None:
    file = tmp_path / "servers.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))

    assert Known(file).of("http://one", "m") is None
    Known(file).keep("http://one", "m", ABLE)

    assert Known(file).of("http://one", "m") == ABLE


def test_a_disk_that_refuses_costs_only_the_keeping(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    known = Known(tmp_path / "cache" / "servers.json")

    known.keep("http://one", "m", ABLE)

    assert known.of("http://one", "m") == ABLE
