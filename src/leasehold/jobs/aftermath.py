"""What a transaction did to jobs, told once it is committed: to those who hold leases for them, and to Prometheus."""

from collections.abc import Iterable
from uuid import UUID

from leasehold.jobs.marks import Marks
from leasehold.jobs.models import Tally
from leasehold.metrics import JobMetrics
from leasehold.platforms import Catalogue

# What we ourselves call a dead letter; the other reasons are crawlers' codes, of which there may be any number.
_REASONS = frozenset(
    {
        "attempts_exhausted",
        "by_hand",
        "conflict",
        "crashed",
        "invalid",
        "invalid_document",
        "poison",
        "snoozes_exhausted",
        "timed_out",
        "unreadable",
        "unroutable",
        "unwritable",
        "worker_lost",
    }
)
# Whatever a crawler says, one number must not drown all others in their sum.
_DAY_S = 86_400.0
# For what belongs to no platform there is, or has no reason that a platform's file names.
UNKNOWN, OTHER = "unknown", "other"


class Aftermath:
    """Tells it on."""

    def __init__(self, marks: Marks, metrics: JobMetrics, catalogue: Catalogue) -> None:
        self._marks = marks
        self._metrics = metrics
        self._catalogue = catalogue

    async def tell(self, organisation: UUID, tally: Tally) -> None:
        self.count(tally)
        await self._marks.over(organisation, tally.over)

    def count(self, tally: Tally) -> None:
        for platform, outcome, took_s in tally.outcomes:
            self._metrics.attempts.labels(platform, outcome).inc()
            if took_s is not None:
                self._metrics.duration.labels(platform).observe(max(0.0, took_s))
        for burial in tally.buried:
            platform = burial.task.platform if burial.task else UNKNOWN
            self._metrics.dead_letters.labels(platform, self._reason(platform, burial.reason)).inc()
        for platform, lag_s in tally.lags:
            self._metrics.result_lag.labels(platform).observe(max(0.0, lag_s))
        for platform, took_s in tally.took:
            self._metrics.chunk.labels(platform).observe(min(took_s, _DAY_S))
        for (platform, verdict), number in tally.verdicts.items():
            known = platform if self._catalogue.get(platform) else UNKNOWN
            self._metrics.results.labels(known, verdict).inc(number)

    def dispatched(self, lags: Iterable[tuple[str, float]]) -> None:
        for platform, lag_s in lags:
            self._metrics.dispatched.labels(platform).inc()
            self._metrics.dispatch_lag.labels(platform).observe(max(0.0, lag_s))

    def _reason(self, platform: str, reason: str) -> str:
        found = self._catalogue.get(platform)
        named = {*found.retry.fatal, *found.retry.retryable} if found else set()
        return reason if reason in _REASONS or reason in named else OTHER
