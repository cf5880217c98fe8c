"""Possible contents of a disk after a power cut: a trace of changes, replayed on a file system that guarantees only what was synced.

A file has the content of its last fsync and pending writes; a folder has the entries of its own last fsync and pending changes of names.
Any part of the pending changes may survive a cut: none, all, the first few, a random half. A write may be torn, and a hole may hold
zeros or garbage. The change of one name survives or not (rename is atomic within a folder).
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath

from shim import Change

SECTOR = 512  # bytes that a disk writes as a unit
NAMES = ("all", "none", "first", "some")  # the pending changes of names that survive
CONTENTS = ("all", "synced", "torn", "holes")  # the pending writes that survive


State = dict[str, bytes | None]  # path below the root -> content, or None for a folder


class File:
    """The content as of the last fsync, and the pending writes."""

    def __init__(self) -> None:
        self.synced = b""
        self.pending: list[Change] = []

    def sync(self) -> None:
        self.synced, self.pending = written(self.synced, self.pending), []


class Folder:
    """The entries as of the last fsync, and the pending changes: (removed name, added name, item of the added name)."""

    def __init__(self) -> None:
        self.synced: dict[str, File | Folder] = {}
        self.pending: list[tuple[str | None, str | None, File | Folder | None]] = []

    def entries(self) -> dict[str, File | Folder]:
        """Returns the entries that processes see."""
        return renamed(self.synced, self.pending)

    def sync(self) -> None:
        self.synced, self.pending = self.entries(), []


def written(content: bytes, changes: Iterable[Change]) -> bytes:
    """Returns the content after writes and truncations."""
    result = bytearray(content)
    for change in changes:
        if change.what == "truncate":
            del result[change.offset :]
        end = change.offset + len(change.bytes)
        result.extend(bytes(max(0, end - len(result))))
        result[change.offset : end] = change.bytes
    return bytes(result)


def renamed(entries: dict[str, File | Folder], changes: Iterable[tuple]) -> dict[str, File | Folder]:
    """Returns the entries after changes of names."""
    result = dict(entries)
    for goes, comes, item in changes:
        if goes is not None:
            result.pop(goes, None)
        if comes is not None:
            result[comes] = item
    return result


Snapshot = dict[str, tuple[int, bytes | None]]  # path below the root -> inode, and content or None for a folder


def snapshot(root: Path) -> Snapshot:
    """Returns everything below a folder, parents first."""
    return {
        str(path.relative_to(root)): (path.stat().st_ino, None if path.is_dir() else path.read_bytes())
        for path in sorted(root.rglob("*"))
    }


class Disk:
    """The files below `root`: a snapshot, all of it durable, and the changes given to apply()."""

    def __init__(self, root: Path, begin: Snapshot) -> None:
        self.root = root
        self.top = Folder()
        self._files: dict[int, File] = {}  # by inode
        for path, (inode, content) in begin.items():
            item: File | Folder = Folder()
            if content is not None:
                item = self._files[inode] = File()
                item.synced = content
            parent, name = os.path.split(root / path)
            self._folder(parent).synced[name] = item

    def _item(self, path: str) -> File | Folder | None:
        item: File | Folder | None = self.top
        for name in PurePath(path).relative_to(self.root).parts:
            item = item.entries().get(name) if isinstance(item, Folder) else None
        return item

    def _folder(self, path: str) -> Folder:
        folder = self._item(path)
        assert isinstance(folder, Folder), path
        return folder

    def apply(self, change: Change) -> None:
        """Replays one change. Changes of files that the disk does not know are ignored."""
        parent, name = os.path.split(os.path.normpath(change.path))
        if change.what == "sync" and isinstance(self._item(change.path), Folder):
            self._folder(change.path).sync()
        elif change.what == "sync" and change.inode in self._files:
            self._files[change.inode].sync()
        elif change.what in ("write", "truncate") and change.inode in self._files:
            self._files[change.inode].pending.append(change)
        elif change.what == "create":
            self._files[change.inode] = File()
            self._folder(parent).pending.append((None, name, self._files[change.inode]))
        elif change.what == "mkdir":
            self._folder(parent).pending.append((None, name, Folder()))
        elif change.what == "unlink":
            self._folder(parent).pending.append((name, None, None))
        elif change.what in ("rename", "link"):
            self._move(parent, name, change)

    def _move(self, parent: str, name: str, change: Change) -> None:
        new_parent, new_name = os.path.split(os.path.normpath(change.new_path))
        item = self._folder(parent).entries()[name]
        if change.what == "link":
            self._folder(new_parent).pending.append((None, new_name, item))
        elif parent == new_parent:
            self._folder(parent).pending.append((name, new_name, item))
        else:  # between folders: treated as durable at once, because no journalling file system loses the file itself
            self._folder(new_parent).pending.append((None, new_name, item))
            self._folder(new_parent).sync()
            self._folder(parent).pending.append((name, None, None))
            self._folder(parent).sync()

    def as_seen(self) -> State:
        """Returns the state that processes see: path below the root -> content, or None for a folder."""
        return state_of(self.top, lambda folder: folder.entries(), lambda file: written(file.synced, file.pending))


def after_cut(disk: Disk, chance: random.Random) -> State:
    """Returns a state that a power cut may leave: path below the root -> content, or None for a folder."""
    # Half of the states treat all files alike (the worst cases of real file systems), the others treat each file at random.
    alike = chance.random() < 0.5
    names, contents = chance.choice(NAMES), chance.choice(CONTENTS)
    how_names: Callable[[], str] = lambda: names if alike else chance.choice(NAMES)  # noqa: E731
    how_contents: Callable[[], str] = lambda: contents if alike else chance.choice(CONTENTS)  # noqa: E731
    return state_of(
        disk.top,
        lambda folder: renamed(folder.synced, kept_names(folder, how_names(), chance)),
        lambda file: kept_content(file, how_contents(), chance),
    )


def state_of(folder: Folder, entries: Callable[[Folder], dict], content: Callable[[File], bytes], path: str = "") -> State:
    """Returns the state below a folder; the functions give the entries of a folder and the content of a file."""
    state: State = {}
    for name, item in entries(folder).items():
        if isinstance(item, Folder):
            state[path + name] = None
            state |= state_of(item, entries, content, f"{path}{name}/")
        else:
            state[path + name] = content(item)
    return state


def kept_names(folder: Folder, how: str, chance: random.Random) -> list[tuple]:
    """Returns the pending changes of names that reached the disk."""
    if how == "all":
        return folder.pending
    if how == "none":
        return []
    if how == "first":
        return folder.pending[: chance.randint(0, len(folder.pending))]
    return [change for change in folder.pending if chance.random() < 0.5]


def kept_content(file: File, how: str, chance: random.Random) -> bytes:
    """Returns the content that reached the disk."""
    if how == "all" or not file.pending:
        return written(file.synced, file.pending)
    if how == "synced":
        return file.synced
    if how == "torn":
        whole = chance.randrange(len(file.pending))
        torn = file.pending[whole]
        part = Change(torn.what, torn.inode, torn.offset, "", "", torn.bytes[: chance.randint(0, len(torn.bytes))])
        return written(file.synced, [*file.pending[:whole], part])
    content = bytearray(written(file.synced, file.pending))
    for begin in range(len(file.synced) // SECTOR * SECTOR, len(content), SECTOR):
        first, end = max(begin, len(file.synced)), min(begin + SECTOR, len(content))
        if chance.random() < 0.5:
            content[first:end] = bytes(end - first) if chance.random() < 0.9 else chance.randbytes(end - first)
    return bytes(content)


def digest(state: State) -> bytes:
    """Returns a hash of a state."""
    total = hashlib.sha256()
    for path, content in sorted(state.items()):
        total.update(f"{path}\0{-1 if content is None else len(content)}\0".encode())
        total.update(content or b"")
    return total.digest()


def put(state: State, root: Path) -> None:
    """Creates the files and folders of a state."""
    for path, content in state.items():
        if content is None:
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
