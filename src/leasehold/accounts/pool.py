"""What a store of accounts must do, whichever database it is in. One contract suite holds both to it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from leasehold.accounts.models import (
    Account,
    AccountChange,
    AccountFilter,
    Ask,
    End,
    GivenBack,
    Grant,
    Ground,
    NewAccount,
    Outlook,
    Renewal,
    SealedSecret,
    Wish,
)
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.idempotency import Once
from leasehold.leases import Beaten, Ended, Lease, LeaseFilter, Waiting
from leasehold.problems import Problem


@dataclass(slots=True)
class Batch:
    """What many callers ask of one organisation's pool at once."""

    ends: list[End] = field(default_factory=list)
    renewals: list[Renewal] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    # Of the asks, those that will not wait any longer.
    last: set[Ask] = field(default_factory=set)
    # Places in the queue to be given up.
    left: list[UUID] = field(default_factory=list)


@dataclass(slots=True)
class Done:
    """What became of a batch. Every slip of it stands in exactly one of these."""

    ended: dict[End, GivenBack | Problem] = field(default_factory=dict)
    renewed: dict[Renewal, Lease | Problem] = field(default_factory=dict)
    granted: dict[Ask, list[Grant] | Problem] = field(default_factory=dict)
    empty: dict[Ask, Waiting] = field(default_factory=dict)
    # Wait on; those with a new place in the queue try once more at once.
    queued: list[Ask] = field(default_factory=list)
    waiting: list[Ask] = field(default_factory=list)
    # Sites where something came free, or was left for a waiter in another process.
    freed: set[str] = field(default_factory=set)
    left_for_others: set[str] = field(default_factory=set)
    # When the next account of a site is worth another look.
    next_back_s: dict[str, float] = field(default_factory=dict)
    expired: int = 0
    # Leases that seem to have run out, and those who ask about one: answered once that is booked, or found untrue.
    overdue: set[UUID] = field(default_factory=set)
    again: list[Ask | End | Renewal] = field(default_factory=list)
    # Asks that were told what they were granted before.
    repeated: set[Ask] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Imported:
    created: int
    updated: int


class Pool(Protocol):
    """The accounts of every organisation, and the leases on them."""

    async def open(self) -> None:
        """Make sure there is what it needs."""

    async def close(self) -> None: ...

    async def work(self, organisation: UUID, batch: Batch) -> Done:
        """Serve a batch: ends first, then renewals, then asks."""

    async def insist(self, organisation: UUID) -> None:
        """Refuse with PoolsMoving when the accounts are in another store, or on their way there."""

    async def settle(self, organisation: UUID, site: str | None) -> int:
        """Book what ran out; returns how many leases that were. Nothing else depends on its being called."""

    async def find_lease(self, organisation: UUID, lease: UUID) -> Lease | None:
        """A lease that lives; None when it ran out and that is not booked yet. Refuses any other with how it ended."""

    async def book(self, organisation: UUID, leases: Collection[UUID]) -> Done:
        """Book those of the leases that ran out. Nobody is told that one did before this was done."""

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten: ...

    async def held_by(self, organisation: UUID, owner: str) -> list[UUID]: ...

    async def held_for(self, organisation: UUID, jobs: Sequence[str]) -> list[UUID]: ...

    async def live(self, organisation: UUID, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]: ...

    async def history(self, organisation: UUID, account: UUID, before: int | None, limit: int) -> list[Ended]: ...

    async def create(self, caller: Caller, new: NewAccount, once: Once | None) -> Account: ...

    async def import_(self, caller: Caller, site: str, new: Sequence[NewAccount]) -> Imported: ...

    async def get(self, organisation: UUID, account: UUID) -> Account | None: ...

    async def page(
        self, organisation: UUID, which: AccountFilter, after: tuple[str, str] | None, limit: int
    ) -> list[Account]: ...

    async def change(self, caller: Caller, account: UUID, change: AccountChange) -> Account: ...

    async def delete(self, caller: Caller, account: UUID) -> None: ...

    async def secret(self, caller: Caller, account: UUID) -> SealedSecret: ...

    async def stats(self, organisation: UUID, site: str | None) -> Mapping[str, Mapping[str, int]]: ...

    async def look(self, organisation: UUID, wish: Wish) -> tuple[Ground, Outlook]: ...

    async def known_sites(self, organisation: UUID, slugs: Collection[str]) -> set[str]: ...

    async def count(self, conn: Conn, organisation: UUID, site: str) -> int: ...
