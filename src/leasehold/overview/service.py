"""Puts together how everything stands, as far as the caller may see it."""

from collections.abc import Mapping
from uuid import UUID

from leasehold.accounts import Accounts, PoolsMoving
from leasehold.auth import Permission
from leasehold.caller import Caller
from leasehold.db import Conn, Database
from leasehold.overview import concerns, store
from leasehold.overview.models import Concern, Flow, Weight, Whole
from leasehold.seeds import Seeds


class Overview:
    """One question instead of a dozen: whoever looks after everything asks it every few seconds."""

    def __init__(self, db: Database, accounts: Accounts, seeds: Seeds) -> None:
        self._db = db
        self._accounts = accounts
        self._seeds = seeds

    async def look(self, caller: Caller, hours: int) -> Whole:
        pools = await self._pools(caller)
        due = await self._seeds.histogram(caller, None, 1) if caller.may(Permission.SEEDS_VIEW) else None
        organisation = caller.organisation
        async with self._db.transaction(organisation) as conn:
            at = await store.now(conn)
            needs = concerns.of_accounts(pools) if pools is not None and caller.may(Permission.ACCOUNTS_VIEW) else []
            flow: Flow | None = None
            if caller.may(Permission.JOBS_VIEW):
                backlogs = await store.backlogs(conn, organisation, concerns.WORKERS_PATIENCE_S)
                flow = await store.flow(conn, organisation, at, hours, [one for one, *_ in backlogs])
                needs += await concerns.of_jobs(conn, organisation, backlogs)
            needs += await _others(conn, caller)
            return Whole(
                at=at,
                flow=flow,
                spend=await store.spend(conn, organisation) if caller.may(Permission.RUNS_VIEW) else None,
                accounts=_totals(pools) if pools is not None and caller.may(Permission.ACCOUNTS_VIEW) else None,
                leases=await _leases(conn, organisation, pools) if caller.may(Permission.LEASES_VIEW) else None,
                seeds=due,
                concerns=sorted(needs, key=_order),
            )

    async def _pools(self, caller: Caller) -> dict[str, dict[str, int]] | None:
        """The accounts of each site by state; None while they are on their way to another store."""
        if not (caller.may(Permission.ACCOUNTS_VIEW) or caller.may(Permission.LEASES_VIEW)):
            return None
        try:
            found = await self._accounts.stats(caller, None)
        except PoolsMoving:
            return None
        return {site: dict(counts) for site, counts in found.items()}


async def _others(conn: Conn, caller: Caller) -> list[Concern]:
    needs: list[Concern] = []
    for permission, ask in (
        (Permission.RUNS_VIEW, concerns.of_runs),
        (Permission.SITES_VIEW, concerns.of_sites),
        (Permission.SEEDS_VIEW, concerns.of_seeds),
        (Permission.ENTITIES_VIEW, concerns.of_sources),
    ):
        if caller.may(permission):
            needs += await ask(conn, caller.organisation)
    return needs


async def _leases(conn: Conn, organisation: UUID, pools: Mapping[str, Mapping[str, int]] | None) -> dict[str, int]:
    held = await store.leases(conn, organisation)
    return held if pools is None else {"account": _totals(pools).get("using", 0), **held}


def _totals(pools: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for counts in pools.values():
        for state, number in counts.items():
            totals[state] = totals.get(state, 0) + number
    return totals


def _order(concern: Concern) -> tuple[bool, str, float]:
    """The worst first, of a matter the newest first."""
    since = concern.since.timestamp() if concern.since else 0.0
    return concern.weight is not Weight.BAD, str(concern.matter), -since
