"""What an import out of an older system passes around."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

Kind = Literal["site", "capture", "event"]
# What the documents of each kind are counted under.
COUNTED = ("sites", "domains", "captures", "events")


class ImportFailed(Exception):
    """The import cannot go on; the message says why. What was imported so far stays, and is gone on from."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The document something was read from."""

    collection: str
    id: str  # its _id, as extended JSON
    place: int | None = None  # of the element, where a document holds several

    def __str__(self) -> str:
        return f"{self.collection} {self.id}" + ("" if self.place is None else f" #{self.place}")


@dataclass(frozen=True, slots=True)
class LegacySite:
    id: str
    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class LegacyEvent:
    """Something that happened to a capture in the older system."""

    id: str
    capture: str  # as that system calls it
    event: str
    at: datetime
    actor: str | None
    detail: dict[str, Any]

    def told(self, capture: UUID) -> dict[str, Any]:
        """What is compared: the same whether it was read there or here."""
        return {
            "capture": capture,
            "event": self.event,
            "at": self.at,
            "actor": self.actor,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class Item:
    """What became of a document."""

    legacy_id: str
    document: str
    site: str | None
    capture: UUID | None
    event: UUID | None
    addresses: int
    digest: bytes


@dataclass(slots=True)
class Tally:
    read: int = 0
    imported: int = 0
    there: int = 0
    bad: int = 0


@dataclass(slots=True)
class Progress:
    """How far an import has come, as it is kept with every batch."""

    step: int = 0
    phase: str = "sites"
    position: str | None = None
    report_bytes: int = 0
    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in COUNTED})

    def kept_tallies(self) -> dict[str, Any]:
        return {name: asdict(tally) for name, tally in self.tallies.items()}
