"""Results by way of a Redis stream: the writer puts chunks into it, a data-writer takes them out and keeps them.

A chunk stays with its receipt until the data-writer has confirmed it, so nothing is lost with Redis: what is not
confirmed in time and lies there no more is put into the stream again, and being written twice is being written once.
The stream itself is bounded: where nobody takes anything out of it, what comes later waits with its receipt.
"""

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import orjson
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from leasehold.problems import Unavailable
from leasehold.writers.models import Chunk, Name, Refusals, Space, Target

STREAM = "leasehold:results"
GROUP = "data-writer"
_BATCH = 500
_BLOCK_MS = 1000
# What another data-writer took and did not confirm for so long is taken over.
_PATIENCE_MS = 10_000

# So much lies in it at the most, but for a batch of each platform that came at the same moment.
MOST = 5_000
# Which of these entries are there; without sending them.
_LYING = """
local found = {}
for n, id in ipairs(ARGV) do found[n] = #redis.call('XRANGE', KEYS[1], id, id) end
return found
"""

Confirm = Callable[[UUID, Sequence[Name], Refusals], Awaitable[None]]


@asynccontextmanager
async def reachable() -> AsyncIterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(f"Redis does not answer ({type(error).__name__}).", headers={"Retry-After": "1"}) from None


def connect(url: str) -> "Redis":
    """A client for the address; it connects when it is first used."""
    return Redis.from_url(url, socket_timeout=10, socket_connect_timeout=5)


class Stream:
    """The stream, from the side of the writer."""

    def __init__(self, url: str, name: str = STREAM) -> None:
        self._url = url
        self._name = name
        self._redis: Redis | None = None

    async def open(self) -> None:
        self._redis = connect(self._url)

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()

    async def room(self) -> int:
        """How many more may be put into it; whoever keeps something takes it out."""
        async with reachable():
            return max(0, MOST - int(await self._client().xlen(self._name)))

    async def put(self, organisation: UUID, target: str, chunks: Sequence[Chunk]) -> dict[Name, str]:
        """Leave them in the stream, but for those that lie there still; the entry of each."""
        entries = await self._lying([chunk for chunk in chunks if chunk.entry])
        new = [chunk for chunk in chunks if chunk.name not in entries]
        async with reachable(), self._client().pipeline(transaction=False) as pipe:
            for chunk in new:
                pipe.xadd(self._name, {b"chunk": _packed(organisation, target, chunk)})
            put: list[bytes] = await pipe.execute()
        return entries | {chunk.name: entry.decode() for chunk, entry in zip(new, put, strict=True)}

    async def _lying(self, chunks: Sequence[Chunk]) -> dict[Name, str]:
        """Those that nobody has taken out yet."""
        if not chunks:
            return {}
        entries = [chunk.entry or "" for chunk in chunks]
        async with reachable():
            found: Any = await self._client().eval(_LYING, 1, self._name, *entries)
        return {chunk.name: entry for chunk, entry, is_there in zip(chunks, entries, found, strict=True) if is_there}

    def _client(self) -> "Redis":
        if self._redis is None:
            raise RuntimeError("the stream is not open")
        return self._redis


class DataWriter:
    """Takes chunks out of the stream and keeps them; `confirm` books that in PostgreSQL."""

    def __init__(self, url: str, targets: Mapping[str, Target], confirm: Confirm, name: str = STREAM) -> None:
        self._url = url
        self._targets = targets
        self._confirm = confirm
        self._stream = name
        self._consumer = f"{socket.gethostname()}-{os.getpid()}"
        self._redis: Redis | None = None
        self._is_joined = False

    async def open(self) -> None:
        self._redis = connect(self._url)

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()

    async def step(self) -> int:
        """Keep what is there, and wait a moment for more; how many chunks were kept."""
        if self._redis is None:
            raise RuntimeError("the data-writer is not open")
        async with reachable():
            await self._join(self._redis)
            entries = await self._take(self._redis)
        if not entries:
            return 0
        await self._keep([_unpacked(fields[b"chunk"]) for _, fields in entries])
        async with reachable(), self._redis.pipeline(transaction=True) as pipe:
            # Nobody reads them again: gone from the group's list and from the stream in one go.
            pipe.xack(self._stream, GROUP, *(entry for entry, _ in entries))
            pipe.xdel(self._stream, *(entry for entry, _ in entries))
            await pipe.execute()
        return len(entries)

    async def _join(self, redis: "Redis") -> None:
        if self._is_joined:
            return
        try:
            await redis.xgroup_create(self._stream, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        self._is_joined = True

    async def _take(self, redis: "Redis") -> list[tuple[bytes, dict[bytes, bytes]]]:
        """What others left behind first, then what nobody has taken."""
        try:
            _, left, *_ = await redis.xautoclaim(
                self._stream, GROUP, self._consumer, min_idle_time=_PATIENCE_MS, count=_BATCH
            )
            if entries := [(entry, fields) for entry, fields in left if fields]:
                return entries
            found: Any = await redis.xreadgroup(
                GROUP, self._consumer, {self._stream: ">"}, count=_BATCH, block=_BLOCK_MS
            )
        except ResponseError as error:
            if "NOGROUP" in str(error):  # Redis has forgotten everything; we begin anew
                self._is_joined = False
                return []
            raise
        pages = found.values() if isinstance(found, dict) else [page for _, page in found or ()]
        return [entry for page in pages for entry in _flat(page)]

    async def _keep(self, taken: Sequence[tuple[UUID, str, Chunk]]) -> None:
        for organisation, target in sorted({(one[0], one[1]) for one in taken}, key=str):
            chunks = [chunk for whose, where, chunk in taken if (whose, where) == (organisation, target)]
            refused = await self._targets[target].write(organisation, Space.MAIN, chunks)
            await self._confirm(organisation, [chunk.name for chunk in chunks], refused)


def _flat(page: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    return [entry for one in page for entry in (one if isinstance(one, list) else [one])]


def _packed(organisation: UUID, target: str, chunk: Chunk) -> bytes:
    return orjson.dumps(
        {
            "organisation": organisation,
            "target": target,
            "task": chunk.task,
            "job": chunk.job,
            "platform": chunk.platform,
            "key": chunk.key.hex(),
            "number": chunk.number,
            "attempt": chunk.attempt,
            "documents": chunk.documents,
        }
    )


def _unpacked(body: bytes) -> tuple[UUID, str, Chunk]:
    told = orjson.loads(body)
    chunk = Chunk(
        UUID(told["task"]),
        told["job"],
        told["platform"],
        bytes.fromhex(told["key"]),
        told["number"],
        told["attempt"],
        told["documents"],
    )
    return UUID(told["organisation"]), told["target"], chunk
