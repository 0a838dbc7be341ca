"""What crawlers bring through RabbitMQ: read in batches, booked in one transaction each, acknowledged after that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from aio_pika import Message
from aio_pika.abc import AbstractIncomingMessage
from aio_pika.exceptions import CONNECTION_EXCEPTIONS
from psycopg import DataError

from leasehold import logs
from leasehold.amqp.inbound import CRASHED, INVALID, UNREADABLE, UNROUTABLE
from leasehold.amqp.line import Batch, Line, Mailbox
from leasehold.amqp.reading import OUTAGES, UNBEARABLE, OrganisationUnknown, Unreadable, Whose, document, kept
from leasehold.amqp.topology import RESULTS_QUEUE
from leasehold.caller import Caller
from leasehold.jobs import Burial, Jobs, Told, Verdict

log = logs.get(__name__)

# Half of it is taken in together, while the other half comes.
_PREFETCH, _TOGETHER = 500, 250
_REPLY_S = 5.0
# Queues that a client has to itself: a verdict goes to no other.
_REPLIES = ("amq.rabbitmq.reply-to.", "amq.gen-")


@dataclass(frozen=True, slots=True)
class _Item:
    """A result, and the message it came in."""

    message: AbstractIncomingMessage
    result: dict[str, Any]


class Returns:
    """Reads `collector.results.queue`."""

    def __init__(self, line: Line, jobs: Jobs, whose: Whose) -> None:
        self._mailbox = Mailbox(line, lambda: [RESULTS_QUEUE], _PREFETCH)
        self._jobs = jobs
        self._whose = whose

    async def step(self) -> None:
        """Read for a while."""
        await self._mailbox.read(_TOGETHER, self._take, _reply)

    async def close(self) -> None:
        await self._mailbox.close()

    async def _take(self, batch: Batch) -> list[tuple[AbstractIncomingMessage, Told]]:
        """Whatever became of it is committed when this returns."""
        items: dict[UUID, list[_Item]] = {}
        told: list[tuple[AbstractIncomingMessage, Told]] = []
        for message in batch:
            try:
                found = _Item(message, document(message.body))
                items.setdefault(await self._whose.of(message), []).append(found)
            except Unreadable as error:
                told.append(await self._bury(await self._whose.default(), message, UNREADABLE, str(error)))
            except OrganisationUnknown as error:
                told.append(await self._bury(await self._whose.default(), message, UNROUTABLE, str(error)))
        for organisation, several in items.items():
            told += await self._book(organisation, several)
        return told

    async def _book(self, organisation: UUID, items: Sequence[_Item]) -> list[tuple[AbstractIncomingMessage, Told]]:
        try:
            verdicts = await self._jobs.take_results(_caller(organisation), [item.result for item in items])
        except OUTAGES:
            raise
        except Exception as error:
            if len(items) > 1:  # one of them is not to be borne: each for itself, so that the others are
                each = [await self._book(organisation, [item]) for item in items]
                return [pair for pairs in each for pair in pairs]
            if isinstance(error, DataError):
                return [await self._bury(organisation, items[0].message, INVALID, UNBEARABLE)]
            log.exception("amqp.result_crashed", exc_info=error)
            detail = f"{type(error).__name__}, see the log."
            return [await self._bury(organisation, items[0].message, CRASHED, detail)]
        pairs = list(zip(items, verdicts, strict=True))
        refused = [_letter(item, told.detail or "") for item, told in pairs if told.verdict is Verdict.INVALID]
        if refused:
            await self._jobs.bury(organisation, refused)
        return [(item.message, told) for item, told in pairs]

    async def _bury(
        self, organisation: UUID, message: AbstractIncomingMessage, reason: str, detail: str
    ) -> tuple[AbstractIncomingMessage, Told]:
        await self._jobs.bury(organisation, [Burial(reason, kept(message.body), None, detail)])
        log.warning("amqp.refused_result", reason=reason, job=None)
        return message, Told(Verdict.INVALID, detail)


def _letter(item: _Item, detail: str) -> Burial:
    """A result that is of no use, with what it says of itself."""
    names = item.result.get("platform"), item.result.get("job_id")
    platform, job = (name if isinstance(name, str) and "\0" not in name else None for name in names)
    log.warning("amqp.refused_result", reason=INVALID, job=job)
    return Burial(INVALID, kept(item.message.body), None, detail, platform, job)


def _caller(organisation: UUID) -> Caller:
    return Caller(organisation, None, "rabbitmq", frozenset())


async def _reply(told: Sequence[tuple[AbstractIncomingMessage, Told]]) -> None:
    """Tell the verdict to who asked for it. Who does not hear it is no worse off than who did not ask."""
    for message, verdict in told:
        if not (message.reply_to or "").startswith(_REPLIES):
            continue
        said = {"verdict": verdict.verdict, "detail": verdict.detail}
        answer = Message(
            orjson.dumps(said), content_type="application/json", correlation_id=message.correlation_id or None
        )
        try:
            channel = message.channel
            await channel.basic_publish(
                answer.body, routing_key=message.reply_to or "", properties=answer.properties, timeout=_REPLY_S
            )
        except (*CONNECTION_EXCEPTIONS, TimeoutError):
            log.info("amqp.reply_lost")
