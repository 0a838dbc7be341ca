"""A run on its way, changed by hand: its name, its cap, how many items are in hand at once, categories left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from leasehold.db import Conn
from leasehold.jobs import WrongState
from leasehold.problems import fault, invalid
from leasehold.runs import again, store
from leasehold.runs.enumeration import total_items
from leasehold.runs.models import Run


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be another; what is None stays as it is."""

    name: str | None = None
    cap_micros: int | None = None
    max_in_flight: int | None = None
    drop_categories: Sequence[str] = ()

    def told(self) -> dict[str, Any]:
        changed = {
            "name": self.name,
            "budget_cap_micros": self.cap_micros,
            "max_in_flight": self.max_in_flight,
            "drop_categories": list(self.drop_categories) or None,
        }
        return {key: value for key, value in changed.items() if value is not None}


async def change(conn: Conn, organisation: UUID, run: Run, wish: Change, by: str) -> None:
    """Hold the run. Raises WrongState when it is over and more than its name is to change."""
    if wish.name is not None:
        await store.change(conn, store.SQL["rename"], organisation, run.id, name=wish.name)
    if wish.cap_micros is not None:
        await _set_cap(conn, organisation, run, wish.cap_micros, by)
    if run.status.is_over and (wish.max_in_flight is not None or wish.drop_categories):
        raise WrongState(f"A run that is {run.status} begins nothing any more.", status_now=str(run.status))
    if wish.max_in_flight is not None:
        await _set_pace(conn, organisation, run, wish.max_in_flight, by)
    if wish.drop_categories:
        await _drop(conn, organisation, run, wish.drop_categories, by)


async def _set_cap(conn: Conn, organisation: UUID, run: Run, cap_micros: int, by: str) -> None:
    if run.status.is_over:
        raise WrongState(f"A run that is {run.status} has no budget any more.", status_now=str(run.status))
    least = run.spent_micros + run.reserved_micros
    if cap_micros < least:
        raise invalid(fault("body", "/budget_cap_micros", f"{least} are spent or reserved already: not below that."))
    await store.change(conn, store.SQL["set_cap"], organisation, run.id, cap=cap_micros)
    told = {"by": by, "from_micros": run.budget_cap_micros, "budget_cap_micros": cap_micros}
    await store.tell(conn, organisation, run.id, [("cap_changed", told)])


async def _set_pace(conn: Conn, organisation: UUID, run: Run, most: int, by: str) -> None:
    if most == run.max_in_flight:
        return
    await store.change(conn, store.SQL["set_pace"], organisation, run.id, most=most)
    told = {"by": by, "before": run.max_in_flight, "max_in_flight": most}
    await store.tell(conn, organisation, run.id, [("pace_changed", told)])


async def _drop(conn: Conn, organisation: UUID, run: Run, categories: Sequence[str], by: str) -> None:
    if wrong := [number for number, name in enumerate(categories) if name not in run.categories]:
        known = ", ".join(run.categories)
        raise invalid(
            *(
                fault("body", f"/drop_categories/{number}", f"It is not of this run, only {known}.")
                for number in wrong[:10]
            )
        )
    new = [name for name in run.categories if name in categories and name not in run.dropped_categories]
    if not new:
        return
    after = replace(run, dropped_categories=[*run.dropped_categories, *new])
    await again.give_up(conn, organisation, run.id, new)
    total = total_items(after, run.enumerated)
    dropped = after.dropped_categories
    await store.change(conn, store.SQL["drop"], organisation, run.id, dropped=dropped, total=total)
    told = {"by": by, "categories": new, "total_items": total}
    await store.tell(conn, organisation, run.id, [("categories_dropped", told)])
