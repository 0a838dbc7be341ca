"""The bytes of captures, out of their store and into one; named by their content on both sides."""

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

from leasehold.backup.folder import BLOBS, BackupBad, Draft, Say, sums
from leasehold.backup.manifest import Captured
from leasehold.captures import Blobs, Key, key_of

_PIECE_BYTES = 1024 * 1024
_TELL_EVERY = 5_000

Row = tuple[UUID, bytes, int]


def copy_out(rows: Iterable[Row], blobs: Blobs, draft: Draft, say: Say) -> Captured:
    """Every blob that a capture has. One that is not there, or not what it was, is told of and left out."""
    count, size = 0, 0
    lost: list[str] = []
    for organisation, sha256, bytes_ in rows:
        key = Key(organisation, sha256)
        if _is_whole(blobs, key, bytes_):
            _copy(blobs, key, draft)
            count, size = count + 1, size + bytes_
        else:
            lost.append(key.path)
        if count and count % _TELL_EVERY == 0:
            say(f"captures: {count:,} blobs, {size:,} bytes")
    say(f"captures: {count:,} blobs, {size:,} bytes, all of it")
    return Captured(left_out=False, blobs=count, bytes=size, gone=[], lost=lost)


def copy_in(source: Path, blobs: Blobs, count: int, say: Say) -> None:
    brought = 0
    with ThreadPoolExecutor(1) as helper:
        for _, name in sums(source):
            if not name.startswith(f"{BLOBS}/"):
                continue
            _, organisation, *_, sha256 = name.split("/")
            key = key_of(organisation, sha256)
            if key is None:
                raise BackupBad(f"{name} is no blob. Use another copy of the backup.")
            _put(source / name, blobs, key, helper)
            brought += 1
            if brought % _TELL_EVERY == 0:
                say(f"captures: {brought:,} of {count:,} blobs")
    say(f"captures: {brought:,} blobs, all of it")


def _is_whole(blobs: Blobs, key: Key, size: int) -> bool:
    digest, seen = hashlib.sha256(), 0
    try:
        with blobs.open(key) as opened:
            while piece := opened.read(_PIECE_BYTES):
                digest.update(piece)
                seen += len(piece)
    except OSError:
        return False
    return digest.digest() == key.sha256 and seen == size


def _copy(blobs: Blobs, key: Key, draft: Draft) -> None:
    with blobs.open(key) as opened, draft.file(f"{BLOBS}/{key.path}") as file:
        while piece := opened.read(_PIECE_BYTES):
            file.write(piece)


def _put(path: Path, blobs: Blobs, key: Key, helper: ThreadPoolExecutor) -> None:
    upload = blobs.begin()
    with path.open("rb") as opened:
        while piece := opened.read(_PIECE_BYTES):
            upload.write(memoryview(piece))
            upload.flush(helper)
    if upload.sha256 != key.sha256:
        blobs.discard(upload)
        raise BackupBad(f"{path} is damaged. Use another copy of the backup.")
    blobs.finish(upload)
    blobs.place(key, upload)
