"""Captures as the server tells of them."""

from datetime import datetime
from typing import Any

from leasehold.client.models import Lease, Model, Waiting


class Reference(Model):
    """A URL as its site knows it, whatever the site's address."""

    site: str
    sub: str
    rest: str


class CaptureFile(Model):
    """A file of a capture; `content_type` is what its sender said. The bytes of an `external` one are not here."""

    name: str
    sha256: str
    size: int
    content_type: str
    deduplicated: bool
    external: bool = False
    location: str | None = None


class Receipt(Model):
    """A capture that was handed in and is kept. `late`: the lease it was collected under had ended by then."""

    id: str
    files: list[CaptureFile]
    late: bool


class Capture(Model):
    """What a visit brought home."""

    id: str
    site: str
    url: str
    reference: Reference | None
    captured_at: datetime
    received_at: datetime
    seed_id: str | None
    account_id: str | None
    job_id: str | None
    source_lease_id: str | None
    late: bool
    labels: dict[str, str]
    state: str
    failures: int
    reason: str | None
    holder: str | None
    lease_id: str | None
    expires_at: datetime | None
    size: int
    files: list[CaptureFile]
    updated_at: datetime


class CaptureEvent(Model):
    """Something that happened to a capture."""

    id: str
    at: datetime
    event: str
    actor_name: str
    detail: dict[str, Any]


class CaptureGrant(Lease):
    """A claim on a capture, with the capture."""

    capture: Capture


class CaptureGrants(Model):
    """The answer to an acquire of captures: some of those that wait, or none and why."""

    leases: list[CaptureGrant]
    waiting: Waiting | None
