"""What every blob store promises, asked of both; and what the folder promises beyond that."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import fsspec
import pytest

from leasehold.captures.blobs import Blobs, Draft, Key
from leasehold.captures.choosing import make
from leasehold.captures.folder import FolderBlobs
from leasehold.captures.remote import RemoteBlobs

ORGANISATION = UUID(int=7)
HELPER = ThreadPoolExecutor(1)


@pytest.fixture(params=["folder", "memory", "far"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    store: Blobs
    if request.param == "folder":
        store = make("", tmp_path)
    elif request.param == "memory":
        store = make(f"memory://bucket-{os.getpid()}", tmp_path)
    else:  # a store that is reached through another one, on disk
        store = RemoteBlobs(f"dir::file://{tmp_path}/far")
    yield store
    store.close()
    fsspec.filesystem("memory").store.clear()


def written(blobs: Blobs, content: bytes) -> tuple[Key, Draft]:
    draft = blobs.begin()
    for start in range(0, len(content), 1000):
        draft.write(memoryview(content)[start : start + 1000])
        draft.flush(HELPER)
    blobs.finish(draft)
    return Key(ORGANISATION, draft.sha256), draft


def read(blobs: Blobs, key: Key) -> bytes:
    with blobs.open(key) as opened:
        return opened.read()


@pytest.mark.parametrize("content", [b"", b"hello", bytes(range(256)) * 5000])
def test_what_was_placed_can_be_read(blobs: Blobs, content: bytes) -> None:
    key, draft = written(blobs, content)

    was_there = blobs.place(key, draft)

    assert was_there is False
    assert key.sha256 == hashlib.sha256(content).digest()
    assert read(blobs, key) == content


def test_what_is_large_is_hashed_beside_and_is_the_same(blobs: Blobs) -> None:
    content = os.urandom(3_000_000)
    draft = blobs.begin()

    draft.write(memoryview(content))
    draft.flush(HELPER)
    blobs.finish(draft)

    assert (draft.sha256, draft.size) == (hashlib.sha256(content).digest(), len(content))


def test_a_mixed_upload_is_hashed_in_its_order(blobs: Blobs) -> None:
    """With a helper that has fallen behind."""
    pieces = [os.urandom(200_000), b"small", os.urandom(200_000), b"end"]
    helper = ThreadPoolExecutor(1)
    helper.submit(time.sleep, 0.2)
    draft = blobs.begin()

    for piece in pieces:
        draft.write(memoryview(piece))
        draft.flush(helper)
    blobs.finish(draft)

    assert draft.sha256 == hashlib.sha256(b"".join(pieces)).digest()
    helper.shutdown()


def test_a_part_of_it_can_be_read(blobs: Blobs) -> None:
    key, draft = written(blobs, b"0123456789")
    blobs.place(key, draft)

    with blobs.open(key) as opened:
        opened.seek(3)

        assert opened.read(4) == b"3456"


def test_the_same_bytes_are_placed_once(blobs: Blobs) -> None:
    first, second = written(blobs, b"same"), written(blobs, b"same")

    assert [blobs.place(*first), blobs.place(*second)] == [False, True]
    assert list(blobs.each()) == [first[0]]


def test_what_is_not_placed_cannot_be_read(blobs: Blobs) -> None:
    key, _draft = written(blobs, b"hello")

    with pytest.raises(FileNotFoundError):
        read(blobs, key)
    assert list(blobs.each()) == []


def test_what_is_discarded_leaves_nothing(blobs: Blobs) -> None:
    key, draft = written(blobs, b"hello")
    blobs.discard(draft)
    blobs.discard(blobs.begin())

    with pytest.raises(FileNotFoundError):
        read(blobs, key)


def test_a_draft_that_was_placed_may_be_discarded(blobs: Blobs) -> None:
    key, draft = written(blobs, b"hello")
    blobs.place(key, draft)

    blobs.discard(draft)

    assert read(blobs, key) == b"hello"


def test_what_is_removed_is_gone_and_may_be_removed_again(blobs: Blobs) -> None:
    key, draft = written(blobs, b"hello")
    blobs.place(key, draft)

    blobs.remove(key)
    blobs.remove(key)

    assert list(blobs.each()) == []


def test_everything_is_listed_and_strangers_are_not(blobs: Blobs) -> None:
    keys = set()
    for n in range(5):
        key, draft = written(blobs, bytes([n]))
        blobs.place(key, draft)
        keys.add(key)
    unfinished = blobs.begin()

    assert set(blobs.each()) == keys
    blobs.discard(unfinished)


def test_organisations_do_not_share(blobs: Blobs) -> None:
    key, draft = written(blobs, b"same")
    other, other_draft = written(blobs, b"same")
    blobs.place(key, draft)

    was_there = blobs.place(Key(UUID(int=8), other.sha256), other_draft)

    assert was_there is False


def test_a_folder_by_its_address_is_a_folder(tmp_path: Path) -> None:
    assert isinstance(make(f"file://{tmp_path}", tmp_path), FolderBlobs)
    assert isinstance(make("", tmp_path), FolderBlobs)


def test_drafts_of_the_living_are_left_alone_and_those_of_the_dead_are_cleared(tmp_path: Path) -> None:
    living, sweeper = FolderBlobs(tmp_path), FolderBlobs(tmp_path)
    alive = living.begin()
    dying = (
        "import os, pathlib; from leasehold.captures.folder import FolderBlobs\n"
        f"draft = FolderBlobs(pathlib.Path({str(tmp_path)!r})).begin(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", dying], check=True)  # without a word, as with kill -9

    cleared = sweeper.clear()

    assert cleared == 1
    assert [str(path) for path in tmp_path.glob("drafts/*/*")] == [alive.path]
    living.discard(alive)
    living.close()


def test_names_are_two_folders_deep_and_closed_to_others(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "blobs")
    key, draft = written(blobs, b"hello")

    blobs.place(key, draft)

    name = hashlib.sha256(b"hello").hexdigest()
    path = tmp_path / "blobs" / ORGANISATION.hex / name[:2] / name[2:4] / name
    assert path.read_bytes() == b"hello"
    assert (tmp_path / "blobs" / ORGANISATION.hex).stat().st_mode & 0o777 == 0o700


def test_bytes_and_names_are_synced_before_anybody_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def note(fd: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{fd}"))
        real(fd)

    monkeypatch.setattr(os, "fsync", note)
    blobs = FolderBlobs(tmp_path / "blobs")
    key, draft = written(blobs, b"hello")

    blobs.place(key, draft)

    place = (tmp_path / "blobs" / key.path).parent
    assert synced[0] == draft.path
    assert set(synced[1:]) == {str(folder) for folder in [place, *place.parents[:4]]}
    synced.clear()
    blobs.place(*written(blobs, b"hello"))  # somebody else's: its name may not be on the disk yet
    assert synced[-1] == str(place)


def test_a_remote_store_that_fails_is_told_plainly(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="blob store"):
        make("nonsense://x", tmp_path)


def test_a_remote_draft_is_cleared_a_day_later(monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = RemoteBlobs("memory://aged")
    draft = blobs.begin()
    blobs.finish(draft)

    assert blobs.clear() == 0
    store = fsspec.filesystem("memory").store
    store[draft.path].modified -= timedelta(days=2)
    assert blobs.clear() == 1
    store.clear()
