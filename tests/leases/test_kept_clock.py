"""A clock that jumps ends no lease that PostgreSQL keeps, whatever it is on: seeds and captures."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest

from leasehold.app import organisations
from leasehold.caller import Caller
from leasehold.captures import Handoff
from leasehold.ids import show
from leasehold.leases import PREFIX
from leasehold.seeds import Seeds
from tests.parts.faketime import WallClock
from tests.parts.house import House, house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.uploads import upload

HOUR = 3600.0
JSON = dict[str, Any]


class Scene:
    """A leasehold with one thing of a kind to hold, on a PostgreSQL whose clock jumps."""

    def __init__(self, home: House, client: httpx.AsyncClient, wall: WallClock, kind: str) -> None:
        self.home = home
        self.client = client
        self.wall = wall
        self.kind = kind
        self.things = f"/v2/{kind}s"

    async def send(self, method: str, path: str, body: Any = None, key: str | None = None) -> httpx.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return await self.client.request(method, path, json=body, headers=headers)

    async def told(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        answer = await self.send(method, path, body, key)
        assert answer.is_success, answer.text
        return answer.json()

    async def ask(self, owner: str = "ann", key: str | None = None, **more: Any) -> list[JSON]:
        leases: list[JSON] = (await self.told("POST", f"{self.things}/acquire", {"owner": owner, **more}, key))[
            "leases"
        ]
        return leases

    async def acquire(self, **more: Any) -> JSON:
        (lease,) = await self.ask(**more)
        return lease

    async def beat(self, lease: JSON) -> httpx.Response:
        return await self.send("POST", f"/v2/leases/{lease['id']}/heartbeat")

    async def thing(self, lease: JSON) -> JSON:
        found: JSON = await self.told("GET", f"{self.things}/{lease['resource_id']}")
        return found

    @property
    def keeper(self) -> Seeds | Handoff:
        state = self.home.app.state
        keeper: Seeds | Handoff = state.seeds if self.kind == "seed" else state.captures.handoff
        return keeper

    def holder(self) -> Caller:
        """Who holds the one lease there is. Calls for all of an owner ask accounts first, and those would notice."""
        ((organisation, token),) = self.home.database.rows("SELECT organisation, token FROM lease")
        return Caller(organisation, token, "ann", frozenset())

    async def reap(self) -> None:
        await self.keeper.reap([organisation for organisation, _ in await organisations(self.home.app.state.db)])

    def passes(self, seconds: float) -> None:
        """Time passes: everything that happened lies further back."""
        past = timedelta(seconds=seconds)
        self.home.database.run(
            "UPDATE lease SET acquired_at = acquired_at - %s, expires_at = expires_at - %s", past, past
        )
        self.home.database.run("UPDATE seed SET back_at = back_at - %s", past)

    def ends(self) -> list[str]:
        return [how for (how,) in self.home.database.rows("SELECT how FROM lease_end ORDER BY ended_at")]

    def jumps(self) -> list[Any]:
        return self.home.database.rows("SELECT store, leases FROM clock_jump ORDER BY id")

    @asynccontextmanager
    async def beside(self) -> AsyncIterator["Scene"]:
        """Another server on the same database, that came now."""
        async with quiet(self.home.database) as other:
            yield Scene(other, other.client(await other.token()), self.wall, self.kind)


@asynccontextmanager
async def quiet(database: TestDatabase, **settings: Any) -> AsyncIterator[House]:
    """What is done in the background would notice first; here each call has to notice by itself."""
    async with house(database, **settings) as home:
        await home.app.state.background.stop()
        yield home


async def stocked(home: House, wall: WallClock, kind: str) -> Scene:
    scene = Scene(home, await home.caller(), wall, kind)
    await scene.told("POST", "/v2/sites", {"slug": "board", "domain": "board.example"})
    if kind == "seed":
        await scene.told("POST", "/v2/seeds", {"items": [{"site": "board", "url": "https://board.example/a"}]})
    else:
        await upload(scene.client)
    return scene


@pytest.fixture
def wall(odd_postgres: tuple[Postgres, WallClock], odd_database: TestDatabase) -> WallClock:
    odd_postgres[1].jump_to(0)
    odd_database.empty()
    return odd_postgres[1]


@pytest.fixture(params=["seed", "capture"])
async def scene(request: pytest.FixtureRequest, wall: WallClock, odd_database: TestDatabase) -> AsyncIterator[Scene]:
    async with quiet(odd_database) as home:
        yield await stocked(home, wall, request.param)


async def ask_another(scene: Scene, _lease: JSON) -> None:
    assert await scene.ask(owner="bob") == []


async def beat(scene: Scene, lease: JSON) -> None:
    assert (await scene.beat(lease)).status_code == 200


async def beat_for_owner(scene: Scene, lease: JSON) -> None:
    beaten = await scene.keeper.leases.renew_owner(scene.holder(), "ann", None)
    assert ([show(PREFIX, one) for one in beaten.renewed], beaten.lost) == ([lease["id"]], [])


async def repeat(scene: Scene, lease: JSON) -> None:
    assert (await scene.acquire(key="k"))["id"] == lease["id"]


async def reap(scene: Scene, _lease: JSON) -> None:
    await scene.reap()


async def list_leases(scene: Scene, lease: JSON) -> None:
    # One kind alone: accounts are looked at before the others, and would notice for them.
    found = await scene.told("GET", f"/v2/leases?kind={scene.kind}")
    assert [held["id"] for held in found["items"]] == [lease["id"]]


async def look_at(scene: Scene, lease: JSON) -> None:
    assert (await scene.thing(lease))["holder"] == "ann"


async def list_things(scene: Scene, _lease: JSON) -> None:
    assert [one["holder"] for one in (await scene.told("GET", scene.things))["items"]] == ["ann"]


async def delete(scene: Scene, lease: JSON) -> None:
    assert (await scene.send("DELETE", f"{scene.things}/{lease['resource_id']}")).status_code == 409


CALLS = [ask_another, beat, beat_for_owner, repeat, reap, list_leases, look_at, list_things, delete]


@pytest.mark.parametrize("call", CALLS)
async def test_whatever_is_called_first_after_a_jump_ahead_its_holder_keeps_it(
    scene: Scene, call: Callable[[Scene, JSON], Awaitable[None]]
) -> None:
    lease = await scene.acquire(key="k")

    scene.wall.jump(HOUR)
    await call(scene, lease)

    await ask_another(scene, lease)
    await beat(scene, lease)
    assert scene.ends() == []
    assert scene.jumps() == [("postgres", 1)]


async def test_what_truly_ran_out_is_booked_by_whoever_finds_it(scene: Scene) -> None:
    calls: dict[str, Callable[[JSON], Awaitable[object]]] = {
        "beat": scene.beat,
        "owner": lambda _: scene.keeper.leases.renew_owner(scene.holder(), "ann", None),
        "release": lambda lease: scene.send("POST", f"/v2/leases/{lease['id']}/release", {"outcome": "ok"}),
        "repeat": lambda _: scene.send("POST", f"{scene.things}/acquire", {"owner": "ann"}, "repeat"),
        # The fifth end of a capture without a word: it is set aside.
        "reap": lambda _: scene.reap(),
    }
    for fence, (name, call) in enumerate(calls.items(), start=1):
        lease = await scene.acquire(key=name)
        scene.passes(121)

        await call(lease)

        assert scene.ends() == ["expired"] * fence, name
        assert (await scene.beat(lease)).json()["reason"] == "expired"
        assert lease["fence"] == fence
    assert scene.jumps() == []


async def test_what_truly_ran_out_is_granted_to_the_next_who_asks(scene: Scene) -> None:
    lease = await scene.acquire()
    scene.passes(121)

    taken = await scene.acquire(owner="bob")

    assert taken["fence"] == lease["fence"] + 1
    assert scene.ends() == ["expired"]


async def test_a_release_after_a_jump_ahead_is_taken(scene: Scene) -> None:
    lease = await scene.acquire()

    scene.wall.jump(HOUR)
    released = await scene.told("POST", f"/v2/leases/{lease['id']}/release", {"outcome": "ok"})

    assert released["already_released"] is False
    assert scene.ends() == ["released"]


async def test_a_revocation_after_a_jump_ahead_counts(scene: Scene) -> None:
    lease = await scene.acquire()

    scene.wall.jump(HOUR)

    assert await scene.told("DELETE", f"/v2/leases/{lease['id']}") == {"revoked": 1}
    assert scene.ends() == ["revoked"]


async def test_a_revocation_of_all_an_owner_has_counts_after_a_jump_ahead(scene: Scene) -> None:
    await scene.acquire()
    holder = scene.holder()

    scene.wall.jump(HOUR)

    assert await scene.keeper.leases.revoke_owner(holder, "ann") == 1
    assert scene.ends() == ["revoked"]


async def test_what_was_never_delivered_is_given_back_after_a_jump(scene: Scene) -> None:
    lease = await scene.acquire()
    ((organisation, id_),) = scene.home.database.rows("SELECT organisation, id FROM lease")

    scene.wall.jump(HOUR)
    await scene.keeper.counter.give_back(organisation, [id_], None)

    assert scene.ends() == ["released"]
    assert (await scene.acquire(owner="bob"))["fence"] == lease["fence"] + 1


async def test_two_servers_and_all_kinds_give_new_time_once(scene: Scene) -> None:
    async with scene.beside() as other:
        await scene.acquire(ttl_seconds=120)
        scene.wall.jump(HOUR)
        await asyncio.gather(scene.reap(), other.reap(), other.told("GET", "/v2/leases"))
        scene.passes(100)
        (before,) = scene.home.database.rows("SELECT expires_at FROM lease")

        for server in (scene, other):
            await server.told("GET", "/v2/leases")  # accounts, seeds and captures look
            await server.reap()

        assert scene.jumps() == [("postgres", 1)]
        assert scene.home.database.rows("SELECT expires_at FROM lease") == [before]


async def test_a_jump_gives_one_fresh_term_and_then_it_runs_out(scene: Scene) -> None:
    lease = await scene.acquire(ttl_seconds=120)
    scene.wall.jump(HOUR)
    await scene.reap()

    scene.passes(115)
    await ask_another(scene, lease)
    scene.passes(6)

    assert (await scene.acquire(owner="bob"))["fence"] == lease["fence"] + 1
    assert scene.ends() == ["expired"]


async def test_a_capture_that_comes_in_after_a_jump_is_not_late(scene: Scene) -> None:
    lease = await scene.acquire()

    scene.wall.jump(HOUR)
    during = await upload(scene.client, lease_id=lease["id"])
    scene.passes(121)
    after = await upload(scene.client, lease_id=lease["id"])

    assert (during.json()["late"], after.json()["late"]) == (False, True)


@pytest.fixture
async def beside_mongo(
    wall: WallClock, odd_database: TestDatabase, mongo_database: MongoDatabase
) -> AsyncIterator[Scene]:
    """Accounts are in MongoDB and go by its clock; so nobody looks at PostgreSQL's on their behalf."""
    url = mongo_database.url.replace("/?", f"/{mongo_database.name}?")
    async with quiet(odd_database, pools="mongo", mongo_url=url) as home:
        yield await stocked(home, wall, "capture")


async def test_with_accounts_in_mongodb_the_clock_of_postgresql_is_looked_at_all_the_same(beside_mongo: Scene) -> None:
    scene = beside_mongo
    await scene.told("POST", "/v2/accounts", {"site": "board", "username": "ann", "secret": {}})
    account = (await scene.told("POST", "/v2/accounts/acquire", {"site": "board", "owner": "ann"}))["leases"][0]
    lease = await scene.acquire()

    scene.wall.jump(HOUR)
    await scene.reap()

    await beat(scene, lease)
    (held,) = (await scene.told("GET", "/v2/leases?kind=account"))["items"]
    assert (held["id"], held["expires_at"]) == (account["id"], account["expires_at"])
    assert scene.jumps() == [("postgres", 1)]


async def test_the_reaper_looks_also_when_nothing_seems_to_have_run_out(beside_mongo: Scene) -> None:
    """A clock that goes back and ahead again unseen would end what was granted in between."""
    scene = beside_mongo
    (reaper,) = [task for task in scene.home.app.state.background.tasks if task.name == "reaper"]
    scene.wall.jump(-HOUR)
    await reaper.step()
    lease = await scene.acquire()

    scene.wall.jump(HOUR)

    await beat(scene, lease)
    assert scene.jumps() == [("postgres", 1)]
