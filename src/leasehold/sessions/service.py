"""Sessions: handed out to who holds the account, merged from what comes back, and kept so that nothing is lost."""

import asyncio
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from uuid import UUID

from leasehold.accounts import Accounts
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.ids import show, uuid7
from leasehold.leases import PREFIX as LEASE
from leasehold.leases import Lease
from leasehold.problems import PermissionDenied, Unavailable
from leasehold.sessions import merging, packing
from leasehold.sessions.drawer import Drawer
from leasehold.sessions.handout import StorageFull, hand_out
from leasehold.sessions.history import blame
from leasehold.sessions.merge import Base
from leasehold.sessions.merging import Merged, Offered
from leasehold.sessions.models import Change, How, Listed, Look, Making, Note, Start, Stored
from leasehold.sessions.packing import Contents
from leasehold.sessions.placing import Ground, ground_of
from leasehold.sessions.problems import SessionNotLoadable, SessionTooLarge, SessionUnknown
from leasehold.sites import Sites
from leasehold.vault import Vault

# How often an upload starts again because another one was quicker.
_ATTEMPTS: Final = 30
_BACK_OFF_S: Final = 0.02
# What is sealed has to fit into one document of MongoDB, and nobody needs more.
_MOST_BYTES: Final = 14 * 2**20


@dataclass(frozen=True, slots=True)
class Given:
    """A session as it is handed out."""

    version: int
    storage_state: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an upload, and the version it is in."""

    version: int
    base: str
    merged: Merged


class Sessions:
    """The use cases of sessions, over whichever store the pools are in."""

    def __init__(self, vault: Vault, drawer: Drawer, accounts: Accounts, sites: Sites) -> None:
        self._vault = vault
        self.drawer = drawer
        self._accounts = accounts
        self._sites = sites

    async def fetch(self, caller: Caller, account: UUID, lease: UUID | None, include: Collection[str]) -> Given:
        """The session of an account for who holds it, or who manages sessions."""
        look = await self._look(caller, account, lease)
        if look.stored is None:
            raise SessionUnknown("This account has no session yet.")
        ground = await self._ground(caller, look.site)
        given, start = await self._made(caller, look, ground, include)
        if not await self.drawer.hand_over(caller, account, lease, start):
            await self._refuse(caller, lease)
        return given

    async def give_along(self, caller: Caller, leases: Sequence[Lease]) -> dict[UUID, Given]:
        """The sessions of accounts that were just leased, by lease; of those that have one."""
        looks = await self.drawer.looks(caller.organisation, [lease.resource for lease in leases])
        given: dict[UUID, Given] = {}
        for lease in leases:
            if look := looks.get(lease.resource):
                ground = await self._ground(caller, look.site)
                made, start = await self._made(caller, look, ground, ())
                if await self.drawer.hand_over(caller, lease.resource, lease.id, start):
                    given[lease.id] = made
        return given

    async def take(self, caller: Caller, account: UUID, lease: UUID | None, offered: Offered) -> Taken:
        """Merge an upload; of uploads at the same time none is lost. A dry run changes nothing."""
        for attempt in range(_ATTEMPTS):
            look = await self._look(caller, account, lease)
            ground = await self._ground(caller, look.site)
            contents = await self._contents(caller, look)
            base, named = await self._base(caller, look, ground, offered)
            merged = await asyncio.to_thread(merging.merge, contents, look, ground, base, offered)
            version = look.version + merged.is_visible
            if offered.is_dry_run or not merged.is_changed:
                return Taken(version if offered.is_dry_run else look.version, named, merged)
            making = self._making(caller, look, offered, named, merged)
            change = self._change(caller, look, merged, making, version)
            if await self.drawer.keep(caller, change, f"session.{making.how}"):
                return Taken(version, named, merged)
            await asyncio.sleep(random.uniform(0, _BACK_OFF_S * (attempt + 1)))  # noqa: S311
        raise Unavailable("This session is changed all the time. Try again.", headers={"Retry-After": "1"})

    async def roll_back(self, caller: Caller, account: UUID, version: int) -> Taken:
        """Make the session show what an earlier version showed."""
        earlier = await self.drawer.version(caller.organisation, account, version)
        if earlier is None:
            await self._look(caller, account, None)  # refuses an account there is not
            raise SessionUnknown(f"Version {version} of this session is not kept any more, or never was.")
        to = packing.open_(self._vault, caller.organisation, account, earlier)
        return await self._operate(caller, account, How.ROLLED_BACK, partial(merging.roll_back, to=to.history))

    async def undo(self, caller: Caller, account: UUID, upload: str) -> Taken:
        """Take out what one upload did."""
        return await self._operate(caller, account, How.UNDONE, partial(merging.undo, upload=upload))

    async def decide(self, caller: Caller, account: UUID, upload: str, *, take: bool) -> Taken:
        """Take in an upload that was put aside, or drop it."""
        return await self._operate(caller, account, How.DECIDED, partial(merging.decide, upload=upload, take=take))

    async def _operate(self, caller: Caller, account: UUID, how: How, work: Any) -> Taken:
        for _ in range(_ATTEMPTS):
            look = await self._look(caller, account, None)
            if look.stored is None:
                raise SessionUnknown("This account has no session.")
            ground = await self._ground(caller, look.site)
            contents = await self._contents(caller, look)
            name = f"{how}-{uuid7().hex}"
            try:
                merged: Merged = await asyncio.to_thread(work, contents, look, ground, name)
            except merging.UploadUnknown:
                raise SessionUnknown("This session has no such upload, or not any more.") from None
            version = look.version + merged.is_visible
            making = Making(how, caller.name, name, counts=merged.report.counts())
            change = self._change(caller, look, merged, making, version)
            if await self.drawer.keep(caller, change, f"session.{how}"):
                return Taken(version, str(look.version), merged)
        raise Unavailable("This session is changed all the time. Try again.", headers={"Retry-After": "1"})

    async def delete(self, caller: Caller, account: UUID) -> None:
        while True:
            look = await self._look(caller, account, None)
            if look.stored is None:
                raise SessionUnknown("This account has no session.")
            if await self.drawer.forget(caller, look):
                return

    async def versions(self, caller: Caller, account: UUID, before: int | None, limit: int) -> list[Stored]:
        await self._accounts.insist(caller)
        await self.drawer.look(caller.organisation, account, None)  # refuses an account there is not
        return await self.drawer.versions(caller.organisation, account, before, limit)

    async def entries(self, caller: Caller, account: UUID) -> list[dict[str, Any]]:
        """Every entry by name, with who wrote it; never a value."""
        look = await self._look(caller, account, None)
        if look.stored is None:
            raise SessionUnknown("This account has no session yet.")
        contents = await self._contents(caller, look)
        ground = await self._ground(caller, look.site)
        return await asyncio.to_thread(merging.entries, contents, ground, blame)

    async def page(self, caller: Caller, site: str | None, after: tuple[str, str] | None, limit: int) -> list[Listed]:
        await self._accounts.insist(caller)
        return await self.drawer.page(caller.organisation, site, after, limit)

    async def sweep(self, organisations: Sequence[UUID]) -> None:
        """Forget what leases started from that are over."""
        for organisation in organisations:
            await self.drawer.sweep(organisation)

    async def _look(self, caller: Caller, account: UUID, lease: UUID | None) -> Look:
        """The session as it is, for somebody who may touch it."""
        await self._accounts.insist(caller)
        if lease is None and not caller.may(Permission.SESSIONS_MANAGE):
            raise PermissionDenied(
                "Send the lease you hold on this account as `Leasehold-Lease`; without one this needs sessions.manage.",
                permission=str(Permission.SESSIONS_MANAGE),
            )
        look = await self.drawer.look(caller.organisation, account, lease)
        if lease is not None and look.tenancy is None:
            await self._refuse(caller, lease)
        return look

    async def _refuse(self, caller: Caller, lease: UUID | None) -> None:
        """Say why a lease is of no use here."""
        if lease is not None:
            held = await self._accounts.find_lease(caller, lease)
            raise PermissionDenied(
                f"{show(LEASE, held.id)} is on another account.", permission=str(Permission.SESSIONS_MANAGE)
            )

    async def _ground(self, caller: Caller, site: str) -> Ground:
        return ground_of(await self._sites.get(caller, site))

    async def _contents(self, caller: Caller, look: Look) -> Contents:
        if look.stored is None:
            return packing.fresh()
        return await asyncio.to_thread(packing.open_, self._vault, caller.organisation, look.account, look.stored)

    async def _made(self, caller: Caller, look: Look, ground: Ground, include: Collection[str]) -> tuple[Given, Start]:
        contents = await self._contents(caller, look)
        place = None if look.stored is None or look.stored.facts.native_since == ground.epoch else ground.place()
        wish = merging.wish(include, ground)
        now = look.now.timestamp()
        try:
            given = await asyncio.to_thread(hand_out, contents.history, now, wish, place)
        except StorageFull as error:
            raise SessionNotLoadable(str(error), origin=error.origin) from None
        start = Start(look.version, Note(now, sorted(include), is_placed=place is not None))
        return Given(look.version, given.state), start

    async def _base(self, caller: Caller, look: Look, ground: Ground, offered: Offered) -> tuple[Base, str]:
        """What the uploading context started from, and what to call that."""
        if not isinstance(offered.base, int):
            return offered.base, str(offered.base)
        organisation = caller.organisation
        note = None
        if look.tenancy is not None:
            start = await self.drawer.start(organisation, look.account, look.tenancy.lease)
            if start is not None and start.version == offered.base:
                # After an upload a context holds what it uploaded, not what others wrote into the same version.
                if held := packing.open_start(self._vault, organisation, look.tenancy.lease, start):
                    return held, str(offered.base)
                note = start.note
        stored = await self.drawer.version(organisation, look.account, offered.base)
        if stored is None:
            return merging.UNKNOWN, "unknown"
        contents = packing.open_(self._vault, organisation, look.account, stored)
        return await asyncio.to_thread(merging.base_of, contents.history, stored, note, ground), str(offered.base)

    def _making(self, caller: Caller, look: Look, offered: Offered, named: str, merged: Merged) -> Making:
        return Making(
            How.REPLACED if offered.is_replacement else How.MERGED,
            caller.name,
            offered.upload,
            look.tenancy.owner if look.tenancy else None,
            look.tenancy.lease if look.tenancy else None,
            str(offered.source),
            str(offered.health),
            named,
            merged.report.counts(),
        )

    def _change(self, caller: Caller, look: Look, merged: Merged, making: Making, version: int) -> Change:
        organisation, rev = caller.organisation, look.rev + 1
        sealed = packing.seal(self._vault, organisation, look.account, rev, merged.contents)
        if len(sealed.blob) > _MOST_BYTES:
            raise SessionTooLarge("With this upload the session would be larger than can be kept.")
        start = None
        if look.tenancy is not None and merged.held is not None:
            held = packing.seal_start(self._vault, organisation, look.tenancy.lease, merged.held)
            start = Start(version, Note(look.now.timestamp()), held.key_id, held.blob)
        return Change(
            look.account,
            rev,
            version,
            look.tenancy.lease if look.tenancy else None,
            sealed.key_id,
            sealed.blob,
            merged.facts,
            making,
            start,
            look.stored if version == look.version else None,
        )
