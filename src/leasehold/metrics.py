"""What Prometheus is told. One registry per app, so that two apps in one process do not mix."""

from collections.abc import Mapping
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


M = TypeVar("M", Counter, Histogram)


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
        self.pool_connections = Gauge(
            "leasehold_pool_connections", "Connections to PostgreSQL.", ["state"], registry=self.registry
        )

        self.leases_granted = Counter(
            "leasehold_leases_granted_total", "Leases granted.", ["kind"], registry=self.registry
        )
        self.leases_ended = Counter(
            "leasehold_leases_ended_total", "Leases that ended, by how.", ["kind", "how"], registry=self.registry
        )
        self.stale_calls = Counter(
            "leasehold_stale_calls_total", "Calls with a lease that had ended.", ["call"], registry=self.registry
        )
        self.clock_jumps = Counter(
            "leasehold_clock_jumps_total",
            "Jumps ahead of the clock that leases run by, as this server noticed them.",
            ["store"],
            registry=self.registry,
        )
        self.waited = Histogram(
            "leasehold_acquire_seconds",
            "Time an acquire took, its waiting included.",
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
            "leasehold_capture_events_total", "What happened to captures.", ["event"], registry=self.registry
        )
        self.captures_by_state = Gauge(
            "leasehold_captures", "Captures there are, by state.", ["state"], registry=self.registry
        )
        self.blobs_swept = Counter(
            "leasehold_blobs_swept_total", "Blobs that no capture had any more.", registry=self.registry
        )

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

    def text(self) -> bytes:
        return generate_latest(self.registry)
