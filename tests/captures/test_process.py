"""Captures on a server that runs as a process of its own: what an upload costs in memory, and what `verify` says."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from leasehold.client import BodyTooLarge, InvalidRequest, Leasehold, SiteUnknown, Unauthenticated
from tests.parts.process import Leasehold as Server
from tests.parts.process import Place
from tests.parts.uploads import paths, sha256

URL = "https://board.example/thread/1"
MEGABYTE = 1024 * 1024


@pytest.fixture
def server(here: Place) -> Server:
    return here.up()


@pytest.fixture
def lh(server: Server) -> Iterator[Leasehold]:
    with Leasehold(server.address, server.token or "", trust_env=False) as client:
        client.sites.create("board", domain="board.example")
        yield client


def test_a_hundred_megabytes_cost_the_server_less_than_a_third_of_that(
    server: Server, lh: Leasehold, tmp_path: Path
) -> None:
    lh.captures.upload(site="board", url=URL, files={"small": b"1"})
    process = psutil.Process(server.pid)
    before = process.memory_info().rss
    large = tmp_path / "large"
    large.write_bytes(os.urandom(100 * MEGABYTE))
    seen: list[int] = []

    class Watched:
        """The file, and a look at the server with each piece of it."""

        def __init__(self) -> None:
            self._file = large.open("rb")

        def read(self, size: int = -1) -> bytes:
            seen.append(process.memory_info().rss)
            return self._file.read(size)

        def seekable(self) -> bool:
            return True

        def seek(self, *where: int) -> int:
            return self._file.seek(*where)

        def tell(self) -> int:
            return self._file.tell()

        def fileno(self) -> int:
            return self._file.fileno()

        def close(self) -> None:
            self._file.close()

    watched = Watched()
    made = lh.captures.upload(site="board", url=URL, files={"large": watched})  # type: ignore[dict-item]
    seen.append(process.memory_info().rss)
    back = lh.captures.download(made.id, "large", tmp_path / "back")
    seen.append(process.memory_info().rss)
    watched.close()

    assert made.files[0].size == 100 * MEGABYTE
    assert sha256(back.read_bytes()) == made.files[0].sha256
    assert len(seen) > 100
    assert max(seen) - before < 32 * MEGABYTE


def test_verify_reads_everything_again_and_names_what_is_wrong(here: Place, server: Server, lh: Leasehold) -> None:
    made = [lh.captures.upload(site="board", url=URL, files={"a": content}).id for content in (b"one", b"two")]
    well = here.run("verify", "--captures")
    (rotten,) = [path for path in paths(here.data / "blobs") if path.name == sha256(b"two")]
    rotten.write_bytes(b"TWO")

    ill = here.run("verify", "--captures")
    without = here.run("verify")

    assert (well.code, ill.code, without.code) == (0, 1, 0)
    assert "2 blobs with 6 bytes read and hashed again" in well.out
    assert f"1 damaged: {sha256(b'two')} ({made[1]})" in ill.out
    assert made[0] not in ill.out


def test_what_a_killed_server_left_is_removed_on_request(here: Place, server: Server, lh: Leasehold) -> None:
    lh.captures.upload(site="board", url=URL, files={"a": b"kept"})
    (process,) = (here.data / "blobs" / "drafts").iterdir()
    (process / "unfinished").write_bytes(b"x" * 1000)
    stray = here.data / "blobs" / ("0" * 32) / "00" / "00" / ("0" * 64)
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"nobody knows me")

    alive = here.run("verify", "--captures", "--repair")
    is_left_alone = (process / "unfinished").exists()
    server.kill()
    dead = here.run("verify", "--captures", "--repair")

    assert (alive.code, dead.code) == (0, 0)
    assert "1 blob and 0 unfinished uploads removed" in alive.out
    assert is_left_alone
    assert "0 blobs and 1 unfinished upload removed" in dead.out
    assert not stray.exists()
    assert not process.exists()
    assert len(paths(here.data / "blobs")) == 1


def test_repair_goes_with_captures(here: Place) -> None:
    ended = here.run("verify", "--repair")

    assert (ended.code, ended.err) == (2, "leasehold: --repair goes with --captures.\n")


def test_a_large_upload_that_is_refused_is_told_why(here: Place, tmp_path: Path) -> None:
    server = here.up(LEASEHOLD_CAPTURE_FILE_LIMIT_BYTES=str(30 * MEGABYTE))
    large = tmp_path / "large"
    large.write_bytes(bytes(60 * MEGABYTE))
    with Leasehold(server.address, server.token or "", trust_env=False) as lh:
        lh.sites.create("board", domain="board.example")

        with pytest.raises(SiteUnknown):
            lh.captures.upload(site="nowhere", url=URL, files={"large": large})
        with pytest.raises(InvalidRequest):
            lh.captures.upload(site="board", url=URL, files={".large": large})
        with pytest.raises(BodyTooLarge):
            lh.captures.upload(site="board", url=URL, files={"large": large})
        with Leasehold(server.address, "lh_nobody", trust_env=False) as stranger, pytest.raises(Unauthenticated):
            stranger.captures.upload(site="board", url=URL, files={"large": large})

        assert lh.captures.upload(site="board", url=URL, files={"small": b"1"}).late is False
    assert len(paths(here.data / "blobs")) == 1
