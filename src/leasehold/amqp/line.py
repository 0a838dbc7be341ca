"""The line to the broker: one connection, made again when it is lost, and mailboxes that are read over it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, AMQPError
from pydantic import SecretStr

from leasehold.amqp import topology

_CONNECT_S = 10.0
_CLOSE_S = 2.0
_LISTEN_FOR_S = 3.0
# A broker that is gone without a word is noticed after two of these.
_HEARTBEAT_S = 10
# Messages that come in quick succession are dealt with together: until none came for so long, and for so long at most.
_LULL_S, _GATHER_S = 0.005, 0.1

T = TypeVar("T")
Batch = Sequence[AbstractIncomingMessage]


class BrokerLost(Exception):
    """The broker does not answer; the message says why, and never with which password."""


class Line:
    """One connection. Who finds it closed opens it again."""

    def __init__(self, url: SecretStr, name: str, platforms: Callable[[], Sequence[str]]) -> None:
        """`platforms` are those whose queues there must be."""
        self._url = url
        self._name = name
        self._platforms = platforms
        self._declared: tuple[str, ...] | None = None
        self._connection: AbstractConnection | None = None
        self._opening = asyncio.Lock()

    async def channel(self, prefetch: int = 0) -> AbstractChannel:
        """A new channel on a live connection to a broker that has everything it must have."""
        connection = await self._open()
        try:
            made = connection.channel(publisher_confirms=True, on_return_raises=True)
            async with asyncio.timeout(_CONNECT_S):
                await made.initialize()
                if prefetch:
                    await made.set_qos(prefetch_count=prefetch)
        except (*CONNECTION_EXCEPTIONS, TimeoutError) as error:
            await self.close()
            raise BrokerLost(_why(error)) from None
        return made

    async def declared(self) -> None:
        """Everything there must be by now is there."""
        await self._open()

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # A broker that is dead already does not say goodbye.
            with suppress(*CONNECTION_EXCEPTIONS, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(_CLOSE_S):
                    await connection.close()

    async def _open(self) -> AbstractConnection:
        async with self._opening:
            if self._connection is None or self._connection.is_closed:
                await self.close()
                self._connection = await connect(self._url, self._name)
                self._declared = None
            wanted = tuple(self._platforms())
            if wanted != self._declared:
                await self._declare(self._connection, wanted)
            return self._connection

    async def _declare(self, connection: AbstractConnection, wanted: tuple[str, ...]) -> None:
        try:
            async with connection.channel() as channel:
                await topology.declare(channel, wanted)
        except (*CONNECTION_EXCEPTIONS, TimeoutError) as error:
            await self.close()
            raise BrokerLost(_why(error)) from None
        self._declared = wanted


async def connect(url: SecretStr, name: str) -> AbstractConnection:
    """A connection; raises BrokerLost."""
    try:
        async with asyncio.timeout(_CONNECT_S):
            return await aio_pika.connect(
                url.get_secret_value(),
                client_properties={"connection_name": f"leasehold {name}"},
                heartbeat=_HEARTBEAT_S,
            )
    except (*CONNECTION_EXCEPTIONS, ValueError, TimeoutError) as error:
        raise BrokerLost(_why(error)) from None


def _why(error: BaseException) -> str:
    """What is safe to tell: what the broker said, or the system, and never an address."""
    if isinstance(error, AMQPError) and error.args and isinstance(error.args[-1], str) and "@" not in error.args[-1]:
        return error.args[-1][:200]
    if isinstance(error, OSError) and error.strerror and "@" not in error.strerror:
        return error.strerror
    return type(error).__name__


class Mailbox:
    """Some queues that are read in batches. What was read stays here until it is dealt with, or the channel is lost."""

    def __init__(self, line: Line, queues: Callable[[], Sequence[str]], prefetch: int) -> None:
        self._line = line
        self._queues = queues
        self._prefetch = prefetch
        self._channel: AbstractChannel | None = None
        self._read: tuple[str, ...] = ()
        self._arrived: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()
        self._held: list[AbstractIncomingMessage] = []

    async def open(self) -> None:
        """Read the queues, unless they are read already and nobody has taken one away."""
        wanted = tuple(self._queues())
        if self._channel is not None and not self._channel.is_closed and wanted == self._read:
            readers = [(await topology.depth(self._channel, name))[1] for name in wanted]
            if all(readers):
                return
        await self.close()
        self._channel = await self._line.channel(self._prefetch)
        self._arrived, self._held = asyncio.Queue(), []
        arrived = self._arrived
        self._channel.close_callbacks.add(lambda *_: arrived.put_nowait(None))
        for name in wanted:
            queue = await self._channel.get_queue(name)
            await queue.consume(arrived.put)
        self._read = wanted

    async def read(
        self, most: int, take: Callable[[Batch], Awaitable[T]], then: Callable[[T], Awaitable[None]] | None = None
    ) -> None:
        """For a while. What `take` was given is acknowledged when it returns, so all that became of it is committed by
        then; `then` is for what comes after that."""
        await self.open()
        loop = asyncio.get_running_loop()
        until = loop.time() + _LISTEN_FOR_S
        while (left := until - loop.time()) > 0:
            if batch := await self.batch(most, left):
                took = await take(batch)
                await self.done()
                if then is not None:
                    await then(took)

    async def batch(self, most: int, wait_s: float) -> Batch:
        """What is held from before, or what has come: at least one, unless nothing comes in time."""
        if self._held:
            return self._held
        try:
            async with asyncio.timeout(wait_s):
                self._hold(await self._arrived.get())
        except TimeoutError:
            return []
        loop = asyncio.get_running_loop()
        until = loop.time() + _GATHER_S
        while self._gather(most) and loop.time() < until:  # noqa: ASYNC110 (what it waits for is that nothing comes)
            await asyncio.sleep(_LULL_S)
        return self._held

    def _gather(self, most: int) -> bool:
        """Hold what has come; whether more is likely to come at once. A lone message is not kept waiting."""
        before = len(self._held)
        while len(self._held) < most and not self._arrived.empty():
            self._hold(self._arrived.get_nowait())
        return before < len(self._held) < most

    async def done(self) -> None:
        """All of the batch is dealt with, for good: the broker may forget it."""
        held, self._held = self._held, []
        if held:
            await held[-1].ack(multiple=True)

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None and not channel.is_closed:
            with suppress(*CONNECTION_EXCEPTIONS, TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await channel.close()

    def _hold(self, message: AbstractIncomingMessage | None) -> None:
        if message is None:
            self._held = []  # the broker gives them to us again
            raise BrokerLost("the channel was closed")
        self._held.append(message)
