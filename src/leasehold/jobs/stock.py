"""Tasks that workers take: by priority and age, within what each platform bears, shared between organisations."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from leasehold import leases
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.jobs import limits, machine, store
from leasehold.jobs.aftermath import Aftermath
from leasehold.jobs.machine import Status, Task
from leasehold.jobs.models import PREFIX, Burial, Noted, Order, Part
from leasehold.leases import (
    NEVER_DELIVERED,
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
# Who holds what goes to workers through RabbitMQ.
BROKER = "rabbitmq"
# What the broker would not take rests so long, lest it be offered to it all the time.
_REST_S = 2.0
# When nothing tells how long, ask again after this.
_UNKNOWN_S = 30
# What another organisation has in hand ends without anybody telling us.
_LOOK_AGAIN_S = 1.0
# In the labels of somebody who waits: what it can do.
PLATFORMS, TASK_TYPES, CANARY = "platforms", "task_types", "canary"


def wish(platforms: Sequence[str], task_types: Sequence[str] | None, *, is_canary: bool = False) -> dict[str, str]:
    """What a worker can do, as it stands in the queue."""
    kinds = {TASK_TYPES: " ".join(task_types)} if task_types else {}
    return {PLATFORMS: " ".join(platforms)} | kinds | ({CANARY: "yes"} if is_canary else {})


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
    fence: int  # of its last grant
    is_for_canaries: bool

    def fits(self, claim: Claim) -> bool:
        kinds = _task_types(claim.labels)
        is_kind = kinds is None or self.task_type in kinds
        is_canary = CANARY in claim.labels
        return self.platform in _platforms(claim.labels) and is_kind and is_canary == self.is_for_canaries


class TaskRows:
    """Tasks as rows that are held on leases."""

    kind = Kind.TASK
    prefix = PREFIX
    permission = Permission.TASKS_WORK

    def __init__(self, catalogue: Catalogue, aftermath: Aftermath) -> None:
        self._catalogue = catalogue
        self._aftermath = aftermath

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
            task, event = self._ended(part, one)
            after.append(task)
            noted.add(task, event, owner=one.owner, reason=one.reason, cost_micros=task.cost_micros)
            if task.status is Status.FAILED and not part.task.status.is_over:
                burials.append(Burial("worker_lost", "{}", task, "Its workers fell silent, one after the other."))
        tally = await store.settle(conn, organisation, after, {})
        await store.note(conn, organisation, noted)
        await store.bury_tasks(conn, organisation, burials)
        tally.buried = burials
        # Not committed yet, but hardly ever taken back. Leases that were taken for the job are left to the reaper.
        self._aftermath.count(tally)

    def _ended(self, part: Part, one: Ended) -> tuple[Task, str]:
        """What the end of its lease makes of a task, and what is written of it."""
        if part.task.status.is_over:
            return replace(part.task, is_held=False), str(one.how)
        found = self._catalogue.get(part.task.platform)
        is_brokers = one.owner == BROKER and found is not None and found.transport == "amqp"
        if one.how is How.EXPIRED:
            if is_brokers and part.is_unheard:
                return machine.given_back(part.task), "unpublished"
            return machine.lost(part.task), "lost"
        back = machine.given_back(part.task)
        if is_brokers and one.reason == NEVER_DELIVERED:
            return replace(back, rest_s=_REST_S), "unpublished"
        return back, str(one.how)

    async def shown(self, conn: Conn, organisation: UUID, resource: UUID) -> Mapping[str, Any]:
        jobs = await store.jobs_of(conn, organisation, [resource])
        parts = [part.task for part in await store.parts_of(conn, organisation, jobs) if part.task.id == resource]
        return {"job_id": parts[0].job, "platform": parts[0].platform, "status": parts[0].status} if parts else {}


class TaskStock:
    """What waits for workers."""

    def __init__(self, kept: KeptLeases, catalogue: Catalogue, aftermath: Aftermath) -> None:
        self._aftermath = aftermath
        self._kept = kept
        self._catalogue = catalogue

    async def deal(self, conn: Conn, organisation: UUID, claims: Sequence[Claim]) -> Deal[Order]:
        deal: Deal[Order] = Deal()
        deal.expired = await self.settle(conn, organisation)
        wanted = sorted({slug for claim in claims for slug in _platforms(claim.labels) if self._catalogue.get(slug)})
        if not wanted:
            return deal
        await limits.guard(conn, wanted)
        loads = await limits.loads(conn, organisation, [self._catalogue.platforms[slug] for slug in wanted])
        rooms = {slug: loads[slug].room for slug in wanted}
        candidates = await self._candidates(conn, organisation, claims, rooms)
        given: dict[Ask, list[Candidate]] = {}
        for claim in claims:
            found = _take(claim, candidates, rooms)
            if claim.ask is None:
                deal.left_at.update(one.platform for one in found)
            elif found:
                given[claim.ask] = found
        begun = [(one.platform, one.id) for found in given.values() for one in found]
        await limits.begun(conn, organisation, self._catalogue.platforms, loads, begun)
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
        tally = await store.settle(conn, organisation, after, {})
        await store.note(conn, organisation, noted)
        over = [task for task in after if task.status.is_over]
        burials = [Burial("worker_lost", "{}", task, "Not all of its results came.") for task in over]
        await store.bury_tasks(conn, organisation, burials)
        tally.buried = burials
        self._aftermath.count(tally)

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
            known = [one for slug in platforms if (one := self._catalogue.get(slug))]
            loads = (await limits.loads(conn, organisation, known)).values()
            if all(load.is_paused for load in loads):
                return Waiting("paused", f"{names}: paused by an operator.", None, _UNKNOWN_S, counts)
            if all(load.is_paused or load.is_open for load in loads):
                next_at = min(load.probe_at for load in loads if load.probe_at)
                return Waiting("paused", f"{names}: nearly everything fails there; it is tried.", next_at, 1, counts)
            if all(load.rate_room == 0 for load in loads):
                soon = max(1, math.ceil(min(load.rate_in_s or 0 for load in loads)))
                return Waiting("rate_limited", f"{names}: as many begin as its rate allows.", None, soon, counts)
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
        asked = {
            (slug, _task_types(claim.labels), CANARY in claim.labels)
            for claim in claims
            for slug in _platforms(claim.labels)
        }
        found: dict[UUID, Candidate] = {}
        for slug, kinds, is_canary in sorted(asked, key=str):
            if room := rooms.get(slug, 0):
                platform, enough = self._catalogue.platforms[slug], min(most, room)
                rows = await limits.waiting(conn, organisation, platform, kinds, enough, is_canary=is_canary)
                found |= {row[0]: Candidate(*row, is_for_canaries=is_canary) for row in rows}
        return sorted(found.values(), key=lambda one: (-one.priority, one.created_at, one.id))

    async def _grant(
        self, conn: Conn, organisation: UUID, given: Mapping[Ask, Sequence[Candidate]], deal: Deal[Order]
    ) -> None:
        taken = {one.id: new_id(Kind.TASK) for found in given.values() for one in found}
        if not taken:
            return
        new = [self._lease(ask, one, taken[one.id]) for ask, found in given.items() for one in found]
        granted = await self._kept.grant(conn, organisation, new)
        lags = await store.dispatch(conn, organisation, taken)
        deal.after.append(partial(self._aftermath.dispatched, lags))
        orders = await store.orders(conn, organisation, list(taken.values()))
        await store.roll_up(conn, organisation, sorted({order.job for order in orders.values()}))
        for ask, found in given.items():
            deal.given[ask] = [Grant(granted[one.id], orders[taken[one.id]]) for one in found]
        begun = [(ask.wanted.owner, orders[taken[one.id]]) for ask, found in given.items() for one in found]
        await store.note_dispatched(conn, organisation, begun)

    def _lease(self, ask: Ask, one: Candidate, lease: UUID) -> NewLease:
        wanted = ask.wanted
        said = self._catalogue.platforms[one.platform].timeouts.lease_seconds
        return NewLease(
            id=lease,
            resource=one.id,
            site=one.platform,
            fence=one.fence + 1,
            owner=wanted.owner,
            token=ask.caller.token,
            job_id=wanted.job_id,
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
