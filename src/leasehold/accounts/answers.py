"""Accounts and grants as they are answered."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, PlainSerializer

from leasehold.accounts.machine import Outcome, Standing, State
from leasehold.accounts.models import Account, Grant, Offer
from leasehold.accounts.notes import PREFIX
from leasehold.ids import show
from leasehold.leases import How, LeaseId, LeaseOut, WaitingOut, shown
from leasehold.strict import Answer

AccountId = Annotated[UUID, PlainSerializer(lambda value: show(PREFIX, value), return_type=str)]


class AccountOut(Answer):
    id: AccountId
    site: str
    username: str
    state: State = Field(description="`using`: has a live lease. `cooling`: rests until `cooling_until`.")
    standing: Standing = Field(description="What operators and outcomes say of it, whether or not it is in use.")
    labels: dict[str, str]
    priority: int
    cooling_until: datetime | None
    blocked_reason: str | None
    consecutive_failures: int = Field(description="The rung of the cool-down ladder; a success goes down one.")
    unclean_ends: int = Field(description="Leases in a row that ran out instead of being given back.")
    on_probation: bool = Field(description="Came back from being blocked; one more bad end blocks it again.")
    last_leased_at: datetime | None
    last_outcome: Outcome | None
    has_session: bool = Field(description="Whether a browser session of it is kept.")
    needs_login: bool
    holder: str | None = Field(description="The owner of its live lease.")
    lease_id: LeaseId | None
    expires_at: datetime | None = Field(description="When its live lease ends.")
    created_at: datetime
    updated_at: datetime


class GrantedAccount(AccountOut):
    secret: dict[str, Any]


class GrantedSession(Answer):
    version: int
    storage_state: dict[str, Any]


class GrantOut(LeaseOut):
    account: GrantedAccount
    session: GrantedSession | None = None


class OfferOut(Answer):
    leases: list[GrantOut]
    waiting: WaitingOut | None = Field(description="Why there are none; null when there are.")


class PastLeaseOut(Answer):
    """A lease that is over."""

    id: LeaseId
    owner: str
    job_id: str | None
    fence: int
    acquired_at: datetime
    ended_at: datetime
    how: How
    outcome: Outcome | None
    reason: str | None


def offered(offer: Offer, sessions: Mapping[UUID, Any] | None = None) -> OfferOut:
    """An offer as it is answered, with the sessions that go along, by lease."""
    along = {lease: GrantedSession.model_validate(given) for lease, given in (sessions or {}).items()}
    grants = [granted(grant, secret, along.get(grant.lease.id)) for grant, secret in offer.grants]
    waiting = WaitingOut.model_validate(offer.waiting) if offer.waiting else None
    return OfferOut.model_construct(leases=grants, waiting=waiting)


def granted(grant: Grant, secret: Mapping[str, Any], session: GrantedSession | None = None) -> GrantOut:
    account = _granted(grant.account, dict(secret))
    return GrantOut.model_construct(**dict(shown(grant.lease)), account=account, session=session)


def _granted(account: Account, secret: dict[str, Any]) -> GrantedAccount:
    return GrantedAccount.model_construct(**dict(AccountOut.model_validate(account)), secret=secret)
