"""What the items of a run brought: read where it was written, and noted where they are settled, so once."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

from leasehold import entities
from leasehold.collectors import Product
from leasehold.db import Conn, Database
from leasehold.entities import SELLER
from leasehold.runs.models import Finished, Run
from leasehold.runs.store import SQL
from leasehold.writers import Place

_DATA_DOCUMENTS = 20


# What reads the documents of tasks, wherever their platform has them written.
Reader = Callable[[UUID, Sequence[Place]], Awaitable[dict[UUID, list[dict[str, Any]]]]]
# Documents by the names of their jobs.
Found = dict[str, list[dict[str, Any]]]


async def read(reader: Reader, organisation: UUID, run: Run, over: Sequence[Finished]) -> Found:
    """What items brought. No transaction is open meanwhile: it may be in another database."""
    jobs = {one.task: one.job for one in over if one.task is not None and one.documents}
    if not jobs:
        return {}
    found = await reader(organisation, [Place(task, job, run.platform) for task, job in jobs.items()])
    return {jobs[task]: documents for task, documents in found.items()}


async def note_sellers(conn: Conn, organisation: UUID, run: Run, over: Sequence[Finished], found: Found) -> None:
    """Sellers among what items brought become entities, in the transaction that settles these."""
    sellers = [
        seller(run.platform, document)
        for one in over
        if one.job_status == "completed"
        for document in found.get(one.job, [])
        if "normalised_name" in document
    ]
    if sellers:
        await entities.offer(conn, organisation, run.platform, sellers, run=run.id)


def seller(platform: str, document: dict[str, Any]) -> dict[str, Any]:
    """A seller by the name it goes by: spelled otherwise, it is the same one."""
    name = str(document["username"])
    known = ("feedback_score", "feedback_percentage", "item_count")
    return {
        "source": platform,
        "source_id": str(document["normalised_name"]),
        "kind": SELLER,
        "name": name,
        "external_ids": {platform: [name]},
        "attributes": {key: document[key] for key in known if document.get(key) is not None},
    }


def data_of(documents: list[dict[str, Any]]) -> dict[str, Any]:
    if len(documents) == 1:
        return documents[0]
    return {"documents": documents[:_DATA_DOCUMENTS], "found": len(documents)}


class CollectedProducts:
    """Products that runs of an organisation have collected, in the order they came; each once."""

    def __init__(self, db: Database, organisation: UUID, collector: str) -> None:
        self._db = db
        self._organisation = organisation
        self._collector = collector

    async def after(self, category: str, cursor: str | None, limit: int) -> list[Product]:
        given = {
            "organisation": self._organisation,
            "collector": self._collector,
            "category": category,
            "after": UUID(hex=cursor) if cursor else None,
            "limit": limit,
        }
        async with self._db.transaction(self._organisation) as conn:
            rows = await (await conn.execute(SQL["products"], given)).fetchall()
        return [Product(asin, title, category, id_.hex) for id_, asin, title in rows]
