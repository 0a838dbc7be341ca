"""After the torture: every account can be had again in bounded time, and what ran out gets booked."""

import asyncio
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.faults.clients import acquire, release, revive
from tests.faults.wire import Wire

# On top of what a lease and the rests after it may take; and for each answer, as nothing is broken any more. Both are
# only used up when something is.
GRACE_S = 90.0
PATIENCE_S = 60.0


async def prove(
    folder: Path, servers: list[str], token: str, sites: Mapping[str, Mapping[str, Any]], ttl_s: int
) -> list[str]:
    """L9: take every account of every site at once, give it back, and have the rest booked; returns what failed."""
    wire = Wire(folder, "prober", servers, token, random.Random(0), PATIENCE_S)  # noqa: S311
    deadline = time.monotonic() + ttl_s + GRACE_S
    try:
        taken = await asyncio.gather(*(_take_all(wire, site, sites[site], deadline) for site in sites))
        return [fault for faults in taken for fault in faults] + await _book(servers[0], token)
    finally:
        await wire.close()


async def _take_all(wire: Wire, site: str, wanted: Mapping[str, Any], deadline: float) -> list[str]:
    most = wanted["policy"].get("max_concurrent_accounts", wanted["accounts"])
    held: list[str] = []
    asked: dict[str, Any] = {"site": site, "owner": f"prober/{site}", "key": None, "labels": {}}
    asked |= {"count": 1, "wait": 1, "ttl": 300}
    while len(held) < most and time.monotonic() < deadline:
        answer = await wire.call(acquire(asked, None))
        held += [lease["id"] for lease in answer.seen.get("leases", ())]
        if not answer.seen.get("leases"):
            await _bring_back(wire, site)
    for lease in held:
        answer = await wire.call(release(lease, "ok"))
        if answer.result != "ok":
            return [f"progress: {lease} at {site} could not be given back: {answer}"]
    return [f"progress: {site} granted {len(held)} of {most} accounts after the torture"] if len(held) < most else []


async def _bring_back(wire: Wire, site: str) -> None:
    """Those on probation are set aside again when the last lease of a dead client runs out, so not once and for all."""
    for state in ("blocked", "inactive", "cooling"):
        for account in await wire.look(f"/v2/accounts?limit=500&site={site}&state={state}"):
            await wire.call(revive(account["id"]))


async def _book(server: str, token: str) -> list[str]:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as client:
        response = await client.post(f"{server}/v2/accounts/reclaim", json={}, timeout=PATIENCE_S)
    return [] if response.status_code == 200 else [f"progress: reclaim answered {response.status_code}"]
