"""Goes through the books of an organisation, and says whether they are whole and what to do if not."""

from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import UUID

from leasehold import audit, seeds
from leasehold.accounts import Books
from leasehold.db import Database
from leasehold.doctor import Finding

# Finds the books of leases of an organisation, in whichever store they are.
BookKeeper = Callable[[UUID], Awaitable[Books]]

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
    yield await _leases(keep, organisation, slug)
    yield await _seeds(db, organisation, slug)


async def _audit(db: Database, organisation: UUID, slug: str) -> Finding:
    await audit.seal_all(db, organisation)
    async with db.transaction(organisation) as conn:
        checked = await audit.check(conn, organisation)
    return Finding(slug, checked.fault is None, f"audit: {_fault(checked.fault) if checked.fault else _sum(checked)}")


async def _leases(keep: BookKeeper, organisation: UUID, slug: str) -> Finding:
    books = await keep(organisation)
    faults = {
        "accounts whose fence is not the number of their leases": books.unbalanced,
        "accounts that name a lease there is not": books.dangling,
        "leases that began before the one before them had ended": books.overlapping,
    }
    said = "; ".join(f"{count:,} {what}" for what, count in faults.items() if count)
    then = f"; {said}. Rows were changed past leasehold: compare with a backup." if said else ""
    return Finding(slug, books.are_whole, f"leases: {books}{then}")


async def _seeds(db: Database, organisation: UUID, slug: str) -> Finding:
    books = await seeds.books(db, organisation)
    faults = {
        "seeds whose fence is not the number of their leases": books.unbalanced,
        "seeds that name a lease there is not": books.dangling,
        "leases that began before the one before them had ended": books.overlapping,
    }
    said = "; ".join(f"{count:,} {what}" for what, count in faults.items() if count)
    then = f"; {said}. Rows were changed past leasehold: compare with a backup." if said else ""
    return Finding(slug, books.are_whole, f"seeds: {books}{then}")


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
