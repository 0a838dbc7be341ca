"""Goes through the books of an organisation, and says whether they are whole and what to do if not."""

from collections.abc import AsyncIterator, Callable
from uuid import UUID

from leasehold import audit
from leasehold.db import Database
from leasehold.doctor import Finding

# Looks at one book of one organisation: its id, and the slug that the findings are told under.
Check = Callable[[Database, UUID, str], AsyncIterator[Finding]]

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


async def findings_of(db: Database, organisation: UUID, slug: str) -> AsyncIterator[Finding]:
    """What every check finds, as it finds it."""
    for check in CHECKS:
        async for finding in check(db, organisation, slug):
            yield finding


async def _audit(db: Database, organisation: UUID, slug: str) -> AsyncIterator[Finding]:
    await audit.seal_all(db, organisation)
    async with db.transaction(organisation) as conn:
        checked = await audit.check(conn, organisation)
    yield Finding(slug, checked.fault is None, f"audit: {_fault(checked.fault) if checked.fault else _sum(checked)}")


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


CHECKS: tuple[Check, ...] = (_audit,)
