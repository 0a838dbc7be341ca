"""What writers are given, and what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

Document = Mapping[str, Any]


class Space(StrEnum):
    """Where in a target: what people read, or what is there to be compared."""

    MAIN = "main"
    SHADOW = "shadow"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Documents under one cursor of a task, about to be written."""

    task: UUID
    job: str
    platform: str
    key: bytes  # the digest of its cursor
    number: int  # in the order of arrival
    attempt: int
    documents: Sequence[Document]
    entry: str | None = None  # of the stream, that it was put there as before

    @property
    def name(self) -> "Name":
        return self.task, self.key


@dataclass(frozen=True, slots=True)
class Place:
    """Whose task, for reading."""

    task: UUID
    job: str
    platform: str


@dataclass(frozen=True, slots=True)
class Found:
    """A document as it was found."""

    platform: str
    number: int
    place: int
    document: Document


Name = tuple[UUID, bytes]
Refusals = Mapping[Name, str]
"""Chunks that will never be taken, by name, and why."""


class Target(Protocol):
    """Where results are kept. Writing is repeatable: the first to come under a name stands."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def write(self, organisation: UUID, space: Space, chunks: Sequence[Chunk]) -> Refusals:
        """Durable when it returns, but for those it will never take."""

    async def read(
        self, organisation: UUID, space: Space, places: Sequence[Place], after: tuple[int, int] | None, limit: int
    ) -> list[Found]:
        """In the order of arrival."""

    async def documents(
        self, organisation: UUID, space: Space, places: Sequence[Place]
    ) -> dict[UUID, list[dict[str, Any]]]:
        """All that tasks brought, by task, each in the order of arrival."""

    async def chunks(
        self, organisation: UUID, space: Space, names: Sequence[tuple[Place, bytes]]
    ) -> dict[Name, list[Document]]:
        """What is kept under these names, each whole; what is not there is left out."""
