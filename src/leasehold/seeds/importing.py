"""Seeds out of a file: CSV, NDJSON or OPML, each line by itself, so that one bad line costs nobody else."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import orjson
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

_NUMBERS = ("priority", "interval_seconds", "min_interval_seconds", "max_interval_seconds")
_TEXTS = ("site", "url", "kind", "cursor", "next_due_at")
_LABEL = "label."
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_OUTLINES_DEEP = 64


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: an item, or why it is none."""

    number: int
    item: dict[str, Any] | None
    fault: str | None = None


class NotThatFormat(Exception):
    """The file as a whole cannot be read; the message says why, and nothing of the file."""


def from_ndjson(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield Line(number, None, f"This is not JSON: {error.msg}.")
            continue
        yield Line(number, item) if isinstance(item, dict) else Line(number, None, "This is not a JSON object.")


def from_csv(text: str) -> Iterator[Line]:
    """Columns `site`, `url` and the other fields of a seed by name; labels as `label.…`."""
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise NotThatFormat(f"This is not CSV: {error}.") from None
    if fault := _header_fault(header):
        raise NotThatFormat(fault)
    before = reader.line_num
    while True:
        number = before + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            before = reader.line_num
            yield Line(number, None, f"This is not CSV: {error}.")
            continue
        before = reader.line_num
        if row and len(row) != len(header):
            yield Line(
                number, None, f"This has {len(row)} column{'s'[: len(row) != 1]}; the first line names {len(header)}."
            )
        elif row:
            yield _row(number, dict(zip(header, row, strict=True)))


def _header_fault(header: list[str]) -> str | None:
    if "url" not in header:
        return "The first line must name the columns; url is missing."
    if len(set(header)) != len(header):
        return "The first line names a column twice."
    known = (*_TEXTS, *_NUMBERS, "enabled")
    strangers = [name for name in header if name not in known and not name.startswith(_LABEL)]
    return f"The first line names columns that no seed has; known are {', '.join(known)}." if strangers else None


def _row(number: int, row: dict[str, str]) -> Line:
    item: dict[str, Any] = {name: row[name] for name in _TEXTS if row.get(name)}
    labels = {name.removeprefix(_LABEL): value for name, value in row.items() if name.startswith(_LABEL) and value}
    if labels:
        item["labels"] = labels
    for name in _NUMBERS:
        value = row.get(name, "").strip()
        if value and not (value.isascii() and value.isdigit() and len(value) <= 9):
            return Line(number, None, f"{name}: must be a whole number.")
        if value:
            item[name] = int(value)
    if enabled := row.get("enabled", "").strip().lower():
        if enabled not in _TRUTHS:
            return Line(number, None, "enabled: must be true or false.")
        item["enabled"] = _TRUTHS[enabled]
    return Line(number, item)


def from_opml(raw: bytes, site: str | None) -> Iterator[Line]:
    """Every outline with an address; folders are walked through. Numbered in the order of the file."""
    try:
        # No entities, no document types: a small file must not grow large, nor fetch anything.
        root = fromstring(raw, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        raise NotThatFormat("This is not OPML, or it has a document type or entities, which are not read.") from None
    if root.tag != "opml":
        raise NotThatFormat("This is not OPML: its root is not <opml>.")
    for number, outline in enumerate(_outlines(root), start=1):
        url = outline.get("xmlUrl") or outline.get("htmlUrl") or outline.get("url") or ""
        item: dict[str, Any] = {"url": url.strip(), "kind": "feed" if outline.get("xmlUrl") else "page"}
        yield Line(number, item | ({"site": site} if site else {}))


def _outlines(root: Element) -> Iterator[Element]:
    level = [*root.iterfind("body/outline")]
    stack = [(outline, 1) for outline in reversed(level)]
    while stack:
        outline, depth = stack.pop()
        if depth > _OUTLINES_DEEP:
            raise NotThatFormat(f"This is nested more than {_OUTLINES_DEEP} levels deep.")
        if any(outline.get(name) for name in ("xmlUrl", "htmlUrl", "url")):
            yield outline
        stack += [(inner, depth + 1) for inner in reversed(outline.findall("outline"))]
