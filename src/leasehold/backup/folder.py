"""A backup as a folder: written under another name, renamed when it is whole, and checked before it is believed.

`SHA256SUMS` covers every file but the manifest, which covers `SHA256SUMS`: `sha256sum -c` reads it, too.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from leasehold.backup.manifest import FORMAT, Manifest, Part

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
DUMP = "postgres.dump"
BLOBS = "blobs"
DOCUMENTS = "mongo"
# How the name of a backup ends that is not whole yet.
UNFINISHED = ".unfinished"
_PIECE_BYTES = 1024 * 1024
_TELL_EVERY_BYTES = 256 * _PIECE_BYTES

Say = Callable[[str], None]


class BackupBad(Exception):
    """A folder that is no backup, or one that cannot be used; the message says what to do."""


class Summed:
    """A file that is hashed as it is written."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        self.size += len(data)
        return self._opened.write(data)

    def flush(self) -> None:
        self._opened.flush()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


class Draft:
    """A backup that is being made."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self.folder = target.with_name(target.name + UNFINISHED)
        self._sums: IO[bytes] | None = None
        self._all = hashlib.sha256()
        self.files = 0
        self.bytes = 0

    def begin(self) -> None:
        if os.path.lexists(self._target):
            raise BackupBad(f"{self._target} is there already. Choose another name: a backup is never written over.")
        try:
            self.folder.mkdir(mode=0o700)
        except FileExistsError:
            raise BackupBad(
                f"{self.folder} is there already: a backup of that name is being made, or was cut short. "
                "If none is at work, remove it and try again."
            ) from None
        self._sums = self._open(SUMS)

    @contextmanager
    def file(self, name: str) -> Iterator[Summed]:
        """A file that is on the disk, and in the list, when this ends."""
        with self._open(name) as opened:
            summed = Summed(opened)
            yield summed
            opened.flush()
            os.fsync(opened.fileno())
        self._note(name, summed.sha256, summed.size)

    def adopt(self, name: str) -> None:
        """Take in a file that somebody else wrote here."""
        path = self.folder / name
        with path.open("rb") as opened:
            os.fsync(opened.fileno())
        self._note(name, digest_of(path), path.stat().st_size)

    def finish(self, manifest: Callable[[str, Part], Manifest]) -> Manifest:
        """Write the manifest, see that everything is on the disk, and give the folder its name."""
        if self._sums is None:
            raise RuntimeError("the draft was not begun")
        self._sums.flush()
        os.fsync(self._sums.fileno())
        self._sums.close()
        made = manifest(self._all.hexdigest(), Part(files=self.files, bytes=self.bytes))
        with self._open(MANIFEST) as opened:
            opened.write(made.model_dump_json(indent=2).encode() + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        for folder, _, _ in os.walk(self.folder, topdown=False):
            _sync(Path(folder))
        self.folder.rename(self._target)
        _sync(self._target.parent)
        return made

    def discard(self) -> None:
        if self._sums is not None:
            self._sums.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _open(self, name: str) -> IO[bytes]:
        path = self.folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Ours alone: there are names, addresses and the audit in it.
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def _note(self, name: str, sha256: str, size: int) -> None:
        if self._sums is None:
            raise RuntimeError("the draft was not begun")
        line = f"{sha256}  {name}\n".encode()
        self._sums.write(line)
        self._all.update(line)
        self.files += 1
        self.bytes += size


def read(source: Path) -> Manifest:
    """The manifest of a finished backup; raises BackupBad. What it promises is for `check` to see."""
    if source.name.endswith(UNFINISHED):
        raise BackupBad(f"{source} was never finished: it was cut short, or is being made. Use another backup.")
    if not source.is_dir():
        raise BackupBad(f"{source} is no folder. Name the folder that `leasehold backup` made.")
    try:
        text = (source / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise BackupBad(f"{source} has no {MANIFEST}: it is no backup, or not all of one.") from None
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError:
        raise BackupBad(
            f"{source / MANIFEST} cannot be read: it is damaged, or of a newer leasehold. "
            "Use another copy of the backup, or the version that made it."
        ) from None
    if manifest.format != FORMAT:
        raise BackupBad(f"{source} has the format {manifest.format}, and this version reads {FORMAT}. Upgrade first.")
    return manifest


def check(source: Path, say: Say) -> Manifest:
    """Read every file again; raises BackupBad when any is missing, damaged or one too many."""
    manifest = read(source)
    if digest_of(source / SUMS) != manifest.sums_sha256:
        raise BackupBad(f"{source / SUMS} is not what the manifest says. Use another copy of the backup.")
    seen, told, names = 0, 0, set()
    wrong: list[str] = []
    for sha256, name in sums(source):
        names.add(name)
        path = source / name
        if not path.is_file() or digest_of(path) != sha256:
            wrong.append(name)
            continue
        seen += path.stat().st_size
        if seen - told >= _TELL_EVERY_BYTES:
            told = seen
            say(f"checked {seen:,} of {manifest.total.bytes:,} bytes")
    wrong += [name for name in _files(source) if name not in names]
    if wrong:
        some = ", ".join(wrong[:10]) + (f" and {len(wrong) - 10:,} more" if len(wrong) > 10 else "")
        raise BackupBad(f"{source} is damaged: {some}. Use another copy of the backup.")
    say(f"{source} is whole: {len(names):,} files, {seen:,} bytes, as of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC")
    return manifest


def sums(source: Path) -> Iterator[tuple[str, str]]:
    """Every file of a backup, with its checksum."""
    with (source / SUMS).open(encoding="utf-8") as lines:
        for line in lines:
            sha256, _, name = line.rstrip("\n").partition("  ")
            yield sha256, name


def digest_of(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _files(source: Path) -> Iterator[str]:
    for path in source.rglob("*"):
        name = path.relative_to(source).as_posix()
        if not path.is_dir() and name not in (MANIFEST, SUMS):
            yield name


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
