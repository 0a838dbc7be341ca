"""Artefacts in a folder of this machine: written aside, synced, then renamed to where they are read."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from leasehold.ids import uuid7

_DRAFTS = "drafts"


class FolderShelf:
    """Files and folders get the rights that the process gives: what serves them is often another user."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def place(self) -> str:
        return str(self._root)

    def read(self, path: str) -> bytes:
        return (self._root / path).read_bytes()

    def replace(self, path: str, content: bytes) -> None:
        target, draft = self._root / path, self._root / _DRAFTS / uuid7().hex
        for folder in (draft.parent, target.parent):
            folder.mkdir(parents=True, exist_ok=True)
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
        _sync(target.parent)

    def names(self, folder: str) -> list[str]:
        with suppress(FileNotFoundError):
            return sorted(entry.name for entry in os.scandir(self._root / folder) if entry.is_file())
        return []

    def remove(self, path: str) -> None:
        (self._root / path).unlink(missing_ok=True)

    def clear(self) -> None:
        shutil.rmtree(self._root / _DRAFTS, ignore_errors=True)

    def probe(self) -> None:
        draft = self._root / _DRAFTS / uuid7().hex
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(b"")
        draft.unlink()


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
