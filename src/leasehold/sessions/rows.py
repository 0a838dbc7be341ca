"""Facts of sessions as they lie in either database: plain documents in, dataclasses out."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from leasehold.sessions.models import Facts, How, Making, Note


def facts_row(facts: Facts) -> dict[str, Any]:
    return asdict(facts)


def read_facts(row: Mapping[str, Any]) -> Facts:
    return Facts(**row)


def making_row(making: Making) -> dict[str, Any]:
    return {**asdict(making), "how": str(making.how), "lease": making.lease.hex if making.lease else None}


def read_making(row: Mapping[str, Any]) -> Making:
    lease = UUID(hex=row["lease"]) if row["lease"] else None
    return Making(**{**row, "how": How(row["how"]), "lease": lease})


def note_row(note: Note) -> dict[str, Any]:
    return asdict(note)


def read_note(row: Mapping[str, Any]) -> Note:
    return Note(**row)
