"""Seeds as the server tells of them."""

from datetime import datetime
from typing import Any

from pydantic import Field

from leasehold.client.models import Grants, Lease, Model, Waiting


class Seed(Model):
    """An address that is visited again and again; `url` is at its site's current address."""

    id: str
    site: str
    url: str | None
    original_url: str
    kind: str
    priority: int
    interval_seconds: int
    min_interval_seconds: int
    max_interval_seconds: int
    next_due_at: datetime
    cursor: Any
    labels: dict[str, str]
    enabled: bool
    consecutive_failures: int
    last_outcome: str | None
    last_found: int | None
    last_visited_at: datetime | None
    holder: str | None
    lease_id: str | None
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime


class SeedGrant(Lease):
    """A lease on a seed, with the seed."""

    seed: Seed


class SeedGrants(Model):
    """The answer to an acquire: what is due, or nothing and why."""

    leases: list[SeedGrant]
    waiting: Waiting | None


class CheckedOut(Grants):
    """The answer to a checkout: an account with its session, and seeds to visit with it; or nothing and why."""

    seeds: list[SeedGrant]


class Seeds(Model):
    """What became of many seeds, each in its place."""

    created: int
    updated: int
    items: list[Seed]


class SeedHistogram(Model):
    """How many seeds are due now, and in each of the next hours."""

    overdue: int
    hours: list[int]
    minutes: list[int] = Field(default_factory=list)  # of the next hour, five at a time
