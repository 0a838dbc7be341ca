"""The sealed keys of suppressions, as the one sees them who changes the key they are sealed with."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from leasehold.db import Database
from leasehold.entities.erasing import place
from leasehold.entities.store import SQL
from leasehold.vault import Sealed, Vault


class SuppressionSafe:
    """Rows of `suppression_key`, one for each organisation that ever erased anybody."""

    name = "suppression keys"

    def __init__(self, db: Database, organisations: Sequence[UUID]) -> None:
        self._db = db
        self._organisations = organisations

    async def census(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        for organisation in self._organisations:
            async with self._db.transaction(organisation) as conn:
                cur = await conn.execute(SQL["census"], {"organisation": organisation})
                found.update(dict(await cur.fetchall()))
        return dict(found)

    async def rewrap(self, vault: Vault, batch: int) -> int:
        looked = 0
        for organisation in self._organisations:
            async with self._db.transaction(organisation) as conn:
                which = {"organisation": organisation, "key_id": vault.newest}
                for key_id, blob in await (await conn.execute(SQL["older"], which)).fetchall():
                    made = vault.rewrap(Sealed(key_id, bytes(blob)), place(organisation))
                    new = {"organisation": organisation, "key_id": made.key_id, "sealed": made.blob}
                    await conn.execute(SQL["rewrap"], {**new, "old_key_id": key_id, "before": bytes(blob)})
                    looked += 1
            if looked >= batch:
                break
        return looked
