"""Wishes become items: written down, reserved, and given to the broker, in one transaction."""

from collections.abc import Sequence
from uuid import UUID

from leasehold.collectors import Wish
from leasehold.db import Conn
from leasehold.ids import show, uuid7
from leasehold.jobs import take_in
from leasehold.leases import nobody
from leasehold.platforms import Catalogue
from leasehold.runs import ledger, store
from leasehold.runs.ledger import Cost
from leasehold.runs.models import ITEM, NewItem, Run
from leasehold.runs.requests import request_for


async def begin(
    conn: Conn, organisation: UUID, run: Run, wishes: Sequence[Wish], unit: int, catalogue: Catalogue
) -> list[NewItem]:
    """Those of them that are new: a provider may list a thing twice; it is collected once. Hold the run."""
    new = [_item(wish, unit) for wish in wishes]
    fresh = await store.begin_items(conn, organisation, run.id, new)
    taken = [one for one in new if one.id in fresh]
    if not taken:
        return []
    await ledger.reserve(conn, organisation, run.id, [Cost(one.id, unit) for one in taken], "item")
    requests = [
        request_for(run, one.job, one.item_type, wish.payload)
        for one, wish in zip(new, wishes, strict=True)
        if one.id in fresh
    ]
    await take_in(conn, nobody(organisation), requests, catalogue)
    return taken


def _item(wish: Wish, unit: int) -> NewItem:
    id_ = uuid7()
    return NewItem(id_, wish.category, wish.item_type, wish.external_id, show(ITEM, id_), unit)
