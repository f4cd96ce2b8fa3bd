"""The folder: what is read, what is passed over, saved, changed, renamed, forgotten; by one process or many."""

import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import NOW
from vault_mind import Index
from vault_mind.config import VAULT_FILE
from vault_mind.errors import (
    AmbiguousNameError,
    ConflictError,
    MemoryChangedError,
    MemoryNotFoundError,
    PathRefusedError,
    UnreadableError,
    UnsafeChangeError,
    UnwritableTextError,
    VaultMindError,
    VaultNotFoundError,
    WriteFailedError,
)
from vault_mind.files import LARGEST
from vault_mind.memory import Memory
from vault_mind.vault import SLUG_BYTES, SLUG_LENGTH, Vault, Walk, slug

Write = Callable[[str, str | bytes], Path]

TEA = "---\nkind: preference\nsource: user\ncreated_at: 2026-02-01T09:00:00+00:00\n---\n\nAda drinks tea.\n"


def save(vault: Vault, body: str) -> Memory:
    return vault.save(body, kind="fact", source="user", created_at=NOW)


def paths(vault: Vault) -> list[str]:
    return sorted(vault.walk().files)


def problems(vault: Vault) -> dict[str, str]:
    return {problem.path: problem.what for problem in vault.problems()}


def everything_in(root: Path) -> dict[str, bytes]:
    """Every file's bytes by its path, dot-files and all."""
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*") if file.is_file()}


# --- making and opening ---------------------------------------------------------------------------


def test_a_folder_becomes_a_vault_and_what_is_in_it_stays(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes(b"mine\r\n")
    (tmp_path / VAULT_FILE).write_bytes(b"top_k = 3\n")

    vault = Vault.create(tmp_path)

    assert everything_in(tmp_path) == {"note.md": b"mine\r\n", VAULT_FILE: b"top_k = 3\n"}
    assert paths(vault) == ["note.md"]
    assert (tmp_path / "memories").is_dir()


def test_a_folder_that_is_not_there_is_no_vault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for name in ("gone", "file"):
        with pytest.raises(VaultNotFoundError, match="vault-mind init"):
            Vault(tmp_path / name)
    with pytest.raises(WriteFailedError):
        Vault.create(tmp_path / "file")


def test_reading_a_vault_writes_nothing_into_it(vault: Vault, write: Write) -> None:
    write("a.md", TEA)
    write("b.md", b"\xff")
    write("c.md", "---\na: b: c\n---\n")
    write("d.md", "")
    before = everything_in(vault.root)

    list(vault.memories())
    vault.problems()
    vault.find("a")
    Index(vault).search("tea", 3)

    assert everything_in(vault.root) == before


# --- what is read ---------------------------------------------------------------------------------


def test_every_markdown_file_is_a_memory_by_its_path(vault: Vault, write: Write) -> None:
    for path in (
        "a.md",
        "B.MD",
        "memories/c.md",
        "deep/er/still/d.md",
        "x.md/e.md",
        "with space.md",
        "日本.md",
        "a\\b.md",
    ):
        write(path, TEA)
    for path in ("f.txt", "g.markdown", "md", "h.md.bak", "i.md~"):
        write(path, TEA)

    assert paths(vault) == sorted(
        ["a.md", "B.MD", "memories/c.md", "deep/er/still/d.md", "x.md/e.md", "with space.md", "日本.md", "a\\b.md"]
    )
    assert [memory.path for memory in vault.memories()] == paths(vault)


def test_dot_folders_and_dot_files_are_never_read(vault: Vault, write: Write) -> None:
    for path in (".obsidian/a.md", ".git/b.md", ".trash/c.md", ".hidden.md", "deep/.x/d.md", ".icloud/e.md"):
        write(path, TEA)

    assert paths(vault) == []
    for path in (".obsidian/a.md", ".hidden.md", "deep/.x/d.md"):
        with pytest.raises(PathRefusedError):
            vault.read(path)
        with pytest.raises(VaultMindError):
            vault.read(vault.find(path))


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "a/../../out.md",
        "/etc/x.md",
        "",
        ".",
        "a//b.md",
        "./a.md",
        "a.txt",
        "a",
        "a\0.md",
        "a/.md",
        "..",
        "a.md/",
    ],
)
def test_a_path_that_is_none_inside_the_vault_is_refused(path: str, vault: Vault, write: Write) -> None:
    write("a.md", TEA)
    (vault.root.parent / "out.md").write_text(TEA)

    with pytest.raises(PathRefusedError):
        vault.read(path)


def test_a_memory_that_is_not_there_is_told_by_its_name(vault: Vault) -> None:
    with pytest.raises(MemoryNotFoundError, match=r"gone\.md"):
        vault.read("gone.md")


# A model's tool call, or `show` with a long text, must not end in an error of the operating system.
@pytest.mark.parametrize(
    "path", ["x" * 300 + ".md", "x/" * 3_000 + "y.md", "half \ud800 character.md"], ids=["long", "deep", "half"]
)
def test_a_path_that_no_disk_could_hold_is_told(path: str, vault: Vault) -> None:
    with pytest.raises(VaultMindError):
        vault.read(path)


@pytest.mark.parametrize(
    "name", ["x" * 300, "word " * 1_000, "half \ud800 character", "a\0b"], ids=["long", "words", "half", "nul"]
)
def test_a_name_that_no_disk_could_hold_is_not_found(name: str, vault: Vault, write: Write) -> None:
    write("a.md", TEA)

    with pytest.raises(MemoryNotFoundError):
        vault.find(name)


HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "broken.md": ("---\nsummary: a: b\n---\nOtter\n", "frontmatter: line 2, column 11"),
    "twice.md": ("---\na: 1\na: 2\n---\nOtter\n", "frontmatter: line 3: 'a' is given twice"),
    "latin.md": (b"Otter caf\xe9\n", "it is not UTF-8"),
    "utf16.md": ("Otter\n".encode("utf-16"), "it is UTF-16"),
    "nul.md": (b"Otter\0\n", "it holds NUL bytes"),
    "large.md": (b"Otter " + b"x" * LARGEST, "it is too large"),
    "date.md": ("---\ncreated_at: 2026-02-30\n---\nOtter\n", "created_at: no date"),
    "deep.md": ("---\na: " + "[" * 3_000 + "]" * 3_000 + "\n---\nOtter\n", "frontmatter: line 2"),
    "alias.md": ("---\na: &a [x]\nb: *a\n---\nOtter\n", "frontmatter: line 3: aliases"),
    "keys.md": ("---\n? [a]\n: b\n---\nOtter\n", "frontmatter: line 2: a key must be a text"),
}
ODD = {
    "bom.md": "\ufeff---\nkind: fact\n---\nOtter\n",
    "crlf.md": "---\r\nkind: fact\r\n---\r\nOtter\r\n",
    "mixed.md": "---\r\nkind: fact\n---\r\n\nOtter\r\n\n",
    "rule.md": "---\n\nOtter\n",
    "rules.md": "---\nOtter\n---\n",
    "empty-block.md": "---\n---\nOtter\n",
    "special.md": "---\ncontent: x\nhandler: y\n1: z\n---\nOtter\n",
    "brace.md": "{ Otter\n",
    "no-end.md": "Otter",
}


def test_each_hostile_file_costs_only_itself_and_is_named(vault: Vault, write: Write) -> None:
    for name, (content, _) in HOSTILE.items():
        write(name, content)
    for name, text in ODD.items():
        write(name, text)
    write("empty.md", "")
    before = everything_in(vault.root)

    found = {hit.memory.path for hit in Index(vault).search("otter", 50)}

    assert found == {*HOSTILE, *ODD}
    assert len(list(vault.memories())) == len(HOSTILE) + len(ODD) + 1
    told = problems(vault)
    assert set(told) == set(HOSTILE)
    for name, (_, what) in HOSTILE.items():
        assert told[name].startswith(what)
    for name in ("bom.md", "crlf.md", "mixed.md"):
        assert vault.read(name).kind == "fact"
    assert everything_in(vault.root) == before


def test_a_huge_sparse_file_is_not_read_whole(vault: Vault, write: Write) -> None:
    with write("huge.md", "Otter").open("r+b") as file:
        file.truncate(50_000_000)

    memory = vault.read("huge.md")

    assert len(memory.text) == LARGEST
    assert memory.fault == "it is too large (50 MB); only its first 2 MB are searched"
    with pytest.raises(UnsafeChangeError, match="too large"):
        vault.change(memory, {"kind": "fact"})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
@pytest.mark.timeout(30)
def test_a_pipe_named_like_a_memory_is_never_waited_for(vault: Vault, write: Write) -> None:
    write("tea.md", TEA)
    os.mkfifo(vault.root / "pipe.md")

    assert [hit.memory.path for hit in Index(vault).search("tea", 5)] == ["tea.md"]
    assert problems(vault) == {"pipe.md": "cannot be read: it is not a regular file"}
    with pytest.raises(UnreadableError, match=r"pipe\.md: cannot be read: it is not a regular file"):
        vault.read("pipe.md")


def test_links_that_lead_nowhere_in_circles_or_outside_are_named_and_not_followed(
    vault: Vault, write: Write, tmp_path: Path
) -> None:
    write("tea.md", TEA)
    (tmp_path / "out.md").write_text(TEA)
    (tmp_path / "folder").mkdir()
    write(".obsidian/x.md", TEA)
    for name, target in {
        "dangling.md": "nowhere.md", "loop.md": "loop.md", "out.md": str(tmp_path / "out.md"),
        "out": str(tmp_path / "folder"), "up.md": "../../out.md", "hidden.md": ".obsidian/x.md",
    }.items():  # fmt: skip
        (vault.root / name).symlink_to(target)

    assert paths(vault) == ["tea.md"]
    told = problems(vault)
    assert {"dangling.md", "loop.md", "out.md", "out", "up.md"} <= set(told)
    assert all(what.startswith("link not followed: ") for what in told.values())
    for name in ("dangling.md", "loop.md", "out.md", "up.md", "hidden.md"):
        with pytest.raises(VaultMindError):
            vault.read(name)


def test_a_link_inside_the_vault_shows_its_file_once(vault: Vault, write: Write) -> None:
    write("deep/tea.md", TEA)
    write("words.txt", "Plain words.")
    (vault.root / "again.md").symlink_to("deep/tea.md")
    (vault.root / "words.md").symlink_to("words.txt")
    (vault.root / "folder").symlink_to("deep")

    assert paths(vault) == ["deep/tea.md", "words.md"]
    assert vault.find("again.md") == "deep/tea.md"
    assert vault.read("words.md").body == "Plain words."


# To ask a looping link whether it is a folder raises, and the rest of the walk's folder would be lost.
def test_a_looping_link_costs_only_itself_beside_an_ignore_setting(vault: Vault, write: Write) -> None:
    for number in range(10):
        write(f"deep/tea-{number}.md", TEA)
        (vault.root / "deep" / f"loop-{number}.md").symlink_to(f"loop-{number}.md")

    assert paths(Vault(vault.root, ["archive/"])) == [f"deep/tea-{number}.md" for number in range(10)]


LOOKED_AT = """
import os, sys
from vault_mind import Vault

if not os.geteuid():  # root reads everything: let a nobody look
    os.setegid(65534)
    os.seteuid(65534)
vault = Vault(sys.argv[1])
print(sorted(memory.path for memory in vault.memories()))
print(sorted((problem.path, problem.what) for problem in vault.problems()))
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX only")
def test_a_file_or_folder_that_may_not_be_read_costs_only_itself() -> None:
    with TemporaryDirectory() as name:
        root = Path(name)
        if not all(folder.stat().st_mode & 0o001 for folder in root.parents):
            pytest.skip("nobody may get to the temporary folder")
        root.chmod(0o755)
        for path in ("tea.md", "secret.md", "closed/note.md"):
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(TEA)
        (root / "secret.md").chmod(0)
        (root / "closed").chmod(0)

        command = [sys.executable, "-c", LOOKED_AT, name]
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        (root / "closed").chmod(0o755)

    assert said.stderr == ""
    assert said.stdout.splitlines() == [
        "['tea.md']",
        "[('closed/', 'folder not read: permission denied'), ('secret.md', 'cannot be read: permission denied')]",
    ]


def test_a_vault_that_has_gone_is_an_error_and_no_empty_vault(vault: Vault, write: Callable[[str, str], Path]) -> None:
    write("tea.md", TEA)
    moved = vault.root.rename(vault.root.with_name("elsewhere"))

    with pytest.raises(UnreadableError, match="cannot be read: no such file or directory"):
        vault.walk()

    moved.rename(vault.root)
    assert list(vault.walk().files) == ["tea.md"]


def undecodable(vault: Vault, name: bytes) -> bytes:
    """The whole path of a name that is no UTF-8; skips where the disk takes none."""
    path = os.fsencode(vault.root) + b"/" + name
    try:
        Path(os.fsdecode(path)).touch()
    except OSError:
        pytest.skip("names must be UTF-8 here")
    Path(os.fsdecode(path)).unlink()
    return path


def test_a_name_that_is_no_utf8_costs_only_itself_and_is_named(vault: Vault, write: Write) -> None:
    write("tea.md", TEA)
    Path(os.fsdecode(undecodable(vault, b"caf\xe9.md"))).write_text(TEA)
    folder = Path(os.fsdecode(undecodable(vault, b"d\xff")))
    folder.mkdir()
    (folder / "x.md").write_text(TEA)

    synced = Index(vault).sync()

    assert paths(vault) == ["tea.md"]
    assert sorted((problem.path, problem.what) for problem in synced.news) == [
        (r"caf\udce9.md", "not read: its name is not UTF-8"),
        (r"d\udcff/x.md", "not read: its name is not UTF-8"),
    ]


# SQLite takes no such name: one that gets that far ends every command.
@pytest.mark.parametrize("target", ["nowhere", "words.txt", "/etc"])
def test_a_link_whose_name_is_no_utf8_costs_only_itself(target: str, vault: Vault, write: Write) -> None:
    write("tea.md", TEA)
    write("words.txt", "Plain words.")
    Path(os.fsdecode(undecodable(vault, b"caf\xe9.md"))).symlink_to(target)

    hits = Index(vault).search("tea", 5)

    assert [hit.memory.path for hit in hits] == ["tea.md"]
    assert [problem.path for problem in vault.problems()] == [r"caf\udce9.md"]


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ([], ["a.md", "archive/b.md", "archive/c/d.md", "deep/archive/e.md", "deep/f.draft.md"]),
        (["archive/"], ["a.md", "deep/f.draft.md"]),
        (["/archive/"], ["a.md", "deep/archive/e.md", "deep/f.draft.md"]),
        (["*.draft.md"], ["a.md", "archive/b.md", "archive/c/d.md", "deep/archive/e.md"]),
        (["archive/*", "!archive/b.md"], ["a.md", "archive/b.md", "deep/archive/e.md", "deep/f.draft.md"]),
        (["# no pattern", "", "deep/**/e.md"], ["a.md", "archive/b.md", "archive/c/d.md", "deep/f.draft.md"]),
        (["*"], []),
    ],
)
def test_what_the_ignore_setting_names_is_not_read(
    patterns: list[str], left: list[str], vault: Vault, write: Write
) -> None:
    for path in ("a.md", "archive/b.md", "archive/c/d.md", "deep/archive/e.md", "deep/f.draft.md"):
        write(path, TEA)

    assert paths(Vault(vault.root, patterns)) == left


# --- saving ---------------------------------------------------------------------------------------


def test_a_new_memory_is_a_file_in_memories_named_by_its_sentence(vault: Vault) -> None:
    memory = vault.save(
        "Ada likes café, green tea & cake.", kind="preference", source="chat", created_at=NOW,
        quote='I like "café"', tags=("drinks", "no"), chat="2026-11-29-1",
    )  # fmt: skip

    assert memory.path == "memories/ada-likes-café-green-tea-cake.md"
    assert (vault.root / memory.path).read_text("utf-8") == (
        "---\nkind: preference\nsource: chat\ncreated_at: 2026-11-29T18:42:07+00:00\n"
        'quote: "I like \\"café\\""\ntags: [drinks, "no"]\nchat: "2026-11-29-1"\n---\n\n'
        "Ada likes café, green tea & cake.\n"
    )
    assert vault.read(memory.path) == memory
    assert not vault.problems()


def test_a_sentence_said_again_gets_a_number_and_overwrites_nothing(vault: Vault, write: Write) -> None:
    theirs = write("memories/ada-drinks-tea.md", "by hand")

    saved = [save(vault, "Ada drinks tea.").path for _ in range(3)]

    assert saved == [f"memories/ada-drinks-tea-{number}.md" for number in (2, 3, 4)]
    assert theirs.read_text() == "by hand"


@pytest.mark.parametrize(
    "taken",
    [
        "Ada-Drinks-TEA.md",
        "ADA-DRINKS-TEA.MD",
        "ada-drinks-tea.md/",
        ".ada-drinks-tea.md.icloud",
        ".Ada-Drinks-Tea.md.icloud",
    ],
)
def test_a_name_that_another_system_takes_for_the_same_is_not_used(taken: str, vault: Vault, write: Write) -> None:
    if taken.endswith("/"):
        (vault.root / "memories" / taken).mkdir()
    else:
        write(f"memories/{taken}", "theirs")

    assert save(vault, "Ada drinks tea.").path == "memories/ada-drinks-tea-2.md"


def test_a_name_in_another_unicode_form_is_the_same_name(vault: Vault, write: Write) -> None:
    write("memories/" + unicodedata.normalize("NFD", "Café-Straße") + ".md", "theirs")

    assert save(vault, "CAFÉ STRASSE").path == "memories/café-strasse-2.md"


def test_a_link_in_the_place_of_the_new_file_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    (vault.root / "memories" / "ada-drinks-tea.md").symlink_to(tmp_path / "outside.md")

    assert save(vault, "Ada drinks tea.").path == "memories/ada-drinks-tea-2.md"
    assert not (tmp_path / "outside.md").exists()


def test_memories_that_lead_out_of_the_vault_or_are_no_folder_are_not_written(vault: Vault, tmp_path: Path) -> None:
    (vault.root / "memories").rmdir()
    (tmp_path / "outside").mkdir()
    (vault.root / ".hidden").mkdir()

    for target in (tmp_path / "outside", vault.root / ".hidden", tmp_path / "nowhere"):
        (vault.root / "memories").symlink_to(target)
        with pytest.raises(VaultMindError):
            save(vault, "Ada drinks tea.")
        (vault.root / "memories").unlink()
    (vault.root / "memories").write_text("a file")
    with pytest.raises(WriteFailedError):
        save(vault, "Ada drinks tea.")

    assert not list((tmp_path / "outside").iterdir())
    assert not list((vault.root / ".hidden").iterdir())


def test_a_missing_memories_folder_is_made_again(vault: Vault) -> None:
    (vault.root / "memories").rmdir()

    assert vault.read(save(vault, "Ada drinks tea.").path).body == "Ada drinks tea."


@pytest.mark.parametrize("body", ["", "   ", "\n", "a\0b"])
def test_a_text_that_is_none_leaves_no_file(body: str, vault: Vault) -> None:
    with pytest.raises(UnwritableTextError):
        save(vault, body)

    assert paths(vault) == []


# --- names ----------------------------------------------------------------------------------------

WINDOWS = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
RESERVED = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{n}{i}" for n in ("com", "lpt") for i in "0123456789¹²³"
}


def legal(name: str) -> bool:
    """Whether every system can hold `name` + `.md`, and a person can see it."""
    return (
        not WINDOWS.search(name)
        and name.split(".")[0] not in RESERVED
        and name == name.strip(" .")
        and not name.startswith(("-", "."))
        and len(f"{name}-9999.md".encode()) <= 255
        and name == unicodedata.normalize("NFC", name.casefold())
    )


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Ada drinks tea.", "ada-drinks-tea"),
        ("either / or", "either-or"),
        ("back\\slash", "back-slash"),
        ("2026-03-09 07:15:30 minutes", "2026-03-09-07-15-30-minutes"),
        ('what? "really" <yes>|no*', "what-really-yes-no"),
        ("nul.txt", "nul-txt"),
        ("ends with dot.", "ends-with-dot"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ("tab\there\nand there", "tab-here-and-there"),
        ("CON", "con-memory"),
        ("Aux!", "aux-memory"),
        ("com1", "com1-memory"),
        ("COM¹", "com1-memory"),
        ("LPT9", "lpt9-memory"),
        ("con man", "con-man"),
        ("☕ 🎉", "memory"),
        ("👩‍👩‍👧", "memory"),
        ("...", "memory"),
        ("ＦＵＬＬ　width", "full-width"),
        ("東京でお茶を飲む", "東京でお茶を飲む"),
        ("Straße", "strasse"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\u202eb\u200bc", "a-b-c"),
        ("x" * 300, "x" * SLUG_LENGTH),
        ("word " * 50, "word-" * 11 + "word"),
    ],
)
def test_a_name_is_readable_and_legal_on_every_system(sentence: str, name: str) -> None:
    assert slug(sentence) == name
    assert legal(name)


# A variation selector and the Hangul fillers are marks and letters to Unicode, and nobody can see them.
@pytest.mark.parametrize("sentence", ["❤️", "☕️ ☕️", "\u3164", "\u034f\u180b", "\U000e0101"])
def test_a_text_without_anything_to_see_makes_no_invisible_name(sentence: str) -> None:
    assert slug(sentence) == "memory"


def test_an_emoji_before_the_words_leaves_no_invisible_word() -> None:
    assert slug("☕️ coffee at nine") == "coffee-at-nine"


@pytest.mark.parametrize(
    "sentence", ["お茶" * 200, "é" * 500, "𠮷" * 300, "한국어" * 100, "ﷺ" * 200, "x" + "\u0301" * 400]
)
def test_a_long_word_of_any_script_makes_a_name_that_a_disk_can_hold(sentence: str, vault: Vault) -> None:
    assert len(slug(sentence)) <= SLUG_LENGTH
    assert len(slug(sentence).encode()) <= SLUG_BYTES
    assert vault.read(save(vault, sentence).path).body == sentence


# Once: what is invisible is taken out after normalising, so that what it kept apart may not be in NFC any more;
# the same sentence said twice is then refused ("somebody else changed it").
@pytest.mark.parametrize("sentence", ["a\u034f\u0301bc", "\u1100\u200d\u1161"])
def test_a_name_is_in_one_unicode_form_although_something_invisible_was_taken_out(sentence: str, vault: Vault) -> None:
    assert legal(slug(sentence))
    assert len({save(vault, sentence).path for _ in range(2)}) == 2


@given(st.one_of(st.text(max_size=80), st.text(st.characters(exclude_categories=()), max_size=80)))
@settings(max_examples=300)
@example("ΐ ΰ ẖ ǰ ŉ ﬁ ß ẞ İ ı ſ ͅ")
@example("\u0345\u0301a")
@example("A\u030a\u0327 \u1e9e\u0345")
@example("con\u0300")
def test_any_text_makes_a_legal_name_that_is_equal_to_its_own_folded_form(sentence: str) -> None:
    assert legal(slug(sentence))


# --- changing -------------------------------------------------------------------------------------


def test_a_change_is_on_the_disk_and_touches_its_own_line_only(vault: Vault, write: Write) -> None:
    file = write("deep/tea.md", TEA)

    changed = vault.change(vault.read("deep/tea.md"), {"kind": "fact"})

    assert file.read_text() == TEA.replace("kind: preference", "kind: fact")
    assert changed == vault.read("deep/tea.md")


def test_a_change_of_what_somebody_else_changed_goes_on_top_of_theirs(vault: Vault, write: Write) -> None:
    file = write("tea.md", TEA)
    memory = vault.read("tea.md")
    file.write_text(TEA.replace("source: user", "source: chat # theirs") + "And coffee.\n")

    changed = vault.change(memory, {"kind": "fact"})

    wanted = TEA.replace("preference", "fact").replace("source: user", "source: chat # theirs") + "And coffee.\n"
    assert file.read_text() == changed.text == wanted
    assert paths(vault) == ["tea.md"]


def test_a_change_of_the_lines_that_somebody_else_changed_is_refused_and_both_versions_stay(
    vault: Vault, write: Write
) -> None:
    theirs = TEA.replace("drinks tea", "drinks coffee")
    file = write("deep/tea.md", TEA)
    memory = vault.read("deep/tea.md")
    file.write_text(theirs)

    with pytest.raises(ConflictError) as caught:
        vault.change(memory, {"kind": "fact"}, body="Ada drinks cocoa.", at=NOW)

    copy = "deep/tea (conflicted copy 2026-11-29 184207).md"
    assert (caught.value.path, caught.value.copy) == ("deep/tea.md", copy)
    assert str(caught.value) == (
        "deep/tea.md: not changed, somebody else changed line 1 of its text in the meantime. "
        f"Your version is in {copy}: bring the two together, then delete that one"
    )
    assert file.read_text() == theirs
    assert vault.read(copy).text == TEA.replace("preference", "fact").replace("drinks tea", "drinks cocoa")


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (None, "somebody else deleted it in the meantime"),
        (b"caf\xe9", "somebody else changed it in the meantime and it is not UTF-8 (byte 0xe9 at 3)"),
        (b"---\nkind: [\n---\n", "somebody else changed it in the meantime and line"),
        ("folder", "somebody else changed it in the meantime, and it cannot be read: "),
    ],
)
def test_a_change_of_what_is_gone_or_no_sound_text_any_more_is_kept_beside_it(
    now: bytes | str | None, why: str, vault: Vault, write: Write
) -> None:
    file = write("tea.md", TEA)
    memory = vault.read("tea.md")
    file.unlink()
    if isinstance(now, bytes):
        write("tea.md", now)
    elif now:
        file.mkdir()

    with pytest.raises(ConflictError, match=re.escape(f"tea.md: not changed, {why}")) as caught:
        vault.change(memory, {"kind": "fact"})

    assert vault.read(caught.value.copy or "").text == TEA.replace("preference", "fact")
    assert (file.read_bytes() if file.is_file() else file.is_dir() or None) == (now if now != "folder" else True)


def test_a_version_is_kept_higher_up_when_the_folder_is_gone(vault: Vault, write: Write) -> None:
    file = write("a/b/tea.md", TEA)
    memory = vault.read("a/b/tea.md")
    file.unlink()
    file.parent.rmdir()

    with pytest.raises(ConflictError) as caught:
        vault.change(memory, {"kind": "fact"}, at=NOW)

    assert caught.value.copy == "a/tea (conflicted copy 2026-11-29 184207).md"
    assert not file.exists()


def test_two_versions_of_one_second_get_two_names_and_overwrite_nothing(vault: Vault, write: Write) -> None:
    taken = write("TEA (Conflicted Copy 2026-11-29 184208).md", "theirs")
    file = write("tea.md", TEA)
    memory = vault.read("tea.md")
    file.unlink()

    copies = []
    for kind in ("fact", "context"):
        with pytest.raises(ConflictError) as caught:
            vault.change(memory, {"kind": kind}, at=NOW)
        copies.append(caught.value.copy)

    assert copies == [f"tea (conflicted copy 2026-11-29 18{second}).md" for second in ("4207", "4209")]
    assert taken.read_text() == "theirs"


@pytest.mark.parametrize("stem", ["x" * 252, "é" * 126, "東" * 84])
def test_a_version_of_a_file_with_the_longest_name_is_kept(stem: str, vault: Vault, write: Write) -> None:
    file = write(f"{stem}.md", TEA)
    memory = vault.read(f"{stem}.md")
    file.unlink()

    with pytest.raises(ConflictError) as caught:
        vault.change(memory, {"kind": "fact"}, at=NOW)

    assert (caught.value.copy or "").endswith(" (conflicted copy 2026-11-29 184207).md")
    assert (vault.root / (caught.value.copy or "")).is_file()


@pytest.mark.skipif(os.name == "nt" or not os.geteuid(), reason="root may write everywhere")
def test_a_version_that_cannot_be_kept_is_told(vault: Vault, write: Write) -> None:
    file = write("deep/tea.md", TEA)
    memory = vault.read("deep/tea.md")
    file.write_text(TEA.replace("preference", "context"))
    for folder in (file.parent, vault.root):
        folder.chmod(0o500)

    with pytest.raises(ConflictError, match="could not be kept") as caught:
        vault.change(memory, {"kind": "fact"})

    for folder in (vault.root, file.parent):
        folder.chmod(0o700)
    assert caught.value.copy is None


SAVING_AGAIN = """
import sys
from pathlib import Path
from vault_mind import Vault
from vault_mind.errors import ConflictError

vault, times = Vault(sys.argv[1]), int(sys.argv[2])
memory, file, saved = vault.read("tea.md"), vault.root / "tea.md", [0]

def editor(event, arguments):  # an audit hook stands in for somebody who saves whenever we are about to
    if event == "tempfile.mkstemp" and saved[0] < times and "conflicted" not in "".join(map(str, arguments)):
        saved[0] += 1
        file.write_text(file.read_text() + f"theirs {saved[0]}\\n")

sys.addaudithook(editor)
try:
    print(vault.change(memory, {"kind": "fact"}).body.count("theirs"))
except ConflictError as error:
    print(error)
"""


def test_a_change_is_tried_again_while_somebody_keeps_saving_and_then_kept_beside(vault: Vault, write: Write) -> None:
    def tried(times: int) -> str:
        write("tea.md", TEA)
        command = [sys.executable, "-c", SAVING_AGAIN, str(vault.root), str(times)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()

    assert tried(3) == "3"
    assert "kind: fact" in (vault.root / "tea.md").read_text()

    assert "not changed, somebody else keeps changing it. Your version is in" in tried(5)
    assert vault.read("tea.md").text == TEA + "".join(f"theirs {number}\n" for number in range(1, 6))


DIFFERENT_KEYS = """
import sys
from vault_mind import Vault

vault = Vault(sys.argv[1])
memory = vault.read("log.md")
print("ready", flush=True)
sys.stdin.readline()
for number in range(10):
    memory = vault.change(memory, {f"key-{sys.argv[2]}": f"value {number}"})
"""


def test_processes_that_change_different_keys_of_one_file_at_once_all_get_theirs_in(vault: Vault, write: Write) -> None:
    write("log.md", "---\nkind: log\n---\n\nstart\n")

    started = [
        subprocess.Popen(
            [sys.executable, "-c", DIFFERENT_KEYS, str(vault.root), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name in "abcd"
    ]  # fmt: skip
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"  # all have read the same text
    for process in started:
        assert process.communicate("go\n", timeout=90)[1] == ""

    assert vault.read("log.md").frontmatter == {"kind": "log"} | {f"key-{name}": "value 9" for name in "abcd"}
    assert paths(vault) == ["log.md"]


def test_a_change_that_may_not_go_on_top_leaves_what_somebody_else_wrote(vault: Vault, write: Write) -> None:
    file = write("tea.md", "---\nkind: fact\n---\nThe user drinks tea.\n")
    memory = vault.read("tea.md")
    write("tea.md", "---\nkind: fact\n---\nThe user drinks black tea.\n")

    with pytest.raises(MemoryChangedError):
        vault.change(memory, {"superseded_by": "[[x]]"}, on_top=False)

    assert file.read_text("utf-8") == "---\nkind: fact\n---\nThe user drinks black tea.\n"
    assert [found.path for found in vault.memories()] == ["tea.md"]
    assert "[[x]]" in vault.change(vault.read("tea.md"), {"superseded_by": "[[x]]"}, on_top=False).text


def test_a_change_that_changes_nothing_writes_nothing(vault: Vault, write: Write) -> None:
    file = write("tea.md", TEA)
    before = file.stat()

    vault.change(vault.read("tea.md"), {"kind": "preference"}, body="Ada drinks tea.")

    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_change_keeps_the_files_mode_and_refuses_a_read_only_one(vault: Vault, write: Write) -> None:
    file = write("tea.md", TEA)
    file.chmod(0o640)
    memory = vault.change(vault.read("tea.md"), {"kind": "fact"})
    assert file.stat().st_mode & 0o777 == 0o640

    file.chmod(0o440)
    with pytest.raises(PathRefusedError, match="read-only"):
        vault.change(memory, {"kind": "context"})
    assert "kind: fact" in file.read_text()


def test_a_change_of_what_a_link_shows_changes_the_file_and_keeps_the_link(vault: Vault, write: Write) -> None:
    file = write("words.txt", TEA)
    (vault.root / "words.md").symlink_to("words.txt")

    vault.change(vault.read("words.md"), {"kind": "fact"})

    assert (vault.root / "words.md").is_symlink()
    assert "kind: fact" in file.read_text()


def test_a_file_with_a_second_name_is_not_changed_and_can_be_forgotten(vault: Vault, write: Write) -> None:
    file = write("tea.md", TEA)
    os.link(file, vault.root / "backup.txt")

    with pytest.raises(PathRefusedError, match="hard link"):
        vault.change(vault.read("tea.md"), {"kind": "fact"})
    assert file.samefile(vault.root / "backup.txt")

    vault.forget(vault.read("tea.md"))
    assert (vault.root / "backup.txt").read_text() == TEA
    assert not file.exists()


@pytest.mark.parametrize("content", [content for content, _ in HOSTILE.values() if content != HOSTILE["date.md"][0]])
def test_a_file_that_is_not_sound_is_never_written(content: str | bytes, vault: Vault, write: Write) -> None:
    file = write("bad.md", content)
    before = file.read_bytes()

    with pytest.raises(UnsafeChangeError, match=r"bad\.md"):
        vault.change(vault.read("bad.md"), {"a": "fact"})

    assert file.read_bytes() == before


# --- renaming and forgetting ----------------------------------------------------------------------


def test_a_rename_keeps_the_folder_and_every_byte(vault: Vault, write: Write) -> None:
    write("deep/tea.md", TEA)

    renamed = vault.rename(vault.read("deep/tea.md"), "What Ada drinks")

    assert renamed.path == "deep/what-ada-drinks.md"
    assert everything_in(vault.root / "deep") == {"what-ada-drinks.md": TEA.encode()}


def test_a_rename_never_overwrites_and_may_change_the_case_only(vault: Vault, write: Write) -> None:
    write("Tea.md", TEA)
    write("Coffee.md", "theirs")

    assert vault.rename(vault.read("Tea.md"), "coffee").path == "coffee-2.md"
    assert vault.rename(vault.read("coffee-2.md"), "COFFEE 2").path == "coffee-2.md"
    assert vault.rename(vault.read("Coffee.md"), "coffee").path == "coffee.md"
    assert (vault.root / "coffee.md").read_text() == "theirs"


def test_a_rename_or_forget_of_what_somebody_else_changed_is_refused(vault: Vault, write: Write) -> None:
    file = write("tea.md", TEA)
    memory = vault.read("tea.md")
    file.write_text("theirs")

    with pytest.raises(MemoryChangedError):
        vault.rename(memory, "coffee")
    with pytest.raises(MemoryChangedError):
        vault.forget(memory)

    assert everything_in(vault.root)["tea.md"] == b"theirs"


def test_a_rename_or_forget_of_what_is_gone_is_told(vault: Vault, write: Write) -> None:
    file = write("tea.md", TEA)
    memory = vault.read("tea.md")
    file.unlink()

    with pytest.raises(MemoryNotFoundError):
        vault.rename(memory, "coffee")
    with pytest.raises(MemoryNotFoundError):
        vault.forget(memory)


@pytest.mark.parametrize(
    "content", [TEA, b"\xff\xfet\0e\0", b"caf\xe9", b"a\0b", "---\na: b: c\n---\n", b"x" * (LARGEST + 9), ""]
)
def test_forget_deletes_whatever_can_be_read_and_nothing_else(content: str | bytes, vault: Vault, write: Write) -> None:
    write("tea.md", content)
    write("other.md", content)

    vault.forget(vault.read("tea.md"))

    assert paths(vault) == ["other.md"]


def test_forget_refuses_a_read_only_file(vault: Vault, write: Write) -> None:
    write("tea.md", TEA).chmod(0o444)

    with pytest.raises(PathRefusedError, match="read-only"):
        vault.forget(vault.read("tea.md"))

    assert paths(vault) == ["tea.md"]


@pytest.mark.parametrize("step", ["forget", "rename"])
def test_a_rename_or_forget_of_what_a_link_shows_leaves_no_dangling_link(step: str, vault: Vault, write: Write) -> None:
    write("words.txt", TEA)
    (vault.root / "words.md").symlink_to("words.txt")

    try:
        if step == "forget":
            vault.forget(vault.read("words.md"))
        else:
            assert vault.rename(vault.read("words.md"), "tea").path in paths(vault)
    except VaultMindError:
        assert paths(vault) == ["words.md"]

    assert not problems(vault)


# --- finding --------------------------------------------------------------------------------------


@pytest.fixture
def named(vault: Vault, write: Write) -> Vault:
    for path in (
        "Tea.md",
        "deep/tea time.md",
        "deep/coffee.md",
        "b/coffee.md",
        "memories/ada-drinks-tea.md",
        "日本/お茶.md",
    ):
        write(path, TEA)
    return vault


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Tea.md", "Tea.md"),
        ("tea.md", "Tea.md"),
        ("TEA", "Tea.md"),
        ("deep/coffee.md", "deep/coffee.md"),
        ("DEEP/Coffee", "deep/coffee.md"),
        ("./deep/coffee.md", "deep/coffee.md"),
        (" deep/coffee ", "deep/coffee.md"),
        ("tea time", "deep/tea time.md"),
        ("time", "deep/tea time.md"),
        ("ada-dr", "memories/ada-drinks-tea.md"),
        ("[[ada-drinks-tea]]", "memories/ada-drinks-tea.md"),
        ("お茶", "日本/お茶.md"),
        (unicodedata.normalize("NFD", "日本/お茶"), "日本/お茶.md"),
    ],
)
def test_a_memory_is_found_by_its_path_its_stem_or_a_part(name: str, path: str, named: Vault) -> None:
    assert named.find(name) == path


def test_a_memory_is_found_by_its_absolute_path(named: Vault, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(named.root)

    assert named.find(str(named.root / "deep" / "coffee.md")) == "deep/coffee.md"
    assert named.find(str(named.root / "b" / ".." / "deep" / "coffee.md")) == "deep/coffee.md"
    linked = Vault(tmp_path / "link")
    for root in (tmp_path / "link", named.root):
        assert linked.find(str(root / "Tea.md")) == "Tea.md"


def test_a_name_that_several_share_lists_them(named: Vault) -> None:
    with pytest.raises(AmbiguousNameError) as several:
        named.find("coffee")
    assert several.value.paths == ("b/coffee.md", "deep/coffee.md")
    assert "  b/coffee.md\n  deep/coffee.md" in str(several.value)

    with pytest.raises(AmbiguousNameError):
        named.find("ea")


@pytest.mark.parametrize("name", ["gone", "tea.txt", "deep/", ".vault-mind.toml", "*", "%", "Te?"])
def test_a_name_that_nobody_has_is_not_found(name: str, named: Vault) -> None:
    with pytest.raises((MemoryNotFoundError, AmbiguousNameError)) as missed:
        named.find(name)
    assert name in str(missed.value)


@pytest.mark.parametrize(
    "name", ["../out.md", "deep/../../out.md", "..", "deep/../Tea.md", "..\\out.md", "/etc/passwd", "/"]
)
def test_a_name_that_leads_out_of_the_vault_is_refused(name: str, named: Vault) -> None:
    (named.root.parent / "out.md").write_text(TEA)

    with pytest.raises(PathRefusedError, match="outside the vault"):
        named.find(name)


def test_a_folder_beside_the_vault_with_the_same_beginning_is_outside(named: Vault) -> None:
    beside = named.root.with_name(named.root.name + "-old")
    beside.mkdir()
    (beside / "x.md").write_text(TEA)

    with pytest.raises(PathRefusedError):
        named.find(str(beside / "x.md"))


# An empty text is a part of every path: in a vault of one memory, `forget ""` would mean that one.
@pytest.mark.parametrize("name", ["", "  ", "[[]]", "./"])
def test_an_empty_name_means_no_memory(name: str, vault: Vault, write: Write) -> None:
    write("tea.md", TEA)

    with pytest.raises(MemoryNotFoundError):
        vault.find(name)


def test_an_exact_path_with_blanks_around_it_means_that_very_file(vault: Vault, write: Write) -> None:
    write("tea.md", TEA)
    write(" tea.md", TEA)

    assert vault.find(" tea.md") == " tea.md"


# --- many at once ---------------------------------------------------------------------------------

SAVING = """
import sys
from datetime import UTC, datetime
from vault_mind import Vault

vault = Vault(sys.argv[1])
for number in range(5):
    vault.save(f"The same words!{'?' * number}{sys.argv[2]}", kind="fact", source="user", created_at=datetime.now(UTC))
"""

APPENDING = """
import sys
from vault_mind import Vault
from vault_mind.errors import MemoryChangedError

vault = Vault(sys.argv[1])
for number in range(5):
    while True:
        memory = vault.read("log.md")
        try:
            vault.change(memory, {"kind": f"k{number}"}, body=f"{memory.body}\\n{sys.argv[2]}-{number}")
            break
        except MemoryChangedError:
            continue
"""


def at_once(script: str, vault: Vault, names: str) -> None:
    """Run a script in several processes, one for each name; all must end well."""
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(vault.root), name], stderr=subprocess.PIPE, text=True)
        for name in names
    ]
    for process in started:
        assert process.communicate(timeout=90)[1] == ""
        assert process.returncode == 0


def test_eight_processes_that_save_at_once_lose_nothing_and_share_no_name(vault: Vault) -> None:
    at_once(SAVING, vault, "?!.,;:-_")

    found = list(vault.memories())
    assert len({memory.path.casefold() for memory in found}) == 40
    wanted = sorted(f"The same words!{'?' * number}{mark}" for number in range(5) for mark in "?!.,;:-_")
    assert sorted(memory.body for memory in found) == wanted
    assert not vault.problems()
    assert not [name for name in everything_in(vault.root) if name.endswith(".tmp")]


def test_eight_processes_that_change_one_file_at_once_lose_nothing(vault: Vault, write: Write) -> None:
    write("log.md", "---\nkind: log # kept\n---\n\nstart\n")

    at_once(APPENDING, vault, "abcdefgh")

    memory = vault.read("log.md")
    assert memory.text.startswith("---\nkind: k")
    assert " # kept\n---\n\nstart\n" in memory.text
    assert sorted(memory.body.split("\n")[1:]) == sorted(f"{name}-{n}" for name in "abcdefgh" for n in range(5))


def test_threads_of_one_process_that_save_at_once_lose_nothing(vault: Vault) -> None:
    with ThreadPoolExecutor(6) as pool:
        saved = list(pool.map(lambda number: save(vault, f"The same words{'!' * number}"), range(24)))

    assert len({memory.path for memory in saved}) == 24
    assert {vault.read(memory.path).body for memory in saved} == {
        f"The same words{'!' * number}" for number in range(24)
    }


class Swapped(Vault):
    """A vault in which, just after each walk, a file gives way to a link that leads outside."""

    def walk(self, known: Mapping[str, bytes] | None = None) -> Walk:
        walk = super().walk(known)
        (self.root / "b.md").unlink(missing_ok=True)
        (self.root / "b.md").symlink_to("/etc/hostname")
        return walk


def test_a_file_that_turns_into_a_link_outside_costs_only_itself(vault: Vault, write: Write) -> None:
    for name in ("a.md", "b.md", "c.md"):
        write(name, TEA)

    assert [memory.path for memory in Swapped(vault.root).memories()] == ["a.md", "c.md"]
    write("c.md", b"\xff")
    assert "c.md" in problems(Swapped(vault.root))


def test_a_date_of_any_zone_is_saved_as_it_was_given(vault: Vault) -> None:
    memory = vault.save(
        "Ada drinks tea.",
        kind="fact",
        source="user",
        created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=-3))),
    )

    assert memory.frontmatter["created_at"] == "2026-01-02T03:04:05-03:00"
