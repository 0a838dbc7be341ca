"""Ids as people see them: a prefix that says what it is, and a UUID that sorts by time."""

from uuid import UUID

from uuid_utils.compat import uuid7

__all__ = ["parse", "show", "uuid7"]


def show(prefix: str, value: UUID) -> str:
    return f"{prefix}_{value.hex}"


def parse(prefix: str, text: str) -> UUID | None:
    """The UUID inside, or None: an id that could never have been given out names nothing."""
    head, _, tail = text.partition("_")
    if head != prefix or len(tail) != 32 or not tail.isascii() or tail != tail.lower():
        return None
    try:
        return UUID(hex=tail)
    except ValueError:
        return None
