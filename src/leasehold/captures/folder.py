"""Blobs in a folder of this machine: written aside, synced, then renamed to where their digest says."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import IO, Any
from uuid import UUID

from leasehold.captures.blobs import DRAFTS, Draft, Key, key_of, new_name

_OWNER_ALONE = 0o700
_WRITE_BACK_BYTES = 8 * 1024 * 1024


class FolderBlobs:
    """Every process writes its drafts into a folder of its own, which it keeps locked as long as it lives: a folder
    that can be locked belongs to nobody any more. No clock tells that as well."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._drafts: Path | None = None
        self._lock_fd: int | None = None
        self._mutex = Lock()
        # Folders whose names are known to survive a crash.
        self._lasting: set[Path] = set()

    def begin(self) -> Draft:
        path = self._own_drafts() / new_name()
        return Draft(_Ahead(path, "xb"), str(path))

    def finish(self, draft: Draft) -> None:
        os.fsync(draft.sink.fileno())
        draft.sink.close()

    def discard(self, draft: Draft) -> None:
        draft.sink.close()
        Path(draft.path).unlink(missing_ok=True)

    def place(self, key: Key, draft: Draft) -> bool:
        path = self._root / key.path
        was_there = _size(path) == draft.size
        if was_there:
            Path(draft.path).unlink(missing_ok=True)
        else:
            self._make_lasting(path.parent)
            Path(draft.path).replace(path)
        # Also for what was there: whoever put it may not have come to this yet.
        self._make_lasting(path.parent)
        _sync(path.parent)
        return was_there

    def open(self, key: Key) -> IO[bytes]:
        return (self._root / key.path).open("rb", buffering=0)

    def remove(self, key: Key) -> None:
        (self._root / key.path).unlink(missing_ok=True)

    def each(self) -> Iterator[Key]:
        for path in sorted(self._root.glob("*/??/??/*")):
            key = key_of(path.parts[-4], path.name)
            if key is not None and self._root / key.path == path:
                yield key

    def clear(self) -> int:
        left = 0
        for folder in (self._root / DRAFTS).glob("*"):
            if folder != self._drafts:
                left += _clear_if_nobodys(folder)
        return left

    def close(self) -> None:
        with self._mutex:
            if self._drafts is not None and self._lock_fd is not None:
                shutil.rmtree(self._drafts, ignore_errors=True)
                os.close(self._lock_fd)
            self._drafts = self._lock_fd = None

    def _own_drafts(self) -> Path:
        with self._mutex:
            while self._drafts is None:
                folder = self._root / DRAFTS / UUID(hex=new_name()).hex
                folder.mkdir(mode=_OWNER_ALONE, parents=True)
                fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                if _lock(fd) and folder.exists():
                    self._drafts, self._lock_fd = folder, fd
                else:  # somebody cleared it away in the moment before it was locked
                    os.close(fd)
            return self._drafts

    def _make_lasting(self, folder: Path) -> None:
        """Make a folder and sync the one it is in, and so on up to what was there before us."""
        if folder in self._lasting:
            return
        if folder != self._root:
            self._make_lasting(folder.parent)
        folder.mkdir(mode=_OWNER_ALONE, parents=True, exist_ok=True)
        _sync(folder.parent)
        self._lasting.add(folder)


class _Ahead(FileIO):
    """A file that is on its way to the disk while it is still being written, so that the sync at its end is short."""

    _begun = 0

    def write(self, data: Any) -> int:
        written = super().write(data)
        end = self.tell()
        if end - self._begun >= _WRITE_BACK_BYTES:
            # Said of pages that are dirty, this makes Linux begin to write them back; they stay in memory.
            os.posix_fadvise(self.fileno(), self._begun, end - self._begun, os.POSIX_FADV_DONTNEED)
            self._begun = end
        return written


def _size(path: Path) -> int | None:
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return None


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _clear_if_nobodys(folder: Path) -> int:
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    try:
        if not _lock(fd):
            return 0
        left = len(list(folder.iterdir()))
        shutil.rmtree(folder, ignore_errors=True)
        return left
    finally:
        os.close(fd)
