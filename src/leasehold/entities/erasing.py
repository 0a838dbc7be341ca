"""Forgetting somebody: everything that is kept of an entity is deleted, and it does not come back by itself."""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg import Error

from leasehold import audit, logs
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.entities import store
from leasehold.entities.deciding import wait_for_writer
from leasehold.entities.intake import as_record
from leasehold.entities.models import ENTITY, Kept
from leasehold.entities.problems import unknown_entity
from leasehold.entities.store import SQL, Told
from leasehold.entities.suppression import Suppressed, marks
from leasehold.ids import show
from leasehold.vault import Place, Sealed, Vault

log = logs.get(__name__)

# Deleted rows stay in the files until these are vacuumed.
_VACUUMED = ("source_record", "link_key", "edge", "edge_part", "entity", "record_dead_letter")
_KEY_BYTES = 32

# Erases what else is kept of records: says how much of what it was.
Also = Callable[[Conn, UUID, Sequence[Kept]], Awaitable[dict[str, int]]]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased."""

    entity: UUID
    records: int
    edges: int
    suppressed: int
    vacuumed: bool
    also: dict[str, int]


class Eraser:
    """Erases entities, and knows who was erased."""

    def __init__(
        self, db: Database, vault: Vault, also: Sequence[Also] = (), also_vacuumed: Sequence[str] = ()
    ) -> None:
        self._db = db
        self._vault = vault
        self._also = also
        self._vacuumed = (*_VACUUMED, *also_vacuumed)

    async def suppressed(self, conn: Conn, organisation: UUID) -> Suppressed:
        """Whom an organisation has erased."""
        rows = await (await conn.execute(SQL["suppressed"], {"organisation": organisation})).fetchall()
        if not rows:
            return Suppressed()
        return Suppressed(await self._key(conn, organisation), frozenset(bytes(mark) for (mark,) in rows))

    async def erase(self, caller: Caller, entity: UUID) -> Receipt:
        """Forget an entity; one that was merged away, as what it became. Raises EntityUnknown."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            await wait_for_writer(conn, organisation, forgets=True)
            found = await store.get_heir(conn, organisation, entity)
            if found is None:
                raise unknown_entity()
            entity = found.id
            records = await store.records_of(conn, organisation, [entity])
            suppressed = await self._suppress(conn, organisation, records)
            also: dict[str, int] = {}
            for erase in self._also:
                also |= await erase(conn, organisation, records)
            edges = await self._delete(conn, organisation, entity, records)
            told = {"records": len(records), "edges": edges, **also}
            await store.tell(conn, organisation, [Told(entity, "erased", told)], caller.name)
            await audit.record(conn, caller, "entity.erased", show(ENTITY, entity), told)
        return Receipt(entity, len(records), edges, suppressed, await self._vacuum(), also)

    async def _suppress(self, conn: Conn, organisation: UUID, records: Sequence[Kept]) -> int:
        if not records:
            return 0
        key = await self._key(conn, organisation)
        read = [as_record(one.kind, one.source, one.source_id, one.name, one.content) for one in records]
        made = sorted({mark for record in read for mark in marks(key, record)})
        await conn.execute(SQL["suppress"], {"organisation": organisation, "marks": made}, prepare=False)
        return len(made)

    async def _delete(self, conn: Conn, organisation: UUID, entity: UUID, records: Sequence[Kept]) -> int:
        given = {
            "organisation": organisation,
            "entity": entity,
            "nodes": [record.node for record in records],
            "sources": [record.source for record in records],
            "source_ids": [record.source_id for record in records],
        }
        edges = (await conn.execute(SQL["erase_edges"], given)).rowcount
        await conn.execute(SQL["erase_parts"], given)
        await conn.execute(SQL["erase_decisions"], given)
        await conn.execute(SQL["erase_keys"], given)
        await conn.execute(SQL["erase_letters"], given)
        await conn.execute(SQL["erase_mentions"], given)
        await conn.execute(SQL["erase_records"], given)
        await conn.execute(SQL["erase_entity"], given)
        return edges

    async def _key(self, conn: Conn, organisation: UUID) -> bytes:
        """What an organisation's marks are keyed with; made when it is first needed."""
        given = {"organisation": organisation}
        row = await (await conn.execute(SQL["suppression_key"], given)).fetchone()
        if row is None:
            sealed = self._vault.seal(os.urandom(_KEY_BYTES), place(organisation))
            kept = {"key_id": sealed.key_id, "sealed": sealed.blob}
            await conn.execute(SQL["keep_suppression_key"], {**given, **kept})
            row = await (await conn.execute(SQL["suppression_key"], given)).fetchone()
        key_id, blob = row or ("", b"")
        return self._vault.open(Sealed(key_id, bytes(blob)), place(organisation))

    async def _vacuum(self) -> bool:
        """Take what was deleted out of the files, too. False where that failed: autovacuum does it later."""
        try:
            for table in self._vacuumed:
                await self._db.vacuum(table)
        except Error as error:
            log.warning("entities.not_vacuumed", reason=type(error).__name__)
            return False
        return True


def place(organisation: UUID) -> Place:
    return Place(organisation, organisation, "suppression", 1)
