"""How jobs stand over all organisations, measured from time to time for Prometheus. No organisation is named."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from leasehold.db import Database
from leasehold.jobs import overrides, receipts, store
from leasehold.jobs.machine import Status
from leasehold.jobs.standing import Override
from leasehold.metrics import JobMetrics
from leasehold.platforms import Catalogue

EVERY_S = 15.0
# Every request there ever was is counted for this, so it is done less often.
BOOKS_EVERY_S = 300.0
_LIVE = [status for status in Status if not status.is_over]


class Measuring:
    """Sets what a counter cannot say. Zeros are said too: an alert has to see that something is 0."""

    def __init__(self, db: Database, catalogue: Catalogue, metrics: JobMetrics) -> None:
        self._db = db
        self._catalogue = catalogue
        self._metrics = metrics

    async def measure(self, organisations: Sequence[UUID]) -> None:
        live: Counter[tuple[str, str]] = Counter()
        in_flight: Counter[str] = Counter()
        unwritten: Counter[str] = Counter()
        oldest_s: dict[str, float] = {}
        changed: dict[str, Override] = {}
        for organisation in organisations:
            async with self._db.transaction(organisation) as conn:
                for platform, status, number, held, due_s in await store.stands(conn, organisation):
                    live[platform, status] += number
                    in_flight[platform] += held
                    oldest_s[platform] = max(oldest_s.get(platform, 0.0), due_s or 0.0)
                unwritten.update(await receipts.unwritten_counts(conn, organisation))
                changed = await overrides.in_force(conn, organisation, list(self._catalogue.platforms))
        self._forget()
        for platform in self._platforms([*oldest_s, *unwritten]):
            for status in _LIVE:
                self._metrics.live.labels(platform, str(status)).set(live[platform, status])
            self._metrics.oldest.labels(platform).set(oldest_s.get(platform, 0.0))
            self._metrics.in_flight.labels(platform).set(in_flight[platform])
            self._metrics.unwritten.labels(platform).set(unwritten[platform])
        for slug, found in self._catalogue.platforms.items():
            limits = changed[slug].wish.over(found.limits) if slug in changed else found.limits
            self._metrics.limit.labels(slug).set(limits.concurrency)

    async def measure_books(self, organisations: Sequence[UUID]) -> None:
        unaccounted: Counter[str] = Counter()
        for organisation in organisations:
            async with self._db.transaction(organisation) as conn:
                for books in await store.books(conn, organisation):
                    unaccounted[books.platform] += books.unaccounted
        for platform in self._platforms(unaccounted):
            self._metrics.unaccounted.labels(platform).set(unaccounted[platform])

    def _platforms(self, found: Sequence[str] | Counter[str]) -> list[str]:
        return sorted({*found, *self._catalogue.platforms})

    def _forget(self) -> None:
        """A platform that is gone is not told of any more."""
        gauges = (self._metrics.live, self._metrics.oldest, self._metrics.in_flight, self._metrics.limit)
        for gauge in (*gauges, self._metrics.unwritten):
            gauge.clear()
