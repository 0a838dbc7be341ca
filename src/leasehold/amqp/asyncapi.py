"""The messages over RabbitMQ as an AsyncAPI 3 document, printed from the models that read them."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from leasehold import __version__
from leasehold.amqp.topology import INBOUND, INBOUND_QUEUE, KEY, RESULTS, RESULTS_QUEUE, dlq_of, queue_of
from leasehold.jobs import CollectorTask, CrawlerResult, CrawlRequest, VerdictOut

JSON = dict[str, Any]
_BY = "#/components/"


def document() -> JSON:
    """What a producer or a worker in any language needs to know."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "leasehold over RabbitMQ",
            "version": __version__,
            "description": "Requests for crawls go in, tasks go out to workers, results come back. Plain JSON; a field "
            "that is not known here is kept. The same messages travel over HTTP: see openapi.json.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {
            "inbound": _channel(
                f"{KEY}{{platform}}",
                "Requests for crawls, under the key of their platform, or of one of them.",
                "CrawlRequest",
                {"is": "routingKey", "exchange": _exchange(INBOUND, "topic")},
            ),
            "tasks": _channel(
                queue_of("{platform}"),
                "What the workers of a platform have to do. Acknowledge a task when its last result is confirmed, and "
                "always: leasehold alone tries again. One that ends three workers is set aside in "
                f"`{dlq_of('{platform}')}`.",
                "CollectorTask",
                {"is": "queue", "queue": _queue(queue_of("{platform}"))},
            ),
            "results": _channel(
                RESULTS,
                "What workers bring.",
                "CrawlerResult",
                {"is": "routingKey", "exchange": _exchange(RESULTS, "fanout")},
            ),
            "verdicts": {
                "address": None,
                "description": "What became of a result, for who gave an address to answer to.",
                "messages": {"Verdict": {"$ref": f"{_BY}messages/Verdict"}},
            },
        },
        "operations": {
            "request": _operation("receive", "inbound", "CrawlRequest", f"Read from `{INBOUND_QUEUE}`."),
            "work": _operation("send", "tasks", "CollectorTask", "Persistent, mandatory, confirmed."),
            "bring": _operation("receive", "results", "CrawlerResult", f"Read from `{RESULTS_QUEUE}`.")
            | {
                "reply": {
                    "address": {
                        "location": "$message.header#/reply_to",
                        "description": "`amq.rabbitmq.reply-to` or a queue the broker has named, or none.",
                    },
                    "channel": {"$ref": "#/channels/verdicts"},
                }
            },
        },
        "components": {"messages": _messages(), "schemas": _schemas()},
    }


def _channel(address: str, text: str, message: str, binding: JSON) -> JSON:
    found: JSON = {
        "address": address,
        "description": text,
        "messages": {message: {"$ref": f"{_BY}messages/{message}"}},
        "bindings": {"amqp": {**binding, "bindingVersion": "0.3.0"}},
    }
    if "{platform}" in address:
        found["parameters"] = {"platform": {"description": "The name of a platform: GET /v2/platforms lists them."}}
    return found


def _exchange(name: str, kind: str) -> JSON:
    return {"name": name, "type": kind, "durable": True, "autoDelete": False}


def _queue(name: str) -> JSON:
    return {"name": name, "durable": True, "exclusive": False, "autoDelete": False}


def _operation(action: str, channel: str, message: str, text: str) -> JSON:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "description": text,
        "messages": [{"$ref": f"#/channels/{channel}/messages/{message}"}],
    }


def _messages() -> JSON:
    def message(name: str, model: type[BaseModel], headers: JSON | None = None) -> JSON:
        found = {"name": name, "contentType": "application/json", "summary": (model.__doc__ or "").strip()}
        schema = {"payload": {"$ref": f"{_BY}schemas/{model.__name__}"}}
        return {**found, **schema, **({"headers": headers} if headers else {})}

    return {
        "CrawlRequest": message("CrawlRequest", CrawlRequest),
        "CollectorTask": message("CollectorTask", CollectorTask, _HEADERS),
        "CrawlerResult": message("CrawlerResult", CrawlerResult),
        "Verdict": message("Verdict", VerdictOut),
    }


_HEADERS: JSON = {
    "type": "object",
    "required": ["attempt", "fence", "lease", "organisation"],
    "properties": {
        "attempt": {"type": "integer", "description": "As in the task."},
        "fence": {"type": "integer", "description": "As in the task."},
        "lease": {"type": "string", "description": "The lease on the task: a heartbeat over HTTP renews it."},
        "organisation": {"type": "string", "description": "Whose task it is."},
        "retry": {"const": True, "description": "Only where it was tried before."},
        "traceparent": {"type": "string", "description": "The W3C trace context it is part of, where there is one."},
        "tracestate": {"type": "string", "description": "What goes with that."},
    },
}


def _schemas() -> JSON:
    models = [
        (CrawlRequest, "validation"),
        (CrawlerResult, "validation"),
        (CollectorTask, "serialization"),
        (VerdictOut, "serialization"),
    ]
    _, schemas = models_json_schema(models, ref_template=f"{_BY}schemas/{{model}}")  # type: ignore[arg-type]
    found: JSON = schemas["$defs"]
    return found
