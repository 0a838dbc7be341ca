"""A capture and its files, as the house passes them around."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold.captures.blobs import Draft
from leasehold.captures.machine import CaptureState
from leasehold.sites import Reference

PREFIX = "cap"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one upload may bring."""

    upload_bytes: int
    file_bytes: int
    files: int
    meta_bytes: int


@dataclass(frozen=True, slots=True)
class Meta:
    """What a sender says of a capture."""

    site: str
    url: str
    captured_at: datetime | None
    seed: UUID | None
    account: UUID | None
    job_id: str | None
    lease: UUID | None
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A file of an upload: read to its end, and not placed yet."""

    name: str
    content_type: str
    draft: Draft

    @property
    def sha256(self) -> bytes:
        return self.draft.sha256


@dataclass(frozen=True, slots=True)
class File:
    """A file of a capture."""

    name: str
    sha256: bytes
    size: int
    content_type: str
    deduplicated: bool
    external: bool = False  # the capture was imported as a record; the bytes are not here
    location: str | None = None  # where the bytes of such a one were


@dataclass(frozen=True, slots=True)
class Capture:
    """What a visit brought home."""

    id: UUID
    site: str
    url: str
    sub: str | None
    rest: str | None
    captured_at: datetime
    received_at: datetime
    seed: UUID | None
    account: UUID | None
    job_id: str | None
    source_lease: UUID | None
    late: bool
    labels: dict[str, str]
    size: int
    updated_at: datetime
    state: CaptureState
    failures: int
    reason: str | None
    holder: str | None
    lease_id: UUID | None
    expires_at: datetime | None
    files: list[File]


@dataclass(frozen=True, slots=True)
class NewCapture:
    """A capture that is about to be kept; its bytes are in place."""

    id: UUID
    meta: Meta
    reference: Reference | None
    late: bool
    files: list[File]


# Where a page ended: the time it was received, and its id.
Mark = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class CaptureFilter:
    """Which captures; with a reference, those of that URL, whatever the site's address was."""

    site: str | None = None
    state: CaptureState | None = None
    since: datetime | None = None
    url: str | None = None
    reference: Reference | None = None

    def row(self) -> dict[str, Any]:
        return {"site": self.site, "state": self.state, "since": self.since, "url": self.url}
