"""Captures as they are answered."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, PlainSerializer

from leasehold.audit import Event
from leasehold.captures.machine import CaptureState
from leasehold.captures.models import PREFIX, Capture, File
from leasehold.ids import show
from leasehold.leases import LeaseId, LeaseOut, Offer, WaitingOut
from leasehold.leases import shown as shown_lease
from leasehold.strict import Answer, EventId, TokenId

CaptureId = Annotated[UUID, PlainSerializer(lambda value: show(PREFIX, value), return_type=str)]
SeedId = Annotated[UUID, PlainSerializer(lambda value: show("seed", value), return_type=str)]
AccountId = Annotated[UUID, PlainSerializer(lambda value: show("acct", value), return_type=str)]
Digest = Annotated[bytes, PlainSerializer(lambda value: value.hex(), return_type=str)]


class FileOut(Answer):
    name: str
    sha256: Digest
    size: int
    content_type: str = Field(description="What its sender said it is. It is never served as something a browser runs.")
    deduplicated: bool = Field(description="The bytes were here already when it came.")
    external: bool = Field(
        False, description="The capture was imported as a record of an older system: the bytes are not here."
    )
    location: str | None = Field(None, description="Where the bytes of an external file were, if that is known.")


class ReceiptOut(Answer):
    id: CaptureId
    files: list[FileOut]
    late: bool = Field(description="The lease it was collected under had ended when it arrived.")


class ReferenceOut(Answer):
    """A URL as its site knows it, whatever the site's address."""

    site: str
    sub: str
    rest: str


class CaptureOut(Answer):
    id: CaptureId
    site: str
    url: str = Field(description="As it was fetched; a move of the site does not change it.")
    reference: ReferenceOut | None = Field(
        description="The URL as the site knew it when it was captured; null when it was not the site's then."
    )
    captured_at: datetime
    received_at: datetime
    seed_id: SeedId | None
    account_id: AccountId | None
    job_id: str | None
    source_lease_id: LeaseId | None = Field(description="The lease it was collected under.")
    late: bool
    labels: dict[str, str]
    state: CaptureState
    failures: int = Field(description="Hand-offs that failed or ran out; at 5 it is stuck.")
    reason: str | None = Field(description="What the consumer said that set it aside.")
    holder: str | None = Field(description="Who has claimed it right now.")
    lease_id: LeaseId | None = Field(description="The lease it is claimed on right now.")
    expires_at: datetime | None
    size: int = Field(description="Bytes of all its files.")
    files: list[FileOut]
    updated_at: datetime


class LifeEventOut(Answer):
    id: EventId
    at: datetime
    event: str = Field(
        description="`received`, `late`, `claimed`, `redelivered`, `delivered`, `rejected`, `stuck`, `requeued` or"
        " `deleted`; of a capture out of an older system `imported`, and `history` for each of its events there."
    )
    actor: TokenId | None
    actor_name: str
    action: str
    detail: dict[str, Any]
    request_id: str | None


class CaptureGrantOut(LeaseOut):
    capture: CaptureOut


class CaptureOfferOut(Answer):
    leases: list[CaptureGrantOut]
    waiting: WaitingOut | None = Field(description="Why there are none; null when there are.")


def offered(offer: Offer[Capture]) -> CaptureOfferOut:
    granted = [
        CaptureGrantOut(**dict(shown_lease(grant.lease)), capture=shown(grant.resource)) for grant in offer.grants
    ]
    waiting = WaitingOut.model_validate(offer.waiting, from_attributes=True) if offer.waiting else None
    return CaptureOfferOut(leases=granted, waiting=waiting)


def shown(capture: Capture) -> CaptureOut:
    reference = None
    if capture.sub is not None and capture.rest is not None:
        reference = ReferenceOut(site=capture.site, sub=capture.sub, rest=capture.rest)
    return CaptureOut(
        id=capture.id,
        site=capture.site,
        url=capture.url,
        reference=reference,
        captured_at=capture.captured_at,
        received_at=capture.received_at,
        seed_id=capture.seed,
        account_id=capture.account,
        job_id=capture.job_id,
        source_lease_id=capture.source_lease,
        late=capture.late,
        labels=capture.labels,
        state=capture.state,
        failures=capture.failures,
        reason=capture.reason,
        holder=capture.holder,
        lease_id=capture.lease_id,
        expires_at=capture.expires_at,
        size=capture.size,
        files=[_file(file) for file in capture.files],
        updated_at=capture.updated_at,
    )


def receipt(capture: Capture) -> ReceiptOut:
    return ReceiptOut(id=capture.id, files=[_file(file) for file in capture.files], late=capture.late)


def told(event: Event) -> LifeEventOut:
    return LifeEventOut(
        id=event.id,
        at=event.at,
        event=event.action.partition(".")[2],
        actor=event.actor,
        actor_name=event.actor_name,
        action=event.action,
        detail=event.detail,
        request_id=event.request_id,
    )


def _file(file: File) -> FileOut:
    return FileOut.model_validate(file)
