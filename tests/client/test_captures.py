"""Captures through the SDK, against the real server: handed in, fetched, claimed; with and without an event loop."""

import asyncio
import hashlib
import io
import os
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from leasehold.client import (
    AsyncLeasehold,
    CaptureUnknown,
    DownloadDamaged,
    IdempotencyMismatch,
    InvalidRequest,
    Leasehold,
    SiteUnknown,
)
from tests.parts.house import House
from tests.parts.uploads import paths

URL = "https://board.example/thread/1"


@pytest.fixture
async def lh(home: House, address: str) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(address, await home.token()) as client:
        await client.sites.create("board", domain="board.example")
        yield client


class Losing(httpx.AsyncBaseTransport):
    """A way to the server on which the first answers are lost, or cut off after so many bytes."""

    def __init__(self, lost: int = 0, cut_after: int | None = None) -> None:
        self._way = httpx.AsyncHTTPTransport()
        self._lost = lost
        self._cut_after = cut_after
        self.asked: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._way.handle_async_request(request)
        self.asked.append(request.headers.get("range"))
        if self._lost:
            self._lost -= 1
            await answer.aread()
            raise httpx.ReadError("the answer was lost")
        if self._cut_after is not None and "/files/" in request.url.path:
            return httpx.Response(answer.status_code, headers=answer.headers, stream=_Cut(answer, self._cut_after))
        return answer

    async def aclose(self) -> None:
        await self._way.aclose()


class _Cut(httpx.AsyncByteStream):
    def __init__(self, answer: httpx.Response, after: int) -> None:
        self._answer = answer
        self._left = after

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.aiter_raw():
            yield piece[: self._left]
            self._left -= len(piece)
            if self._left <= 0:
                raise httpx.ReadError("cut off")

    async def aclose(self) -> None:
        await self._answer.aclose()


async def test_files_come_from_bytes_paths_and_open_files(lh: AsyncLeasehold, tmp_path: Path) -> None:
    content = os.urandom(300_000)
    here = tmp_path / "shot.png"
    await asyncio.to_thread(here.write_bytes, content)

    made = await lh.captures.upload(
        site="board",
        url=URL,
        files={"a.html": (b"<p>", "text/html"), "b.png": here, "c": io.BytesIO(b"open"), "d": str(here)},
        labels={"depth": "1"},
    )

    kept = await lh.captures.get(made.id)
    digest = hashlib.sha256(content).hexdigest()
    assert [(file.name, file.size) for file in kept.files] == [
        ("a.html", 3),
        ("b.png", 300_000),
        ("c", 4),
        ("d", 300_000),
    ]
    assert [kept.files[n].sha256 for n in (1, 3)] == [digest, digest]
    assert (kept.files[0].content_type, kept.labels, kept.late) == ("text/html", {"depth": "1"}, False)
    assert kept.reference is not None
    assert kept.reference.rest == "/thread/1"


async def test_a_lost_answer_is_asked_for_again_and_nothing_is_kept_twice(lh: AsyncLeasehold, address: str) -> None:
    token = lh._http.headers["Authorization"].removeprefix("Bearer ")
    way = Losing(lost=2)
    async with AsyncLeasehold(address, token, transport=way) as flaky:
        made = await flaky.captures.upload(site="board", url=URL, files={"a": io.BytesIO(b"1" * 100_000)})

    assert len(way.asked) == 3
    assert [one.id async for one in lh.captures.all()] == [made.id]


async def test_a_file_that_cannot_be_rewound_is_sent_once(lh: AsyncLeasehold, address: str) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    token = lh._http.headers["Authorization"].removeprefix("Bearer ")
    way = Losing(lost=2)
    async with AsyncLeasehold(address, token, transport=way) as flaky:
        with pytest.raises(httpx.ReadError):
            await flaky.captures.upload(site="board", url=URL, files={"a": Pipe(b"1")})

    assert len(way.asked) == 1


async def test_refusals_are_raised_as_what_they_are(lh: AsyncLeasehold) -> None:
    with pytest.raises(SiteUnknown):
        await lh.captures.upload(site="nowhere", url=URL, files={"a": b"1"})
    with pytest.raises(InvalidRequest):
        await lh.captures.upload(site="board", url=URL, files={"../a": b"1"})
    with pytest.raises(CaptureUnknown):
        await lh.captures.get("cap_nothing")
    await lh.captures.upload(site="board", url=URL, files={"a": b"1"}, idempotency_key="k")
    with pytest.raises(IdempotencyMismatch):
        await lh.captures.upload(site="board", url=URL, files={"a": b"2"}, idempotency_key="k")


async def test_a_file_is_fetched_to_a_path(lh: AsyncLeasehold, tmp_path: Path) -> None:
    content = os.urandom(700_000)
    made = await lh.captures.upload(site="board", url=URL, files={"a": content, "empty": b""})

    got = await lh.captures.download(made.id, "a", tmp_path / "got")
    empty = await lh.captures.download(made.id, "empty", str(tmp_path / "empty"))

    assert await asyncio.to_thread(got.read_bytes) == content
    assert await asyncio.to_thread(empty.read_bytes) == b""
    assert sorted(os.listdir(tmp_path)) == ["empty", "got"]


async def test_a_download_goes_on_where_it_was_cut_off(lh: AsyncLeasehold, address: str, tmp_path: Path) -> None:
    content = os.urandom(1_000_000)
    made = await lh.captures.upload(site="board", url=URL, files={"a": content})
    token = lh._http.headers["Authorization"].removeprefix("Bearer ")
    way = Losing(cut_after=300_000)

    async with AsyncLeasehold(address, token, transport=way) as flaky:
        got = await flaky.captures.download(made.id, "a", tmp_path / "got")

    assert await asyncio.to_thread(got.read_bytes) == content
    ranges = [asked for asked in way.asked if asked]
    assert ranges == ["bytes=300000-", "bytes=600000-", "bytes=900000-"]


async def test_a_download_goes_on_with_what_an_earlier_one_left(lh: AsyncLeasehold, tmp_path: Path) -> None:
    content = os.urandom(500_000)
    made = await lh.captures.upload(site="board", url=URL, files={"a": content})
    await asyncio.to_thread((tmp_path / "got.part").write_bytes, content[:200_000])

    got = await lh.captures.download(made.id, "a", tmp_path / "got")

    assert await asyncio.to_thread(got.read_bytes) == content


@pytest.mark.parametrize("left", [b"x" * 200_000, b"x" * 600_000])
async def test_what_is_not_what_was_captured_does_not_get_its_name(
    lh: AsyncLeasehold, tmp_path: Path, left: bytes
) -> None:
    content = os.urandom(500_000)
    made = await lh.captures.upload(site="board", url=URL, files={"a": content})
    await asyncio.to_thread((tmp_path / "got.part").write_bytes, left)

    if len(left) < len(content):
        with pytest.raises(DownloadDamaged):
            await lh.captures.download(made.id, "a", tmp_path / "got")
        assert os.listdir(tmp_path) == []
    got = await lh.captures.download(made.id, "a", tmp_path / "got")

    assert await asyncio.to_thread(got.read_bytes) == content


async def test_a_file_there_is_not(lh: AsyncLeasehold, tmp_path: Path) -> None:
    made = await lh.captures.upload(site="board", url=URL, files={"a": b"1"})

    with pytest.raises(CaptureUnknown):
        await lh.captures.download(made.id, "b", tmp_path / "got")


async def test_a_consumer_claims_and_gives_back(lh: AsyncLeasehold) -> None:
    made = await lh.captures.upload(site="board", url=URL, files={"a": b"1"})

    (claim,) = (await lh.captures.acquire(owner="mill", limit=5, wait=1)).leases
    empty = await lh.captures.acquire(owner="mill")
    told = await lh.captures.release(claim.id, outcome="rejected", reason="not ours")
    back = await lh.captures.requeue(made.id, reason="it is")
    events = (await lh.captures.audit(made.id)).items
    await lh.captures.delete(made.id)

    assert (claim.kind, claim.capture.id, claim.capture.state) == ("capture", made.id, "claimed")
    assert (empty.leases, empty.waiting and empty.waiting.reason) == ([], "all_leased")
    assert (told.resource["state"], back.state) == ("rejected", "received")
    assert [event.event for event in events] == ["received", "claimed", "rejected", "requeued"]
    assert [one async for one in lh.captures.all(site="board")] == []


async def test_the_blocking_client_does_the_same(lh: AsyncLeasehold, address: str, tmp_path: Path) -> None:
    token = lh._http.headers["Authorization"].removeprefix("Bearer ")

    def work() -> tuple[bytes, int]:
        with Leasehold(address, token) as blocking:
            made = blocking.captures.upload(site="board", url=URL, files={"a": b"blocking"})
            (claim,) = blocking.captures.acquire(owner="mill").leases
            blocking.captures.release(claim.id)
            got = blocking.captures.download(made.id, "a", tmp_path / "got")
            return got.read_bytes(), len(list(blocking.captures.all(state="delivered", since=_long_ago())))

    assert await asyncio.to_thread(work) == (b"blocking", 1)


def _long_ago() -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "large"
    path.write_bytes(os.urandom(5_000_000))
    yield path
    path.unlink()


async def test_a_large_file_is_streamed(lh: AsyncLeasehold, home: House, large: Path) -> None:
    made = await lh.captures.upload(site="board", url=URL, files={"large": large})

    (stored,) = paths(home.app.state.settings.data_dir / "blobs")
    assert stored.name == made.files[0].sha256
    assert stored.stat().st_size == 5_000_000
