"""What is written into the audit about accounts and the leases on them. Never a secret."""

from collections.abc import Container, Iterable, Iterator
from uuid import UUID

from leasehold.accounts.batch import NEVER_DELIVERED, Ending, Settled
from leasehold.accounts.machine import Standing
from leasehold.accounts.models import Ask, End
from leasehold.audit import Note
from leasehold.caller import Caller
from leasehold.ids import show
from leasehold.leases import PREFIX as LEASE
from leasehold.leases import How

PREFIX = "acct"


def nobody(organisation: UUID) -> Caller:
    """Who acts when nobody asked: time itself."""
    return Caller(organisation, None, "leasehold", frozenset())


def disclosed(ask: Ask, account: UUID, lease: UUID) -> Note:
    """The secret of an account leaves with a lease."""
    detail = {"lease": show(LEASE, lease), "owner": ask.owner, "site": ask.site}
    return Note(ask.caller, "account.disclosed", show(PREFIX, account), detail)


def of_ends(
    organisation: UUID, endings: Iterable[Ending], settled: dict[UUID, Settled], ends: Iterable[End]
) -> Iterator[Note]:
    """Ends that somebody may ask about later: unclean ones, revoked ones, and those that set an account aside.

    A lease that was simply given back is in the history of leases; the audit does not repeat it.
    """
    callers = {end.lease: end.caller for end in ends}
    for ending in endings:
        if ending.lease not in settled:
            continue
        account = show(PREFIX, settled[ending.lease].account)
        caller = callers.get(ending.lease) or nobody(organisation)
        if ending.how is not How.RELEASED:
            who = nobody(organisation) if ending.how is How.EXPIRED else caller
            yield Note(who, f"lease.{ending.how}", account, {"lease": show(LEASE, ending.lease)})
        health = ending.verdict.health
        if health.standing is not Standing.ACTIVE and _set_aside(ending):
            detail = {"lease": show(LEASE, ending.lease), "reason": health.blocked_reason, "outcome": ending.outcome}
            yield Note(caller, f"account.{health.standing}", account, detail)


_SETTING_ASIDE: Container[str | None] = frozenset({"blocked", "failed", "invalid_credentials", None})


def _set_aside(ending: Ending) -> bool:
    return ending.how is not How.REVOKED and ending.outcome in _SETTING_ASIDE and ending.reason != NEVER_DELIVERED
