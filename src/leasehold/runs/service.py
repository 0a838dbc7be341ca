"""Runs: estimated, created, and steered by operators. Whoever drives them is in `driver.py`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from leasehold import audit, idempotency
from leasehold.caller import Caller
from leasehold.collectors import Category, Collector
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show, uuid7
from leasehold.jobs import WrongState
from leasehold.platforms import Catalogue
from leasehold.problems import fault, invalid
from leasehold.runs import again, config, machine, store
from leasehold.runs.config import Circumstances, Config
from leasehold.runs.forecast import LATELY_DAYS, Review, foresee
from leasehold.runs.history import History
from leasehold.runs.machine import Act, ItemStatus, Pause, Status, Verdict
from leasehold.runs.models import (
    RUN,
    Allowance,
    Entry,
    Estimate,
    Event,
    Item,
    Line,
    Plan,
    Run,
    RunFilter,
    SpentDay,
    Summary,
)
from leasehold.runs.problems import BudgetExceeded, PlatformMissing, PriceMissing
from leasehold.runs.steering import Change, change

# Those of an organisation, by their slugs.
Collectors = Callable[[UUID], Mapping[str, Collector]]


class Runs:
    """All that is done with runs by those who plan and watch them."""

    def __init__(self, db: Database, collectors: Collectors, catalogue: Catalogue) -> None:
        self._db = db
        self._collectors = collectors
        self._catalogue = catalogue

    async def categories(self, caller: Caller) -> dict[str, list[Category]]:
        """What each collector can collect, at the prices of today."""
        async with self._db.transaction(caller.organisation) as conn:
            today = await store.today(conn)
        return {slug: one.categories(today) for slug, one in self._collectors(caller.organisation).items()}

    async def allowance(self, caller: Caller) -> Allowance:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.allowance(conn, caller.organisation)

    async def allow(self, caller: Caller, changes: Mapping[str, int]) -> Allowance:
        async with self._db.transaction(caller.organisation) as conn:
            before = await store.allowance(conn, caller.organisation)
            after = Allowance(**{name: changes.get(name, getattr(before, name)) for name in Allowance.__slots__})
            await store.allow(conn, caller.organisation, after)
            await audit.record(conn, caller, "settings.changed", "settings", dict(changes))
        return after

    async def review(self, caller: Caller, plan: Plan) -> Review:
        """What a plan may cost at the most, and what it is likely to by what earlier runs did cost."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            allowed = await store.allowance(conn, organisation)
            estimate = await self._estimate(conn, organisation, plan, allowed)
            lessons = await store.learned(conn, organisation, plan.collector, plan.categories)
            days = plan.skip_days or LATELY_DAYS
            lately = await store.collected(conn, organisation, plan, days)
        forecast = foresee(estimate.items, lessons, lately, is_skipped=plan.skip_days is not None)
        return Review(estimate, forecast, allowed.budget_cap_micros, days)

    async def create(self, caller: Caller, plan: Plan, name: str | None, once: Once | None = None) -> Run:
        """Plan a run. Raises BudgetExceeded when it may cost more than the organisation's cap, PriceMissing when
        nobody knows what it may cost."""
        async with self._db.transaction(caller.organisation) as conn:
            if once is not None and (made := await idempotency.claim(conn, once)) is not None:
                return await store.get(conn, caller.organisation, UUID(hex=made))
            run = uuid7()
            allowed = await store.allowance(conn, caller.organisation)
            estimate = await self._estimate(conn, caller.organisation, plan, allowed)
            _insist(estimate.total_cost_micros, allowed.budget_cap_micros)
            _insist_on_prices(estimate)
            await store.create(
                conn,
                caller.organisation,
                run,
                name=name,
                platform=self._collectors(caller.organisation)[plan.collector].platform,
                estimate=estimate,
                plan=plan,
                soft=allowed.soft_warning_percent,
                by=caller.name,
            )
            if once is not None:
                await idempotency.keep(conn, once, run.hex)
            told = {"estimated_cost_micros": estimate.total_cost_micros, "by": caller.name}
            if plan.skip_days is not None:
                told["skip_collected_days"] = plan.skip_days
            await store.tell(conn, caller.organisation, run, [("created", told)])
            await audit.record(conn, caller, "run.created", show(RUN, run), told)
            return await self._freeze(conn, caller.organisation, run)

    async def act(self, caller: Caller, run: UUID, act: Act) -> Run:
        """Start, pause, resume or cancel. Raises RunUnknown, WrongState, and BudgetExceeded at a start or resume."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            if act is not Act.PAUSE:  # before the run, as everybody does who gives out slots
                await store.guard_slots(conn, organisation)
            now = await store.hold(conn, organisation, run)
            if not machine.may(now.status, act) or (act is Act.START and now.sub_status == "waiting"):
                raise WrongState(f"A run that is {now.status} cannot {act}.", status_now=str(now.status))
            match act:
                case Act.START:
                    await self._start(conn, organisation, now, caller.name)
                case Act.RESUME:
                    _insist(now.spent_micros + now.reserved_micros, now.budget_cap_micros)
                    await resume(conn, organisation, now, {"by": caller.name, "reason": "operator"})
                case Act.PAUSE:
                    await pause(conn, organisation, now, Pause.OPERATOR, None, by=caller.name)
                case Act.CANCEL:
                    await self._cancel(conn, organisation, now, caller.name)
            await audit.record(conn, caller, f"run.{_PAST[act]}", show(RUN, run), {})
            return await store.get(conn, organisation, run)

    async def retry(self, caller: Caller, run: UUID, error_code: str | None) -> Run:
        """Try once more what failed, or failed so; a run that was over goes on with it."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            await store.guard_slots(conn, organisation)
            now = await store.hold(conn, organisation, run)
            if now.status in (Status.PENDING, Status.CANCELLED):
                raise WrongState(f"A run that is {now.status} tries nothing again.", status_now=str(now.status))
            many = await again.note(conn, organisation, now, error_code)
            if many == 0:
                raise WrongState(
                    "No item of this run that can be tried again has failed so.", status_now=str(now.status)
                )
            told = {"by": caller.name, "error_code": error_code, "items": many}
            await store.tell(conn, organisation, run, [("retried", told)])
            if now.status.is_over:
                await resume(conn, organisation, now, {"by": caller.name, "reason": "retried"})
            await audit.record(conn, caller, "run.retried", show(RUN, run), told)
            return await store.get(conn, organisation, run)

    async def change(self, caller: Caller, run: UUID, wish: Change) -> Run:
        """Another name or cap, more or fewer items at once, categories left out."""
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            await change(conn, organisation, await store.hold(conn, organisation, run), wish, caller.name)
            await audit.record(conn, caller, "run.changed", show(RUN, run), wish.told())
            return await store.get(conn, organisation, run)

    async def get(self, caller: Caller, run: UUID) -> Run:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.get(conn, caller.organisation, run)

    async def page(
        self, caller: Caller, which: RunFilter, before: tuple[datetime, UUID] | None, limit: int
    ) -> list[Run]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.page(conn, caller.organisation, which, before, limit)

    async def items(
        self,
        caller: Caller,
        run: UUID,
        status: ItemStatus | None,
        category: str | None,
        after: UUID | None,
        limit: int,
        *,
        newest_first: bool = False,
    ) -> list[Item]:
        async with self._db.transaction(caller.organisation) as conn:
            await store.get(conn, caller.organisation, run)
            return await store.items(
                conn, caller.organisation, run, status, category, after, limit, newest_first=newest_first
            )

    async def ledger(self, caller: Caller, run: UUID, after: int, limit: int) -> list[Entry]:
        async with self._db.transaction(caller.organisation) as conn:
            await store.get(conn, caller.organisation, run)
            return await store.ledger(conn, caller.organisation, run, after, limit)

    async def events(
        self, caller: Caller, run: UUID, since: int, limit: int, without: Sequence[str] = ()
    ) -> list[Event]:
        async with self._db.transaction(caller.organisation) as conn:
            await store.get(conn, caller.organisation, run)
            return await store.events(conn, caller.organisation, run, since, limit, without)

    async def counts(self, caller: Caller) -> dict[Status, int]:
        async with self._db.transaction(caller.organisation) as conn:
            return await store.counts(conn, caller.organisation)

    async def spending(self, caller: Caller, days: int) -> list[SpentDay]:
        """What the runs of the last days spent on each of them."""
        async with self._db.transaction(caller.organisation) as conn:
            return await store.spending(conn, caller.organisation, days)

    async def history(self, caller: Caller, hours: int, limit: int) -> History:
        """What the runs of the last hours did when."""
        async with self._db.transaction(caller.organisation) as conn:
            return await store.history(conn, caller.organisation, hours, limit)

    async def news(self, caller: Caller, since: Mapping[UUID, int], limit: int) -> list[Event]:
        """What came after so many events of each of some runs, in the order of each."""
        async with self._db.transaction(caller.organisation) as conn:
            return await store.news(conn, caller.organisation, since, limit)

    async def live_ones(self, caller: Caller, known: Collection[UUID], limit: int) -> list[Run]:
        """Those that are not over, and those that somebody knows of; the newest first."""
        async with self._db.transaction(caller.organisation) as conn:
            return await store.live_ones(conn, caller.organisation, known, limit)

    async def summary(self, caller: Caller, run: UUID) -> Summary:
        """How each category does, failures by their code, and what was spent by when."""
        async with self._db.transaction(caller.organisation) as conn:
            found = await store.get(conn, caller.organisation, run)
            return await store.summary(conn, caller.organisation, found)

    async def config(self, caller: Caller, run: UUID) -> Config:
        """What a run was started with, beside what is in force for it now."""
        async with self._db.transaction(caller.organisation) as conn:
            found = await store.get(conn, caller.organisation, run)
            then, at = await store.frozen(conn, caller.organisation, run)
            now = config.current(found, await self._around(conn, caller.organisation, found))
        is_started = found.wanted_at is not None
        return Config(at, is_started, config.compare(then or config.known_of(found), now))

    async def _estimate(self, conn: Conn, organisation: UUID, plan: Plan, allowed: Allowance) -> Estimate:
        there, categories = self._collectors(organisation), plan.categories
        found = there.get(plan.collector)
        if found is None:
            known = ", ".join(there)
            raise invalid(fault("body", "/collector", f"There is no such collector, only {known}."))
        if self._catalogue.get(found.platform) is None:
            raise PlatformMissing(
                f"What {plan.collector} finds goes through the platform {found.platform}, whose file is not there: "
                f"put {found.platform}.yaml into the folder of platforms.",
                platform=found.platform,
            )
        offered = {one.id: one for one in found.categories(await store.today(conn))}
        if wrong := [number for number, name in enumerate(categories) if name not in offered]:
            raise invalid(
                *(
                    fault("body", f"/categories/{number}", f"It has no such category, only {', '.join(offered)}.")
                    for number in wrong[:10]
                )
            )
        lines = [Line(name, offered[name].items, offered[name].unit_cost_micros) for name in categories]
        _check_cap(plan.cap_micros, lines, allowed)
        cap = allowed.budget_cap_micros if plan.cap_micros is None else plan.cap_micros
        return Estimate(lines, cap, _verdict(lines, cap, allowed))

    async def _start(self, conn: Conn, organisation: UUID, run: Run, by: str) -> None:
        allowed = await store.allowance(conn, organisation)
        cap = run.budget_cap_micros if run.has_own_cap else allowed.budget_cap_micros
        # Who chose a cap with the plan knows where it pauses; what the organisation allows stands all the same.
        _insist(run.estimated_cost_micros, allowed.budget_cap_micros if run.is_cap_planned else cap)
        soft = allowed.soft_warning_percent
        await store.change(conn, store.SQL["want"], organisation, run.id, cap=cap, soft=soft)
        await self._freeze(conn, organisation, run.id)
        await store.tell(conn, organisation, run.id, [("wanted", {"by": by, "budget_cap_micros": cap})])
        await serve_next(conn, organisation)

    async def _freeze(self, conn: Conn, organisation: UUID, run: UUID) -> Run:
        """Write down what a run goes by from now on."""
        made = await store.get(conn, organisation, run)
        await store.freeze(conn, organisation, run, config.frozen(made, await self._around(conn, organisation, made)))
        return made

    async def _around(self, conn: Conn, organisation: UUID, run: Run) -> Circumstances:
        return Circumstances(
            await store.allowance(conn, organisation),
            self._collectors(organisation).get(run.collector),
            self._catalogue.get(run.platform),
            await store.today(conn),
        )

    async def _cancel(self, conn: Conn, organisation: UUID, run: Run, by: str) -> None:
        await store.change(conn, store.SQL["put_off"], organisation, run.id, tries_on=False)
        await again.give_up(conn, organisation, run.id)
        winding = "cancelling" if run.in_flight else None
        await store.change(
            conn, store.SQL["finish"], organisation, run.id, status=str(Status.CANCELLED), sub_status=winding
        )
        await store.tell(conn, organisation, run.id, [("cancelled", {"by": by, "in_flight": run.in_flight})])
        await serve_next(conn, organisation)


_PAST = {Act.START: "started", Act.PAUSE: "paused", Act.RESUME: "resumed", Act.CANCEL: "cancelled"}


def _insist(cost_micros: int, cap_micros: int) -> None:
    if cost_micros > cap_micros:
        raise BudgetExceeded(
            "It may cost more than the cap allows: choose fewer categories, or have the cap raised.",
            estimated_cost_micros=cost_micros,
            budget_cap_micros=cap_micros,
        )


def _insist_on_prices(estimate: Estimate) -> None:
    if names := estimate.without_price:
        raise PriceMissing(
            f"Nobody wrote down what {', '.join(names)} cost. Add the price to prices.yaml, or leave them out.",
            categories=names,
        )


def _check_cap(cap: int | None, lines: Sequence[Line], allowed: Allowance) -> None:
    """A cap of its own is not above what the organisation allows, and bears one item at least."""
    if cap is None:
        return
    if cap > allowed.budget_cap_micros:
        raise invalid(
            fault("body", "/budget_cap_micros", f"Not above {allowed.budget_cap_micros}, the organisation's.")
        )
    if cap < (least := max(line.unit_cost_micros or 0 for line in lines)):
        raise invalid(fault("body", "/budget_cap_micros", f"It bears no item: one may cost {least}."))


def _verdict(lines: Sequence[Line], cap: int, allowed: Allowance) -> Verdict:
    """A cap that was chosen for this run only warns: the run pauses there."""
    total, soft = sum(line.cost_micros for line in lines), allowed.soft_warning_percent
    at_all = machine.verdict(total, allowed.budget_cap_micros, soft)
    if at_all is Verdict.BLOCKED or any(line.unit_cost_micros is None for line in lines):
        return Verdict.BLOCKED
    return Verdict.OK if machine.verdict(total, cap, soft) is Verdict.OK else Verdict.WARN


async def serve_next(conn: Conn, organisation: UUID) -> None:
    """Give free slots to those who wait for one, in their order. Hold the guard of slots."""
    free = await store.free_slots(conn, organisation)
    for run in await store.next_in_line(conn, organisation, free) if free else []:
        before = await store.get(conn, organisation, run)
        await store.change(conn, store.SQL["run_on"], organisation, run)
        await store.change(conn, store.SQL["take_up"], organisation, run)
        await store.tell(conn, organisation, run, [("resumed" if before.started_at else "started", {})])


async def resume(conn: Conn, organisation: UUID, run: Run, why: Mapping[str, Any]) -> None:
    """Go on with what was paused, or wait for a slot. Hold the guard of slots, and the run."""
    await store.change(conn, store.SQL["want"], organisation, run.id, cap=None, soft=None)
    if await store.free_slots(conn, organisation):
        await store.change(conn, store.SQL["run_on"], organisation, run.id)
        await store.change(conn, store.SQL["take_up"], organisation, run.id)
        await store.tell(conn, organisation, run.id, [("resumed", why)])
    else:
        await store.tell(conn, organisation, run.id, [("wanted", why)])


async def pause(
    conn: Conn,
    organisation: UUID,
    run: Run,
    reason: Pause,
    detail: str | None,
    *,
    by: str | None = None,
    code: str | None = None,
) -> None:
    """Begin nothing more, from this commit on; but a provider that is down is tried with an item. Hold the run."""
    tries_on = reason is Pause.PROVIDER_DOWN
    await store.change(conn, store.SQL["put_off"], organisation, run.id, tries_on=tries_on)
    await store.change(conn, store.SQL["pause"], organisation, run.id, reason=str(reason), detail=detail)
    told = {"pause_reason": str(reason), "detail": detail, "by": by, "in_flight": run.in_flight}
    told |= {"error_code": code} if code else {}
    await store.tell(conn, organisation, run.id, [("paused", told)])


async def pause_beyond_cap(conn: Conn, organisation: UUID, run: Run) -> bool:
    """Pause what would go on by itself after its calls cost more than the cap; whether it was. Hold the run."""
    goes_on = run.status is Status.RUNNING or run.pause_reason is Pause.PROVIDER_DOWN or run.sub_status == "waiting"
    if run.free_micros >= 0 or not goes_on:
        return False
    beyond = f"Calls cost more than was set aside for them: {-run.free_micros} micro-dollars beyond the cap."
    await pause(conn, organisation, run, Pause.BUDGET, f"{beyond} Raise it and resume, or cancel.")
    return True
