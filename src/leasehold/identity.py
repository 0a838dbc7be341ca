"""The identity graph put together: who feeds it, who writes it, who looks at pictures for it, and what erases whom."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

from leasehold import entities, faces, sources
from leasehold.background import Background
from leasehold.db import Conn, Database
from leasehold.duties import Duty
from leasehold.entities import LOOK_EVERY_S, SWEEP_EVERY_S, Entities, Eraser, Kept, Proposals, Writers, read_policies
from leasehold.faces import Faces
from leasehold.linking import Policy
from leasehold.settings import Settings
from leasehold.sources import Catalogue, Gone, Outlet, Sources
from leasehold.vault import Keyring, Vault

Everybody = Callable[[], Awaitable[list[tuple[UUID, str]]]]
# What sources of people bring.
_PERFORMER = "performer"
# How often nothing may have changed before somebody who waits for the writer goes on without.
_PATIENCE = 300


class Identity:
    """What one process does for the graph."""

    def __init__(
        self, db: Database, vault: Vault, settings: Settings, everybody: Everybody, outlet: Outlet | None = None
    ) -> None:
        catalogue = sources.files(settings.sources_dir)
        policies = _policies(settings, catalogue)
        eraser = _eraser(db, vault)
        self._db = db
        self._everybody = everybody
        self._writers = Writers(db, policies, eraser)
        self._faces = _looking(db, settings, Proposals(policies))
        self.entities = Entities(db, policies, eraser)
        self.sources = Sources(db, catalogue, outlet or OUTLET, settings.source_queue_bytes)

    def add_to(self, background: Background) -> None:
        self.sources.add_to(background)
        background.add("entities", self._writers.look, LOOK_EVERY_S, Duty.ENTITIES)
        background.add("sweep-batches", self._writers.sweep, SWEEP_EVERY_S, Duty.REAPER)
        background.add("expire-faces", self._expire, faces.EXPIRE_EVERY_S, Duty.REAPER)
        if self._faces is not None:
            background.add("faces", self._look, faces.EVERY_S, Duty.FACES)

    async def close(self) -> None:
        await self.sources.sweepers.close()
        await self._writers.close()
        if self._faces is not None:
            await self._faces.close()

    async def _look(self) -> None:
        if self._faces is not None:
            await self._faces.step(await self._ids())

    async def _expire(self) -> None:
        await faces.expire(self._db, await self._ids())

    async def _ids(self) -> list[UUID]:
        return [organisation for organisation, _slug in await self._everybody()]


@asynccontextmanager
async def writing(db: Database, settings: Settings, keyring: Keyring, organisation: UUID) -> AsyncIterator[None]:
    """A writer beside a command that hands records over; at the end it has written what was handed over.

    Somebody else may be the writer meanwhile: then it is they who write.
    """
    writers = Writers(db, _policies(settings, sources.files(settings.sources_dir)), _eraser(db, Vault(keyring)))
    looking = asyncio.create_task(_look_on(writers), name="write-beside")
    try:
        yield
        await _all_written(db, organisation)
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
        await writers.close()


async def _look_on(writers: Writers) -> None:
    while True:
        await writers.look()
        await asyncio.sleep(LOOK_EVERY_S)


async def _all_written(db: Database, organisation: UUID) -> None:
    """Until nothing waits, or nobody seems to write: what waits is kept, and written by the next who does."""
    least, patience = -1, _PATIENCE
    while patience:
        async with db.transaction(organisation) as conn:
            waiting = await entities.queued_bytes(conn, organisation)
        if not waiting:
            return
        patience = patience - 1 if waiting == least else _PATIENCE
        least = waiting
        await asyncio.sleep(LOOK_EVERY_S / 5)


def _policies(settings: Settings, catalogue: Catalogue) -> Mapping[str, Policy]:
    """How kinds are linked; a source that holds each thing once is known by its file."""
    found = read_policies(settings.linking_file)
    curated = [name for name, source in catalogue.sources.items() if source.curated]
    return {**found, _PERFORMER: found[_PERFORMER].curating(curated)}


def _eraser(db: Database, vault: Vault) -> Eraser:
    return Eraser(db, vault, [_erase_faces, _forget], faces.TABLES)


def _looking(db: Database, settings: Settings, proposals: Proposals) -> Faces | None:
    """Faces are off unless a file says otherwise."""
    if settings.faces_file is None:
        return None
    setup = faces.read(settings.faces_file)
    private = settings.faces_allow_private
    return Faces(db, setup, proposals, proposals, proposals.needed, allow_private=private)


async def _erase_faces(conn: Conn, organisation: UUID, records: Sequence[Kept]) -> dict[str, int]:
    erased = await faces.erase(conn, organisation, [record.id for record in records])
    return {"vectors": erased.vectors, "images": erased.images}


async def _forget(conn: Conn, organisation: UUID, records: Sequence[Kept]) -> dict[str, int]:
    for source in sorted({record.source for record in records}):
        ids = [record.source_id for record in records if record.source == source]
        await sources.forget(conn, organisation, source, ids)
    return {}


async def _offer(
    conn: Conn,
    organisation: UUID,
    source: str,
    items: Sequence[Mapping[str, Any]],
    *,
    priority: int,
    images_wanted: bool,
) -> UUID:
    """What is not wanted is not kept."""
    if not images_wanted:
        items = [{name: value for name, value in item.items() if name != "images"} for item in items]
    return await entities.offer(conn, organisation, source, items, priority=priority)


async def _retire(conn: Conn, organisation: UUID, source: str, gone: Sequence[Gone]) -> None:
    await entities.retire(conn, organisation, _PERFORMER, source, {one.source_id: one.merged_into for one in gone})


# Where the records of sources go.
OUTLET = Outlet(_offer, entities.queued_bytes, _retire, entities.links)
