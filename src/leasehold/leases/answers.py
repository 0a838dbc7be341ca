"""A lease as it is answered."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, PlainSerializer

from leasehold.ids import show
from leasehold.leases.models import PREFIX, Kind, Lease
from leasehold.strict import Answer

LeaseId = Annotated[UUID, PlainSerializer(lambda value: show(PREFIX, value), return_type=str)]

_RESOURCE = {Kind.ACCOUNT: "acct", Kind.SEED: "seed", Kind.CAPTURE: "cap", Kind.TASK: "job"}


class LeaseOut(Answer):
    id: LeaseId
    kind: Kind
    resource_id: str
    site: str | None
    owner: str
    job_id: str | None
    fence: int
    acquired_at: datetime
    expires_at: datetime


class RenewalOut(LeaseOut):
    cancel: bool | None = Field(
        None, description="On a task alone: whether it is wanted no more.", exclude_if=lambda value: value is None
    )


class WaitingOut(Answer):
    reason: str = Field(
        description="`all_leased`, `cooling`, `blocked`, `site_capped`, `paused`, `rate_limited`, `not_due` or"
        " `none_match`.",
    )
    detail: str = Field(description="The same in a sentence.")
    next_available_at: datetime | None
    retry_after_seconds: int
    counts: dict[str, int] = Field(description="What was asked for, by state.")


def shown(lease: Lease) -> LeaseOut:
    return LeaseOut(
        id=lease.id,
        kind=lease.kind,
        resource_id=show(_RESOURCE[lease.kind], lease.resource),
        site=None if lease.kind is Kind.TASK else lease.site,  # of tasks that is the platform
        owner=lease.owner,
        job_id=lease.job_id,
        fence=lease.fence,
        acquired_at=lease.acquired_at,
        expires_at=lease.expires_at,
    )


def renewal(lease: Lease) -> RenewalOut:
    return RenewalOut(**dict(shown(lease)), cancel=lease.cancel)
