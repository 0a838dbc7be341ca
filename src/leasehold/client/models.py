"""What the server answers with, as collectors see it. Fields a newer server adds are ignored."""

from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")


class _Model(BaseModel):
    # An answer that cannot be read is told without its content: it may hold a secret.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


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
    probation_after_seconds: int | None = None
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


class Account(_Model):
    """A login at a site, without its secret."""

    id: str
    site: str
    username: str
    state: str
    standing: str
    labels: dict[str, str]
    priority: int
    cooling_until: datetime | None
    blocked_reason: str | None
    consecutive_failures: int
    unclean_ends: int
    on_probation: bool
    last_leased_at: datetime | None
    last_outcome: str | None
    has_session: bool
    needs_login: bool
    holder: str | None
    lease_id: str | None
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime


class AccountCounts(_Model):
    """How many accounts are in each state."""

    active: int
    using: int
    cooling: int
    inactive: int
    blocked: int


class AccountStats(AccountCounts):
    """How many accounts are in each state, in all and at each site."""

    total: int
    sites: dict[str, AccountCounts]


class GrantedAccount(Account):
    """A login at a site, as its holder sees it. The secret is in no `repr`."""

    secret: dict[str, Any] = Field(repr=False)


class Session(_Model):
    """The browser state of an account. It is as good as a password, and in no `repr`."""

    version: int
    storage_state: dict[str, Any] = Field(repr=False)


class Lease(_Model):
    """The right to use one resource for a time."""

    id: str
    kind: str
    resource_id: str
    site: str | None
    owner: str
    job_id: str | None
    fence: int
    acquired_at: datetime
    expires_at: datetime


class Grant(Lease):
    """A lease on an account, with the account, its secret and, if it was asked for, its session."""

    account: GrantedAccount
    session: Session | None = None


class PastLease(_Model):
    """A lease on an account that is over, and how it ended."""

    id: str
    owner: str
    job_id: str | None
    fence: int
    acquired_at: datetime
    ended_at: datetime
    how: str
    outcome: str | None
    reason: str | None


class Waiting(_Model):
    """Why an acquire brought nothing, and when to ask again."""

    reason: str
    detail: str
    next_available_at: datetime | None
    retry_after_seconds: float
    counts: dict[str, int]


class Grants(_Model):
    """The answer to an acquire: all that was asked for, or nothing and why."""

    leases: list[Grant]
    waiting: Waiting | None


class Seed(_Model):
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


class SeedGrants(_Model):
    """The answer to an acquire: what is due, or nothing and why."""

    leases: list[SeedGrant]
    waiting: Waiting | None


class Seeds(_Model):
    """What became of many seeds, each in its place."""

    created: int
    updated: int
    items: list[Seed]


class SeedHistogram(_Model):
    """How many seeds are due now, and in each of the next hours."""

    overdue: int
    hours: list[int]


class Reference(_Model):
    """A URL as its site knows it, whatever the site's address."""

    site: str
    sub: str
    rest: str


class CaptureFile(_Model):
    """A file of a capture; `content_type` is what its sender said. The bytes of an `external` one are not here."""

    name: str
    sha256: str
    size: int
    content_type: str
    deduplicated: bool
    external: bool = False
    location: str | None = None


class Receipt(_Model):
    """A capture that was handed in and is kept. `late`: the lease it was collected under had ended by then."""

    id: str
    files: list[CaptureFile]
    late: bool


class Capture(_Model):
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


class CaptureEvent(_Model):
    """Something that happened to a capture."""

    id: str
    at: datetime
    event: str
    actor_name: str
    detail: dict[str, Any]


class CaptureGrant(Lease):
    """A claim on a capture, with the capture."""

    capture: Capture


class CaptureGrants(_Model):
    """The answer to an acquire of captures: some of those that wait, or none and why."""

    leases: list[CaptureGrant]
    waiting: Waiting | None


class Renewed(_Model):
    """What a heartbeat for all leases of an owner did, by their ids."""

    renewed: list[str]
    lost: list[str]


class Released(_Model):
    """The answer to a release; `resource` is as it stands after it."""

    released: bool
    already_released: bool
    resource: dict[str, Any]


class Rejected(_Model):
    """A line of an import that was not taken."""

    line: int
    detail: str


class Imported(_Model):
    """What an import did."""

    created: int
    updated: int
    rejected: list[Rejected]


class Page(_Model, Generic[T]):
    """Some items, and the cursor of the next ones."""

    items: list[T]
    next_cursor: str | None
