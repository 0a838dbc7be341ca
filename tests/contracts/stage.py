"""The stage of the contract suite: a leasehold on one of the stores, spoken to in one of the ways there are.

Every promise about leases is written once, against these verbs, and holds for each store and each way.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol
from urllib.parse import urlencode

import httpx

from leasehold.auth import Role
from leasehold.client import AsyncLeasehold, ProblemError
from leasehold.client.calls import Call
from tests.parts.house import House
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase

JSON = dict[str, Any]


@dataclass
class Refused(Exception):
    """What the server refused with."""

    status: int
    document: JSON

    @property
    def type(self) -> str:
        return str(self.document["type"]).removeprefix("/problems/")

    @property
    def reason(self) -> str | None:
        return self.document.get("reason")


class Way(Protocol):
    """How the server is spoken to."""

    async def send(self, method: str, path: str, body: JSON | None = None, key: str | None = None) -> Any: ...


class RawWay:
    """Plain HTTP, as any language does it."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def send(self, method: str, path: str, body: JSON | None = None, key: str | None = None) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        answer = await self._client.request(method, path, json=body, headers=headers, timeout=60)
        if answer.is_error:
            raise Refused(answer.status_code, answer.json())
        return answer.json() if answer.content else None


class SdkWay:
    """The SDK, with everything it does on the way: models, retries, problems as exceptions."""

    def __init__(self, sdk: AsyncLeasehold, raw: RawWay) -> None:
        self._sdk = sdk
        self._raw = raw

    async def send(self, method: str, path: str, body: JSON | None = None, key: str | None = None) -> Any:
        if key is not None:  # the SDK makes its own keys; a key of ours is a raw caller's business
            return await self._raw.send(method, path, body, key)
        try:
            return await self._sdk.send(Call(method, path, lambda answer: answer, body))
        except ProblemError as problem:
            raise Refused(problem.status, problem.members) from problem


class Clock(Protocol):
    """How time passes in a store without anybody waiting for it."""

    async def pass_(self, time: timedelta) -> None: ...


class PostgresClock:
    """Everything that happened is moved into the past."""

    def __init__(self, database: TestDatabase) -> None:
        self._database = database

    async def pass_(self, time: timedelta) -> None:
        for table, columns in {
            "lease": ("acquired_at", "expires_at"),
            "lease_end": ("acquired_at", "expires_at", "ended_at"),
            "account": ("cooling_until", "last_leased_at", "last_outcome_at", "back_at"),
            "waiter": ("since", "refreshed_at"),
        }.items():
            moved = ", ".join(f"{column} = {column} - %s" for column in columns)
            self._database.run(f"UPDATE {table} SET {moved}", *([time] * len(columns)))


class MongoClock:
    """The same in documents; the queue of waiters is in PostgreSQL."""

    def __init__(self, database: TestDatabase, mongo: MongoDatabase) -> None:
        self._postgres = PostgresClock(database)
        self._mongo = mongo

    async def pass_(self, time: timedelta) -> None:
        await self._postgres.pass_(time)
        fields = ("cooling_until", "last_leased_at", "last_outcome_at", "back_at")
        inside = ("lease.acquired_at", "lease.expires_at")
        by = int(time.total_seconds() * 1000)
        moved = {name: {"$subtract": [f"${name}", by]} for name in (*fields, *inside)}
        with self._mongo.connect() as client:
            database = client[self._mongo.name]
            for name in fields:
                database["accounts"].update_many({name: {"$type": "date"}}, [{"$set": {name: moved[name]}}])
            held = {name: moved[name] for name in inside}
            database["accounts"].update_many({"lease.id": {"$exists": True}}, [{"$set": held}])
            names = ("acquired_at", "expires_at", "ended_at")
            ended = {name: {"$subtract": [f"${name}", by]} for name in names}
            database["lease_ends"].update_many({}, [{"$set": ended}])
            one = {name: {"$subtract": [f"$$this.{name}", by]} for name in names}
            carried = {"$map": {"input": "$ended", "in": {"$mergeObjects": ["$$this", one]}}}
            database["accounts"].update_many({}, [{"$set": {"ended": carried}}])


@dataclass
class Stage:
    """One leasehold, an admin at its desk, and time that passes at will."""

    home: House
    way: Way
    clock: Clock
    # Another leasehold on the same store, for what must hold across processes.
    beside: Callable[[], AbstractAsyncContextManager["Stage"]]

    async def site(self, slug: str = "board", **policy: Any) -> JSON:
        made: JSON = await self.way.send(
            "POST", "/v2/sites", {"slug": slug, "domain": f"{slug}.example", "policy": policy}
        )
        return made

    async def accounts(self, *usernames: str, site: str = "board", **more: Any) -> list[JSON]:
        made = []
        for username in usernames:
            body = {"site": site, "username": username, "secret": {"password": f"LHCANARY of {username}"}, **more}
            made.append(await self.way.send("POST", "/v2/accounts", body))
        return made

    async def ask(self, site: str = "board", owner: str = "ann", key: str | None = None, **more: Any) -> JSON:
        answer: JSON = await self.way.send("POST", "/v2/accounts/acquire", {"site": site, "owner": owner, **more}, key)
        return answer

    async def acquire(self, site: str = "board", owner: str = "ann", **more: Any) -> JSON:
        """One lease, that has to be there."""
        answer = await self.ask(site, owner, **more)
        assert len(answer["leases"]) == 1, answer["waiting"]
        lease: JSON = answer["leases"][0]
        return lease

    async def waiting(self, site: str = "board", **more: Any) -> JSON:
        """Why there is nothing, which has to be so."""
        answer = await self.ask(site, **more)
        assert answer["leases"] == [], "something was free"
        waiting: JSON = answer["waiting"]
        return waiting

    async def beat(self, lease: Mapping[str, Any], **more: Any) -> JSON:
        answer: JSON = await self.way.send("POST", f"/v2/leases/{lease['id']}/heartbeat", more)
        return answer

    async def release(self, lease: Mapping[str, Any], outcome: str = "ok", **more: Any) -> JSON:
        answer: JSON = await self.way.send("POST", f"/v2/leases/{lease['id']}/release", {"outcome": outcome, **more})
        return answer

    async def revoke(self, lease: Mapping[str, Any]) -> int:
        answer: JSON = await self.way.send("DELETE", f"/v2/leases/{lease['id']}")
        return int(answer["revoked"])

    async def account(self, account: Mapping[str, Any] | str) -> JSON:
        id_ = account if isinstance(account, str) else account.get("resource_id") or account["id"]
        found: JSON = await self.way.send("GET", f"/v2/accounts/{id_}")
        return found

    async def account_named(self, username: str, site: str = "board") -> JSON:
        found = (await self.way.send("GET", f"/v2/accounts?site={site}&limit=500"))["items"]
        (named,) = [account for account in found if account["username"] == username]
        account: JSON = named
        return account

    async def change(self, account: Mapping[str, Any], **change: Any) -> JSON:
        id_ = account.get("resource_id") or account["id"]
        changed: JSON = await self.way.send("PATCH", f"/v2/accounts/{id_}", change)
        return changed

    async def leases(self, query: str = "") -> list[JSON]:
        found: JSON = await self.way.send("GET", f"/v2/leases{query}")
        items: list[JSON] = found["items"]
        return items

    async def session(
        self,
        method: str,
        account: str,
        *,
        lease: Mapping[str, Any] | None,
        body: JSON | None = None,
        query: str = "",
        is_collector: bool = False,
    ) -> httpx.Response:
        """A session, with its headers: there are no others who have any."""
        client = self.home.client(await self.home.token(Role.COLLECTOR if is_collector else Role.ADMIN))
        headers = {"Leasehold-Lease": lease["id"]} if lease else {}
        answer = await client.request(method, f"/v2/sessions/{account}{query}", json=body, headers=headers, timeout=60)
        if answer.is_error:
            raise Refused(answer.status_code, answer.json())
        return answer

    async def operator_saves(self, account: str, given: JSON, **query: str) -> JSON:
        told: JSON = (
            await self.session(
                "PUT", account, lease=None, body=given, query="?" + urlencode({"source": "manual", **query})
            )
        ).json()
        return told

    async def explain(self, site: str = "board") -> JSON:
        told: JSON = await self.way.send("GET", f"/v2/sites/{site}/explain")
        return told

    async def passes(self, seconds: float) -> None:
        """Time passes: everything that happened lies further back."""
        await self.clock.pass_(timedelta(seconds=seconds))

    async def parked(self, count: int = 1) -> None:
        """Until so many wait."""
        room = self.home.app.state.accounts.counter.room
        async with asyncio.timeout(60):
            while len(room) != count:
                await asyncio.sleep(0.005)

    async def batches(self) -> int:
        """How many batches the desk has worked off."""
        registry = self.home.app.state.metrics.registry
        return int(registry.get_sample_value("leasehold_batch_size_count") or 0)
