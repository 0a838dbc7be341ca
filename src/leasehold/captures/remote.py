"""Blobs at any address fsspec knows: written under another key, then moved to where their digest says."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import IO, Any, cast

import fsspec

from leasehold.captures.blobs import DRAFTS, Draft, Key, key_of, new_name

# The slowest upload that a server waits for takes less than this.
_ABANDONED_AFTER = timedelta(days=1)


class RemoteBlobs:
    """What a store like this promises about a finished write is what we can promise of a capture."""

    def __init__(self, url: str) -> None:
        with _said_plainly():
            self._fs, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
        self._root = str(root).rstrip("/")

    def begin(self) -> Draft:
        path = f"{self._root}/{DRAFTS}/{new_name()}"
        with _said_plainly():
            self._fs.makedirs(f"{self._root}/{DRAFTS}", exist_ok=True)
            return Draft(self._fs.open(path, "wb"), path)

    def finish(self, draft: Draft) -> None:
        with _said_plainly():
            draft.sink.close()

    def discard(self, draft: Draft) -> None:
        with suppress(Exception):
            draft.sink.close()
        with suppress(Exception):  # what is left is cleared later
            self._fs.rm_file(draft.path)

    def place(self, key: Key, draft: Draft) -> bool:
        path = f"{self._root}/{key.path}"
        with _said_plainly():
            was_there = self._fs.exists(path) and self._fs.size(path) == draft.size
            if was_there:
                self._fs.rm_file(draft.path)
            else:
                self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
                self._fs.mv(draft.path, path)
            return bool(was_there)

    def open(self, key: Key) -> IO[bytes]:
        with _said_plainly():
            return cast("IO[bytes]", self._fs.open(f"{self._root}/{key.path}", "rb"))

    def remove(self, key: Key) -> None:
        with suppress(FileNotFoundError), _said_plainly():
            self._fs.rm_file(f"{self._root}/{key.path}")

    def each(self) -> Iterator[Key]:
        with _said_plainly():
            found = list(self._fs.find(self._root))
        for path in sorted(found):
            parts = str(path).split("/")
            key = key_of(parts[-4], parts[-1]) if len(parts) > 4 else None
            if key is not None and str(path).endswith(f"{self._root.lstrip('/')}/{key.path}"):
                yield key

    def clear(self) -> int:
        """By the store's own clock: a key that is written now tells its time."""
        drafts, left = f"{self._root}/{DRAFTS}", 0
        with _said_plainly():
            if not self._fs.exists(drafts) or not (found := self._fs.ls(drafts, detail=False)):
                return 0
            probe = f"{drafts}/{new_name()}"
            self._fs.pipe_file(probe, b"")
            now = _time(self._fs, probe)
            self._fs.rm_file(probe)
            for path in found:
                if now - _time(self._fs, path) > _ABANDONED_AFTER:
                    self._fs.rm_file(path)
                    left += 1
        return left

    def close(self) -> None: ...


def _time(fs: Any, path: str) -> datetime:
    modified: datetime = fs.modified(path)
    return modified


@contextmanager
def _said_plainly() -> Iterator[None]:
    """Every store fails in its own words; to us it is one that cannot be used just now."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(errno.EIO, f"The blob store failed: {type(error).__name__}") from error
