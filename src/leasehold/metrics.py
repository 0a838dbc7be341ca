"""What Prometheus is told. One registry per app, so that two apps in one process do not mix."""

from collections.abc import Mapping
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


M = TypeVar("M", Counter, Histogram)


# Waits from a blink to a day: a platform may rest for hours and be well.
_WAITS_S = (0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400)


class JobMetrics:
    """What is counted of jobs, by platform. A platform is a file, so there are as many labels as files."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, says: str, *more: str) -> Gauge:
            return Gauge(f"leasehold_{name}", says, ["platform", *more], registry=registry)

        def counter(name: str, says: str, *more: str) -> Counter:
            return Counter(f"leasehold_{name}", says, ["platform", *more], registry=registry)

        def histogram(name: str, says: str) -> Histogram:
            return Histogram(f"leasehold_{name}", says, ["platform"], buckets=_WAITS_S, registry=registry)

        # As they stand, over all organisations: the same on every server, so the greatest is the sum.
        self.live = gauge("jobs", "Tasks that are not over: pending, dispatched or processing.", "status")
        self.oldest = gauge(
            "job_oldest_pending_seconds",
            "How long the first task has been due that nobody began; what rests before its next attempt is not due.",
        )
        self.in_flight = gauge("job_in_flight", "Tasks that workers have in hand.")
        self.limit = gauge("job_in_flight_limit", "How many tasks a platform bears at once.")
        self.unwritten = gauge("unwritten_chunks", "Chunks that were accepted and that no writer has confirmed.")
        self.unaccounted = gauge(
            "jobs_unaccounted",
            "Requests that were accepted and are nowhere: 0. Counted every five minutes, the others every 15 seconds.",
        )
        # What this server did.
        self.dispatched = counter("job_dispatched_total", "Tasks handed to workers.")
        self.attempts = counter(
            "job_attempts_total",
            "Attempts that ended, each once: completed, failed, retried, timed_out, cancelled or lost.",
            "outcome",
        )
        self.results = counter(
            "results_total",
            "Messages of crawlers, by verdict; those of no platform there is are under unknown.",
            "verdict",
        )
        self.dead_letters = counter(
            "dead_letters_total",
            "Dead letters; a reason that neither the platform's file nor leasehold names is under other.",
            "reason",
        )
        self.dispatch_lag = histogram(
            "job_dispatch_lag_seconds", "Time from when a task was due until a worker had it."
        )
        self.duration = histogram("job_duration_seconds", "Time from when a task was first begun until it was over.")
        self.chunk = histogram(
            "job_chunk_seconds",
            "Time that crawlers say they worked on a chunk (metrics.duration_seconds), a day at the most.",
        )
        self.result_lag = histogram(
            "job_result_lag_seconds",
            "Time from when a chunk was accepted until it was written; 0 where that is one step.",
        )


class Metrics:
    """The counters of one server process."""

    def __init__(self) -> None:
        self._parts: dict[tuple[Any, ...], Any] = {}
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "leasehold_http_request_seconds",
            "Time from the headers of a request to the end of its answer.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.problems = Counter(
            "leasehold_problems_total", "Problems answered, by status.", ["status"], registry=self.registry
        )
        self.task_restarts = Counter(
            "leasehold_task_restarts_total", "Times a background task died.", ["task"], registry=self.registry
        )
        self.ready = Gauge(
            "leasehold_ready",
            "1 for each check of /readyz that is well, looked at when it is asked for.",
            ["check"],
            registry=self.registry,
        )
        self.live_sockets = Gauge(
            "leasehold_live_sockets",
            "Live sockets that are open at this process; 2,000 at the most.",
            registry=self.registry,
        )
        self.pool_connections = Gauge(
            "leasehold_pool_connections",
            "Connections to PostgreSQL: free, used, and requests that wait for one (waited_for).",
            ["state"],
            registry=self.registry,
        )

        self.leases_granted = Counter(
            "leasehold_leases_granted_total",
            "Leases that were answered to an acquire, repeats under a key included.",
            ["kind"],
            registry=self.registry,
        )
        self.leases_ended = Counter(
            "leasehold_leases_ended_total",
            "Leases that were released, revoked, or booked as expired.",
            ["kind", "how"],
            registry=self.registry,
        )
        self.stale_calls = Counter(
            "leasehold_stale_calls_total",
            "Releases and revocations of leases that could not be ended any more.",
            ["call"],
            registry=self.registry,
        )
        self.clock_jumps = Counter(
            "leasehold_clock_jumps_total",
            "Jumps ahead of the clock that leases run by, as this server noticed them.",
            ["store"],
            registry=self.registry,
        )
        self.waited = Histogram(
            "leasehold_acquire_seconds",
            "Time an acquire took, its waiting included, by whether it was granted or empty.",
            ["answer"],
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30),
            registry=self.registry,
        )
        self.batch_size = Histogram(
            "leasehold_batch_size",
            "Grants, heartbeats and releases done in one transaction.",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
            registry=self.registry,
        )

        self.capture_bytes = Counter(
            "leasehold_capture_bytes_total", "Bytes of captures received.", registry=self.registry
        )
        self.captures = Counter(
            "leasehold_capture_events_total", "Captures handed in: received or late.", ["event"], registry=self.registry
        )
        self.captures_by_state = Gauge(
            "leasehold_captures",
            "Captures there are, by state; counted once a minute.",
            ["state"],
            registry=self.registry,
        )
        self.blobs_swept = Counter(
            "leasehold_blobs_swept_total",
            "Blobs that no capture had any more, and were removed.",
            registry=self.registry,
        )

        self.alerts = Counter(
            "leasehold_alerts_total",
            "Tries to send an alert to the operator: sent or failed.",
            ["result"],
            registry=self.registry,
        )
        self.artifacts = Counter(
            "leasehold_artifacts_total", "Tries to publish artefacts, by result.", ["result"], registry=self.registry
        )
        self.artifacts_published = Gauge(
            "leasehold_artifacts_published_timestamp_seconds",
            "When artefacts were last published, by whichever process; 0 if never.",
            registry=self.registry,
        )
        self.jobs = JobMetrics(self.registry)

    def part(self, metric: M, *labels: str) -> M:
        """The one with these labels, remembered: looking it up is what counting costs most."""
        key = (metric, *labels)
        if key not in self._parts:
            self._parts[key] = metric.labels(*labels)
        found: M = self._parts[key]
        return found

    def watch_pool(self, stats: Mapping[str, int]) -> None:
        size, free = stats.get("pool_size", 0), stats.get("pool_available", 0)
        for state, count in {"free": free, "used": size - free, "waited_for": stats.get("requests_waiting", 0)}.items():
            self.pool_connections.labels(state).set(count)

    def watch_checks(self, checks: Mapping[str, str]) -> None:
        for check, state in checks.items():
            self.ready.labels(check).set(state == "ok")

    def text(self) -> bytes:
        return generate_latest(self.registry)
