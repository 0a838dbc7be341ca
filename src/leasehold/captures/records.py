"""Captures of an older system, brought here as records: what was known of them, without their bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from leasehold.captures.machine import CaptureState
from leasehold.captures.store import SQL, get
from leasehold.db import Conn
from leasehold.sites import Reference

# What a record may be: nobody can claim bytes that are not here.
RECORD_STATES = (CaptureState.DELIVERED, CaptureState.REJECTED)


@dataclass(frozen=True, slots=True)
class ExternalFile:
    """A file whose bytes stayed where they were."""

    name: str
    sha256: bytes
    size: int
    content_type: str
    location: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """A capture of an older system."""

    site: str
    url: str
    captured_at: datetime
    received_at: datetime
    job_id: str | None
    state: CaptureState
    reason: str | None
    labels: Mapping[str, str]
    files: tuple[ExternalFile, ...]

    def told(self) -> dict[str, Any]:
        """What makes it what it is, to compare it by; what follows from the sites' addresses is left out."""
        files = [[file.name, file.sha256, file.size, file.content_type, file.location] for file in self.files]
        return {
            "site": self.site,
            "url": self.url,
            "captured_at": self.captured_at,
            "received_at": self.received_at,
            "job_id": self.job_id,
            "state": str(self.state),
            "reason": self.reason,
            "labels": dict(self.labels),
            "files": files,
        }


async def keep_records(
    conn: Conn, organisation: UUID, records: Mapping[UUID, Record], references: Mapping[UUID, Reference]
) -> None:
    """Keep new ones, each under the id that was chosen for it. Their sites are there."""
    found = [references.get(id_) for id_ in records]
    ours = list(records.values())
    await conn.execute(
        SQL["insert_records"],
        {
            "organisation": organisation,
            "captures": list(records),
            "sites": [one.site for one in ours],
            "urls": [one.url for one in ours],
            "subs": [reference.sub if reference else None for reference in found],
            "rests": [reference.rest if reference else None for reference in found],
            "captured_ats": [one.captured_at for one in ours],
            "received_ats": [one.received_at for one in ours],
            "job_ids": [one.job_id for one in ours],
            "labels": [orjson.dumps(one.labels).decode() for one in ours],
            "sizes": [sum(file.size for file in one.files) for one in ours],
            "states": [str(one.state) for one in ours],
            "reasons": [one.reason for one in ours],
        },
    )
    files = [(id_, place, file) for id_, one in records.items() for place, file in enumerate(one.files)]
    await conn.execute(
        SQL["insert_external_files"],
        {
            "organisation": organisation,
            "captures": [id_ for id_, _, _ in files],
            "places": [place for _, place, _ in files],
            "names": [file.name for _, _, file in files],
            "digests": [file.sha256 for _, _, file in files],
            "sizes": [file.size for _, _, file in files],
            "content_types": [file.content_type for _, _, file in files],
            "locations": [file.location for _, _, file in files],
        },
    )


async def read_records(conn: Conn, organisation: UUID, ids: Sequence[UUID]) -> dict[UUID, Record]:
    """Those that are here, made again from their rows."""
    return {
        id_: Record(
            site=found.site,
            url=found.url,
            captured_at=found.captured_at,
            received_at=found.received_at,
            job_id=found.job_id,
            state=found.state,
            reason=found.reason,
            labels=found.labels,
            files=tuple(
                ExternalFile(file.name, file.sha256, file.size, file.content_type, file.location)
                for file in found.files
                if file.external
            ),
        )
        for id_, found in (await get(conn, organisation, ids)).items()
    }
