"""What Prometheus is told. One registry per app, so that two apps in one process do not mix."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one server process."""

    def __init__(self) -> None:
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

    def watch_pool(self, stats: Mapping[str, int]) -> None:
        size, free = stats.get("pool_size", 0), stats.get("pool_available", 0)
        for state, count in {"free": free, "used": size - free, "waited_for": stats.get("requests_waiting", 0)}.items():
            self.pool_connections.labels(state).set(count)

    def text(self) -> bytes:
        return generate_latest(self.registry)
