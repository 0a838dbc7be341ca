"""Results by way of a Redis stream: the writer puts chunks into it, a data-writer takes them out and keeps them.

A chunk stays with its receipt until the data-writer has confirmed it, so nothing is lost with Redis: what is not
confirmed in time is put into the stream again, and being written twice is being written once.
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

    async def put(self, organisation: UUID, target: str, chunks: Sequence[Chunk]) -> None:
        if self._redis is None:
            raise RuntimeError("the stream is not open")
        async with reachable(), self._redis.pipeline(transaction=False) as pipe:
            for chunk in chunks:
                pipe.xadd(self._name, {b"chunk": _packed(organisation, target, chunk)})
            await pipe.execute()


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
