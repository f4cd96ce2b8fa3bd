"""The settings: which one counts, what is refused, and how Claude is reached."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

import pytest

from tests.conftest import Run
from vault_mind.config import (
    ANTHROPIC,
    OF_A_VAULT,
    PREFIX,
    VAULT_FILE,
    Settings,
    cache_folder,
    find_vault,
    load,
    reach,
    state_folder,
    strangers,
    user_file,
)
from vault_mind.errors import SettingsError, VaultNotFoundError
from vault_mind.vault import Vault

NOTHING: Mapping[str, str] = {}


@pytest.fixture
def users(home: Path) -> Callable[[str | bytes], Path]:
    """Write the user's own settings file."""

    def written(content: str | bytes) -> Path:
        file = user_file()
        assert file.is_relative_to(home)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return written


@pytest.fixture
def vaults(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Write a vault's settings file; the vault's folder comes back."""

    def written(content: str | bytes) -> Path:
        (tmp_path / VAULT_FILE).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return written


Written = Callable[[str | bytes], Path]

# --- which one counts -----------------------------------------------------------------------------


def test_with_nothing_set_the_defaults_count(tmp_path: Path) -> None:
    config = load(tmp_path, NOTHING, {})

    assert config.settings == Settings()
    assert set(config.origins.values()) == {"default"}


def test_a_flag_beats_the_environment_beats_the_vault_beats_the_user_beats_the_default(
    users: Written, vaults: Written
) -> None:
    environment, vault, flags = {"VAULT_MIND_TOP_K": "4"}, vaults("top_k = 3\n"), {"top_k": 5}
    mine = users("top_k = 2\n")

    layers = [
        (load(None, NOTHING, {}), 2, str(mine)),
        (load(vault, NOTHING, {}), 3, str(vault / VAULT_FILE)),
        (load(vault, environment, {}), 4, "VAULT_MIND_TOP_K"),
        (load(vault, environment, flags), 5, "flag"),
    ]

    for config, value, origin in layers:
        assert (config.settings.top_k, config.origins["top_k"]) == (value, origin)
    mine.unlink()
    assert load(None, NOTHING, {}).settings.top_k == Settings().top_k


def test_layers_that_set_different_things_add_up(users: Written, vaults: Written) -> None:
    users('model = "mine"\nignore = ["a/"]\n')
    vault = vaults('language = "german"\n')

    settings = load(vault, {"VAULT_MIND_OFFLINE": "yes"}, {"top_k": 1}).settings

    assert (settings.model, settings.ignore, settings.language) == ("mine", ("a/",), "german")
    assert (settings.offline, settings.top_k) == (True, 1)


def test_a_flag_that_was_not_given_and_a_variable_that_is_empty_say_nothing(users: Written) -> None:
    users("offline = true\ntop_k = 2\n")

    settings = load(None, {"VAULT_MIND_TOP_K": "  ", "VAULT_MIND_MODEL": ""}, {"offline": None, "model": None}).settings

    assert (settings.offline, settings.top_k, settings.model) == (True, 2, Settings().model)


def test_a_variable_that_begins_like_ours_and_sets_nothing_is_named_with_what_was_meant() -> None:
    environment = {
        "VAULT_MIND_MODLE": "x", "VAULT_MIND_model": "x", "VAULT_MIND_TOPK": "3", "VAULT_MIND_PROXY": "x",
        "VAULT_MIND_NEVR": " ", "VAULT_MINDER": "x", "VAULT_MIND_TOP_K": "3", "VAULT_MIND_VAULT": "/tmp",
        "VAULT_MIND_EMBEDDING_KEY": "x",
    }  # fmt: skip

    assert strangers(environment) == {
        "VAULT_MIND_MODLE": "VAULT_MIND_MODEL", "VAULT_MIND_PROXY": "", "VAULT_MIND_TOPK": "VAULT_MIND_TOP_K",
        "VAULT_MIND_model": "VAULT_MIND_MODEL",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "PORT",
        "SERVICE_HOST",
        "SERVICE_PORT",
        "SERVICE_PORT_HTTP",
        "PORT_8080_TCP",
        "PORT_8080_TCP_ADDR",
        "ENV_X",
        "NAME",
    ],
)
def test_what_containers_are_given_beside_a_service_of_our_name_is_nobodys_mistake(name: str) -> None:
    assert strangers({f"VAULT_MIND_{name}": "tcp://10.0.0.7:8080"}) == {}


def test_every_setting_can_be_set_by_the_user_and_by_the_environment_and_says_what_it_is_for(users: Written) -> None:
    users(
        'model = "a"\nextraction_model = "b"\nmax_tokens = 10\nextraction_max_tokens = 20\ntop_k = 1\n'
        'history_turns = 2\ndedupe_threshold = 0.5\nlanguage = "german"\nignore = ["x/", "*.y"]\noffline = true\n'
        'embedding_model = "e"\nwatch_poll = 2.5\ncommit = "off"\nrecall = "auto"\nprices = ["a=1/2"]\n'
        'learn = "asked"\nsecrets = "mask"\nnever = ["salary", "kind:context"]\n'
    )
    typed = {
        "model": "c", "extraction_model": "d", "max_tokens": "11", "extraction_max_tokens": "21", "top_k": "3",
        "history_turns": "4", "dedupe_threshold": "0.25", "language": "french", "ignore": "z/, *.w", "offline": "off",
        "embedding_model": "f", "watch_poll": "5", "commit": "all", "recall": "tool", "prices": "b=1/2, c=3/4/5/6",
        "learn": "off", "secrets": "refuse", "never": "/HIV/i, rent",
    }  # fmt: skip

    by_file = load(None, NOTHING, {})
    by_variable = load(None, {PREFIX + name.upper(): value for name, value in typed.items()}, {})

    assert by_file.settings == Settings(
        "a", "b", 10, 20, 1, 2, 0.5, "german", ("x/", "*.y"), True, "e", 2.5, "off", "auto", ("a=1/2",),
        "asked", "mask", ("salary", "kind:context"),
    )  # fmt: skip
    assert by_variable.settings == Settings(
        "c", "d", 11, 21, 3, 4, 0.25, "french", ("z/", "*.w"), False, "f", 5.0, "all",
        "tool", ("b=1/2", "c=3/4/5/6"), "off", "refuse", ("/HIV/i", "rent"),
    )  # fmt: skip
    for setting in fields(Settings):
        assert setting.name in typed
        assert by_file.meaning(setting.name)


def test_a_server_of_ones_own_proposes_memories_with_the_model_that_answers() -> None:
    elsewhere = {"ANTHROPIC_BASE_URL": "http://localhost:8080"}

    both = load(None, elsewhere, {"model": "llama"})
    each = load(None, elsewhere, {"model": "llama", "extraction_model": "small"})
    ours = load(None, NOTHING, {"model": "other"})

    assert both.settings.extraction_model == "llama"
    assert each.settings.extraction_model == "small"
    assert ours.settings.extraction_model == Settings().extraction_model


# --- a vault may come from somebody else ----------------------------------------------------------


@pytest.mark.parametrize("name", sorted({setting.name for setting in fields(Settings)} - set(OF_A_VAULT)))
def test_a_vault_may_not_say_whom_to_talk_to(name: str, vaults: Written) -> None:
    with pytest.raises(SettingsError, match=rf"setting {name} .*a vault's file may not set it") as refused:
        load(vaults(f'{name} = "x"\n'), NOTHING, {})

    assert str(user_file()) in str(refused.value)


@pytest.mark.parametrize("name", ["key", "api_key", "url", "base_url", "ANTHROPIC_API_KEY", "MODEL"])
def test_no_file_can_set_a_key_or_a_server(name: str, users: Written, vaults: Written) -> None:
    for place in (users, vaults):
        vault = place(f'{name} = "x"\n')
        with pytest.raises(SettingsError, match=f"setting {name} .*unknown; known are model, "):
            load(vault if vault.is_dir() else None, NOTHING, {})
        user_file().unlink(missing_ok=True)


def test_an_unknown_setting_is_an_error_that_lists_the_known_ones(users: Written) -> None:
    file = users("top_l = 3\n")

    with pytest.raises(SettingsError) as refused:
        load(None, NOTHING, {})

    assert f"setting top_l ({file}): unknown" in str(refused.value)
    for setting in fields(Settings):
        assert setting.name in str(refused.value)


# --- values that make no sense --------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        'top_k = "six"', "top_k = 1.5", "top_k = true", "top_k = -1", "top_k = 101", "top_k = [6]", "top_k = {}",
        "dedupe_threshold = 1.1", "dedupe_threshold = nan", "dedupe_threshold = inf", 'dedupe_threshold = "much"',
        "language = 5", 'language = ""', 'language = "  "', "ignore = 5", "ignore = [5]", "ignore = [[]]",
        "history_turns = 2026-01-01", "top_k = 2026-02-30",
    ],
)  # fmt: skip
def test_a_value_that_makes_no_sense_is_told_with_its_place(line: str, vaults: Written) -> None:
    vault = vaults(line + "\n")

    with pytest.raises(SettingsError) as refused:
        load(vault, NOTHING, {})

    assert str(vault / VAULT_FILE) in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TOKENS", "0"), ("MAX_TOKENS", "lots"), ("OFFLINE", "maybe"), ("TOP_K", "1e2"), ("DEDUPE_THRESHOLD", "-0.1")],
)
def test_a_variable_that_makes_no_sense_is_told_by_its_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"setting {name.lower()} \({PREFIX}{name}\)"):
        load(None, {PREFIX + name: value}, {})


@pytest.mark.parametrize(
    ("typed", "offline"), [("1", True), ("TRUE", True), (" on ", True), ("0", False), ("No", False)]
)
def test_yes_and_no_may_be_said_in_several_ways(typed: str, *, offline: bool) -> None:
    assert load(None, {"VAULT_MIND_OFFLINE": typed}, {}).settings.offline is offline


@pytest.mark.parametrize(
    "content", ["top_k = ", "[", b"\xff\xfet\0", b"top_k = 3 # caf\xe9", "top_k = 1\ntop_k = 2", "\0"]
)
def test_a_file_that_is_no_toml_is_told(content: str | bytes, vaults: Written) -> None:
    vault = vaults(content)

    with pytest.raises(SettingsError, match="cannot be read as TOML") as refused:
        load(vault, NOTHING, {})

    assert str(vault / VAULT_FILE) in str(refused.value)


def test_an_empty_file_a_comment_and_a_byte_order_mark_are_fine(vaults: Written) -> None:
    for content in (b"", b"# top_k = 3\r\n", b"\xef\xbb\xbftop_k = 6\r\n"):
        assert load(vaults(content), NOTHING, {}).settings == Settings()


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / VAULT_FILE).mkdir()

    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path, NOTHING, {})


# tomllib lets RecursionError pass, and int's own ValueError: somebody else's vault is no reason for a traceback.
@pytest.mark.parametrize(
    "content", ["ignore = " + "[" * 5_000 + "]" * 5_000, "top_k = " + "9" * 5_000, "top_k = 0x" + "f" * 5_000]
)
def test_a_hostile_settings_file_is_told_like_any_other(content: str, vaults: Written) -> None:
    with pytest.raises(SettingsError):
        load(vaults(content), NOTHING, {})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
def test_a_pipe_in_the_place_of_the_settings_is_never_waited_for(vault: Vault) -> None:
    (vault.root / VAULT_FILE).unlink()
    os.mkfifo(vault.root / VAULT_FILE)

    command = [sys.executable, "-m", "vault_mind", "--vault", str(vault.root), "config"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            _, said = process.communicate(timeout=6)
        finally:
            process.kill()

    assert VAULT_FILE in said
    assert process.returncode == 2


# What pathspec refuses must not end every command in a traceback.
@pytest.mark.parametrize("pattern", ["!", "[z-a]", "\\\\"])
def test_a_pattern_that_is_none_is_told(pattern: str, run: Run, vault: Vault) -> None:
    (vault.root / VAULT_FILE).write_text(f'ignore = ["{pattern}"]\n')

    ended = run("list")

    assert "Traceback" not in ended.stderr
    assert "ignore" in ended.stderr
    assert ended.exit_code == 2


def test_a_language_that_is_unknown_is_told_with_the_known_ones(run: Run, vault: Vault) -> None:
    ended = run("search", "tea", env={"VAULT_MIND_LANGUAGE": "klingon"})

    assert ended.exit_code == 2
    assert ended.stderr.startswith("vault-mind: setting language")
    assert "english" in ended.stderr


def test_the_command_says_each_setting_and_where_it_came_from(run: Run, vault: Vault) -> None:
    (vault.root / VAULT_FILE).write_text("top_k = 9\n")

    ended = run("config", env={"VAULT_MIND_MODEL": "other", "ANTHROPIC_API_KEY": "sk-secret-0123456789"})

    assert ended.exit_code == 0
    lines = {line.split()[0]: line for line in ended.stdout.splitlines()}
    assert " 9 " in lines["top_k"]
    assert VAULT_FILE in lines["top_k"]
    assert "VAULT_MIND_MODEL" in lines["model"]
    assert "sk-secret" not in ended.stdout + ended.stderr


# --- how Claude is reached ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    [
        "sk-ant-0123456789",
        " sk-ant-0123456789\r\n",
        '"sk-ant-0123456789"',
        "'sk-ant-0123456789' ",
        "\tsk-ant-0123456789",
    ],
)
def test_a_key_loses_stray_blanks_and_quotes(typed: str) -> None:
    endpoint = reach({"ANTHROPIC_API_KEY": typed})

    assert (endpoint.key, endpoint.url, endpoint.usable) == ("sk-ant-0123456789", ANTHROPIC, True)
    assert endpoint.masked == "…6789"
    assert "sk-ant" not in repr(endpoint)


@pytest.mark.parametrize("typed", ["sk ant", "sk\r\nant", "sk-ant-é", "sk\x1bant", "sk\u200bant", "“sk-ant”"])
@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_a_malformed_key_is_told_and_never_shown(typed: str, name: str) -> None:
    with pytest.raises(SettingsError, match=f"setting {name} .*malformed key") as refused:
        reach({name: typed})

    assert "ant" not in str(refused.value).replace(name, "").replace("malformed", "")


@pytest.mark.parametrize(
    ("environment", "usable"),
    [
        ({}, False),
        ({"ANTHROPIC_API_KEY": "  "}, False),
        ({"ANTHROPIC_API_KEY": '""'}, False),
        ({"ANTHROPIC_AUTH_TOKEN": "token"}, True),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080/"}, True),
        ({"ANTHROPIC_BASE_URL": ANTHROPIC + "/"}, False),
    ],
)
def test_there_is_somebody_to_talk_to_with_a_key_or_a_server_of_ones_own(
    environment: dict[str, str], *, usable: bool
) -> None:
    assert reach(environment).usable is usable


def test_a_server_is_read_without_blanks_quotes_and_the_last_slash() -> None:
    assert reach({"ANTHROPIC_BASE_URL": ' "https://claude.example/v1/" \n'}).url == "https://claude.example/v1"


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x", "file:///etc/passwd", "//x"])
def test_a_server_that_is_no_web_address_is_told(url: str) -> None:
    with pytest.raises(SettingsError, match="ANTHROPIC_BASE_URL"):
        reach({"ANTHROPIC_BASE_URL": url})


def test_a_short_secret_is_not_shown_at_all() -> None:
    assert reach({"ANTHROPIC_API_KEY": "short"}).masked == "set"
    assert reach({}).masked == "not set"


# --- which vault ----------------------------------------------------------------------------------


def test_the_vault_is_the_flag_or_the_variable_or_the_folder_one_stands_in_or_the_default(
    tmp_path: Path, home: Path
) -> None:
    for name in ("flag", "variable", "here/deep/er"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "here" / VAULT_FILE).touch()
    environment, here = {"VAULT_MIND_VAULT": str(tmp_path / "variable")}, tmp_path / "here" / "deep" / "er"

    assert find_vault(tmp_path / "flag", environment, here) == (tmp_path / "flag", "--vault")
    assert find_vault(None, environment, here) == (tmp_path / "variable", "VAULT_MIND_VAULT")
    assert find_vault(None, NOTHING, here) == (tmp_path / "here", "the folder you are in")
    assert find_vault(None, NOTHING, tmp_path) == (home / "vault-mind", "default")


def test_a_vault_may_be_named_from_home(home: Path) -> None:
    (home / "notes").mkdir()

    assert find_vault(Path("~/notes"), NOTHING, home)[0] == home / "notes"
    assert find_vault(None, {"VAULT_MIND_VAULT": " ~/notes "}, home)[0] == home / "notes"


def test_a_vault_that_was_named_and_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(VaultNotFoundError, match="no such folder"):
        find_vault(tmp_path / "gone", NOTHING, tmp_path)
    with pytest.raises(VaultNotFoundError, match="it is a file"):
        find_vault(None, {"VAULT_MIND_VAULT": str(tmp_path / "file")}, tmp_path)


# pathlib raises RuntimeError for it.
def test_a_home_of_nobody_is_told(tmp_path: Path) -> None:
    with pytest.raises(VaultNotFoundError):
        find_vault(Path("~no-such-user-here/notes"), NOTHING, tmp_path)


def test_each_vault_has_folders_of_its_own_outside_of_it_whatever_way_leads_to_it(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a" / "notes").mkdir(parents=True)
    (tmp_path / "b" / "notes").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "notes")
    (tmp_path / "Nöte €").mkdir()

    for folder in (cache_folder, state_folder):
        ours = folder(tmp_path / "a" / "notes")
        assert ours.is_relative_to(home)
        assert ours == folder(tmp_path / "link") == folder(tmp_path / "b" / ".." / "a" / "notes")
        assert ours != folder(tmp_path / "b" / "notes")
        assert folder(tmp_path / "Nöte €").name.isascii()


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
def test_what_we_keep_outside_the_vault_is_for_its_owner_alone(run: Run, vault: Vault) -> None:
    run("remember", "Ada drinks tea.")

    for folder in (cache_folder(vault.root), state_folder(vault.root)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(("name", "value"), [("learn", "sometimes"), ("secrets", "show"), ("learn", "Always")])
def test_a_choice_that_there_is_not_is_refused_with_those_there_are(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"setting {name} .*{value}.* is none of "):
        load(None, {PREFIX + name.upper(): value}, {})


@pytest.mark.parametrize("name", ["learn", "secrets", "never"])
def test_a_vault_does_not_say_what_is_learned_of_its_user(vault: Vault, name: str) -> None:
    (vault.root / VAULT_FILE).write_text(f'{name} = "off"\n', encoding="utf-8")

    with pytest.raises(SettingsError, match="a vault's file may not set it"):
        load(vault.root, NOTHING, {})
