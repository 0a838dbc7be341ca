"""Tasks from RabbitMQ: read from the queues of their platforms, acknowledged once their last result is confirmed.

Needs aio-pika (`leasehold[amqp]`), and nothing of the server but the queues it has declared.
"""

import asyncio
import json
import ssl
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from leasehold.client.problems import LeaseLost
from leasehold.client.tenure import clock, margin_s
from leasehold.client.transport import pause_after
from leasehold.client.worker_models import Messages, Task, Verdict
from leasehold.client.worker_transport import Held, Source, Subjects, WorkerMisconfigured
from leasehold.client.worker_words import log, told

try:
    import aio_pika
    from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange, AbstractIncomingMessage
    from aio_pika.exceptions import AuthenticationError, ChannelNotFoundEntity, ProbableAuthenticationError
except ModuleNotFoundError as missing:
    raise WorkerMisconfigured("Tasks from RabbitMQ need aio-pika: pip install 'leasehold[amqp]'") from missing

RESULTS = "collector.results"
# The header in which a task says how long it lives without a sign of life, and what is assumed where it does not.
_LEASE_HEADER, _LEASE_S = "lease_seconds", 45.0
_CONFIRM_S = 15.0  # a broker that lost a peer may be silent for a minute: then it is sent again
_REMEMBERED = 1000  # tasks that are done, in case the broker brings one again

Name = tuple[str, str, int, int]


def queue_of(platform: str) -> str:
    return f"crawler.{platform}.queue"


class HeldMessage:
    """A task, and the message it came in."""

    def __init__(self, task: Task, message: AbstractIncomingMessage) -> None:
        self.task = task
        self.message = message
        self.in_order = asyncio.Lock()
        self.signs: asyncio.Task[None] | None = None
        self.lost: str | None = None
        self._listeners: list[Callable[[str], None]] = []
        # Nobody says what time it is elsewhere. The collector ends the job by its own clock, whatever ours says.
        left_s = (task.deadline_at - datetime.now(UTC)) / timedelta(seconds=1)
        self.deadline_s = clock() + left_s - margin_s(max(0.0, left_s))

    @property
    def name(self) -> Name:
        return self.task.job_id, self.task.platform, self.task.attempt, self.task.fence

    @property
    def sign_every_s(self) -> float:
        said = self.message.headers.get(_LEASE_HEADER)
        return (float(said) if isinstance(said, int | float) else _LEASE_S) / 3

    def tell(self, listener: Callable[[str], None]) -> None:
        if self.lost:
            listener(self.lost)
        else:
            self._listeners.append(listener)

    def lose(self, why: str) -> None:
        if self.lost is None:
            self.lost = why
            for listener in self._listeners:
                listener(why)


class AmqpTransport:
    """A broker. What it delivers again because the line broke is known again, and not done twice."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.address = (
            f"{address.scheme}://{address.hostname}{f':{address.port}' if address.port else ''}{address.path}"
        )
        self._url = url
        self._connection: AbstractConnection | None = None
        self._exchange: AbstractExchange | None = None
        self._replies = ""
        self._ready = asyncio.Event()
        self._broken = asyncio.Event()
        self._arrived: asyncio.Queue[HeldMessage] = asyncio.Queue()
        self._held: dict[Name, HeldMessage] = {}
        self._done: OrderedDict[Name, None] = OrderedDict()
        self._sending: set[asyncio.Future[Any]] = set()

    async def open(self, subjects: Subjects, concurrency: int) -> Sequence[Source]:
        platforms = sorted(subjects)
        # What is fetched ahead counts as being worked on, so there is no more of it than there are places.
        ahead = max(1, concurrency // len(platforms))
        await self._connect(platforms, ahead)
        self._line = asyncio.create_task(self._stay_connected(platforms, ahead))
        return [self]

    async def take(self, limit: int, wait_s: int) -> Sequence[Held]:
        found: list[HeldMessage] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                found.append(await self._arrived.get())
        while found and len(found) < limit and not self._arrived.empty():
            found.append(self._arrived.get_nowait())
        return found

    def bring(self, held: Held, message: str) -> asyncio.Future[Verdict]:
        sending = asyncio.ensure_future(self._bring(_own(held), message))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)
        return sending

    async def end(self, held: Held) -> None:
        own = _own(held)
        self._forget(own)
        self._done[own.name] = None
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)
        await _said(own.message.ack)

    async def drop(self, held: Held) -> None:
        await self.end(held)  # whoever has it now was told by another message

    async def give_back(self, held: Held) -> None:
        own = _own(held)
        self._forget(own)
        await _said(lambda: own.message.nack(requeue=True))

    async def close(self) -> None:
        """What was fetched and never begun goes back by itself."""
        self._line.cancel()
        signs = [held.signs for held in self._held.values() if held.signs]
        for task in (*signs, *self._sending):
            task.cancel()
        await asyncio.wait([self._line, *signs, *self._sending])
        await self._hang_up()

    async def _connect(self, platforms: Sequence[str], ahead: int) -> None:
        try:
            connection = self._connection = await aio_pika.connect(self._url, timeout=_CONFIRM_S)
        except (AuthenticationError, ProbableAuthenticationError) as error:
            raise WorkerMisconfigured(f"{self.address} does not know this user, or not with this password.") from error
        except (ValueError, ssl.SSLError) as error:
            raise WorkerMisconfigured(f"{self.address} is no broker's address: {told(error)}") from error
        try:
            await self._listen(connection, platforms, ahead)
        except ChannelNotFoundEntity as error:
            await connection.close()
            queues = ", ".join(queue_of(one) for one in platforms)
            detail = f"{self.address} lacks {RESULTS} or one of {queues}: the server makes them"
            raise WorkerMisconfigured(f"{detail} for platforms with `transport: amqp`.") from error
        self._ready.set()

    async def _listen(self, connection: AbstractConnection, platforms: Sequence[str], ahead: int) -> None:
        out = await connection.channel(publisher_confirms=True, on_return_raises=True)
        self._exchange = await out.get_exchange(RESULTS, ensure=True)
        inward = await connection.channel()
        for line in (connection, out, inward):  # the broker may close any of them, and no other
            line.close_callbacks.add(lambda *_why: self._broken.set())
        await inward.set_qos(prefetch_count=ahead)
        await self._hear_replies(inward)
        for platform in platforms:
            queue = await inward.get_queue(queue_of(platform), ensure=True)
            await queue.consume(self._arrive)

    async def _hear_replies(self, channel: AbstractChannel) -> None:
        """Verdicts, where the collector tells them: how a worker learns that a task is not its own any more."""
        queue = await channel.declare_queue(exclusive=True, auto_delete=True)
        self._replies = queue.name
        await queue.consume(self._hear, no_ack=True)

    async def _stay_connected(self, platforms: Sequence[str], ahead: int) -> None:
        failures = 0
        while True:
            await self._broken.wait()
            self._ready.clear()
            log.warning("the line to %s broke; connecting again", self.address)
            await asyncio.sleep(pause_after(min(failures, 5)))
            failures += 1
            try:
                await self._hang_up()
                self._broken.clear()
                await self._connect(platforms, ahead)
                failures = 0
            except Exception as error:
                log.warning("no line to %s: %s", self.address, told(error))
                self._broken.set()

    async def _hang_up(self) -> None:
        if self._connection:
            with suppress(Exception):
                await asyncio.wait_for(self._connection.close(), _CONFIRM_S)

    async def _arrive(self, message: AbstractIncomingMessage) -> None:
        try:
            held = HeldMessage(Task.model_validate(json.loads(message.body)), message)
        except ValueError as error:
            log.warning("a message that is no task is set aside: %s", told(error))
            return await _said(lambda: message.reject(requeue=False))
        if held.name in self._done:
            return await _said(message.ack)
        if known := self._held.get(held.name):
            known.message = message  # the one before went with its connection
            return None
        self._held[held.name] = held
        held.signs = asyncio.create_task(self._give_signs(held))
        self._arrived.put_nowait(held)
        return None

    async def _hear(self, reply: AbstractIncomingMessage) -> None:
        with suppress(ValueError, TypeError, KeyError):
            name = tuple(json.loads(reply.correlation_id or "null"))
            if json.loads(reply.body)["verdict"] == "superseded" and (held := self._held.get(name)):
                held.lose("Somebody else has the task by now, or its job is over.")

    async def _give_signs(self, held: HeldMessage) -> None:
        """At once, which says that a worker has it, and then again and again."""
        messages = Messages(held.task)
        while not held.lost:
            with suppress(LeaseLost):
                await self._publish(held, messages.progress())
            await asyncio.sleep(held.sign_every_s)

    async def _bring(self, held: HeldMessage, message: str) -> Verdict:
        async with held.in_order:
            await self._publish(held, message)
        return Verdict(verdict="accepted")  # the broker has it on disk; what the collector makes of it is heard later

    async def _publish(self, held: HeldMessage, message: str) -> None:
        """Until it is confirmed, or the task is lost."""
        failures = 0
        while True:
            if held.lost:
                raise LeaseLost.here("", "superseded", held.lost)
            await self._ready.wait()
            assert self._exchange is not None  # noqa: S101 (it was ready)
            try:
                await self._exchange.publish(self._letter(held, message), "", timeout=_CONFIRM_S)
            except Exception as error:
                failures += 1
                log.warning("a result is sent again: %s", told(error))
                await asyncio.sleep(pause_after(min(failures, 5)))
            else:
                return

    def _letter(self, held: HeldMessage, message: str) -> aio_pika.Message:
        # Whose task it is, and its trace, go with what comes of it.
        headers = {name: value for name in ("organisation",) if (value := held.message.headers.get(name)) is not None}
        traced = {name: value for name, value in (held.task.trace_ctx or {}).items() if isinstance(value, str)}
        return aio_pika.Message(
            message.encode(),
            headers={**traced, **headers},
            content_type="application/json",
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
            reply_to=self._replies,
            correlation_id=json.dumps(held.name),
            type="CrawlerResult",
        )

    def _forget(self, held: HeldMessage) -> None:
        self._held.pop(held.name, None)
        if held.signs:
            held.signs.cancel()


def _own(held: Held) -> HeldMessage:
    assert isinstance(held, HeldMessage)  # noqa: S101 (each transport gets back what it gave)
    return held


async def _said(say: Callable[[], Any]) -> None:
    """A message that came over a line that broke cannot be answered any more: the broker brings it again."""
    try:
        await say()
    except Exception as error:
        log.info("a message could not be answered: %s", told(error))
