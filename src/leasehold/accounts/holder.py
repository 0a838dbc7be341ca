"""Accounts as a kind of thing that is held on leases."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from leasehold.accounts.answers import AccountOut
from leasehold.accounts.machine import Outcome
from leasehold.accounts.service import Accounts
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.leases import Beaten, Lease, LeaseFilter, Report, Returned
from leasehold.problems import fault, invalid

_OUTCOMES = ", ".join(Outcome)


class AccountHolder:
    """Hands what is asked of an account's lease to the accounts."""

    permission = Permission.ACCOUNTS_USE

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    async def renew(self, caller: Caller, lease: UUID, ttl_seconds: int | None) -> Lease:
        return await self._accounts.renew(caller, lease, ttl_seconds)

    async def renew_owner(self, caller: Caller, owner: str, ttl_seconds: int | None) -> Beaten:
        return await self._accounts.renew_owner(caller, owner, ttl_seconds)

    async def release(self, caller: Caller, lease: UUID, report: Mapping[str, Any]) -> Returned:
        given_back = await self._accounts.release(caller, lease, _read(report))
        account = AccountOut.model_validate(given_back.account).model_dump(mode="json") if given_back.account else {}
        return Returned(given_back.already_released, account)

    async def revoke(self, caller: Caller, lease: UUID) -> int:
        return await self._accounts.revoke(caller, lease)

    async def revoke_owner(self, caller: Caller, owner: str) -> int:
        return await self._accounts.revoke_owner(caller, owner)

    async def revoke_jobs(self, caller: Caller, jobs: Sequence[str]) -> int:
        return await self._accounts.revoke_jobs(caller, jobs)

    async def live(self, caller: Caller, which: LeaseFilter, after: UUID | None, limit: int) -> list[Lease]:
        return await self._accounts.live(caller, which, after, limit)


def _read(report: Mapping[str, Any]) -> Report:
    if report["outcome"] not in set(Outcome):
        raise invalid(fault("body", "/outcome", f"An account is given back with one of {_OUTCOMES}."))
    if "cooldown_seconds" in report and report["outcome"] != Outcome.RATE_LIMITED:
        raise invalid(fault("body", "/cooldown_seconds", "This goes with the outcome rate_limited alone."))
    faults = [
        fault("body", f"/{name}", "This goes with seeds alone.") for name in ("found", "cursor") if name in report
    ]
    if faults:
        raise invalid(*faults)
    return Report(**report)
