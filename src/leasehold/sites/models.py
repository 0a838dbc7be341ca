"""A site, its addresses and its policy, as the house passes them around."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold.sites.addresses import Mount, Rewritten, Trust


@dataclass(frozen=True, slots=True)
class Policy:
    """How gently a site is to be treated. The defaults are the contract's."""

    max_concurrent_accounts: int | None = None
    cooldown_seconds: int = 0
    reclaim_delay_seconds: int = 15
    quarantine_after_unclean: int = 3
    probation_after_seconds: int | None = None
    breaker_percent: int = 60
    breaker_min_accounts: int = 5
    breaker_window_seconds: int = 600
    seed_concurrency: int | None = None
    min_interval_ms: int = 0
    auth_markers: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Address:
    """A mount as it is stored, with the time it began."""

    host: str
    scheme: str
    port: int | None
    prefix: str
    subdomains: str
    fold: list[str]
    since: datetime
    trust: str
    current: bool

    @property
    def text(self) -> str:
        port = f":{self.port}" if self.port else ""
        return f"{self.scheme}://{self.host}{port}{self.prefix}"


@dataclass(frozen=True, slots=True)
class Site:
    """A place we collect from."""

    slug: str
    name: str
    epoch: int
    paused_at: datetime | None
    pause_reason: str | None
    policy: Policy
    mounts: list[Address]
    created_at: datetime
    updated_at: datetime

    @property
    def paused(self) -> bool:
        return self.paused_at is not None

    @property
    def current(self) -> Address:
        return next(mount for mount in self.mounts if mount.current)

    @property
    def current_domain(self) -> str:
        return self.current.host


@dataclass(frozen=True, slots=True)
class NewSite:
    slug: str
    name: str
    mount: Mount
    policy: Policy


@dataclass(frozen=True, slots=True)
class SiteChange:
    """What an operator wants changed; `policy` names only what changes."""

    name: str | None
    policy: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MoveWish:
    """Where a site is said to live from now on, and why."""

    to: Mount
    reason: str | None
    dry_run: bool
    urls: Sequence[str] = ()  # to be told as they are after the move


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did, or would do."""

    site: str
    epoch: int
    changed: bool
    dry_run: bool
    from_address: str
    to_address: str
    trust: Trust
    affected: Mapping[str, int]
    sample: Sequence[Rewritten] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """One line of a site's history of addresses."""

    id: UUID
    epoch: int
    at: datetime
    from_address: str
    to_address: str
    trust: str
    actor: UUID | None
    actor_name: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why nobody gets anything of a site right now, in a sentence and in numbers."""

    site: str
    sentence: str
    paused: bool
    pause_reason: str | None
    paused_at: datetime | None
    cap: int | None
    counts: Mapping[str, int]
    holders: list[str]
    next_available_at: datetime | None


@dataclass(frozen=True, slots=True)
class Saying:
    """What one feature says about what it gives of a site."""

    sentence: str
    counts: Mapping[str, int]
    holders: Sequence[str] = ()
    next_at: datetime | None = None
