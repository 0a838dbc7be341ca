"""Traces: from a request over its statements to the messages that come of it, as OpenTelemetry has them.

Off unless OpenTelemetry's own variables ask for it, and then its SDK is not even imported. What a span says is chosen
here, name by name: routes, names of statements, queues. No path, no query, no parameter and no header is in one.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from psycopg import AsyncCursor
from starlette.types import Scope

from leasehold import __version__
from leasehold.db import name_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import SpanExporter

# The framework has traces of its own, with the query of every request in them.
FRAMEWORK_OFF: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
W3C = ("traceparent", "tracestate")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\Z")
_TRACESTATE = re.compile(r"[\x20-\x7e]{1,512}\Z")
_SERVICE = "leasehold"


class TracesMissing(Exception):
    """Traces are asked for, and what makes them is not installed."""


class Traces:
    """What makes spans. There is one in a process, or none."""

    def __init__(self, exporter: "SpanExporter", service: str) -> None:
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        # Ours alone, not the process': whatever else finds OpenTelemetry installed stays silent.
        self._provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(_SERVICE, __version__)
        self._words = TraceContextTextMapPropagator()

    def close(self) -> None:
        """Send what is left, for a few seconds at the most."""
        self._provider.force_flush(5_000)
        self._provider.shutdown()

    @contextmanager
    def request(self, scope: Scope) -> Iterator[dict[str, Any]]:
        """A request from its first byte to its last; what is put into the mapping meanwhile is told of it."""
        from opentelemetry.trace import SpanKind, StatusCode

        told: dict[str, Any] = {}
        method = scope["method"]
        parent = self._parent(passed_on(_headers(scope)))
        with self._tracer.start_as_current_span(
            method,
            parent,
            SpanKind.SERVER,
            {"http.request.method": method},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield told
            finally:
                span.set_attributes(told)
                span.update_name(f"{method} {told.get('http.route', '')}".strip())
                if told.get("http.response.status_code", 500) >= 500:
                    span.set_status(StatusCode.ERROR)

    @contextmanager
    def statement(self, name: str) -> Iterator[None]:
        """A statement of a request. What is done in the background belongs to nobody, and is left out."""
        from opentelemetry.trace import SpanKind, StatusCode, get_current_span

        if not get_current_span().is_recording():
            yield
            return
        with self._tracer.start_as_current_span(
            name,
            kind=SpanKind.CLIENT,
            attributes={"db.system.name": "postgresql", "db.query.summary": name},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                # Its message may quote a value.
                span.set_status(StatusCode.ERROR, type(error).__name__)
                raise

    @contextmanager
    def message(self, queue: str, trace: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """A message on its way; gives what has to travel with it."""
        from opentelemetry.trace import SpanKind, StatusCode

        with self._tracer.start_as_current_span(
            f"send {queue}",
            self._parent(trace),
            SpanKind.PRODUCER,
            {
                "messaging.system": "rabbitmq",
                "messaging.operation.type": "send",
                "messaging.destination.name": queue,
            },
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield self.carried() or dict(trace)
            except BaseException as error:
                span.set_status(StatusCode.ERROR, type(error).__name__)
                raise

    def carried(self) -> dict[str, str] | None:
        """Where we are just now, as it is told to others; None outside of a trace."""
        found: dict[str, str] = {}
        self._words.inject(found)
        return found or None

    def cursors(self) -> type[AsyncCursor[Any]]:
        """Cursors whose statements are spans."""
        traces = self

        class Traced(AsyncCursor[Any]):
            async def execute(self, query: Any, params: Any = None, **how: Any) -> Any:
                name = name_of(query)
                if name is None:
                    return await super().execute(query, params, **how)
                with traces.statement(name):
                    return await super().execute(query, params, **how)

        return Traced

    def _parent(self, trace: Mapping[str, str] | None) -> "Context":
        from opentelemetry.context import Context

        # Not what happens to be current: a task of the background may have begun within a request.
        return self._words.extract(dict(trace or {}), Context())


def make(exporter: str | None, service: str = "") -> Traces | None:
    """`otlp` or `console`, as the settings read it from OpenTelemetry's variables; None makes none."""
    if exporter is None:
        return None
    try:
        if exporter == "console":
            from opentelemetry.sdk.trace.export import ConsoleSpanExporter

            return Traces(ConsoleSpanExporter(), service or _SERVICE)
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return Traces(OTLPSpanExporter(), service or _SERVICE)
    except ModuleNotFoundError as missing:
        raise TracesMissing(
            f"The variables of OpenTelemetry ask for traces, and {missing.name} is not installed: "
            "pip install 'leasehold[server,otel]', or set OTEL_SDK_DISABLED=true."
        ) from None


def passed_on(words: Mapping[str, Any]) -> dict[str, str] | None:
    """The W3C trace context among headers, if it is one."""
    parent, state = (words.get(name) for name in W3C)
    if not isinstance(parent, str) or not _TRACEPARENT.match(parent):
        return None
    is_state = isinstance(state, str) and _TRACESTATE.match(state)
    return {"traceparent": parent} | ({"tracestate": str(state)} if is_state else {})


def _headers(scope: Scope) -> dict[str, str]:
    wanted = {name.encode(): name for name in W3C}
    return {wanted[name]: value.decode("latin-1") for name, value in scope["headers"] if name in wanted}


def _trace(request: Request) -> dict[str, str] | None:
    traces: Traces | None = request.app.state.traces
    return (traces.carried() if traces else None) or passed_on(_headers(request.scope))


# The trace that a request is part of, to go on with what it asks for.
TraceDep = Annotated[dict[str, str] | None, Depends(_trace)]
