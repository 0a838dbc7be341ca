"""An import out of an older system: sites with their histories first, then captures, then what happened to those.

Every batch is one transaction that also notes how far the import has come. Killed at any moment and run again it goes
on from there; what was imported is known by its old id and never made twice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from leasehold.caller import Caller
from leasehold.captures import Record
from leasehold.db import Conn, Database, RollBack
from leasehold.legacy import store
from leasehold.legacy.bringing import Found, Refuse, bring_captures, bring_events, capture_id
from leasehold.legacy.converting import Unfit, position
from leasehold.legacy.documents import Document, capture_of, elements, event_of, origin
from leasehold.legacy.mapping import LegacyMap, Section
from leasehold.legacy.models import LegacyEvent, Origin, Progress, Tally
from leasehold.legacy.places import SiteImport
from leasehold.legacy.report import Report
from leasehold.legacy.source import Source
from leasehold.sites import Sites

T = TypeVar("T")

BATCH = 500
_SAY_EVERY = 10


@dataclass(frozen=True, slots=True)
class Wish:
    """What is imported, and how."""

    caller: Caller
    map: LegacyMap
    source: bytes  # which import this is
    dry_run: bool
    allow_special: bool


class _Batches(Protocol[T]):
    """How documents of one kind are read and kept."""

    def read(self, section: Section, document: Document) -> Iterator[Found[T] | tuple[Origin, str]]:
        """What a document holds; with its origin and what is wrong where that is nothing of ours."""

    async def keep(self, conn: Conn, batch: Sequence[Found[T]], refuse: Refuse) -> Tally: ...


class _Captures:
    def __init__(self, wish: Wish, sites: Sites, slugs: dict[str, str]) -> None:
        self._wish = wish
        self._sites = sites
        self._slugs = slugs
        self.planned: set[UUID] = set()  # what a dry run would have made

    def read(self, section: Section, document: Document) -> Iterator[Found[Record] | tuple[Origin, str]]:
        where = origin(section, document)
        try:
            legacy_id, record = capture_of(section, document, lambda site: self._slugs.get(site, site))
        except Unfit as error:
            yield where, str(error)
        else:
            yield Found(where, legacy_id, record)

    async def keep(self, conn: Conn, batch: Sequence[Found[Record]], refuse: Refuse) -> Tally:
        organisation = self._wish.caller.organisation
        registry = await self._sites.registry_in(conn, organisation)
        planned = set(self._slugs.values()) if self._wish.dry_run else set()
        if self._wish.dry_run:
            self.planned |= {capture_id(organisation, found.id) for found in batch}
        return await bring_captures(conn, self._wish.caller, batch, registry, planned, refuse)


class _Events:
    def __init__(self, wish: Wish, planned: set[UUID]) -> None:
        self._wish = wish
        self._planned = planned

    def read(self, section: Section, document: Document) -> Iterator[Found[LegacyEvent] | tuple[Origin, str]]:
        try:
            found = list(elements(section, document))
        except Unfit as error:
            yield origin(section, document), str(error)
            return
        for place, element in found:
            where = origin(section, document, place)
            try:
                event = event_of(section, document, place, element)
            except Unfit as error:
                yield where, str(error)
            else:
                yield Found(where, event.id, event)

    async def keep(self, conn: Conn, batch: Sequence[Found[LegacyEvent]], refuse: Refuse) -> Tally:
        return await bring_events(conn, self._wish.caller, batch, self._planned, refuse)


class LegacyImport:
    """One run of an import. `sites` knows what URLs are called."""

    def __init__(self, db: Database, sites: Sites, source: Source, wish: Wish, say: Callable[[str], None]) -> None:
        self._db = db
        self._sites = sites
        self._source = source
        self._wish = wish
        self._say = say
        self._organisation = wish.caller.organisation

    async def progress(self) -> Progress:
        """Where an earlier run was stopped, or the beginning."""
        if self._wish.dry_run:
            return Progress()
        async with self._db.transaction(self._organisation) as conn:
            return await store.progress(conn, self._organisation, self._wish.source) or Progress()

    async def run(self, now: Progress, report: Report) -> None:
        """Import everything there is from there on; `now` tells what came of it."""
        if now.step:
            self._say(f"going on with {now.phase}, where an earlier run was stopped")
        slugs: dict[str, str] = {}
        if now.phase == "sites":
            slugs = await self._import_sites(now, report)
            await self._turn_to(now, report, "captures")
        captures = _Captures(self._wish, self._sites, await self._known_sites() | slugs)
        if now.phase == "captures":
            if self._wish.map.captures:
                await self._each(self._wish.map.captures, captures, now, report)
            await self._turn_to(now, report, "events")
        if now.phase == "events":
            if self._wish.map.events:
                await self._each(self._wish.map.events, _Events(self._wish, captures.planned), now, report)
            await self._turn_to(now, report, "done")

    async def finish(self) -> None:
        """It is through: the next run begins at the beginning, and finds everything there."""
        async with self._db.transaction(self._organisation) as conn:
            await store.finish(conn, self._organisation, self._wish.source)

    async def _import_sites(self, now: Progress, report: Report) -> dict[str, str]:
        sites = SiteImport(self._db, self._source, self._wish.caller, self._wish.map, report, now.tallies)
        slugs = await sites.run(dry_run=self._wish.dry_run, allow_special=self._wish.allow_special)
        self._say(f"sites: {now.tallies['sites'].read:,} read, with {now.tallies['domains'].read:,} domains")
        return slugs

    async def _known_sites(self) -> dict[str, str]:
        slugs: dict[str, str] = {}
        after = ""
        while True:
            async with self._db.transaction(self._organisation) as conn:
                some = await store.items(conn, self._organisation, "site", after, BATCH)
            slugs |= {item.legacy_id: item.site for item in some if item.site}
            if len(some) < BATCH:
                return slugs
            after = some[-1].legacy_id

    async def _each(self, section: Section, batches: _Batches[T], now: Progress, report: Report) -> None:
        tally = now.tallies[section.kind]
        batch: list[Found[T]] = []
        documents = said = 0
        async for document in self._source.documents(section, now.position):
            for found in batches.read(section, document):
                tally.read += 1
                if isinstance(found, Found):
                    batch.append(found)
                else:
                    tally.bad += 1
                    report.tell(*found)
            documents += 1
            now.position = position(document["_id"])
            if documents % BATCH == 0 or len(batch) >= BATCH:
                await self._keep(batches, batch, tally, now, report)
                batch = []
                if (said := said + 1) % _SAY_EVERY == 0:
                    self._say(f"{section.kind}: {tally.read:,} read")
        await self._keep(batches, batch, tally, now, report)
        self._say(f"{section.kind}: {tally.read:,} read")

    async def _keep(
        self, batches: _Batches[T], batch: Sequence[Found[T]], tally: Tally, now: Progress, report: Report
    ) -> None:
        """A batch, and how far it brings us, together or not at all."""
        async with self._db.transaction(self._organisation) as conn:
            await store.take_turn(conn, self._organisation)
            kept = await batches.keep(conn, batch, report.tell)
            tally.imported += kept.imported
            tally.there += kept.there
            tally.bad += kept.bad
            if self._wish.dry_run:
                raise RollBack
            await self._note(conn, now, report)

    async def _turn_to(self, now: Progress, report: Report, phase: str) -> None:
        now.phase, now.position = phase, None
        if not self._wish.dry_run:
            async with self._db.transaction(self._organisation) as conn:
                await self._note(conn, now, report)

    async def _note(self, conn: Conn, now: Progress, report: Report) -> None:
        now.report_bytes = report.settle()
        await store.advance(conn, self._organisation, self._wish.source, now)
