"""A process of clients that use leases as carelessly as collectors do, until it is told to stop or killed."""

import asyncio
import json
import random
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from tests.faults.wire import Answer, Ask, Wire

T = TypeVar("T")

OUTCOMES = {"ok": 880, "rate_limited": 60, "logged_out": 30, "failed": 10, "blocked": 10, "invalid_credentials": 10}
# What a client does next when it holds something, and how often.
HABITS = {
    "acquire": 30,
    "heartbeat": 14,
    "heartbeat_owner": 7,
    "release": 50,
    "oversleep": 4,
    "stale": 8,
    "repeat": 4,
    "idle": 6,
}
MOST_HELD = 3
MOST_TRIES = 6
# How many ask at once when there is a rush, so that the servers are asked at the same moment.
RUSH = 4
PAUSE_S = 0.02


@dataclass(frozen=True, slots=True)
class Place:
    """A site as clients use it: how often, and with which labels now and then."""

    site: str
    weight: int
    labels: dict[str, str] = field(default_factory=dict)
    # Who waits stands in a queue; where nobody does, servers have to be kept apart by other means.
    can_wait: bool = True
    # Whether leases are often left to run out here, to be called with before anybody has noticed.
    is_sleepy: bool = False


@dataclass(frozen=True, slots=True)
class Orders:
    """What a process is started with."""

    folder: str
    process: str
    clients: int
    seed: str
    servers: list[str]
    token: str
    places: list[dict[str, Any]]
    ttl_s: int
    role: str = "collector"


@dataclass(slots=True)
class Held:
    """A lease that a client believes to hold."""

    lease: str
    owner: str
    site: str
    # When it runs out if it is not renewed, by the monotonic clock.
    until: float


class Collector:
    """Acquires, renews and gives back, hangs up, repeats itself, oversleeps, and calls with leases long gone."""

    def __init__(self, name: str, orders: Orders) -> None:
        self._name = name
        self._rng = random.Random(f"{orders.seed}/{name}")  # noqa: S311
        self._wire = Wire(Path(orders.folder), name, orders.servers, orders.token, self._rng)
        self._places = [Place(**place) for place in orders.places]
        self._sleepy = {place.site for place in self._places if place.is_sleepy}
        self._ttl_s = orders.ttl_s
        self._keys = count(1)
        self._held: dict[str, Held] = {}
        self._past: list[str] = []
        # What was asked under a key and granted: to be asked again when it may be long gone.
        self._asked: list[dict[str, Any]] = []
        self._naps: set[asyncio.Task[None]] = set()

    async def run(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            await self._step()
            await asyncio.sleep(self._rng.uniform(0, PAUSE_S))
        for nap in self._naps:
            nap.cancel()
        await asyncio.gather(*self._naps, return_exceptions=True)
        await self._wire.close()

    async def _step(self) -> None:
        habit = self._pick(HABITS)
        held = self._rng.choice(list(self._held.values())) if self._held else None
        if held is None or (habit == "acquire" and len(self._held) < MOST_HELD):
            await self._acquire()
        elif habit == "heartbeat":
            await self._heartbeat(held.lease, held)
        elif habit == "heartbeat_owner":
            await self._heartbeat_owner(held.owner)
        elif habit == "oversleep" or (held.site in self._sleepy and self._rng.random() < 0.5):
            nap = asyncio.create_task(self._oversleep(self._held.pop(held.lease)))
            self._naps.add(nap)
            nap.add_done_callback(self._naps.discard)
        elif habit == "stale" and self._past:
            await self._any(self._rng.choice(self._past))
        elif habit == "repeat" and self._asked:
            asked = self._rng.choice(self._asked)
            self._take(asked, await self._wire.call(acquire(asked, None)))
        elif habit == "idle":
            await asyncio.sleep(self._rng.uniform(0.1, 0.6))
        else:
            await self._give_back(held)

    async def _acquire(self) -> None:
        place = self._rng.choices(self._places, [place.weight for place in self._places])[0]
        is_rush = not place.can_wait and self._rng.random() < 0.4
        await asyncio.gather(*(self._acquire_at(place) for _ in range(RUSH if is_rush else 1)))

    async def _acquire_at(self, place: Place) -> None:
        is_keyed = self._rng.random() < 0.6
        number = next(self._keys)
        wait_s = self._pick({0: 7, 2: 3 if place.can_wait else 0})
        asked = {
            "site": place.site,
            # A key has an owner of its own: then the books tell what was granted under it.
            "owner": f"{self._name}/{number}" if is_keyed else self._name,
            "key": f"{self._name}-{number}" if is_keyed else None,
            "count": self._pick({1: 85, 2: 15}),
            "wait": wait_s,
            "ttl": self._ttl(),
            "labels": place.labels if place.labels and self._rng.random() < 0.35 else {},
        }
        cut_s = self._rng.uniform(0, 1.2 if wait_s else 0.06) if self._rng.random() < 0.12 else None
        if is_keyed and self._rng.random() < 0.08:
            twins = [self._wire.call(acquire({**asked, "twin": True}, cut)) for cut in (cut_s, None)]
            for answer in await asyncio.gather(*twins):
                self._take(asked, answer)
            return
        await self._until_known(asked, cut_s, is_keyed)

    async def _until_known(self, asked: dict[str, Any], cut_s: float | None, is_keyed: bool) -> None:
        """Ask, and with a key again and again while the outcome is unknown; sometimes once more for nothing."""
        for _ in range(MOST_TRIES if is_keyed else 1):
            answer = await self._wire.call(acquire(asked, cut_s))
            self._take(asked, answer)
            if answer.result == "ok" and self._rng.random() > 0.06:
                return
            if answer.status == 410:
                return
            cut_s = None
            await asyncio.sleep(self._rng.uniform(0, 0.2))

    def _take(self, asked: Mapping[str, Any], answer: Answer) -> None:
        for lease in answer.seen.get("leases", ()):
            until = time.monotonic() + asked["ttl"]
            self._held[lease["id"]] = Held(lease["id"], asked["owner"], asked["site"], until)
        if asked["key"] and answer.seen.get("leases"):
            self._asked = [*self._asked[-20:], dict(asked)]

    async def _heartbeat(self, lease: str, held: Held | None = None) -> None:
        ttl = self._ttl()
        asked = {"lease": lease, "ttl": ttl}
        answer = await self._wire.call(
            Ask("heartbeat", "POST", f"/v2/leases/{lease}/heartbeat", asked, {"ttl_seconds": ttl})
        )
        if held is not None and answer.result == "ok":
            held.until = time.monotonic() + ttl
        if answer.status == 410:
            self._forget(lease)

    async def _heartbeat_owner(self, owner: str) -> None:
        asked = {"owner": owner, "ttl": self._ttl()}
        body = {"owner": owner, "ttl_seconds": asked["ttl"]}
        answer = await self._wire.call(Ask("heartbeat_owner", "POST", "/v2/leases/heartbeat", asked, body))
        for lease in answer.seen.get("lost", ()):
            if lease in self._held:
                self._forget(lease)

    async def _give_back(self, held: Held) -> None:
        ask = self._release(held.lease)
        if self._rng.random() < 0.15:  # a heartbeat was under way
            _, answer = await asyncio.gather(self._heartbeat(held.lease), self._wire.call(ask))
        else:
            answer = await self._wire.call(ask)
        answers = [answer]
        if self._rng.random() < 0.1:  # and again, at once
            answers += await asyncio.gather(self._wire.call(ask), self._wire.call(self._release(held.lease)))
        if any(answer.result == "ok" or answer.status == 410 for answer in answers):
            self._forget(held.lease)

    def _release(self, lease: str) -> Ask:
        return release(lease, self._pick(OUTCOMES))

    async def _oversleep(self, held: Held) -> None:
        await asyncio.sleep(held.until - time.monotonic() + self._rng.uniform(0.02, 0.3))
        await self._any(held.lease)

    async def _any(self, lease: str) -> None:
        """A call with a lease that is most likely gone."""
        if self._rng.random() < 0.6:
            await self._heartbeat(lease)
        else:
            await self._wire.call(self._release(lease))
        self._past = [*self._past[-20:], lease]

    def _forget(self, lease: str) -> None:
        self._held.pop(lease, None)
        self._past = [*self._past[-20:], lease]

    def _ttl(self) -> int:
        return self._ttl_s + self._pick({0: 4, 2: 1})

    def _pick(self, weights: Mapping[T, int]) -> T:
        return self._rng.choices(list(weights), list(weights.values()))[0]


def acquire(asked: dict[str, Any], cut_s: float | None) -> Ask:
    body = {
        "site": asked["site"],
        "owner": asked["owner"],
        "ttl_seconds": asked["ttl"],
        "wait_seconds": asked["wait"],
        "count": asked["count"],
        "labels": asked["labels"],
    }
    return Ask("acquire", "POST", "/v2/accounts/acquire", asked, body, asked["wait"], cut_s)


def release(lease: str, outcome: str) -> Ask:
    cooldown = {"cooldown_seconds": 1} if outcome == "rate_limited" else {}
    asked = {"lease": lease, "outcome": outcome, "cooldown": cooldown.get("cooldown_seconds")}
    return Ask("release", "POST", f"/v2/leases/{lease}/release", asked, {"outcome": outcome, **cooldown})


class Operator:
    """Revokes now and then, and brings back the accounts that outcomes have set aside."""

    def __init__(self, name: str, orders: Orders) -> None:
        self._rng = random.Random(f"{orders.seed}/{name}")  # noqa: S311
        self._wire = Wire(Path(orders.folder), name, orders.servers, orders.token, self._rng)

    async def run(self, stopping: asyncio.Event) -> None:
        for turn in count():
            if stopping.is_set():
                break
            await self._revoke()
            if turn % 4 == 0:  # rarely: a list also books what ran out, and others should be the ones to find it
                await self._revive()
            await asyncio.sleep(self._rng.uniform(0.2, 0.6))
        await self._wire.close()

    async def _revoke(self) -> None:
        found = await self._wire.look("/v2/leases?limit=500")
        if not found:
            return
        lease = self._rng.choice(found)
        if self._rng.random() < 0.8:
            ask = Ask("revoke", "DELETE", f"/v2/leases/{lease['id']}", {"lease": lease["id"]})
        else:
            owner = lease["owner"]
            ask = Ask("revoke_owner", "DELETE", f"/v2/leases?owner={owner}", {"owner": owner})
        await self._wire.call(ask)

    async def _revive(self) -> None:
        for state in ("blocked", "inactive", "cooling"):
            for account in await self._wire.look(f"/v2/accounts?limit=500&state={state}"):
                # A short rest ends by itself, and is to be seen to.
                if state != "cooling" or account["last_outcome"] == "failed":
                    await self._wire.call(revive(account["id"]))


def revive(account: str) -> Ask:
    return Ask("revive", "PATCH", f"/v2/accounts/{account}", {"account": account}, {"state": "active"})


async def work(orders: Orders) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    make = Operator if orders.role == "operator" else Collector
    names = [f"{orders.process}.{number}" for number in range(orders.clients)]
    await asyncio.gather(*(make(name, orders).run(stopping) for name in names))


if __name__ == "__main__":
    asyncio.run(work(Orders(**json.loads(sys.argv[1]))))
