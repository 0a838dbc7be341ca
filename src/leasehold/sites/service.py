"""Sites: made, changed, moved, paused; and what every URL is called today."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from uuid import UUID

from psycopg.errors import UniqueViolation

from leasehold import audit, idempotency
from leasehold.caller import Caller
from leasehold.db import Conn, Database, RollBack
from leasehold.idempotency import Once
from leasehold.sites import store
from leasehold.sites.addresses import Mount, Registry, Rewritten, Trust
from leasehold.sites.models import (
    Address,
    Explanation,
    Move,
    Moved,
    MoveWish,
    NewSite,
    Policy,
    Saying,
    Site,
    SiteChange,
)
from leasehold.sites.problems import AddressRefused, SiteExists, SiteInUse, SiteUnknown

# Counts what a feature keeps at a site, inside the transaction that asks.
Dependents = Callable[[Conn, UUID, str], Awaitable[int]]
# Says why a feature gives nothing of a site right now.
Explainer = Callable[[UUID, str], Awaitable[Saying]]
# Told when something of a site may be given again.
Called = Callable[[UUID, str], None]
_REGISTRIES_KEPT = 64


def _nobody(_organisation: UUID, _slug: str) -> None:
    """Nobody waits for anything."""


class Sites:
    """The use cases of sites. `dependents` says what else hangs on a site, by name (`seeds`, `sessions` …).

    `explainers` say why nothing of it is given, and `called` is told when that may have changed.
    """

    def __init__(
        self,
        db: Database,
        dependents: Mapping[str, Dependents],
        explainers: Sequence[Explainer] = (),
        called: Called = _nobody,
    ) -> None:
        self._db = db
        self._dependents = dependents
        self._explainers = explainers
        self._called = called
        self._registries: OrderedDict[UUID, tuple[int, Registry]] = OrderedDict()

    async def create(self, caller: Caller, new: NewSite, once: Once | None = None) -> Site:
        async with self._db.transaction(caller.organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return await _found(conn, caller, made)
            await store.raise_version(conn, caller.organisation)
            await _refuse_taken(conn, caller, new.slug, new.mount)
            try:
                await store.create(conn, caller.organisation, new)
            except UniqueViolation as error:
                raise SiteExists(f"A site named {new.slug} is there already.", site=new.slug) from error
            await store.settle(conn, caller.organisation, new.slug, new.mount)
            if once:
                await idempotency.keep(conn, once, new.slug)
            site = await _found(conn, caller, new.slug)
            detail = {"name": site.name, "address": site.current.text, "policy": asdict(site.policy)}
            await audit.record(conn, caller, "site.created", site.slug, detail)
            return site

    async def get(self, caller: Caller, slug: str) -> Site:
        async with self._db.transaction(caller.organisation) as conn:
            return await _found(conn, caller, slug)

    async def page(self, caller: Caller, after: str | None, limit: int) -> list[Site]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.page(conn, caller.organisation, after, limit)

    async def change(self, caller: Caller, slug: str, change: SiteChange) -> Site:
        async with self._db.transaction(caller.organisation) as conn:
            site = await _locked(conn, caller, slug)
            policy: Policy = replace(site.policy, **change.policy)
            await store.change(conn, caller.organisation, slug, change.name or site.name, policy)
            changed = await _found(conn, caller, slug)
            if difference := _difference(site, changed):
                await audit.record(conn, caller, "site.changed", slug, difference)
        self._called(caller.organisation, slug)
        return changed

    async def delete(self, caller: Caller, slug: str) -> None:
        async with self._db.transaction(caller.organisation) as conn:
            await store.raise_version(conn, caller.organisation)
            site = await _locked(conn, caller, slug)
            holds = {name: n for name, n in (await self._count(conn, caller, slug)).items() if n}
            if holds:
                raise SiteInUse(f"The site {slug} still has {_listed(holds)}.", site=slug, holds=holds)
            await store.delete(conn, caller.organisation, slug)
            await audit.record(conn, caller, "site.deleted", slug, {"address": site.current.text})

    async def move(self, caller: Caller, slug: str, wish: MoveWish, once: Once | None = None) -> Moved:
        """The site lives at `wish.to` from now on. A dry run does the same and takes it back."""
        async with self._db.transaction(caller.organisation) as conn:
            moved = await self._move_once(conn, caller, slug, wish, None if wish.dry_run else once)
            if wish.urls:
                registry = await asyncio.to_thread(Registry, await store.mounts_by_site(conn, caller.organisation))
                moved = replace(moved, sample=[registry.rewrite(url) for url in wish.urls])
            if wish.dry_run:
                raise RollBack
        return moved

    async def _move_once(self, conn: Conn, caller: Caller, slug: str, wish: MoveWish, once: Once | None) -> Moved:
        made = await idempotency.claim(conn, once) if once else None
        if made:
            return await self._repeated(conn, caller, slug, made)
        moved, move_id = await self._move(conn, caller, slug, wish)
        if once and move_id:
            await idempotency.keep(conn, once, move_id.hex)
        elif once:
            await idempotency.forget(conn, once)
        return moved

    async def _repeated(self, conn: Conn, caller: Caller, slug: str, made: str) -> Moved:
        """What an earlier request did, told again."""
        move = await store.move(conn, caller.organisation, slug, UUID(hex=made))
        if move is None:
            raise SiteUnknown("The site this moved is gone.")
        return Moved(
            site=slug,
            epoch=move.epoch,
            changed=move.trust != Trust.OBSERVED,
            dry_run=False,
            from_address=move.from_address,
            to_address=move.to_address,
            trust=Trust(move.trust),
            affected=await self._count(conn, caller, slug),
        )

    async def _move(self, conn: Conn, caller: Caller, slug: str, wish: MoveWish) -> tuple[Moved, UUID | None]:
        await store.raise_version(conn, caller.organisation)
        site = await _locked(conn, caller, slug)
        await _refuse_taken(conn, caller, slug, wish.to)
        moved = Moved(
            site=slug,
            epoch=site.epoch,
            changed=False,
            dry_run=wish.dry_run,
            from_address=site.current.text,
            to_address=_text(wish.to),
            trust=wish.to.trust,
            affected=await self._count(conn, caller, slug),
        )
        if _lives_there(site, wish.to) or _is_proposed(site, wish.to):
            return moved, None
        if wish.to.trust is not Trust.OBSERVED:
            await store.raise_epoch(conn, caller.organisation, slug)
            moved = replace(moved, epoch=site.epoch + 1, changed=True)
        await store.settle(conn, caller.organisation, slug, wish.to)
        move_id = await store.record_move(conn, caller, moved, wish.reason)
        action = "site.moved" if moved.changed else "site.move_proposed"
        detail = {"from": moved.from_address, "to": moved.to_address, "trust": moved.trust, "reason": wish.reason}
        await audit.record(conn, caller, action, slug, detail)
        return moved, move_id

    async def moves(self, caller: Caller, slug: str, before: UUID | None, limit: int) -> list[Move]:
        async with self._db.transaction(caller.organisation) as conn:
            await _found(conn, caller, slug)
            return await store.moves(conn, caller.organisation, slug, before, limit)

    async def pause(self, caller: Caller, slug: str, reason: str) -> Site:
        async with self._db.transaction(caller.organisation) as conn:
            await _locked(conn, caller, slug)
            await store.pause(conn, caller.organisation, slug, reason)
            await audit.record(conn, caller, "site.paused", slug, {"reason": reason})
            return await _found(conn, caller, slug)

    async def resume(self, caller: Caller, slug: str) -> Site:
        async with self._db.transaction(caller.organisation) as conn:
            site = await _locked(conn, caller, slug)
            if site.paused:
                await store.resume(conn, caller.organisation, slug)
                await audit.record(conn, caller, "site.resumed", slug, {"reason": site.pause_reason})
            resumed = await _found(conn, caller, slug)
        self._called(caller.organisation, slug)
        return resumed

    async def explain(self, caller: Caller, slug: str) -> Explanation:
        """Why nobody gets anything here: what the site says, and what those say who keep something at it."""
        async with self._db.transaction(caller.organisation) as conn:
            site = await _found(conn, caller, slug)
            holds = await self._count(conn, caller, slug)
        said = [await explain(caller.organisation, slug) for explain in self._explainers]
        return Explanation(
            site=slug,
            sentence=_sentence(site, holds, said),
            paused=site.paused,
            pause_reason=site.pause_reason,
            paused_at=site.paused_at,
            cap=site.policy.max_concurrent_accounts,
            counts=holds | {name: n for one in said for name, n in one.counts.items()},
            holders=sorted({holder for one in said for holder in one.holders}),
            next_available_at=min((one.next_at for one in said if one.next_at), default=None),
        )

    async def rewrite(self, caller: Caller, urls: Sequence[str], at: datetime | None) -> list[Rewritten]:
        """Each URL at the address its site has now, or had at that time."""
        registry = await self.registry(caller.organisation)
        moment = at.timestamp() if at else None
        # Ten thousand of them keep a core busy for a while; others' requests go on meanwhile.
        return await asyncio.to_thread(lambda: [registry.rewrite(url, moment) for url in urls])

    async def registry(self, organisation: UUID) -> Registry:
        """The index of all addresses, made again only after one of them changed."""
        async with self._db.transaction(organisation) as conn:
            return await self.registry_in(conn, organisation)

    async def registry_in(self, conn: Conn, organisation: UUID) -> Registry:
        """The same inside a transaction that is under way."""
        version = await store.version(conn, organisation)
        known, registry = self._registries.get(organisation, (None, None))
        if registry is None or known != version:
            mounts = await store.mounts_by_site(conn, organisation)
            registry = await asyncio.to_thread(Registry, mounts)
        self._keep(organisation, version, registry)
        return registry

    def _keep(self, organisation: UUID, version: int, registry: Registry) -> None:
        # In one go: others come and go wherever there is an await.
        self._registries[organisation] = (version, registry)
        self._registries.move_to_end(organisation)
        while len(self._registries) > _REGISTRIES_KEPT:
            self._registries.popitem(last=False)

    async def _count(self, conn: Conn, caller: Caller, slug: str) -> dict[str, int]:
        return {name: await count(conn, caller.organisation, slug) for name, count in self._dependents.items()}


async def trip(conn: Conn, organisation: UUID, slug: str, reason: str, forgiven: int) -> None:
    """Pause a site because most of its accounts failed; the caller has taken their penalties back."""
    breaker = Caller(organisation, None, "breaker", frozenset())
    await store.pause(conn, organisation, slug, reason)
    await audit.record(conn, breaker, "site.paused", slug, {"reason": reason, "accounts_forgiven": forgiven})


async def _found(conn: Conn, caller: Caller, slug: str) -> Site:
    return _known(await store.get(conn, caller.organisation, slug))


async def _locked(conn: Conn, caller: Caller, slug: str) -> Site:
    return _known(await store.lock(conn, caller.organisation, slug))


def _known(site: Site | None) -> Site:
    if site is None:
        raise SiteUnknown("No site of your organisation has this slug.")
    return site


async def _refuse_taken(conn: Conn, caller: Caller, slug: str, mount: Mount) -> None:
    holder = await store.holder(conn, caller.organisation, mount)
    if holder not in (None, slug):
        raise AddressRefused(f"The site {holder} lives there now.", reason="another-site", site=holder)


def _lives_there(site: Site, mount: Mount) -> bool:
    """Whether this is where the site is already, down to the trust: then there is nothing to move."""
    return _is_at(site.current, mount) and mount.trust in (site.current.trust, Trust.OBSERVED)


def _is_proposed(site: Site, mount: Mount) -> bool:
    """Whether this is a proposal that stands already: collectors see a move many times."""
    same = [address for address in site.mounts if _is_at(address, mount)]
    return mount.trust is Trust.OBSERVED and bool(same) and same[-1].trust == Trust.OBSERVED


def _is_at(address: Address, mount: Mount) -> bool:
    here = (address.host, address.scheme, address.port, address.prefix, address.subdomains, tuple(address.fold))
    return here == (mount.host, mount.scheme, mount.port, mount.prefix, mount.subdomains, mount.fold)


def _text(mount: Mount) -> str:
    return f"{mount.scheme}://{mount.door}{mount.prefix}"


def _difference(before: Site, after: Site) -> dict[str, object]:
    old, new = ({"name": site.name, **asdict(site.policy)} for site in (before, after))
    return {key: {"from": old[key], "to": new[key]} for key in new if old[key] != new[key]}


def _listed(holds: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in holds.items())


def _sentence(site: Site, holds: Mapping[str, int], said: Sequence[Saying]) -> str:
    if site.paused:
        return f"Nobody gets anything of {site.slug}: it is paused ({site.pause_reason}). Resume it to go on."
    if not any(holds.values()):
        return f"{site.slug} is open, but there is nothing to give: it has no accounts and no seeds yet."
    if said:
        return " ".join(one.sentence for one in said if one.sentence)
    return f"{site.slug} is open and has {_listed({name: n for name, n in holds.items() if n})}."
