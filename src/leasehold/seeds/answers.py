"""Seeds and grants as they are answered."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, PlainSerializer

from leasehold.ids import show
from leasehold.leases import LeaseId, LeaseOut, Offer, WaitingOut, shown
from leasehold.seeds.models import PREFIX, Seed
from leasehold.seeds.schedule import VisitOutcome
from leasehold.strict import Answer

SeedId = Annotated[UUID, PlainSerializer(lambda value: show(PREFIX, value), return_type=str)]


class SeedOut(Answer):
    id: SeedId
    site: str
    url: str | None = Field(description="At the site's current address; null when that has no place for it.")
    original_url: str = Field(description="As it was given.")
    kind: str
    priority: int
    interval_seconds: int = Field(description="Between two visits; adapts to what is found, within the bounds.")
    min_interval_seconds: int
    max_interval_seconds: int
    next_due_at: datetime
    cursor: Any = Field(description="What the last visit left for the next.")
    labels: dict[str, str]
    enabled: bool
    consecutive_failures: int
    last_outcome: VisitOutcome | None
    last_found: int | None = Field(description="How many new things the last good visit found.")
    last_visited_at: datetime | None
    holder: str | None = Field(description="The owner of its live lease.")
    lease_id: LeaseId | None
    expires_at: datetime | None = Field(description="When its live lease ends.")
    created_at: datetime
    updated_at: datetime


class SeedVisitOut(Answer):
    number: int = Field(description="Which of the seed's visits it was, counted from 1.")
    at: datetime = Field(description="When it ended.")
    outcome: VisitOutcome
    found: int | None = Field(description="How many new things there were; null unless the outcome is ok.")
    previous_interval_seconds: int = Field(description="The interval before.")
    interval_seconds: int = Field(description="What the visit made of it.")
    next_due_at: datetime = Field(description="When the next visit was to be.")
    owner: str = Field(description="Who visited it, as they call themselves.")
    reason: str | None = Field(description="Why it went so, in the visitor's words.")


class SeedGrantOut(LeaseOut):
    seed: SeedOut


class SeedOfferOut(Answer):
    leases: list[SeedGrantOut]
    waiting: WaitingOut | None = Field(description="Why there are none; null when there are.")


class SeedsOut(Answer):
    created: int
    updated: int
    items: list[SeedOut] = Field(description="Each in the place of the item it was made from.")


class HistogramOut(Answer):
    overdue: int = Field(description="Seeds that are due now.")
    hours: list[int] = Field(description="How many fall due within the first hour from now, the second, and so on.")
    minutes: list[int] = Field(description="How many fall due in each five minutes of the next hour.")


def granted_seeds(offer: Offer[Seed]) -> list[SeedGrantOut]:
    return [
        SeedGrantOut.model_construct(**dict(shown(grant.lease)), seed=SeedOut.model_validate(grant.resource))
        for grant in offer.grants
    ]


def offered(offer: Offer[Seed]) -> SeedOfferOut:
    grants = granted_seeds(offer)
    waiting = WaitingOut.model_validate(offer.waiting) if offer.waiting else None
    return SeedOfferOut.model_construct(leases=grants, waiting=waiting)
