"""Lists that are read page by page, with a cursor that is ours to understand."""

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel

from leasehold.problems import fault, invalid

T = TypeVar("T")
K = TypeVar("K")

Limit = Annotated[int, Query(ge=1, le=500, description="How many items at the most.")]
Cursor = Annotated[str | None, Query(max_length=500, description="`next_cursor` of the page before.")]


class Page(BaseModel, Generic[T]):
    """Some items, and how to ask for the next ones; `next_cursor` is null on the last page."""

    items: list[T]
    next_cursor: str | None


def encode(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).rstrip(b"=").decode()


def decode(cursor: str | None, read: Callable[[str], K]) -> K | None:
    """The key a cursor stands for, or InvalidRequest when we never gave it out."""
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        return read(base64.b64decode(padded, altchars=b"-_", validate=True).decode())
    except (ValueError, binascii.Error):
        raise invalid(fault("query", "cursor", "This is not a cursor of this list. Start without one.")) from None


def paged(rows: Sequence[T], limit: int, key: Callable[[T], str]) -> tuple[Sequence[T], str | None]:
    """The page and its next cursor, out of one row more than was asked for."""
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], encode(key(rows[limit - 1]))


def uuid_key(text: str) -> UUID:
    return UUID(hex=text)


def text_key(text: str) -> str:
    if not text.isprintable():
        raise ValueError("not a key")
    return text


def time_and_text(text: str) -> tuple[datetime, str]:
    """A key of a moment and what tells apart those of the same one."""
    moment, _, rest = text.partition(" ")
    at = datetime.fromisoformat(moment)
    if at.tzinfo is None or not rest or not rest.isprintable():
        raise ValueError("not a key")
    return at, rest


def time_and_id(text: str) -> tuple[datetime, UUID]:
    at, rest = time_and_text(text)
    return at, UUID(hex=rest)


def labels_in(given: Sequence[str]) -> dict[str, str]:
    """The labels a list is narrowed by, each written as key:value."""
    found = {}
    for label in given:
        name, colon, value = label.partition(":")
        if not colon or not name or "\x00" in label:
            raise invalid(fault("query", "label", "Write a label as key:value."))
        found[name] = value
    return found
