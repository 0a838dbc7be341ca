"""Goes through the books of an organisation, and says whether they are whole and what to do if not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from uuid import UUID

from leasehold import audit, captures, entities, jobs, runs, seeds
from leasehold.captures import Blobs, remove_stray, reread, strays, sweep
from leasehold.db import Database
from leasehold.doctor import Finding
from leasehold.ids import show
from leasehold.leases import Books

# Finds the books of leases of an organisation, in whichever store they are.
BookKeeper = Callable[[UUID], Awaitable[Books]]

# Of what is wrong, so many are named.
_NAMED = 20

_FAULTS = {
    audit.Kind.GAP: "seal {seal} was removed.",
    audit.Kind.BROKEN: "seal {seal} does not stand after the one before it: a seal was changed.",
    audit.Kind.MISSING: "seal {seal} covers {expected:,} events and {found:,} are there: events were removed.",
    audit.Kind.ADDED: "seal {seal} covers {expected:,} events and {found:,} are there: events were slipped in.",
    audit.Kind.CHANGED: "seal {seal} does not fit its {expected:,} events: one of them, or the seal, was changed.",
}
_THEN = "What was sealed before it is whole. Compare audit_event and audit_seal with a backup."
_AHEAD = (
    "it names transactions that this server has not had yet. If the database was restored from a dump, "
    "raise the era now, as docs/operations.md says under Backup and restore; if not, an event was slipped in."
)


async def findings_of(db: Database, keep: BookKeeper, organisation: UUID, slug: str) -> AsyncIterator[Finding]:
    """What every check finds, as it finds it; told under the organisation's slug."""
    yield await _audit(db, organisation, slug)
    yield _leases(slug, "leases", "accounts", await keep(organisation))
    yield _leases(slug, "seeds", "seeds", await seeds.books(db, organisation))
    yield _leases(slug, "captures", "captures", await captures.books(db, organisation))
    yield _leases(slug, "tasks", "tasks", await jobs.lease_books(db, organisation))
    yield await _jobs(db, organisation, slug)
    yield await _runs(db, organisation, slug)
    yield await _graph(db, organisation, slug)


async def captures_of(db: Database, blobs: Blobs, organisation: UUID, slug: str) -> Finding:
    """Whether every byte that a capture has is there and is what it was."""
    found = await reread(db, blobs, organisation)
    told = f"captures: {_count(found.blobs, 'blob')} with {found.bytes:,} bytes read and hashed again"
    faults = [("missing", found.missing), ("damaged", found.damaged)]
    said = "; ".join(f"{len(which):,} {how}: {', '.join(which[:_NAMED])}" for how, which in faults if which)
    then = f"; {said}. Bring them back from a backup, or collect those captures again." if said else ""
    return Finding(slug, found.is_whole, told + then)


async def leftovers(db: Database, blobs: Blobs, organisations: Sequence[UUID], *, repair: bool) -> Finding:
    """What is in the blob store for nobody. It harms nothing but room; `repair` takes it away."""
    found = await strays(db, blobs)
    if not repair:
        told = f"{_count(len(found), 'blob')} that no row speaks of" if found else "nothing that no row speaks of"
        return Finding("blobs", True, f"leftovers: {told}{'; --repair removes them' if found else ''}")
    removed = [await remove_stray(db, blobs, key) for key in found]
    swept = sum([await sweep(db, blobs, organisation) for organisation in organisations])
    drafts = await asyncio.to_thread(blobs.clear)
    told = f"{_count(sum(removed) + swept, 'blob')} and {_count(drafts, 'unfinished upload')} removed"
    return Finding("blobs", True, f"leftovers: {told}")


async def _audit(db: Database, organisation: UUID, slug: str) -> Finding:
    await audit.seal_all(db, organisation)
    async with db.transaction(organisation) as conn:
        checked = await audit.check(conn, organisation)
    return Finding(slug, checked.fault is None, f"audit: {_fault(checked.fault) if checked.fault else _sum(checked)}")


def _leases(slug: str, what: str, things: str, books: Books) -> Finding:
    """Whether every grant of a kind ended somehow or is held."""
    faults = {
        f"{things} whose fence is not the number of their leases": books.unbalanced,
        f"{things} that name a lease there is not": books.dangling,
        "leases that began before the one before them had ended": books.overlapping,
    }
    said = "; ".join(f"{count:,} {fault}" for fault, count in faults.items() if count)
    then = f"; {said}. Rows were changed past leasehold: compare with a backup." if said else ""
    return Finding(slug, books.are_whole, f"{what}: {books}{then}")


async def _jobs(db: Database, organisation: UUID, slug: str) -> Finding:
    """Whether everything that was ever asked for has ended or is on its way."""
    found = await jobs.books(db, organisation)
    accepted, live = sum(one.accepted for one in found), sum(one.live for one in found)
    lost = {one.platform: one.unaccounted for one in found if one.unaccounted}
    told = f"jobs: {_count(accepted, 'task')} accepted, {accepted - live - sum(lost.values()):,} ended, {live:,} live"
    said = ", ".join(f"{count:,} of {platform}" for platform, count in lost.items())
    then = f"; unaccounted: {said}. Rows were changed by hand; bring them back from a backup." if said else ""
    return Finding(slug, not lost, told + then)


async def _runs(db: Database, organisation: UUID, slug: str) -> Finding:
    """Whether the money and the items of every run add up."""
    found, wrong = await runs.books(db, organisation)
    said = ", ".join(show(runs.RUN, run) for run in wrong[:_NAMED])
    then = f"; {len(wrong):,} whose ledger or items do not add up: {said}. Compare with a backup." if wrong else ""
    return Finding(slug, not wrong, f"runs: {_count(found, 'run')}{then}")


async def _graph(db: Database, organisation: UUID, slug: str) -> Finding:
    """Whether every record is in an entity, and every edge between records."""
    found = await entities.books(db, organisation)
    faults = {
        "records whose entity is not there": found.misplaced,
        "entities that are not made of as many records as they say": found.miscounted,
        "edges to a record that is not there": found.loose,
        "batches that wait for what is not in the queue": found.stranded,
    }
    said = "; ".join(f"{count:,} {what}" for what, count in faults.items() if count)
    then = f"; {said}. Rows were changed past leasehold: compare with a backup." if said else ""
    told = f"graph: {_count(found.records, 'record')} in {found.entities:,} entities"
    return Finding(slug, found.are_whole, told + then)


def _sum(checked: audit.Checked) -> str:
    waiting = f", {checked.waiting:,} not sealed yet" if checked.waiting else ""
    head = f", head {checked.head}" if checked.head else ""
    return f"{_count(checked.sealed, 'event')} in {_count(checked.seals, 'seal')}{waiting}{head}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _fault(fault: audit.Fault) -> str:
    if fault.kind is audit.Kind.AHEAD:
        return _AHEAD
    said = _FAULTS[fault.kind].format(seal=fault.seal, expected=fault.expected, found=fault.found)
    return f"{said} {_THEN}"
