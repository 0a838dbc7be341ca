"""What RabbitMQ has set aside: tasks that ended their workers, and messages that no queue was for."""

from collections.abc import Callable, Sequence

from aio_pika.abc import AbstractIncomingMessage
from pydantic import ValidationError

from leasehold import logs
from leasehold.amqp.inbound import CRASHED, UNROUTABLE
from leasehold.amqp.line import Batch, Line, Mailbox
from leasehold.amqp.reading import ORGANISATION, OUTAGES, OrganisationUnknown, Unreadable, Whose, document, kept
from leasehold.amqp.topology import INBOUND_QUEUE, RESULTS_QUEUE, UNROUTED, UNROUTED_QUEUE, dlq_of
from leasehold.auth import DEFAULT_ORGANISATION
from leasehold.jobs import Burial, CollectorTask, Jobs

log = logs.get(__name__)

_PREFETCH = 50
POISON = "poison"


class Aside:
    """Reads the dead-letter queue of every platform, and `collector.unrouted.queue`."""

    def __init__(self, line: Line, jobs: Jobs, whose: Whose, platforms: Callable[[], Sequence[str]]) -> None:
        self._mailbox = Mailbox(line, lambda: [UNROUTED_QUEUE, *(dlq_of(one) for one in platforms())], _PREFETCH)
        self._jobs = jobs
        self._whose = whose

    async def step(self) -> None:
        """Read for a while."""
        # One by one: these are few, and none must keep another from being booked.
        await self._mailbox.read(1, self._take)

    async def close(self) -> None:
        await self._mailbox.close()

    async def _take(self, batch: Batch) -> None:
        for message in batch:
            await self._book_or_bury(message)

    async def _book_or_bury(self, message: AbstractIncomingMessage) -> None:
        try:
            await self._book(message)
        except OUTAGES:
            raise
        except Exception as error:
            log.exception("amqp.aside_crashed", exc_info=error)
            await self._bury(message, CRASHED, f"{type(error).__name__}, see the log.")

    async def _book(self, message: AbstractIncomingMessage) -> None:
        if message.exchange == UNROUTED and message.routing_key in (INBOUND_QUEUE, RESULTS_QUEUE):
            await self._bury(message, POISON, "Whoever read it ended, again and again, until RabbitMQ gave up.")
        elif message.exchange:
            await self._bury(message, UNROUTABLE, f"No queue is for the key {message.routing_key!r}.")
        else:
            await self._book_task(message)

    async def _book_task(self, message: AbstractIncomingMessage) -> None:
        """We sent it ourselves, and said for whom."""
        try:
            task = CollectorTask.model_validate(document(message.body))
            slug = str(message.headers.get(ORGANISATION, DEFAULT_ORGANISATION))
            organisation = await self._whose.named(slug)
        except (Unreadable, ValidationError, OrganisationUnknown):
            await self._bury(message, POISON, f"It came to {message.routing_key}, and is no task of ours.")
            return
        await self._jobs.posting.poisoned(organisation, task, kept(message.body))
        log.warning("amqp.poison", job=task.job_id, platform=task.platform, fence=task.fence)

    async def _bury(self, message: AbstractIncomingMessage, reason: str, detail: str) -> None:
        try:
            organisation = await self._whose.of(message)
        except OrganisationUnknown:
            organisation = await self._whose.default()
        await self._jobs.bury(organisation, [Burial(reason, kept(message.body), None, detail)])
        log.warning("amqp.refused", reason=reason, key=message.routing_key)
