"""What a process may have to do besides answering requests. `leasehold work` is given some or all of it.

To add one: a line here, and its name where its work is added in app.py.
"""

from collections.abc import Iterable
from enum import StrEnum


class Duty(StrEnum):
    """A kind of background work."""

    REAPER = "reaper"  # books what ran out, and sweeps what nobody needs any more
    DISPATCHER = "dispatcher"  # publishes tasks to RabbitMQ
    AGGREGATOR = "aggregator"  # takes in what comes from RabbitMQ: requests, results, and what was set aside
    WRITER = "writer"  # writes results where their platform says, and the shadow
    DATA_WRITER = "data-writer"  # takes results out of the Redis stream and keeps them
    RUNS = "runs"  # drives runs
    ENTITIES = "entities"  # links records to entities: the one writer of the graph
    COLLECTORS = "collectors"  # collects what runs want: the workers of the shipped collectors
    SOURCES = "sources"  # sweeps the sources that were started
    ARTIFACTS = "artifacts"  # publishes the status page and what others read
    FACES = "faces"  # looks at pictures, for sources that opted in


# What a server does beside its requests.
OF_A_SERVER = frozenset(
    {Duty.REAPER, Duty.WRITER, Duty.RUNS, Duty.COLLECTORS, Duty.ENTITIES, Duty.SOURCES, Duty.ARTIFACTS}
)
ALL = frozenset(Duty)


class DutyUnknown(Exception):
    """There is no such background work; the message lists what there is."""


def read(words: str | None) -> frozenset[Duty]:
    """Some duties by their names, by commas; all where nothing is said. Raises DutyUnknown."""
    if words is None:
        return ALL
    return frozenset(_one(word) for word in _split(words))


def _split(words: str) -> Iterable[str]:
    return [word for word in (part.strip() for part in words.split(",")) if word] or [words]


def _one(word: str) -> Duty:
    try:
        return Duty(word)
    except ValueError:
        raise DutyUnknown(f"There is no background work {word!r}: --only takes {', '.join(Duty)}, by commas.") from None
