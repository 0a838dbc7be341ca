"""Tasks that workers take: by priority and age, within what each platform bears, shared between organisations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import leases
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.jobs import machine, store
from leasehold.jobs.machine import Status, Task
from leasehold.jobs.models import PREFIX, Burial, Noted, Order
from leasehold.leases import (
    Ask,
    Claim,
    Deal,
    Ended,
    Grant,
    How,
    KeptLeases,
    Kind,
    NewLease,
    Report,
    Waiting,
    Wanted,
    new_id,
)
from leasehold.platforms import Catalogue
from leasehold.problems import fault, invalid

_OUTCOMES = ("ok", "returned")
# When nothing tells how long, ask again after this.
_UNKNOWN_S = 30
# What another organisation has in hand ends without anybody telling us.
_LOOK_AGAIN_S = 1.0
# In the labels of somebody who waits: what it can do.
PLATFORMS, TASK_TYPES = "platforms", "task_types"


def wish(platforms: Sequence[str], task_types: Sequence[str] | None) -> dict[str, str]:
    """What a worker can do, as it stands in the queue."""
    return {PLATFORMS: " ".join(platforms)} | ({TASK_TYPES: " ".join(task_types)} if task_types else {})


def _platforms(labels: Mapping[str, str]) -> list[str]:
    return labels.get(PLATFORMS, "").split()


def _task_types(labels: Mapping[str, str]) -> tuple[str, ...] | None:
    return tuple(labels[TASK_TYPES].split()) if TASK_TYPES in labels else None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task that may be begun, kept from others."""

    id: UUID
    platform: str
    task_type: str
    priority: int
    created_at: datetime

    def fits(self, claim: Claim) -> bool:
        kinds = _task_types(claim.labels)
        return self.platform in _platforms(claim.labels) and (kinds is None or self.task_type in kinds)


class TaskRows:
    """Tasks as rows that are held on leases."""

    kind = Kind.TASK
    prefix = PREFIX
    permission = Permission.TASKS_WORK

    def read(self, report: Mapping[str, Any]) -> Report:
        if report["outcome"] not in _OUTCOMES:
            raise invalid(
                fault("body", "/outcome", "A task ends with its final result; undone it is given back as `returned`.")
            )
        if strangers := sorted(set(report) - {"outcome", "reason"}):
            raise invalid(*(fault("body", f"/{name}", "This does not go with a task.") for name in strangers))
        return Report(report["outcome"], report.get("reason"))

    async def hold(self, conn: Conn, organisation: UUID, resources: Sequence[UUID]) -> None:
        await store.hold_tasks(conn, organisation, resources)

    async def settle(self, conn: Conn, caller: Caller, ended: Sequence[Ended], _report: Report | None) -> None:
        organisation = caller.organisation
        jobs = await store.jobs_of(conn, organisation, [one.resource for one in ended])
        parts = {part.task.id: part for part in await store.parts_of(conn, organisation, jobs)}
        after: list[Task] = []
        noted, burials = Noted(), []
        for one in ended:
            part = parts.get(one.resource)
            if part is None:
                continue
            task = machine.lost(part.task) if one.how is How.EXPIRED else machine.given_back(part.task)
            after.append(task)
            noted.add(task, "lost" if one.how is How.EXPIRED else str(one.how), owner=one.owner, reason=one.reason)
            if task.status is Status.FAILED:
                burials.append(Burial("worker_lost", "{}", task, "Its workers fell silent, one after the other."))
        await store.settle(conn, organisation, after, {})
        await store.note(conn, organisation, noted)
        await store.bury_tasks(conn, organisation, burials)

    async def shown(self, conn: Conn, organisation: UUID, resource: UUID) -> Mapping[str, Any]:
        jobs = await store.jobs_of(conn, organisation, [resource])
        parts = [part.task for part in await store.parts_of(conn, organisation, jobs) if part.task.id == resource]
        return {"job_id": parts[0].job, "platform": parts[0].platform, "status": parts[0].status} if parts else {}


class TaskStock:
    """What waits for workers."""

    def __init__(self, kept: KeptLeases, catalogue: Catalogue) -> None:
        self._kept = kept
        self._catalogue = catalogue

    async def deal(self, conn: Conn, organisation: UUID, claims: Sequence[Claim]) -> Deal[Order]:
        deal: Deal[Order] = Deal()
        deal.expired = await self.settle(conn, organisation)
        wanted = sorted({slug for claim in claims for slug in _platforms(claim.labels) if self._catalogue.get(slug)})
        if not wanted:
            return deal
        await store.guard(conn, wanted)
        loads = await store.loads(conn, organisation, wanted)
        rooms = {slug: loads[slug].room(self._catalogue.platforms[slug].limits.concurrency) for slug in wanted}
        candidates = await self._candidates(conn, organisation, claims, rooms)
        given: dict[Ask, list[Candidate]] = {}
        for claim in claims:
            found = _take(claim, candidates, rooms)
            if claim.ask is None:
                deal.left_at.update(one.platform for one in found)
            elif found:
                given[claim.ask] = found
        await self._grant(conn, organisation, given, deal)
        return deal

    async def settle(self, conn: Conn, organisation: UUID) -> list[Ended]:
        """Book the workers that are lost, and the messages that never came."""
        found = await store.overdue(conn, organisation)
        await store.defer(conn, organisation, [task for task, _, ran_out in found if ran_out is False])
        silent = [task for task, lease, _ in found if lease is None]
        if silent:
            await self._give_up(conn, organisation, silent)
        ran_out = [lease for _, lease, has in found if has and lease is not None]
        return await self._kept.expire(conn, organisation, ran_out) if ran_out else []

    async def _give_up(self, conn: Conn, organisation: UUID, tasks: Sequence[UUID]) -> None:
        """Messages were announced and did not come: somebody else does it again."""
        jobs = await store.jobs_of(conn, organisation, tasks)
        parts = [part.task for part in await store.parts_of(conn, organisation, jobs) if part.task.id in set(tasks)]
        after = [machine.lost(task) for task in parts]
        noted = Noted()
        for task in after:
            noted.add(task, "incomplete")
        await store.settle(conn, organisation, after, {})
        await store.note(conn, organisation, noted)
        over = [task for task in after if task.status.is_over]
        burials = [Burial("worker_lost", "{}", task, "Not all of its results came.") for task in over]
        await store.bury_tasks(conn, organisation, burials)

    async def granted(self, conn: Conn, organisation: UUID, ids: Sequence[UUID]) -> Mapping[UUID, Grant[Order]]:
        orders = await store.orders(conn, organisation, ids)
        found = await leases.find(conn, organisation, orders)
        return {lease: Grant(found[lease], order) for lease, order in orders.items() if lease in found}

    async def waiting(self, conn: Conn, organisation: UUID, wanted: Wanted) -> Waiting:
        platforms = _platforms(wanted.labels)
        ready, resting, in_hand, next_at, in_s = await store.look(conn, organisation, platforms)
        counts = {"pending": ready + resting, "in_hand": in_hand}
        names = ", ".join(platforms)
        if ready:
            loads = await store.loads(conn, organisation, platforms)
            if all(load.is_paused for load in loads.values()):
                return Waiting("paused", f"{names}: paused by an operator.", None, _UNKNOWN_S, counts)
            return Waiting("all_leased", f"{names}: as many tasks are in hand as the platform bears.", None, 1, counts)
        if resting:
            soon = max(1, int(in_s or 0) + 1)
            return Waiting("not_due", f"{names}: {resting} wait for their next attempt.", next_at, soon, counts)
        return Waiting("none_match", f"{names}: nothing waits for a worker.", None, _UNKNOWN_S, counts)

    async def next_in_s(self, conn: Conn, organisation: UUID, _site: str | None) -> float | None:
        ready, _, _, _, in_s = await store.look(conn, organisation, None)
        if ready:
            return _LOOK_AGAIN_S
        return None if in_s is None else max(0.0, in_s)

    async def _candidates(
        self, conn: Conn, organisation: UUID, claims: Sequence[Claim], rooms: Mapping[str, int]
    ) -> list[Candidate]:
        """The first of what anybody wants, each once. Enough for all: one may take what another would have."""
        most = sum(claim.limit for claim in claims)
        asked = {(slug, _task_types(claim.labels)) for claim in claims for slug in _platforms(claim.labels)}
        found: dict[UUID, Candidate] = {}
        for slug, kinds in sorted(asked, key=str):
            if room := rooms.get(slug, 0):
                rows = await store.waiting(conn, organisation, slug, kinds, min(most, room))
                found |= {row[0]: Candidate(*row) for row in rows}
        return sorted(found.values(), key=lambda one: (-one.priority, one.created_at, one.id))

    async def _grant(
        self, conn: Conn, organisation: UUID, given: Mapping[Ask, Sequence[Candidate]], deal: Deal[Order]
    ) -> None:
        taken = {one.id: new_id(Kind.TASK) for found in given.values() for one in found}
        if not taken:
            return
        fences = await store.raise_fences(conn, organisation, list(taken))
        new = [self._lease(ask, one, taken[one.id], fences[one.id]) for ask, found in given.items() for one in found]
        granted = await self._kept.grant(conn, organisation, new)
        await store.dispatch(conn, organisation, list(taken.values()))
        orders = await store.orders(conn, organisation, list(taken.values()))
        await store.roll_up(conn, organisation, sorted({order.job for order in orders.values()}))
        for ask, found in given.items():
            deal.given[ask] = [Grant(granted[one.id], orders[taken[one.id]]) for one in found]
        begun = [(ask.wanted.owner, orders[taken[one.id]]) for ask, found in given.items() for one in found]
        await store.note_dispatched(conn, organisation, begun)

    def _lease(self, ask: Ask, one: Candidate, lease: UUID, fence: int) -> NewLease:
        wanted = ask.wanted
        said = self._catalogue.platforms[one.platform].timeouts.lease_seconds
        return NewLease(
            id=lease,
            resource=one.id,
            site=one.platform,
            fence=fence,
            owner=wanted.owner,
            token=ask.caller.token,
            job_id=None,
            ttl_seconds=wanted.ttl_seconds or said,
        )


def _take(claim: Claim, candidates: list[Candidate], rooms: dict[str, int]) -> list[Candidate]:
    """The first that fit, as far as there is room; they are nobody else's then."""
    found: list[Candidate] = []
    for one in list(candidates):
        if len(found) == claim.limit:
            break
        if rooms[one.platform] > 0 and one.fits(claim):
            rooms[one.platform] -= 1
            candidates.remove(one)
            found.append(one)
    return found
