"""One trace from a request over its statements to the message that comes of it, and nothing in it that is a secret.

A real server sends it to a small receiver, as it would to a collector of OpenTelemetry.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from leasehold import settings
from leasehold.amqp import declare
from leasehold.settings import SettingsInvalid
from tests.amqp.conftest import amqp_platform
from tests.parts.process import KEYS, PATIENCE_S, Place
from tests.parts.receiver import Receiver, receiver
from tests.parts.wire import wire

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
CANARY = "LHROBIN77"


@pytest.fixture
def collector() -> Iterator[Receiver]:
    with receiver() as made:
        made.status = 200
        yield made


def spans(collector: Receiver) -> list[Span]:
    found = []
    for _, body in collector.came:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {one.key: one.value.string_value for one in resource.resource.attributes}
            assert named["service.name"] == "our-leasehold"
            found += [span for scope in resource.scope_spans for span in scope.spans]
    return found


async def test_a_request_its_statements_and_its_message_are_one_trace(
    here: Place, amqp_url: str, collector: Receiver
) -> None:
    folder = here.folder / "platforms"
    folder.mkdir()
    (folder / "alpha.yaml").write_text(amqp_platform("alpha"))
    at = urlsplit(collector.url)
    server = here.up(
        LEASEHOLD_AMQP_URL=amqp_url,
        LEASEHOLD_PLATFORMS_DIR=str(folder),
        OTEL_EXPORTER_OTLP_ENDPOINT=f"{at.scheme}://{at.netloc}",
        OTEL_SERVICE_NAME="our-leasehold",
    )
    job = {"platform": "alpha", "task_type": "page", "payload": {"page": f"{CANARY}-payload"}, "job_id": "traced"}
    headers = {"Authorization": f"Bearer {server.token}", "traceparent": f"00-{TRACE}-{PARENT}-01"}
    async with httpx.AsyncClient(base_url=server.address, headers=headers, trust_env=False, timeout=60) as client:
        made = await client.post("/v2/jobs", json=job, timeout=PATIENCE_S)
        assert made.status_code == 202, made.text
        assert (await client.get(f"/v2/jobs?platform={CANARY}-query")).status_code == 200
        assert (await client.get(f"/v2/jobs/{CANARY}-path")).status_code == 404
    async with wire(amqp_url) as line:
        await declare(line.channel, ["alpha"])
        _, message = await line.take()
        await message.ack()
    assert server.end() == 0

    found = spans(collector)
    (request,) = [span for span in found if span.name == "POST /v2/jobs"]
    (sent,) = [span for span in found if span.kind == Span.SPAN_KIND_PRODUCER]
    mine = {span.span_id: span for span in found if span.trace_id.hex() == TRACE}
    assert request.parent_span_id.hex() == PARENT
    assert {attribute.key for attribute in request.attributes} == {
        "http.request.method",
        "http.response.status_code",
        "http.route",
        "leasehold.request_id",
    }
    statements = {span.name for span in mine.values() if span.parent_span_id == request.span_id}
    assert {"auth.authenticate", "jobs.accept", "jobs.add_tasks", "COMMIT"} <= statements
    assert sent.name == "send crawler.alpha.queue"
    assert sent.parent_span_id == request.span_id
    # It goes on: with the job into the task, and with the message to who works on it.
    assert json.loads(message.body)["trace_ctx"]["traceparent"] == f"00-{TRACE}-{request.span_id.hex()}-01"
    assert message.headers["traceparent"] == f"00-{TRACE}-{sent.span_id.hex()}-01"
    # What is done in the background is nobody's, and is left out.
    assert {span.kind for span in found if not span.parent_span_id} <= {Span.SPAN_KIND_SERVER}
    told = b"".join(body for _, body in collector.came)
    assert CANARY.encode() not in told
    assert (server.token or "-").encode() not in told


def test_traces_are_made_when_the_usual_variables_ask_for_them_and_not_otherwise(here: Place) -> None:
    there = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}

    assert settings.traces({}) == (None, "")
    assert settings.traces(there) == ("otlp", "")
    assert settings.traces(there | {"OTEL_SDK_DISABLED": "true"}) == (None, "")
    assert settings.traces(there | {"OTEL_TRACES_EXPORTER": "none"}) == (None, "")
    assert settings.traces({"OTEL_TRACES_EXPORTER": "console", "OTEL_SERVICE_NAME": "ours"}) == ("console", "ours")
    for wrong in ({"OTEL_TRACES_EXPORTER": "zipkin"}, {**there, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}):
        with pytest.raises(SettingsInvalid, match="must be"):
            settings.traces(wrong)
    # Off, nothing of it is loaded.
    code = (
        "import sys; from leasehold.app import build, edged; from leasehold.settings import Settings;"
        "from leasehold.vault import Keyring;"
        f"edged(build(Settings(), 'postgresql://nowhere/nothing', Keyring.parse({KEYS!r})));"
        "sys.exit(any(name.startswith(('opentelemetry.sdk.trace', 'opentelemetry.exporter')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=here.folder, check=False).returncode == 0
