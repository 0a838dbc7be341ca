"""What the server answers with, as collectors see it. Fields a newer server adds are ignored."""

from datetime import datetime
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Mount(_Model):
    """One address of a site."""

    host: str
    scheme: str
    port: int | None
    prefix: str
    subdomains: str
    fold: list[str]
    since: datetime
    trust: str
    current: bool


class Policy(_Model):
    """How gently a site is to be treated."""

    max_concurrent_accounts: int | None
    cooldown_seconds: int
    reclaim_delay_seconds: int
    quarantine_after_unclean: int
    breaker_percent: int
    breaker_min_accounts: int
    breaker_window_seconds: int
    seed_concurrency: int | None
    min_interval_ms: int
    auth_markers: list[str]


class Site(_Model):
    """A place to collect from."""

    slug: str
    name: str
    mounts: list[Mount]
    current_domain: str
    policy: Policy
    paused: bool
    pause_reason: str | None
    paused_at: datetime | None
    epoch: int
    created_at: datetime
    updated_at: datetime


class Rewritten(_Model):
    """A URL at the current address of its site."""

    input: str
    url: str
    site: str | None
    changed: bool
    verdict: str


class Affected(_Model):
    """How much a move touches."""

    seeds: int
    sessions: int


class Moved(_Model):
    """What a move did, or would do."""

    site: str
    epoch: int
    changed: bool
    dry_run: bool
    from_address: str
    to_address: str
    trust: str
    affected: Affected
    sample: list[Rewritten]


class Explanation(_Model):
    """Why nobody gets anything of a site right now."""

    site: str
    sentence: str
    paused: bool
    pause_reason: str | None
    paused_at: datetime | None
    cap: int | None
    counts: dict[str, int]
    holders: list[str]
    next_available_at: datetime | None


class Page(_Model, Generic[T]):
    """Some items, and the cursor of the next ones."""

    items: list[T]
    next_cursor: str | None
