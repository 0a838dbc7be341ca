"""Leases of every kind: each call goes to whoever holds that kind of resource."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any, Protocol
from uuid import UUID

from leasehold.auth import Permission, require
from leasehold.caller import Caller
from leasehold.leases.models import Beaten, Kind, Lease, LeaseFilter, kind_of
from leasehold.leases.problems import unknown


@dataclass(frozen=True, slots=True)
class Returned:
    """A lease given back, and the resource as it is now."""

    already_released: bool
    resource: Mapping[str, Any]


class Holder(Protocol):
    """A pool of one kind of resource that is held on leases."""

    @property
    def permission(self) -> Permission:
        """What it takes to hold such a lease."""

    async def renew(self, caller: Caller, lease: UUID, ttl_seconds: int | None) -> Lease: ...

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten: ...

    async def release(self, caller: Caller, lease: UUID, report: Mapping[str, Any]) -> Returned: ...

    async def revoke(self, caller: Caller, lease: UUID) -> int: ...

    async def revoke_owner(self, caller: Caller, owner: str) -> int: ...

    async def revoke_jobs(self, caller: Caller, jobs: Sequence[str]) -> int:
        """End what was taken for these jobs."""

    async def live(self, caller: Caller, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]: ...


class Leases:
    """The one primitive, over all its holders."""

    def __init__(self, holders: Mapping[Kind, Holder]) -> None:
        self._holders = holders

    async def renew(self, caller: Caller, lease: UUID, ttl_seconds: int | None) -> Lease:
        return await self._holder(caller, lease).renew(caller, lease, ttl_seconds)

    async def release(self, caller: Caller, lease: UUID, report: Mapping[str, Any]) -> Returned:
        return await self._holder(caller, lease).release(caller, lease, report)

    async def revoke(self, caller: Caller, lease: UUID) -> int:
        return await self._found(lease).revoke(caller, lease)

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten:
        """Renew whatever this token holds under that name, of every kind."""
        beaten = [await holder.renew_owner(caller, owner, ttl_seconds) for holder in self._holders.values()]
        return Beaten(
            renewed=[lease for each in beaten for lease in each.renewed],
            lost=[lease for each in beaten for lease in each.lost],
        )

    async def revoke_owner(self, caller: Caller, owner: str) -> int:
        return sum([await holder.revoke_owner(caller, owner) for holder in self._holders.values()])

    async def revoke_jobs(self, caller: Caller, jobs: Sequence[str]) -> int:
        """End what was taken for these jobs, of every kind; also of the others when one kind is out of reach."""
        found = await asyncio.gather(
            *(holder.revoke_jobs(caller, jobs) for holder in self._holders.values()), return_exceptions=True
        )
        revoked = 0
        for one in found:
            if isinstance(one, BaseException):
                raise one
            revoked += one
        return revoked

    async def live(self, caller: Caller, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
        """Who holds what now, oldest grant first."""
        holders = [holder for kind, holder in self._holders.items() if which.kind in (None, kind)]
        found = [await holder.live(caller, which, after, limit) for holder in holders]
        return list(islice(merge(*found, key=lambda lease: lease.id), limit))

    def _holder(self, caller: Caller, lease: UUID) -> Holder:
        holder = self._found(lease)
        require(caller, holder.permission)
        return holder

    def _found(self, lease: UUID) -> Holder:
        kind = kind_of(lease)
        if kind is None or kind not in self._holders:
            raise unknown()
        return self._holders[kind]
