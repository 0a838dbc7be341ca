"""Accounts out of a file: CSV or NDJSON, each line by itself, so that one bad line costs nobody else."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

# Columns that are the account's own; every other is a part of its secret, unless it begins with `label.`.
_OWN = ("site", "username", "priority")
_LABEL = "label."
_SECRET = "secret."  # noqa: S105 (a prefix of column names)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: an item, or why it is none."""

    number: int
    item: dict[str, Any] | None
    fault: str | None = None


def from_ndjson(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield Line(number, None, f"This is not JSON: {error.msg}.")
            continue
        if isinstance(item, dict):
            yield Line(number, item)
        else:
            yield Line(number, None, "This is not a JSON object.")


def from_csv(text: str) -> Iterator[Line]:
    """Columns `site`, `username`, `priority`, `label.…`; all others are parts of the secret, such as `password`."""
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        yield Line(1, None, f"This is not CSV: {error}.")
        return
    if fault := _header_fault(header):
        yield Line(1, None, fault)
        return
    before = reader.line_num
    while True:
        number, fault = before + 1, None
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            row, fault = [], f"This is not CSV: {error}."
        before = reader.line_num
        if fault:
            yield Line(number, None, fault)
        elif len(row) not in (0, len(header)):
            yield Line(
                number, None, f"This has {len(row)} column{'s'[: len(row) != 1]}; the first line names {len(header)}."
            )
        elif row:
            yield _row(number, header, row)


def _header_fault(header: list[str]) -> str | None:
    missing = [name for name in ("site", "username") if name not in header]
    if missing:
        return f"The first line must name the columns; {' and '.join(missing)} is missing."
    if len({_column(name) for name in header}) != len(header):
        return "The first line names a column twice."
    return None


def _column(name: str) -> str:
    """What a column is in full: `password` and `secret.password` are the same."""
    return name if name in _OWN or name.startswith((_LABEL, _SECRET)) else _SECRET + name


def _row(number: int, header: list[str], row: list[str]) -> Line:
    item: dict[str, Any] = {"secret": {}}
    labels: dict[str, str] = {}
    for name, value in zip(header, row, strict=True):
        if name in _OWN:
            item[name] = value
        elif name.startswith(_LABEL):
            if value:
                labels[name.removeprefix(_LABEL)] = value
        else:
            item["secret"][name.removeprefix(_SECRET)] = value
    if labels:
        item["labels"] = labels
    priority = item.pop("priority", "").strip()
    if not priority:
        return Line(number, item)
    if not (priority.isascii() and priority.isdigit() and len(priority) <= 9):
        return Line(number, None, "priority: must be a whole number.")
    return Line(number, item | {"priority": int(priority)})
