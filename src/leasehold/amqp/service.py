"""Everything that is done over RabbitMQ, put together: two lines, and what goes over them."""

from collections.abc import Mapping
from contextlib import suppress

from pydantic import SecretStr

from leasehold.amqp.aside import Aside
from leasehold.amqp.inbound import Inbound
from leasehold.amqp.line import Line
from leasehold.amqp.outbound import KEEP_EVERY_S, Outbound
from leasehold.amqp.reading import Organisations, Whose
from leasehold.amqp.results import Returns
from leasehold.background import Background
from leasehold.duties import Duty
from leasehold.jobs import Jobs
from leasehold.tracing import Traces


class Broker:
    """Made once where RabbitMQ is configured; does nothing before its background work begins."""

    def __init__(
        self,
        url: SecretStr,
        users: Mapping[str, str],
        jobs: Jobs,
        organisations: Organisations,
        traces: Traces | None = None,
    ) -> None:
        def platforms() -> list[str]:
            return [one.slug for one in jobs.posting.platforms]

        # Two, because a broker that is short of memory stops listening to connections that publish.
        self._out = Line(url, "dispatcher", platforms)
        self._in = Line(url, "aggregator", platforms)
        whose = Whose(users, organisations)
        self._outbound = Outbound(self._out, jobs.posting, organisations, traces)
        self._inbound = Inbound(self._in, jobs, whose)
        self._results = Returns(self._in, jobs, whose)
        self._aside = Aside(self._in, jobs, whose, platforms)

    def add_to(self, background: Background) -> None:
        background.add("dispatcher", self._outbound.step, 0.0, Duty.DISPATCHER)
        background.add("queue-keeper", self._outbound.keep, KEEP_EVERY_S, Duty.DISPATCHER)
        background.add("inbound", self._inbound.step, 0.0, Duty.AGGREGATOR)
        background.add("results", self._results.step, 0.0, Duty.AGGREGATOR)
        background.add("set-aside", self._aside.step, 0.0, Duty.AGGREGATOR)

    async def close(self) -> None:
        for line in (self._out, self._in):
            with suppress(Exception):  # nothing more depends on how it ends
                await line.close()
