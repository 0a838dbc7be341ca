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
from leasehold.runs.checkpoint import checkpoint
from leasehold.runs.ledger import Cost
from leasehold.runs.models import ITEM, Finished, NewItem, Run
from leasehold.runs.requests import request_for

_REFUSED = "invalid_request"


async def begin(
    conn: Conn, organisation: UUID, run: Run, wishes: Sequence[Wish], unit: int, catalogue: Catalogue
) -> list[NewItem]:
    """Those of them that are new: a provider may list a thing twice; it is collected once. Hold the run.

    What the platform does not take has failed before it began: it is an item without a job, and costs nothing.
    """
    faults = [_why_not(catalogue, run.platform, wish) for wish in wishes]
    new = [_item(wish, unit) if why is None else _refused(wish) for wish, why in zip(wishes, faults, strict=True)]
    fresh = await store.begin_items(conn, organisation, run.id, new)
    taken = [(one, wish, why) for one, wish, why in zip(new, wishes, faults, strict=True) if one.id in fresh]
    if not taken:
        return []
    costs = [Cost(one.id, one.reserved_micros) for one, _, _ in taken]
    await ledger.reserve(conn, organisation, run.id, costs, "item")
    requests = [request_for(run, one.job, one.item_type, wish.payload) for one, wish, why in taken if why is None]
    await take_in(conn, nobody(organisation), requests, catalogue)
    if over := [_over(one, why) for one, _, why in taken if why is not None]:
        await checkpoint(conn, organisation, run, over, {})
    return [one for one, _, _ in taken]


def _why_not(catalogue: Catalogue, slug: str, wish: Wish) -> str | None:
    """Why a platform does not take a payload. That there is no such platform, or type, is said by the broker."""
    platform = catalogue.get(slug)
    kind = platform.task_types.get(wish.item_type) if platform else None
    faults = kind.faults(wish.payload) if kind else []
    return f"The platform {slug} does not take it: " + _told(faults) if faults else None


def _told(faults: Sequence[tuple[str, str]]) -> str:
    return "; ".join(f"{where or '/'}: {why}" for where, why in faults[:3])[:1000]


def _item(wish: Wish, unit: int) -> NewItem:
    id_ = uuid7()
    return NewItem(id_, wish.category, wish.item_type, wish.external_id, show(ITEM, id_), unit)


def _refused(wish: Wish) -> NewItem:
    return NewItem(uuid7(), wish.category, wish.item_type, wish.external_id, "", 0)


def _over(one: NewItem, why: str) -> Finished:
    error = {"code": _REFUSED, "message": why}
    return Finished(one.id, one.category, one.item_type, one.external_id, 0, one.job, None, "failed", 0, error, 0)
