"""A history without a text: every commit, tag and tree that leads to it made anew, all others as they are.

Only what holds the text or leads to it gets new bytes; an object's bytes are otherwise copied, so that authors, dates,
time zones, encodings, modes, merges and headers nobody knows stay. Nothing is written here but into a `Pack`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

from vault_mind.memory import decoded, parse
from vault_mind.needles import Needles
from vault_mind.objects import TREE, Entry, Objects, Pack, tree

LINK = b"160000"  # the mode of a submodule's commit, which is another repository's
_HEADER = re.compile(rb"\n(?! )")
_ENCODING = re.compile(rb"^encoding (\S+)$", re.MULTILINE)
_SIGNATURE = re.compile(rb"-----BEGIN (?:PGP|SSH|SIGNED) (?:SIGNATURE|MESSAGE)-----.*", re.DOTALL)
_UNSIGNED = (b"gpgsig", b"gpgsig-sha256")


@dataclass(frozen=True)
class Targets:
    """What goes: `needles`, and `versions`, blobs at a path.

    The vault's place in the repository is `prefix` ('' or 'a/b/'), files outside it stay; `names` are files and
    folders in it that are called otherwise.
    """

    needles: Needles
    prefix: bytes = b""
    versions: frozenset[tuple[bytes, str]] = frozenset()
    names: Mapping[bytes, bytes] = field(default_factory=dict)


@dataclass
class Seen:
    """What was met on the way: path with what becomes of it, messages that held it, signatures that are lost."""

    files: dict[bytes, str] = field(default_factory=dict)
    messages: set[str] = field(default_factory=set)
    signatures: set[str] = field(default_factory=set)
    binary: set[bytes] = field(default_factory=set)


class Rewriting:
    """The objects of one repository, and what each of them becomes."""

    def __init__(self, objects: Objects, pack: Pack, targets: Targets, notes: Iterable[str] = ()) -> None:
        self.seen = Seen()
        self.commits: dict[str, bytes] = {}
        self.tags: dict[str, bytes] = {}
        self.new: dict[str, str] = {}  # commits and tags that become others
        self.holding: set[str] = set()  # objects whose own bytes hold it
        self._objects, self._pack, self.targets = objects, pack, targets
        self._notes = set(notes)
        self._blobs: dict[str, bytes] = {}
        self._emptied: set[str] = set()
        self._done: set[str] = set()
        self._trees: dict[tuple[str, bytes], str | None] = {}
        self.names = self._look()
        self._hot = {bytes.fromhex(blob) for blob in (*self._blobs, *(blob for _, blob in targets.versions))}

    def _look(self) -> dict[bytes, bytes]:
        """Look at every object once; names of files that hold it, and what they are called instead."""
        names: dict[bytes, bool] = {}
        hot: set[bytes] = set()
        telling = self.targets.needles.within
        for name, kind, data in self._objects.every():
            if kind == "tree":
                called = {entry[1] for entry in self._objects.entries(data)}
                for one in called - names.keys():
                    names[one] = telling(one)
                    if names[one]:
                        hot.add(one)
                if not hot.isdisjoint(called):
                    self.holding.add(name)
                continue
            if telling(data if kind == "blob" else text_of(data)):
                self.holding.add(name)
                if kind == "blob":
                    self._note_blob(name, data)
            if kind != "blob":
                (self.commits if kind == "commit" else self.tags)[name] = data
        taken = {name.partition(b".")[0] for name in (*names, *self.targets.names.values())}
        free = (new for new in (b"purged-%d" % number for number in count(1)) if new not in taken)
        found = {name: next(free) + _suffix(name) for name in sorted(names) if names[name]}
        return {**found, **self.targets.names}

    def _note_blob(self, name: str, data: bytes) -> None:
        scrubbed = self.targets.needles.scrubbed(data)
        self._blobs[name] = scrubbed
        if emptied(data, scrubbed, self.targets.needles):
            self._emptied.add(name)

    def of(self, name: str) -> str:
        """What the object becomes; an object that is not there stays what it is."""
        if name in self.commits:
            return self._commit(name)
        if name in self.tags:
            return self._tag(name)
        read = self._objects.read(name)
        if read is None:
            return name
        if read[0] == "tree":
            return self._tree(name, b"") or self._pack.add("tree", b"")
        return self._pack.add("blob", self._blobs[name]) if name in self._blobs else name

    def entry(self, path: bytes, mode: bytes, name: str) -> tuple[bytes, str] | None:
        """What becomes of the blob `name` at `path` of the repository: path and id. None: it goes."""
        targets = self.targets
        if not path.startswith(targets.prefix) or mode == LINK:
            return path, name
        inner = path[len(targets.prefix) :]
        if (path, name) in targets.versions or (name in self._emptied and path.endswith(b".md")):
            self.seen.files[inner] = "deleted"
            return None
        called = b"/".join(self.names.get(part, part) for part in inner.split(b"/"))
        if called != inner:
            self.seen.files[inner] = "renamed"
        if name not in self._blobs:
            return targets.prefix + called, name
        if called == inner:
            self.seen.files[inner] = "text taken out"
        if b"\0" in self._blobs[name]:
            self.seen.binary.add(inner)
        return targets.prefix + called, self._pack.add("blob", self._blobs[name])

    def _commit(self, name: str) -> str:
        """With its ancestors first, and without recursion: a history is deep."""
        waiting = [name]
        while waiting:
            commit = waiting[-1]
            parents = [p for p in _parents(self.commits[commit]) if p in self.commits and p not in self._done]
            if commit in self._done or not parents:
                waiting.pop()
                if commit not in self._done:
                    self._rewrite_commit(commit)
                    self._done.add(commit)
            waiting += parents if commit not in self._done else []
        return self.new.get(name, name)

    def _rewrite_commit(self, name: str) -> None:
        data = self.commits[name]
        head, gap, message = data.partition(b"\n\n")
        headers, signed, changed = [], False, False
        retree = self._note_tree if name in self._notes else self._root
        for header in _HEADER.split(head):
            key, _, value = header.partition(b" ")
            if key == b"tree":
                header = b"tree " + retree(value.decode()).encode()
            elif key == b"parent":
                header = b"parent " + self.new.get(value.decode(), value.decode()).encode()
            elif key in _UNSIGNED:
                signed = True
            headers.append(header)
        new_message = self._message(name, message, _ENCODING.search(head))
        changed = b"\n".join(headers) != head or new_message != message
        if not changed:
            return
        if signed:
            self.seen.signatures.add(name)
        kept = [header for header in headers if self._still_true(header)]
        self.new[name] = self._pack.add("commit", b"\n".join(kept) + gap + new_message)

    def _still_true(self, header: bytes) -> bool:
        """Whether a header of a commit may stay in one that was changed: no signature, no tag of a commit that went."""
        key, _, value = header.partition(b" ")
        if key == b"mergetag":
            tagged = value.partition(b"\n")[0].partition(b" ")[2].decode()
            return tagged not in self.new and not self.targets.needles.within(value)
        return key not in _UNSIGNED

    def _message(self, name: str, message: bytes, encoding: re.Match[bytes] | None) -> bytes:
        """The message without the text, and with the new ids of commits that it names in full."""
        needles = self.targets.needles
        text, back = _recoded(message, encoding)
        scrubbed = needles.scrubbed(text)
        if scrubbed != text:
            self.seen.messages.add(name)
            message = back(scrubbed)
        width = self._objects.width * 2
        return re.sub(rb"\b[0-9a-f]{%d}\b" % width, self._renumbered, message)

    def _renumbered(self, match: re.Match[bytes]) -> bytes:
        return self.new.get(match[0].decode(), "").encode() or match[0]

    def _tag(self, name: str) -> str:
        if name in self._done:
            return self.new.get(name, name)
        self._done.add(name)
        data = self.tags[name]
        head, gap, message = data.partition(b"\n\n")
        first, line, rest = head.partition(b"\n")
        new = self.of(first.partition(b" ")[2].decode())
        unsigned = _SIGNATURE.sub(b"", message)
        scrubbed = self._message(name, unsigned, None)
        if first == b"object " + new.encode() and scrubbed == unsigned:
            return name
        if unsigned != message:
            self.seen.signatures.add(name)
        self.new[name] = self._pack.add("tag", b"object " + new.encode() + line + rest + gap + scrubbed)
        return self.new[name]

    def _root(self, name: str) -> str:
        return self._tree(name, b"") or self._pack.add("tree", b"")

    def _tree(self, name: str, folder: bytes) -> str | None:
        """What the tree at `folder` ('' or 'a/b/') becomes; None when nothing is left of it."""
        known = (name, folder)
        if known in self._trees:
            return self._trees[known]
        read = self._objects.read(name)
        if read is None:  # it is missing, as everything below it
            return name
        old = self._objects.entries(read[1])
        hot, names = self._hot, self.names  # nearly all lines are of files that nothing happens to
        looked_at = [n for n, (mode, called, raw) in enumerate(old) if mode == TREE or raw in hot or called in names]
        became = {number: self._entry(folder, old[number]) for number in looked_at}
        became = {number: entry for number, entry in became.items() if entry != old[number]}
        if became:
            new = [entry for entry in (became.get(number, entry) for number, entry in enumerate(old)) if entry]
            made: str | None = self._pack.add("tree", tree(new)) if new else None
        else:
            made = name
        self._trees[known] = made
        return made

    def _entry(self, folder: bytes, entry: Entry) -> Entry | None:
        mode, name, raw = entry
        path, prefix = folder + name, self.targets.prefix
        if mode != TREE:
            became = self.entry(path, mode, raw.hex())
            return became and (mode, became[0].rpartition(b"/")[2], bytes.fromhex(became[1]))
        inside = path.startswith(prefix)
        if not inside and not prefix.startswith(path + b"/"):
            return entry
        below = self._tree(raw.hex(), path + b"/")
        called = self.names.get(name, name) if inside else name
        return (mode, called, bytes.fromhex(below)) if below else None

    def _note_tree(self, name: str) -> str:
        """A tree of refs/notes: its files are named by the objects that they are about."""
        leaves: list[tuple[bytes, bytes, str]] = []
        folders = [(name, b"")]
        while folders:
            folder, path = folders.pop()
            read = self._objects.read(folder)
            for mode, called, raw in self._objects.entries(read[1] if read else b""):
                if mode == TREE:
                    folders.append((raw.hex(), path + called + b"/"))
                else:
                    leaves.append((path + called, mode, raw.hex()))
        moved = [(self._note_path(path), mode, self._note(blob)) for path, mode, blob in leaves]
        return name if moved == leaves else self._nested(moved)

    def _note(self, blob: str) -> str:
        return self._pack.add("blob", self._blobs[blob]) if blob in self._blobs else blob

    def _note_path(self, path: bytes) -> bytes:
        about = path.replace(b"/", b"").decode("ascii", "replace")
        new = self.of(about) if about in self.commits or about in self.tags else about
        if new == about:
            return path
        parts, at = [], 0
        for part in path.split(b"/"):
            parts.append(new[at : at + len(part)].encode())
            at += len(part)
        return b"/".join(parts)

    def _nested(self, leaves: list[tuple[bytes, bytes, str]]) -> str:
        below: dict[bytes, list[tuple[bytes, bytes, str]]] = {}
        entries: list[Entry] = []
        for path, mode, name in leaves:
            first, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(first, []).append((rest, mode, name))
            else:
                entries.append((mode, first, bytes.fromhex(name)))
        entries += [(TREE, first, bytes.fromhex(self._nested(inner))) for first, inner in below.items()]
        return self._pack.add("tree", tree(entries))

    def doomed(self, unreachable: Iterable[str]) -> set[str]:
        """Of objects that nothing leads to any more, those that hold the text or lead to it."""
        there = set(unreachable)
        found = there & (self.holding | {raw.hex() for raw in self._hot})
        users: dict[str, list[str]] = {}
        for name in there:
            read = self._objects.read(name)
            used, hot = self._uses(*read) if read else ([], False)
            for one in used:
                users.setdefault(one, []).append(name)
            if hot:
                found.add(name)
        waiting = [*found]
        while waiting:
            for user in users.get(waiting.pop(), ()):
                if user not in found:
                    found.add(user)
                    waiting.append(user)
        return found

    def _uses(self, kind: str, data: bytes) -> tuple[list[str], bool]:
        """The objects that one leads to, but for files; and whether a file that goes is among them."""
        if kind == "blob":
            return [], False
        if kind == "tree":
            entries = self._objects.entries(data)
            return [raw.hex() for mode, _, raw in entries if mode == TREE], any(
                raw in self._hot for _, _, raw in entries
            )
        head = data.partition(b"\n\n")[0]
        leading = (header.partition(b" ") for header in head.split(b"\n"))
        used = [name.decode() for key, _, name in leading if key in _LEADING]
        return used, any(bytes.fromhex(name) in self._hot for name in used)


_LEADING = (b"tree", b"parent", b"object")


def emptied(data: bytes, scrubbed: bytes, needles: Needles) -> bool:
    """Whether a file said something below its frontmatter, and does not since the text was taken out."""
    (before, fault), (after, _) = decoded(data), decoded(scrubbed)
    return (
        not fault
        and not needles.leaves_nothing(parse("", before).body)
        and needles.leaves_nothing(parse("", after).body)
    )


def message_of(commit: bytes) -> bytes:
    """The message of a commit, as UTF-8 where its encoding can be read."""
    head, _, message = commit.partition(b"\n\n")
    return _recoded(message, _ENCODING.search(head))[0]


def text_of(data: bytes) -> bytes:
    """What of a commit or tag is text: its message and headers, but for who made it."""
    head = data.partition(b"\n\n")[0]
    kept = [header for header in _HEADER.split(head) if not header.startswith((b"author ", b"committer ", b"tagger "))]
    return b"\n".join(kept) + b"\n\n" + message_of(data)


def _parents(commit: bytes) -> list[str]:
    head = commit.partition(b"\n\n")[0]
    return [line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent ")]


def _suffix(name: bytes) -> bytes:
    dot = name.rfind(b".")
    return name[dot:] if dot > 0 and name[dot + 1 :].isalnum() else b""


def _recoded(message: bytes, encoding: re.Match[bytes] | None) -> tuple[bytes, Callable[[bytes], bytes]]:
    """A message as UTF-8, and the way back; as it is where its encoding cannot be read."""
    name = encoding[1].decode("ascii", "replace") if encoding else ""
    try:
        text = message.decode(name)
    except (LookupError, UnicodeDecodeError):
        return message, _same
    return text.encode(), lambda data: data.decode().encode(name, "replace")


def _same(data: bytes) -> bytes:
    return data
