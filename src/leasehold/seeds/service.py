"""Seeds: kept and changed by operators, handed out when they are due, scheduled by what a visit found."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from functools import partial
from uuid import UUID

from psycopg.errors import ForeignKeyViolation

from leasehold import audit, idempotency
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show, uuid7
from leasehold.leases import PREFIX as LEASE
from leasehold.leases import BoundLeases, Counter, KeptLeases, Offer, Timekeeper, Wanted
from leasehold.metrics import Metrics
from leasehold.seeds import outlook, schedule, store
from leasehold.seeds.models import PREFIX, Histogram, NewSeed, PastVisit, Seed, SeedFilter, SeedWish, Upserted
from leasehold.seeds.problems import SeedInUse, unknown_seed
from leasehold.seeds.rows import SeedRows
from leasehold.seeds.schedule import Rhythm
from leasehold.seeds.stock import SeedStock
from leasehold.sites import Registry, Saying, Sites, SiteUnknown

# Each may take a hundred, and all that go together are one transaction.
_TOGETHER = 32


class Seeds:
    """The use cases of seeds. `leases` is who holds them, for the calls that are the same for every kind."""

    def __init__(
        self, db: Database, clock: Timekeeper, sites: Sites, metrics: Metrics, max_age_s: int, bound: BoundLeases
    ) -> None:
        self._db = db
        self._bound = bound
        self._sites = sites
        self.leases = KeptLeases(db, clock, SeedRows(sites), metrics, max_age_s)
        self._stock = SeedStock(self.leases, sites)
        self.counter: Counter[Seed] = Counter(db, self.leases, self._stock, metrics, _TOGETHER)
        self.room = self.counter.room

    async def acquire(self, caller: Caller, wanted: Wanted, once: Once | None = None) -> Offer[Seed]:
        """Due seeds on leases, as many as there are up to the limit; waits as long as the caller said it would."""
        acquire = partial(self.counter.acquire, caller, wanted, once)
        return await self._bound.taken(caller, wanted.job_id, once, acquire, self.counter.take_back)

    async def give_back_unused(self, caller: Caller, offer: Offer[Seed]) -> None:
        """What was acquired is not visited after all: it is due as before, as if nobody had taken it."""
        leases = [grant.lease.id for grant in offer.grants]
        await self.counter.give_back(caller.organisation, leases, offer.once)

    async def registry(self, caller: Caller) -> Registry:
        """What every URL is called, to find the references of new seeds with."""
        return await self._sites.registry(caller.organisation)

    async def known_sites(self, caller: Caller, slugs: Collection[str]) -> set[str]:
        """Those of the slugs that are sites."""
        async with self._db.transaction(caller.organisation) as conn:
            return await store.sites(conn, caller.organisation, slugs)

    async def upsert(self, caller: Caller, new: Sequence[NewSeed], once: Once | None = None) -> Upserted:
        """Make seeds, or change those whose address is there; of an address that stands twice the last one counts."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            if once and (made := await idempotency.claim(conn, once)):
                return await self._told(conn, organisation, *_remembered(made))
            ids_of, created = await _upsert(conn, caller, new)
            ids, updated = [ids_of[_key(one)] for one in new], len(ids_of) - created
            if once:
                await idempotency.keep(conn, once, " ".join([str(created), str(updated), *(id_.hex for id_ in ids)]))
            upserted = await self._told(conn, organisation, created, updated, ids)
        self.room.freed(organisation, {one.reference.site for one in new})
        return upserted

    async def get(self, caller: Caller, seed: UUID) -> Seed:
        organisation = caller.organisation
        return await self.leases.surely(organisation, lambda conn: self._found(conn, organisation, seed))

    async def page(self, caller: Caller, which: SeedFilter, after: tuple[str, UUID] | None, limit: int) -> list[Seed]:
        async def read(conn: Conn) -> list[Seed]:
            found = await store.page(conn, caller.organisation, which, after, limit)
            registry = await self._sites.registry_in(conn, caller.organisation)
            return [seed.placed(registry) for seed in found]

        return await self.leases.surely(caller.organisation, read)

    async def visits(self, caller: Caller, seed: UUID, before: int | None, limit: int) -> list[PastVisit]:
        """How its visits went, the newest first; only the latest are kept."""
        async with self._db.transaction(caller.organisation) as conn:
            await self._found(conn, caller.organisation, seed)
            return await store.visits(conn, caller.organisation, seed, before, limit)

    async def change(self, caller: Caller, seed: UUID, wish: SeedWish) -> Seed:
        organisation = caller.organisation

        async def change(conn: Conn) -> Seed:
            locked = await store.lock(conn, organisation, seed)
            if locked is None:
                raise unknown_seed()
            before = await self._found(conn, organisation, seed)
            rhythm = schedule.adjusted(locked[1], wish.rhythm)
            await store.update(conn, organisation, {seed: (None, wish, rhythm)})
            after = await self._found(conn, organisation, seed)
            await audit.record(conn, caller, "seed.changed", show(PREFIX, seed), _difference(before, after))
            return after

        after = await self.leases.surely(organisation, change)
        self.room.freed(organisation, [after.site])
        return after

    async def delete(self, caller: Caller, seed: UUID) -> None:
        organisation = caller.organisation

        async def delete(conn: Conn) -> None:
            locked = await store.lock(conn, organisation, seed)
            if locked is None:
                raise unknown_seed()
            if locked[0] is not None:
                await self.leases.expire(conn, organisation, [locked[0]])
            found = await self._found(conn, organisation, seed)
            if not await store.delete(conn, organisation, seed):
                lease = show(LEASE, found.lease_id) if found.lease_id else None
                raise SeedInUse(f"This seed is being visited by {found.holder}.", lease=lease)
            detail = {"site": found.site, "url": found.url, "original_url": found.original_url}
            await audit.record(conn, caller, "seed.deleted", show(PREFIX, seed), detail)

        await self.leases.steadily(organisation, delete)

    async def histogram(self, caller: Caller, site: str | None, hours: int) -> Histogram:
        async with self._db.transaction(caller.organisation) as conn:
            if site is not None and not await store.sites(conn, caller.organisation, [site]):
                raise _unknown_site()
            counts = await store.histogram(conn, caller.organisation, site, hours)
            steps = await store.next_hour(conn, caller.organisation, site)
        by_hour = [counts.get(hour, 0) for hour in range(1, hours + 1)]
        return Histogram(counts.get(0, 0), by_hour, [steps.get(step, 0) for step in range(12)])

    async def explain(self, organisation: UUID, site: str) -> Saying:
        """What there is at a site, in a sentence."""

        async def explain(conn: Conn) -> Saying:
            ground = await store.ground(conn, organisation, site)
            if ground is None:
                raise _unknown_site()
            there = await store.outlook(conn, organisation, site, {})
            holders = await store.holders(conn, organisation, site)
            counts = {f"seeds_{state}": there.counts.get(state, 0) for state in outlook.STATES}
            return Saying(outlook.sentence(ground, there), counts, holders, there.due_at)

        return await self.leases.surely(organisation, explain)

    async def count(self, conn: Conn, organisation: UUID, site: str) -> int:
        return await store.count(conn, organisation, site)

    async def reap(self, organisations: Sequence[UUID]) -> None:
        """Book what ran out everywhere. Grants do not depend on it; counts, audit and metrics come sooner."""
        for organisation in organisations:
            is_all = False
            while not is_all:
                settle = partial(self._stock.settle, organisation=organisation)
                ended, is_all = await self.leases.steadily(organisation, settle)
                self.leases.ended(organisation, ended)

    async def _found(self, conn: Conn, organisation: UUID, seed: UUID) -> Seed:
        found = await store.by_ids(conn, organisation, [seed])
        if seed not in found:
            raise unknown_seed()
        return found[seed].placed(await self._sites.registry_in(conn, organisation))

    async def _told(self, conn: Conn, organisation: UUID, created: int, updated: int, ids: Sequence[UUID]) -> Upserted:
        found = await store.by_ids(conn, organisation, set(ids))
        registry = await self._sites.registry_in(conn, organisation)
        placed = {id_: seed.placed(registry) for id_, seed in found.items()}
        return Upserted(created, updated, [placed[id_] for id_ in ids if id_ in placed])


def _remembered(made: str) -> tuple[int, int, list[UUID]]:
    """What an earlier request made, as it was kept under its key."""
    created, updated, *ids = made.split()
    return int(created), int(updated), [UUID(hex=id_) for id_ in ids]


_Key = tuple[str, bytes]


def _key(new: NewSeed) -> _Key:
    return new.reference.site, store.digest(new.reference)


async def _upsert(conn: Conn, caller: Caller, new: Sequence[NewSeed]) -> tuple[dict[_Key, UUID], int]:
    """The id of each address, and how many were made."""
    organisation = caller.organisation
    last = {_key(one): one for one in new}
    await store.upsert_turn(conn, organisation)
    known = await store.known(conn, organisation, last)
    changes = {
        id_: (last[key].url, last[key].wish, schedule.adjusted(rhythm, last[key].wish.rhythm))
        for key, (id_, rhythm) in known.items()
    }
    made = {key: uuid7() for key in last if key not in known}
    fresh = {id_: (last[key], schedule.adjusted(Rhythm(), last[key].wish.rhythm)) for key, id_ in made.items()}
    try:
        if fresh:
            await store.insert(conn, organisation, fresh)
        if changes:
            await store.update(conn, organisation, changes)
    except ForeignKeyViolation as error:
        raise _unknown_site() from error
    await _note(conn, caller, made, known)
    return {key: id_ for key, (id_, _) in known.items()} | made, len(made)


async def _note(conn: Conn, caller: Caller, made: Collection[_Key], known: Collection[_Key]) -> None:
    notes = []
    for site in sorted({site for site, _ in (*made, *known)}):
        counts = {name: sum(s == site for s, _ in keys) for name, keys in {"created": made, "updated": known}.items()}
        notes.append(audit.Note(caller, "seeds.imported", site, counts))
    await audit.record_many(conn, notes)


def _difference(before: Seed, after: Seed) -> dict[str, object]:
    """What an operator's change did, for the audit."""
    names = ("kind", "priority", "interval_seconds", "min_interval_seconds", "max_interval_seconds", "labels")
    old, new = (asdict(seed) for seed in (before, after))
    changed: dict[str, object] = {
        name: {"from": old[name], "to": new[name]} for name in (*names, "enabled") if old[name] != new[name]
    }
    # What a collector left there is its own business.
    return changed | ({"cursor": {"changed": True}} if old["cursor"] != new["cursor"] else {})


def _unknown_site() -> SiteUnknown:
    return SiteUnknown("No site of your organisation has this slug.")
