"""Pages of the reference, printed from what the code says: calls, shapes, messages, commands, metrics, decisions."""

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from leasehold import amqp
from leasehold.cli import app as command_line
from leasehold.door import PERMISSION_FIELD, PUBLIC
from leasehold.metrics import Metrics
from leasehold.problems import Problem

SHAPES = "reference-shapes.md"
PRINTED = "Printed from the code by `make generated`."
# What any call may be refused with; told once, at the top of the page.
COMMON = (
    "malformed-request",
    "unauthenticated",
    "permission-denied",
    "body-too-large",
    "unsupported-media-type",
    "invalid-request",
    "unavailable",
)


def http_md(document: dict[str, Any]) -> str:
    """Every operation of the API, by tag."""
    by_tag: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            by_tag.setdefault(operation["tags"][0], []).append(_operation(method, path, operation))
    parts = [
        "# HTTP",
        f"Every call of the API, with the permission it takes and what it may be refused with. {PRINTED} A server "
        "shows the same at `/docs`, where calls can be tried, and as `/openapi.json`; the file is "
        "[openapi.json](../openapi.json).",
        "Send the token as `Authorization: Bearer lh_…` and bodies as `application/json`. Lists are paged: ask again "
        "with `cursor` set to the `next_cursor` of the answer. Any call may be refused with "
        f"{', '.join(_refusal(slug) for slug in COMMON)}; the tables name what else there is.",
    ]
    for tag in sorted(by_tag):
        parts += [f"## {tag.capitalize()}", *by_tag[tag]]
    return _page(parts)


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    permission = operation[PERMISSION_FIELD]
    parts = [f"### {method.upper()} {path}", operation["description"]]
    rows = [("permission", "none: it is open" if permission == PUBLIC else f"`{permission}`")]
    rows += [("body", spelled) for spelled in _contents(operation.get("requestBody", {}))]
    for status, response in operation["responses"].items():
        if status < "400":
            rows.append((f"answer {status}", " or ".join(_contents(response)) or "nothing"))
        else:
            slugs = [slug for slug in re.findall(r"/problems/([\w-]+)", response["description"]) if slug not in COMMON]
            rows += [(f"refusal {status}", ", ".join(_refusal(slug) for slug in slugs))] if slugs else []
    parts.append(_table(("", "is"), rows))
    if parameters := operation.get("parameters"):
        parts.append(_table(("parameter", "in", "type", "means"), [_parameter(one) for one in parameters]))
    return "\n\n".join(parts)


def _parameter(one: dict[str, Any]) -> tuple[str, str, str, str]:
    wanted = "" if one.get("required") else ", may be left out"
    return f"`{one['name']}`", one["in"], spell(one["schema"], SHAPES) + wanted, one.get("description", "")


def _contents(body: dict[str, Any]) -> list[str]:
    found = []
    for media, content in body.get("content", {}).items():
        shape = spell(content.get("schema", {}), SHAPES)
        found.append(shape if media == "application/json" else f"`{media}`" + (f": {shape}" if shape != "any" else ""))
    return found


def _refusal(slug: str) -> str:
    title = next(kind.title for kind in Problem.kinds.values() if kind.slug() == slug)
    return f"[`{slug}`](problems.md#{title.lower().replace(' ', '-')})"


def shapes_md(document: dict[str, Any]) -> str:
    """What bodies and answers are made of."""
    parts = [
        "# Shapes over HTTP",
        "What the bodies and answers of [the calls](reference-http.md) are made of. Requests are strict: a field "
        f"that is not here is refused. {PRINTED}",
    ]
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += _shape(name, schema, "")
    return _page(parts)


def _shape(name: str, schema: dict[str, Any], page: str) -> Iterator[str]:
    yield f"## {name}"
    if text := schema.get("description"):
        yield str(text)
    if fields := schema.get("properties"):
        required = schema.get("required", ())
        rows = [_field(field, of, required, page) for field, of in fields.items()]
        yield _table(("field", "type", "means"), rows)
    elif "properties" not in schema and schema.get("type") != "object":
        yield spell({**schema, "description": ""}, page)


def _field(name: str, schema: dict[str, Any], required: Iterable[str], page: str) -> tuple[str, str, str]:
    default = f", `{_said(schema['default'])}` unless said" if schema.get("default") not in (None, [], {}) else ""
    optional = "" if name in required or default else ", may be left out"
    return f"`{name}`", spell(schema, page) + default + optional, schema.get("description", "")


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def spell(schema: dict[str, Any], page: str) -> str:
    """A JSON Schema as a phrase; shapes are links to where they stand."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}]({page}#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(spell(one, page) for one in schema[key]))
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{_said(one)}`" for one in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {spell(schema.get('items', {}), page)}" + _limits(schema)
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"mapping to {spell(schema['additionalProperties'], page)}"
    return " or ".join([kind] if isinstance(kind, str) else kind) + _limits(schema)


def _limits(schema: dict[str, Any]) -> str:
    for least, most in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        low, high = _number(schema.get(least)), _number(schema.get(most))
        unit = {"minLength": " characters", "minItems": " items"}.get(least, "")
        if low is not None and high is not None:
            return f", {low} to {high}{unit}"
        if high is not None or low is not None:
            return f", at most {high}{unit}" if low is None else f", at least {low}{unit}"
    return f" ({schema['format']})" if "format" in schema else ""


def _number(limit: float | None) -> float | None:
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def messages_md() -> str:
    """What goes over RabbitMQ."""
    document = amqp.asyncapi()
    parts = [
        "# Messages",
        f"{document['info']['description']} How to set it up, and what is kept when something dies, is in "
        f"[rabbitmq.md](rabbitmq.md); the file is [asyncapi.json](../asyncapi.json). {PRINTED}",
        "## Channels",
    ]
    rows = []
    for channel in document["channels"].values():
        binding = channel.get("bindings", {}).get("amqp", {})
        place = binding.get("exchange") or binding.get("queue") or {"name": "where `reply_to` says"}
        what = f"{place['type']} exchange" if "type" in place else "queue" if binding else ""
        names = ", ".join(f"[{name}](#{name.lower()})" for name in channel["messages"])
        name = f"`{place['name']}` ({what})" if what else place["name"]
        rows.append((name, names, channel["description"]))
    parts.append(_table(("where", "message", "is"), rows))
    tasks = document["components"]["messages"]["CollectorTask"]["headers"]
    headers = [(f"`{name}`", spell(of, ""), of["description"]) for name, of in tasks["properties"].items()]
    parts += ["The headers of a task:", _table(("header", "type", "is"), headers)]
    for name, schema in document["components"]["schemas"].items():
        parts += _shape(name, schema, "")
    return _page(parts)


def cli_md() -> str:
    """Every command with its options."""
    parts = [
        "# Command line",
        "Every command says this itself with `--help`. Those that work on a server's data take the server's "
        f"[settings](settings.md); an option stands over its setting. {PRINTED}",
    ]
    for path, command in _commands("leasehold", typer.main.get_command(command_line)):
        context = command.make_context(path, [], resilient_parsing=True)
        usage = " ".join([path, *command.collect_usage_pieces(context)])
        parts += [f"## {path}", inspect.cleandoc(command.help or ""), f"```\n{usage}\n```"]
        records = [found for one in command.params if (found := one.get_help_record(context))]
        if records:
            parts.append(_table(("argument or option", "means"), [(f"`{names}`", text) for names, text in records]))
    return _page(parts)


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if children := getattr(command, "commands", None):
        for name, child in children.items():
            yield from _commands(f"{path} {name}", child)
    else:
        yield path, command


def metrics_md() -> str:
    """Every metric of /metrics."""
    found = dict.fromkeys(Metrics().registry._names_to_collectors.values())
    rows = []
    for metric in found:
        if not isinstance(metric, MetricWrapperBase):
            continue
        name = f"{metric._name}_total" if isinstance(metric, Counter) else metric._name
        kind = "histogram" if isinstance(metric, Histogram) else str(metric._type)
        labels = ", ".join(f"`{label}`" for label in metric._labelnames)
        rows.append((f"`{name}`", kind, labels, metric._documentation))
    parts = [
        "# Metrics",
        "What `/metrics` serves for Prometheus. How to scrape it, rules and a dashboard are in "
        f"[monitoring.md](monitoring.md). {PRINTED}",
        _table(("metric", "type", "labels", "is"), sorted(rows)),
    ]
    return _page(parts)


def decisions_md(folder: Path) -> str:
    """The list of decisions, by the first line of each."""
    rows = []
    for file in sorted(folder.glob("0*.md")):
        title = re.sub(r"^# \d+[.:]? *", "", file.read_text(encoding="utf-8").partition("\n")[0])
        rows.append((f"[{file.name[:4]}]({file.name})", title))
    parts = [
        "# Decisions",
        "What would be dear to undo, and why it was decided so. An accepted decision is not edited; another one "
        f"supersedes it. {PRINTED}",
        _table(("ADR", "decision"), rows),
    ]
    return _page(parts)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
