"""Artefacts at any address fsspec knows: put under another name, then moved to where they are read."""

import errno
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import fsspec

from leasehold.ids import uuid7

_DRAFTS = "drafts"


class RemoteShelf:
    """What a store like this promises of a move is what readers can rely on."""

    def __init__(self, url: str) -> None:
        try:
            self._fs, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
        except Exception as error:  # every driver fails in its own words, and may quote the address
            kind = type(error).__name__
            raise OSError(
                errno.EINVAL, f"LEASEHOLD_ARTIFACT_URL cannot be used ({kind}). Is fsspec's driver for it installed?"
            ) from None
        self._root = str(root).rstrip("/")

    @property
    def place(self) -> str:
        return "the store that LEASEHOLD_ARTIFACT_URL names"  # an address may carry a key

    def read(self, path: str) -> bytes:
        with _said_plainly():
            return bytes(self._fs.cat_file(f"{self._root}/{path}"))

    def replace(self, path: str, content: bytes) -> None:
        folder, _, name = path.rpartition("/")
        draft = f"{self._root}/{_DRAFTS}/{uuid7().hex}-{name}"
        with tempfile.TemporaryDirectory() as here, _said_plainly():
            # From a file, and under its own ending: that is how stores find out what kind of file it is.
            local = Path(here) / name
            local.write_bytes(content)
            for wanted in (_DRAFTS, folder):
                self._fs.makedirs(f"{self._root}/{wanted}".rstrip("/"), exist_ok=True)
            self._fs.put_file(str(local), draft)
            self._fs.mv(draft, f"{self._root}/{path}")

    def names(self, folder: str) -> list[str]:
        with suppress(FileNotFoundError), _said_plainly():
            found = self._fs.ls(f"{self._root}/{folder}", detail=True)
            return sorted(str(one["name"]).rpartition("/")[2] for one in found if one["type"] == "file")
        return []

    def remove(self, path: str) -> None:
        with suppress(FileNotFoundError), _said_plainly():
            self._fs.rm_file(f"{self._root}/{path}")

    def clear(self) -> None:
        for name in self.names(_DRAFTS):
            self.remove(f"{_DRAFTS}/{name}")

    def probe(self) -> None:
        draft = f"{self._root}/{_DRAFTS}/{uuid7().hex}"
        with _said_plainly():
            self._fs.makedirs(f"{self._root}/{_DRAFTS}", exist_ok=True)
            self._fs.pipe_file(draft, b"")
            self._fs.rm_file(draft)


@contextmanager
def _said_plainly() -> Iterator[None]:
    """Every store fails in its own words; to us it is one that cannot be used just now."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(errno.EIO, f"The store failed: {type(error).__name__}") from error
