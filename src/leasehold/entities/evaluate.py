"""How good linking is on records whose truth is known: fed through the real writer into a graph of its own."""

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from leasehold.db import Database
from leasehold.embedded import Embedded
from leasehold.entities import epochs, queue
from leasehold.entities.intake import Arrival, Unreadable, naming_itself, read
from leasehold.entities.policies import SHIPPED, read_policies
from leasehold.entities.store import SQL
from leasehold.entities.writers import Writer
from leasehold.ids import uuid7
from leasehold.linking import DEFAULT, Epoch, Policy, learn, score
from leasehold.migrate import migrate

_PAGE = 250
_AT_ONCE = 5000


class NotRecords(Exception):
    """The file cannot be evaluated; the message says which line and why."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A record, and what it truly is."""

    item: dict[str, Any]
    arrival: Arrival
    truth: str


def load(lines: Iterable[bytes]) -> list[Labelled]:
    """Records as lines of JSON, each with its `truth`. Raises NotRecords."""
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = orjson.loads(line)
            truth = item.pop("truth")
            found.append(Labelled(item, read(item), str(truth)))
        except (orjson.JSONDecodeError, AttributeError):
            raise NotRecords(f"Line {number} is no JSON object.") from None
        except KeyError:
            raise NotRecords(f"Line {number} has no `truth`: the name of the thing it really is.") from None
        except Unreadable as error:
            raise NotRecords(f"Line {number} is no record: {error}.") from None
    return found


@dataclass(frozen=True, slots=True)
class Fed:
    """Records that went through the writer: who is with whom, and how long it took."""

    groups: list[list[int]]
    seconds: float


async def learned(
    records: Sequence[Labelled],
    curated: Sequence[str],
    say: Callable[[str], None],
    policies: Mapping[str, Policy] = SHIPPED,
) -> dict[str, Epoch]:
    """Weights for each kind, from all of its records without their truth."""
    found = {}
    for kind in sorted({one.arrival.record.kind for one in records}):
        say(f"Learning weights for {kind} …")
        own = [one.arrival for one in records if one.arrival.record.kind == kind]
        plain = [naming_itself(arrival.record, arrival.state) for arrival in own]
        found[kind] = await asyncio.to_thread(learn, plain, policies.get(kind, DEFAULT).curating(curated))
    return found


class Trial:
    """A graph of its own, and the writer that feeds it."""

    def __init__(self, db: Database, weights: Mapping[str, Epoch]) -> None:
        self._db = db
        self._weights = weights
        self._organisation = uuid7()
        policies = {kind: epoch.policy for kind, epoch in weights.items()}
        self._writer = Writer(db, self._organisation, uuid7(), policies, None)

    async def open(self) -> None:
        async with self._db.transaction(self._organisation) as conn:
            for kind, epoch in self._weights.items():
                await epochs.open_epoch(conn, self._organisation, kind, epoch, origin="learned")
        await self._writer.claim()

    async def feed(self, items: Sequence[Mapping[str, Any]], say: Callable[[str], None]) -> Fed:
        """Hand records over in this order, page by page, and have them written."""
        began = time.perf_counter()
        for at in range(0, len(items), _AT_ONCE):
            some = items[at : at + _AT_ONCE]
            for start in range(0, len(some), _PAGE):
                async with self._db.transaction(self._organisation) as conn:
                    await queue.offer(conn, self._organisation, None, some[start : start + _PAGE])
            while await self._writer.write_some():
                pass
            done = at + len(some)
            say(f"{done:,} of {len(items):,} records, {done / (time.perf_counter() - began):,.0f} per second")
        seconds = time.perf_counter() - began
        return Fed(await self._groups(), seconds)

    async def close(self) -> None:
        await self._writer.leave()

    async def _groups(self) -> list[list[int]]:
        given = {"organisation": self._organisation}
        async with self._db.transaction(self._organisation) as conn:
            await conn.execute(SQL["think_longer"])  # a large graph takes its time to be read
            rows = await (await conn.execute(SQL["partition"], given)).fetchall()
        return sorted(nodes for (nodes,) in rows)


def shuffled(records: Sequence[Labelled], seed: int | None) -> list[dict[str, Any]]:
    items = [one.item for one in records]
    if seed is not None:
        random.Random(seed).shuffle(items)  # noqa: S311 (an order, not a secret)
    return items


async def evaluate(
    db: Database,
    records: Sequence[Labelled],
    weights: Mapping[str, Epoch],
    shuffle: int | None,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Feed all of it to a fresh graph, and hold that against the truth."""
    trial = Trial(db, weights)
    await trial.open()
    fed = await trial.feed(shuffled(records, shuffle), say)
    await trial.close()
    return figures(records, fed)


def figures(records: Sequence[Labelled], fed: Fed) -> dict[str, Any]:
    """What is measured of records that were linked."""
    truth = {one.arrival.node: one.truth for one in records}
    return {
        "records": len(truth),
        "entities": len(fed.groups),
        **score(truth, fed.groups).to_json(),
        "records_per_second": round(len(records) / fed.seconds, 1),
    }


async def evaluate_file(
    file: Path, curated: Sequence[str], shuffle: int | None, policy: Path | None, say: Callable[[str], None]
) -> dict[str, Any]:
    """Learn from a file without its truth, and link it on a PostgreSQL of its own, which is gone afterwards."""
    policies = read_policies(policy)
    with file.open("rb") as lines:
        records = load(lines)
    weights = await learned(records, curated, say, policies)
    with tempfile.TemporaryDirectory(prefix="leasehold-evaluate-") as folder:
        embedded = Embedded(Path(folder))
        url = embedded.start()
        try:
            migrate(url)
            async with Database(url, pool_size=2) as db:
                return await evaluate(db, records, weights, shuffle, say)
        finally:
            embedded.stop()
