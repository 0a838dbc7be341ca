"""Seeds as things that are held on leases: what becomes of one when a lease on it ends."""

import random
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from leasehold import audit
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.db import Conn
from leasehold.ids import show
from leasehold.leases import PREFIX as LEASE
from leasehold.leases import Ended, Kind, Report, nobody
from leasehold.problems import fault, invalid
from leasehold.seeds import schedule, store
from leasehold.seeds.answers import SeedOut
from leasehold.seeds.models import PREFIX
from leasehold.seeds.schedule import VisitOutcome
from leasehold.seeds.store import Visit
from leasehold.sites import Sites

_OUTCOMES = ", ".join(VisitOutcome)
_WITH_OK = ("found", "cursor")


class SeedRows:
    """The seeds behind the leases of their kind."""

    kind, prefix, permission = Kind.SEED, PREFIX, Permission.SEEDS_USE

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._chance = random.Random()  # noqa: S311 (it spreads visits, it hides nothing)

    def read(self, report: Mapping[str, Any]) -> Report:
        outcome = report["outcome"]
        if outcome not in set(VisitOutcome):
            raise invalid(fault("body", "/outcome", f"A seed is given back with one of {_OUTCOMES}."))
        faults = [
            fault("body", f"/{name}", "This goes with the outcome ok alone.")
            for name in _WITH_OK
            if name in report and outcome != VisitOutcome.OK
        ]
        if "cooldown_seconds" in report:
            faults.append(fault("body", "/cooldown_seconds", "A seed takes no cool-down; its interval adapts."))
        if faults:
            raise invalid(*faults)
        return Report(**report)

    async def hold(self, conn: Conn, organisation: UUID, resources: Sequence[UUID]) -> None:
        await store.hold(conn, organisation, resources)

    async def settle(self, conn: Conn, caller: Caller, ended: Sequence[Ended], report: Report | None) -> None:
        organisation = caller.organisation
        if report is None:
            await store.free(conn, organisation, [one.resource for one in ended], [one.id for one in ended])
            return
        for one in ended:
            await self._visited(conn, organisation, one, report)

    async def _visited(self, conn: Conn, organisation: UUID, ended: Ended, report: Report) -> None:
        rhythm = await store.rhythm(conn, organisation, ended.resource)
        if rhythm is None:
            return
        outcome = VisitOutcome(report.outcome)
        found = (report.found or 0) if outcome is VisitOutcome.OK else None
        then = schedule.after(rhythm, outcome, found or 0, self._chance.random())
        visit = Visit(
            ended.resource, ended.id, ended.owner, outcome, found, report.cursor, report.reason, rhythm.interval_s
        )
        await store.visited(conn, organisation, visit, then)
        if then.is_gone:
            detail = {"lease": show(LEASE, ended.id), "owner": ended.owner, "reason": report.reason}
            await audit.record(conn, nobody(organisation), "seed.gone", show(PREFIX, ended.resource), detail)

    async def shown(self, conn: Conn, organisation: UUID, resource: UUID) -> Mapping[str, Any]:
        found = await store.by_ids(conn, organisation, [resource])
        if resource not in found:
            return {}
        registry = await self._sites.registry_in(conn, organisation)
        return SeedOut.model_validate(found[resource].placed(registry)).model_dump(mode="json")
