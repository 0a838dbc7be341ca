"""The dispatcher: tasks in their order from PostgreSQL into the queues of their platforms, as many as those bear.

What goes out is held on a lease first, so that however many dispatchers run, no limit is overshot and nothing goes out
twice at once. Only what the broker has confirmed counts as published; everything else is given back.
"""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from aio_pika import DeliveryMode, Message
from aio_pika.abc import AbstractChannel, HeadersType
from aio_pika.exceptions import CONNECTION_EXCEPTIONS

from leasehold import logs
from leasehold.amqp import topology
from leasehold.amqp.line import BrokerLost, Line
from leasehold.amqp.reading import ORGANISATION, Organisations
from leasehold.ids import show
from leasehold.jobs import Parcel, Posting
from leasehold.leases import PREFIX
from leasehold.tracing import Traces, passed_on

log = logs.get(__name__)

_ROUND_S = 3.0
# Taken and published together.
_TOGETHER = 500
# How long the broker may take to confirm. One that lost a peer may be silent for a minute.
_CONFIRM_S = 15.0
KEEP_EVERY_S = 1.0


class Outbound:
    """Publishes tasks. Any number of these may run, in as many processes."""

    def __init__(
        self, line: Line, posting: Posting, organisations: Organisations, traces: Traces | None = None
    ) -> None:
        self._line = line
        self._posting = posting
        self._organisations = organisations
        self._traces = traces
        self._channel: AbstractChannel | None = None
        self._watched: AbstractChannel | None = None

    async def step(self) -> None:
        """Dispatch for a while, for every organisation beside the others."""
        platforms = [one.slug for one in self._posting.platforms]
        if not platforms or self._posting.is_closed:
            await asyncio.sleep(KEEP_EVERY_S)
            return
        channel = self._channel = await self._ready(self._channel)
        until = asyncio.get_running_loop().time() + _ROUND_S
        everybody = await self._organisations()
        rounds = [self._serve(channel, one, slug, platforms, until) for one, slug in everybody]
        for done in await asyncio.gather(*rounds, return_exceptions=True):
            if done is not None:
                raise done

    async def keep(self) -> None:
        """Renew what lies in the queues: no worker has it yet, so none can."""
        platforms = [one.slug for one in self._posting.platforms]
        if not platforms:
            return
        channel = self._watched = await self._ready(self._watched)
        try:
            depths = {slug: (await topology.depth(channel, topology.queue_of(slug)))[0] for slug in platforms}
        except topology.TopologyWrong:
            await self._line.close()  # everything is declared when it is opened again
            raise
        for organisation, _slug in await self._organisations():
            await self._posting.keep(organisation, depths)

    async def _ready(self, channel: AbstractChannel | None) -> AbstractChannel:
        """A channel that is open, with a queue for every platform there is by now."""
        if channel is None or channel.is_closed:
            return await self._line.channel()
        await self._line.declared()
        return channel

    async def _serve(
        self, channel: AbstractChannel, organisation: UUID, slug: str, platforms: Sequence[str], until: float
    ) -> None:
        loop = asyncio.get_running_loop()
        while (left := until - loop.time()) > 0 and not self._posting.is_closed:
            parcels = await self._posting.take(organisation, platforms, _TOGETHER, left)
            if parcels:
                await self._publish(channel, organisation, slug, parcels)

    async def _publish(
        self, channel: AbstractChannel, organisation: UUID, slug: str, parcels: Sequence[Parcel]
    ) -> None:
        """In one go and in this order; what is not confirmed goes back."""
        sent = [asyncio.ensure_future(self._traced(channel, parcel, slug)) for parcel in parcels]
        try:
            said = await asyncio.gather(*sent, return_exceptions=True)
        except asyncio.CancelledError:
            await self._posting.give_back(organisation, parcels)  # we are told to stop, and nobody heard of them
            raise
        confirmed = [one for one, error in zip(parcels, said, strict=True) if error is None]
        if confirmed:
            await self._posting.published(organisation, confirmed)
        failed = [one for one, error in zip(parcels, said, strict=True) if error is not None]
        if failed:
            error = next(one for one in said if one is not None)
            log.warning("amqp.unpublished", tasks=len(failed), why=type(error).__name__)
            await self._posting.give_back(organisation, failed)
            if channel.is_closed or not isinstance(error, (*CONNECTION_EXCEPTIONS, TimeoutError)):
                raise BrokerLost(type(error).__name__)

    async def _traced(self, channel: AbstractChannel, parcel: Parcel, organisation: str) -> None:
        """The trace a job came with goes on with its tasks, whether or not we tell of it ourselves."""
        trace = passed_on(parcel.task.trace_ctx or {}) or {}
        if self._traces is None or not trace:
            await _sent(channel, parcel, organisation, trace)
            return
        with self._traces.message(topology.queue_of(parcel.task.platform), trace) as carried:
            await _sent(channel, parcel, organisation, carried)


async def _sent(channel: AbstractChannel, parcel: Parcel, organisation: str, trace: Mapping[str, str]) -> None:
    """Returns once it is in the queue, on disk; raises when it was refused, came back, or nothing was said in time."""
    task = parcel.task
    headers: HeadersType = {
        "attempt": task.attempt,
        "fence": task.fence,
        "lease": show(PREFIX, parcel.lease),
        "lease_seconds": parcel.lease_s,
        ORGANISATION: organisation,
        **trace,
    }
    if task.retry:
        headers["retry"] = True
    message = Message(
        task.model_dump_json().encode(),
        headers=headers,
        content_type="application/json",
        delivery_mode=DeliveryMode.PERSISTENT,
        message_id=task.idempotency_token,
        type="CollectorTask",
    )
    line = await channel.get_underlay_channel()
    # `wait` is missing from their interface alone. The next is not held up until this one is written: that the broker
    # has it is for the confirm to say.
    await line.basic_publish(  # type: ignore[call-arg]
        message.body,
        routing_key=topology.queue_of(task.platform),
        properties=message.properties,
        mandatory=True,
        timeout=_CONFIRM_S,
        wait=False,
    )
