"""What one source says of one thing, as linking reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Record:
    source: str  # where it comes from
    source_id: str  # its name there, unique within source and kind
    kind: str  # records of different kinds are never compared
    name: str
    aliases: tuple[str, ...] = ()
    external_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # namespace to ids
    urls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # namespace to addresses
    attributes: Mapping[str, Any] = field(default_factory=dict)  # free keys

    @property
    def place(self) -> tuple[str, str, str]:
        """What a record is known and ordered by, whenever it arrives."""
        return (self.kind, self.source, self.source_id)
