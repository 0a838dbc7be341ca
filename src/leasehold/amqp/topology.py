"""What there is in RabbitMQ: exchanges and queues with their settings, declared at the start and read back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel
from aio_pika.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed

INBOUND = "collector.inbound"
INBOUND_QUEUE = "collector.inbound.queue"
RESULTS = "collector.results"
RESULTS_QUEUE = "collector.results.queue"
UNROUTED = "collector.unrouted"
UNROUTED_QUEUE = "collector.unrouted.queue"
# The keys of `collector.inbound`: this and the platform.
KEY = "crawler."

_TIMEOUT_S = 30.0
# A task that ended so many workers is given to no other.
_WORKERS = 3
# A message that ended us so often is set aside; outages do not count, because what we hold then stays with us.
_DELIVERIES = 20
# What is set aside already goes nowhere else, so it is never given up. RabbitMQ 4 would after 20 if nothing were said.
_NEVER = 1_000_000
# So many, and publishers are told no. A broker that fills its disk takes nobody's message any more.
_LONGEST = 1_000_000


class TopologyWrong(Exception):
    """The broker has something of our name with other settings; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue as it must be."""

    name: str
    deliveries: int
    # Where a message goes that is set aside: an exchange, and the key there.
    aside: tuple[str, str] | None = None
    # The exchange it hangs on, and by which key.
    bound: tuple[str, str] | None = None

    @property
    def arguments(self) -> dict[str, str | int]:
        """Quorum: what was confirmed is on disk. Set aside at least once, which needs that overflow refuses."""
        found: dict[str, str | int] = {
            "x-queue-type": "quorum",
            "x-delivery-limit": self.deliveries,
            "x-max-length": _LONGEST,
            "x-overflow": "reject-publish",
        }
        if self.aside is not None:
            exchange, key = self.aside
            found |= {"x-dead-letter-exchange": exchange, "x-dead-letter-routing-key": key}
            found |= {"x-dead-letter-strategy": "at-least-once"}
        return found


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange as it must be."""

    name: str
    kind: ExchangeType
    arguments: dict[str, str] = field(default_factory=dict)


EXCHANGES = (
    Exchange(UNROUTED, ExchangeType.FANOUT),
    Exchange(INBOUND, ExchangeType.TOPIC, {"alternate-exchange": UNROUTED}),
    Exchange(RESULTS, ExchangeType.FANOUT),
)


def queue_of(platform: str) -> str:
    return f"crawler.{platform}.queue"


def dlq_of(platform: str) -> str:
    return f"crawler.{platform}.dlq"


def queues(platforms: Iterable[str]) -> Iterator[Queue]:
    """Every queue there must be. Each comes after the one its messages are set aside to."""
    yield Queue(UNROUTED_QUEUE, _NEVER, bound=(UNROUTED, ""))
    yield Queue(INBOUND_QUEUE, _DELIVERIES, aside=(UNROUTED, INBOUND_QUEUE), bound=(INBOUND, f"{KEY}#"))
    yield Queue(RESULTS_QUEUE, _DELIVERIES, aside=(UNROUTED, RESULTS_QUEUE), bound=(RESULTS, ""))
    for platform in platforms:
        yield Queue(dlq_of(platform), _NEVER)
        yield Queue(queue_of(platform), _WORKERS, aside=("", dlq_of(platform)))


async def declare(channel: AbstractChannel, platforms: Iterable[str]) -> None:
    """Make what is missing, and make sure that what is there is as it must be; raises TopologyWrong.

    The channel is closed by the broker when it is not.
    """
    for one in EXCHANGES:
        try:
            await channel.declare_exchange(
                one.name, one.kind, durable=True, arguments=dict(one.arguments), timeout=_TIMEOUT_S
            )
        except ChannelPreconditionFailed as error:
            raise _wrong("exchange", one.name, error) from None
    for queue in queues(platforms):
        await _declare_queue(channel, queue)


async def _declare_queue(channel: AbstractChannel, queue: Queue) -> None:
    try:
        made = await channel.declare_queue(
            queue.name, durable=True, arguments=dict(queue.arguments), timeout=_TIMEOUT_S
        )
        if queue.bound is not None:
            await made.bind(*queue.bound, timeout=_TIMEOUT_S)
    except ChannelPreconditionFailed as error:
        raise _wrong("queue", queue.name, error) from None


async def depth(channel: AbstractChannel, name: str) -> tuple[int, int]:
    """How many messages wait in a queue, and how many read it; raises TopologyWrong when somebody has deleted it."""
    try:
        found = await channel.declare_queue(name, passive=True, timeout=_TIMEOUT_S)
    except ChannelNotFoundEntity:
        raise TopologyWrong(f"RabbitMQ has lost the queue {name}. It is declared again.") from None
    counts = found.declaration_result
    return counts.message_count or 0, counts.consumer_count or 0


def _wrong(what: str, name: str, error: Exception) -> TopologyWrong:
    how = f"delete_queue {name}" if what == "queue" else "has no command for it"
    return TopologyWrong(
        f"RabbitMQ has the {what} {name} with other settings than leasehold needs ({_said(error)}). Stop what uses it, "
        f"see that it is empty, and delete it (rabbitmqctl {how}, or in RabbitMQ's UI): it is made anew."
    )


def _said(error: Exception) -> str:
    text = str(error.args[1] if len(error.args) > 1 else error)
    return text.removeprefix("PRECONDITION_FAILED - ")[:200]
