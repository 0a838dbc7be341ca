"""Handlers of results: what a platform does with each document before it is written, found by name.

A package of anybody's brings one as an entry point in the group `leasehold.handlers`: a class without arguments.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any, Protocol

GROUP = "leasehold.handlers"
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class About:
    """Where a document comes from."""

    platform: str
    task_type: str
    job_id: str
    cursor: Any
    payload: Mapping[str, Any]  # of the message it came in, without the documents


class Handler(Protocol):
    """What is done with each document, in this order. Whatever it raises sends the document to the dead letters."""

    def normalise(self, document: Document, about: About) -> Document | None:
        """The document in its form; None leaves it out."""

    def validate(self, document: Document, about: About) -> str | None:
        """Why it is refused, if it is."""

    def identity(self, document: Document, about: About) -> Any:
        """What two documents of a job that are the same have in common; None for one like no other."""

    def enrich(self, document: Document, about: About) -> Document:
        """The document with what is known besides."""


class Plain:
    """Leaves documents as they are. A handler of one's own may begin with it."""

    def normalise(self, document: Document, about: About) -> Document | None:
        return document

    def validate(self, document: Document, about: About) -> str | None:
        return None

    def identity(self, document: Document, about: About) -> Any:
        return None

    def enrich(self, document: Document, about: About) -> Document:
        return document


PLAIN = "plain"
# Those that come along. By their names, because the collectors that bring some of them are built upon this.
_SHIPPED = {
    PLAIN: "leasehold.platforms:Plain",
    "amazon": "leasehold.collectors:AmazonProducts",
    "ebay": "leasehold.collectors:EbaySellers",
}


def names() -> list[str]:
    """The handlers there are."""
    return sorted({*_SHIPPED, *(point.name for point in _points())})


@cache
def find(name: str) -> Handler:
    """The handler of that name, made once."""
    shipped = _SHIPPED.get(name)
    found = resolve_name(shipped) if shipped else next(point for point in _points() if point.name == name).load()
    made: Handler = found()
    return made


def _points() -> list[EntryPoint]:
    return list(entry_points(group=GROUP))
