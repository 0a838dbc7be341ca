"""What the server answers with, as collectors see it. Fields a newer server adds are ignored."""

from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")


class Model(BaseModel):
    # An answer that cannot be read is told without its content: it may hold a secret.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Mount(Model):
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


class Policy(Model):
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


class Site(Model):
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


class Rewritten(Model):
    """A URL at the current address of its site."""

    input: str
    url: str
    site: str | None
    changed: bool
    verdict: str


class Affected(Model):
    """How much a move touches."""

    seeds: int
    sessions: int


class Moved(Model):
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


class Explanation(Model):
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


class Account(Model):
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


class AccountCounts(Model):
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


class SessionState(Model):
    """The browser state of an account. It is as good as a password, and in no `repr`."""

    version: int
    storage_state: dict[str, Any] = Field(repr=False)


class Lease(Model):
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


class Renewal(Lease):
    """A lease that was just renewed. Of a task: whether to stop, because its job was cancelled."""

    cancel: bool = False


class Grant(Lease):
    """A lease on an account, with the account, its secret and, if it was asked for, its session."""

    account: GrantedAccount
    session: SessionState | None = None


class PastLease(Model):
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


class Waiting(Model):
    """Why an acquire brought nothing, and when to ask again."""

    reason: str
    detail: str
    next_available_at: datetime | None
    retry_after_seconds: float
    counts: dict[str, int]


class Grants(Model):
    """The answer to an acquire: all that was asked for, or nothing and why."""

    leases: list[Grant]
    waiting: Waiting | None


class Renewed(Model):
    """What a heartbeat for all leases of an owner did, by their ids."""

    renewed: list[str]
    lost: list[str]


class Released(Model):
    """The answer to a release; `resource` is as it stands after it."""

    released: bool
    already_released: bool
    resource: dict[str, Any]


class Rejected(Model):
    """A line of an import that was not taken."""

    line: int
    detail: str


class Imported(Model):
    """What an import did."""

    created: int
    updated: int
    rejected: list[Rejected]


class RejectedEntry(Model):
    """An entry of a state that was left out or put right, by name, and why."""

    slot: str
    reason: str


class UploadReport(Model):
    """What became of an upload: counts, and names; never a value."""

    version: int
    base: str
    set: int
    unchanged: int
    deleted: int
    expired: int
    stale_echo: int
    absent_kept: int
    held: int
    over_cap: int
    rejected: list[RejectedEntry]
    repaired: list[RejectedEntry]
    names: dict[str, list[str]]


class SessionWriter(Model):
    """Who made a version of a session, and how."""

    how: str
    by: str
    upload_id: str
    owner: str | None
    lease_id: str | None
    source: str | None
    health: str | None
    base: str | None


class SessionFacts(Model):
    """What can be said of a session without showing any of it."""

    version: int
    updated_at: datetime
    cookies: int
    origins: int
    local_storage: int
    databases: int
    files: int
    bytes: int
    has_auth: bool
    auth_expires_at: datetime | None
    held: list[str]
    branches: list[str]
    forked: list[str]
    needs_exclusive: bool
    heavy_hosts: list[str]
    written: SessionWriter


class Session(SessionFacts):
    """The session of an account, as it is listed."""

    account_id: str
    site: str
    username: str


class SessionVersion(SessionFacts):
    """One version of a session, and what the upload that made it did."""

    counts: dict[str, Any]


class SessionEntry(Model):
    """One cookie or stored key by name, and the upload that wrote it."""

    slot: str
    kind: str
    is_marker: bool
    upload_id: str
    lease_id: str | None
    source: str
    written_at: datetime


class Page(Model, Generic[T]):
    """Some items, and the cursor of the next ones."""

    items: list[T]
    next_cursor: str | None
