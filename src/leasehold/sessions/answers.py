"""Sessions as they are answered: names and counts; the state itself goes out as it is."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from leasehold.accounts import AccountId
from leasehold.ids import show
from leasehold.leases import PREFIX as LEASE
from leasehold.leases import LeaseId
from leasehold.sessions.models import Facts, Listed, Making, Stored
from leasehold.sessions.service import Taken
from leasehold.strict import Answer


class RejectedOut(Answer):
    slot: str = Field(description="The entry by name; never its value.")
    reason: str


class TakenOut(Answer):
    version: int = Field(description="The version the session is at now; name it as `base` of the next upload.")
    base: str = Field(description="What the upload was compared with: `fresh`, `unknown` or a version.")
    set: int
    unchanged: int
    deleted: int
    expired: int = Field(description="Cookies that ended by themselves.")
    stale_echo: int = Field(description="Entries that repeated a value which had been replaced.")
    absent_kept: int = Field(description="Entries that were not there, which proved nothing.")
    held: int = Field(description="Entries put aside with the upload, until somebody decides.")
    over_cap: int = Field(description="Cookies that a browser has no room for; kept, not handed out.")
    rejected: list[RejectedOut]
    repaired: list[RejectedOut] = Field(description="Entries that were put right, and what of them.")
    names: dict[str, list[str]] = Field(description="The entries behind the counts, by name.")


class MadeOut(Answer):
    how: str = Field(description="`merged`, `replaced`, `rolled_back`, `undone` or `decided`.")
    by: str = Field(description="The name of the token.")
    upload_id: str
    owner: str | None
    lease_id: LeaseId | None
    source: str | None
    health: str | None
    base: str | None


class FactsOut(Answer):
    version: int
    updated_at: datetime
    cookies: int
    origins: int
    local_storage: int
    databases: int
    files: int
    bytes: int
    has_auth: bool = Field(description="A cookie that the site's `auth_markers` name is there.")
    auth_expires_at: datetime | None = Field(description="When the first of those cookies ends.")
    held: list[str] = Field(description="Uploads that wait for a decision.")
    branches: list[str] = Field(description="Uploads of runs that were logged out.")
    forked: list[str] = Field(description="Entries that two leases replaced at once.")
    needs_exclusive: bool = Field(description="Rotating tokens were forked: let one holder at a time use it.")
    heavy_hosts: list[str] = Field(description="Hosts whose `Cookie:` header is longer than many servers take.")
    written: MadeOut


class SessionOut(FactsOut):
    account_id: AccountId
    site: str
    username: str


class VersionOut(FactsOut):
    counts: dict[str, Any] = Field(description="What the upload did.")


class EntryOut(Answer):
    slot: str
    kind: str
    is_marker: bool
    upload_id: str
    lease_id: str | None
    source: str
    written_at: datetime


def taken_out(taken: Taken) -> TakenOut:
    report = taken.merged.report
    counts = report.counts()
    repaired = [RejectedOut(slot=slot, reason=what) for slot, what in report.repaired]
    return TakenOut(version=taken.version, base=taken.base, **counts, repaired=repaired, names=report.names())


def session_out(one: Listed) -> SessionOut:
    shown = _facts(one.version, one.at, one.facts, one.making)
    return SessionOut(account_id=one.account, site=one.site, username=one.username, **shown)


def version_out(one: Stored) -> VersionOut:
    return VersionOut(counts=dict(one.making.counts), **_facts(one.version, one.at, one.facts, one.making))


def entry_out(one: dict[str, Any]) -> EntryOut:
    lease = show(LEASE, UUID(hex=one["lease_id"])) if one["lease_id"] else None
    return EntryOut(**{**one, "lease_id": lease, "written_at": datetime.fromtimestamp(one["written_at"], UTC)})


def _facts(version: int, at: datetime, facts: Facts, making: Making) -> dict[str, Any]:
    ends = facts.auth_expires_at
    return {
        "version": version,
        "updated_at": at,
        "cookies": facts.cookies,
        "origins": facts.origins,
        "local_storage": facts.local_storage,
        "databases": facts.databases,
        "files": facts.files,
        "bytes": facts.bytes,
        "has_auth": facts.has_auth,
        "auth_expires_at": datetime.fromtimestamp(ends, UTC) if ends is not None else None,
        "held": facts.held,
        "branches": facts.branches,
        "forked": facts.forked,
        "needs_exclusive": bool(facts.forked),
        "heavy_hosts": facts.heavy_hosts,
        "written": MadeOut(
            how=making.how,
            by=making.by,
            upload_id=making.upload,
            owner=making.owner,
            lease_id=making.lease,
            source=making.source,
            health=making.health,
            base=making.base,
        ),
    }
