"""A leasehold with sites and seeds to try things on, and time that passes at will."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx

from tests.parts.house import House, house

JSON = dict[str, Any]


class Refused(Exception):
    """An answer that is a problem."""

    def __init__(self, answer: httpx.Response) -> None:
        super().__init__(answer.text)
        self.status = answer.status_code
        self.problem: JSON = answer.json()

    @property
    def pointers(self) -> list[str]:
        return [error["pointer"] for error in self.problem["errors"]]


class Garden:
    """One leasehold and an admin's client; `beside` is another process on the same database."""

    def __init__(self, home: House, client: httpx.AsyncClient) -> None:
        self.home = home
        self.client = client

    async def send(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        answer = await self.client.request(method, path, json=body, headers=headers)
        if answer.is_error:
            raise Refused(answer)
        return answer.json() if answer.content else None

    async def site(self, slug: str = "board", **policy: Any) -> None:
        await self.send("POST", "/v2/sites", {"slug": slug, "domain": f"{slug}.example", "policy": policy})

    async def seeds(self, *paths: str, site: str = "board", overdue_s: float = 0, **more: Any) -> list[JSON]:
        """Seeds at these paths of a site, due since a while."""
        items = [{"site": site, "url": f"https://{site}.example{path}", **more} for path in paths]
        made: list[JSON] = (await self.send("POST", "/v2/seeds", {"items": items}))["items"]
        if overdue_s:
            ids = [one["id"].removeprefix("seed_") for one in made]
            self.home.database.run(
                "UPDATE seed SET next_due_at = next_due_at - %s WHERE id = ANY(%s::uuid[])",
                timedelta(seconds=overdue_s),
                ids,
            )
        return made

    async def ask(self, owner: str = "ann", key: str | None = None, **more: Any) -> JSON:
        answer: JSON = await self.send("POST", "/v2/seeds/acquire", {"owner": owner, **more}, key)
        return answer

    async def acquire(self, **more: Any) -> JSON:
        """One lease, that has to be there."""
        answer = await self.ask(**more)
        assert len(answer["leases"]) == 1, answer
        lease: JSON = answer["leases"][0]
        return lease

    async def paths(self, limit: int = 100, **more: Any) -> list[str]:
        """The URLs an acquire hands out, in order."""
        return [lease["seed"]["url"] for lease in (await self.ask(limit=limit, **more))["leases"]]

    async def waiting(self, **more: Any) -> JSON:
        """Why there is nothing, which has to be so."""
        answer = await self.ask(**more)
        assert answer["leases"] == [], "something was due"
        waiting: JSON = answer["waiting"]
        return waiting

    async def release(self, lease: Mapping[str, Any], outcome: str = "ok", **more: Any) -> JSON:
        """The seed as it is after its visit."""
        body = {"outcome": outcome, **more}
        answer: JSON = await self.send("POST", f"/v2/leases/{lease['id']}/release", body)
        resource: JSON = answer["resource"]
        return resource

    async def get(self, seed: Mapping[str, Any]) -> JSON:
        id_ = seed.get("resource_id") or seed["id"]
        found: JSON = await self.send("GET", f"/v2/seeds/{id_}")
        return found

    async def change(self, seed: Mapping[str, Any], **change: Any) -> JSON:
        changed: JSON = await self.send("PATCH", f"/v2/seeds/{seed.get('resource_id') or seed['id']}", change)
        return changed

    async def passes(self, seconds: float) -> None:
        """Time passes: everything that happened lies further back."""
        past = timedelta(seconds=seconds)
        for table, columns in {
            "lease": ("acquired_at", "expires_at"),
            "lease_end": ("acquired_at", "expires_at", "ended_at"),
            "seed_bed": ("served_at", "head_due_at"),
            "seed": ("next_due_at", "back_at", "last_visited_at"),
            "seed_visit": ("at", "next_due_at"),
        }.items():
            moved = ", ".join(f"{column} = {column} - %s" for column in columns)
            self.home.database.run(f"UPDATE {table} SET {moved}", *([past] * len(columns)))

    async def parked(self, count: int = 1) -> None:
        """Until so many wait."""
        async with asyncio.timeout(20):
            while len(self.home.app.state.seeds.room) != count:
                await asyncio.sleep(0.005)

    async def waiter(self, waiters: int = 1, **more: Any) -> asyncio.Task[JSON]:
        """Somebody who asks and has to wait; comes back when it does."""
        task = asyncio.create_task(self.ask(**{"wait_seconds": 25, **more}))
        await self.parked(waiters)
        return task

    @asynccontextmanager
    async def beside(self) -> AsyncIterator["Garden"]:
        async with house(self.home.database) as other:
            yield Garden(other, other.client(await self.home.token()))
