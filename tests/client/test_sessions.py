"""The calls on sessions against the real app, from the first upload to the last decision."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

import leasehold.client as sdk
from leasehold.app import edged
from leasehold.auth import Role
from leasehold.client import AsyncLeasehold, Leasehold, jar_from, with_jar
from tests.client.test_jars import cookie
from tests.parts.house import House


def state(**cookies: str) -> dict[str, Any]:
    return {"cookies": [cookie(name, value) for name, value in cookies.items()], "origins": []}


def values(given: sdk.SessionState) -> dict[str, str]:
    return {one["name"]: one["value"] for one in given.storage_state["cookies"]}


@pytest.fixture
async def lh(home: House, address: str) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(address, await home.token()) as client:
        await client.sites.create("board", domain="board.example", policy={"auth_markers": ["sid"]})
        yield client


@pytest.fixture
async def account(lh: AsyncLeasehold) -> str:
    return (await lh.accounts.create("board", "ann", secret={})).id


async def test_an_upload_is_handed_out_with_its_version(lh: AsyncLeasehold, account: str) -> None:
    with pytest.raises(sdk.SessionUnknown):
        await lh.sessions.get(account)

    tried = await lh.sessions.upload(account, state(sid="s1"), base="fresh", dry_run=True)
    told = await lh.sessions.upload(account, state(sid="s1"), base="fresh", health="ok")
    given = await lh.sessions.get(account)

    assert (tried.set, told.set, told.version, given.version) == (1, 1, 1, 1)
    assert values(given) == {"sid": "s1"}
    assert "s1" not in repr(given)


async def test_an_older_capture_does_not_win_over_a_newer(lh: AsyncLeasehold, account: str) -> None:
    await lh.sessions.upload(account, state(sid="new"), base="fresh", age=5)
    await lh.sessions.upload(account, state(sid="old"), base="fresh", age=60)

    assert values(await lh.sessions.get(account)) == {"sid": "new"}


async def test_operators_see_names_and_undo_decide_and_roll_back(lh: AsyncLeasehold, account: str) -> None:
    await lh.sessions.upload(account, state(sid="s1"), base="fresh", upload_id="good")
    await lh.sessions.upload(account, state(sid="evil"), base=1, upload_id="bad")
    await lh.sessions.upload(account, state(odd="1"), base="fresh", upload_id="aside", health="logged_out")
    (listed,) = [one async for one in lh.sessions.all(site="board")]

    undone = await lh.sessions.undo(account, upload_id="bad")
    (entry,) = await lh.sessions.entries(account)
    taken = await lh.sessions.decide(account, "aside", decision="take")
    together = values(await lh.sessions.get(account))
    back = await lh.sessions.roll_back(account, version=2)

    assert (listed.account_id, listed.branches, listed.written.upload_id) == (account, ["aside"], "bad")
    assert (entry.upload_id, entry.is_marker) == ("good", True)
    assert (undone.version, taken.version, back.version) == (3, 4, 5)
    assert together == {"sid": "s1", "odd": "1"}
    assert values(await lh.sessions.get(account)) == {"sid": "evil"}
    assert [one.version for one in (await lh.sessions.versions(account)).items] == [5, 4, 3, 2, 1]

    await lh.sessions.delete(account)

    assert (await lh.sessions.page()).items == []


async def test_a_whole_state_can_be_put_in_its_place(lh: AsyncLeasehold, account: str) -> None:
    await lh.sessions.upload(account, state(sid="s1", more="m"), base="fresh")

    await lh.sessions.upload(account, state(sid="s2"), mode="replace")

    assert values(await lh.sessions.get(account)) == {"sid": "s2"}


async def test_a_collector_needs_its_lease(home: House, address: str, lh: AsyncLeasehold, account: str) -> None:
    await lh.sessions.upload(account, state(sid="s1"), base="fresh")
    async with AsyncLeasehold(address, await home.token(Role.COLLECTOR)) as collector:
        with pytest.raises(sdk.PermissionDenied):
            await collector.sessions.get(account)
        async with collector.account("board") as lease:
            assert values(await collector.sessions.get(account, lease=lease.id)) == {"sid": "s1"}


async def test_a_lost_answer_to_an_upload_is_fetched_again(home: House, lh: AsyncLeasehold, account: str) -> None:
    tries: list[str] = []

    class Network(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            answer = await httpx.ASGITransport(app=edged(home.app)).handle_async_request(request)
            tries.append(request.url.params["upload_id"])
            if len(tries) == 1:
                raise httpx.ReadError("the answer was lost")
            return answer

    async with AsyncLeasehold("http://leasehold", await home.token(), transport=Network()) as client:
        told = await client.sessions.upload(account, state(sid="s1"), base="fresh")

    assert (len(tries), len(set(tries)), told.version) == (2, 1, 1)


async def test_a_collector_without_a_browser_keeps_its_cookies(lh: AsyncLeasehold, account: str) -> None:
    await lh.sessions.upload(account, state(sid="s1", device="d"), base="fresh")
    rotates = httpx.MockTransport(lambda _request: httpx.Response(200, headers={"Set-Cookie": "sid=s2; Path=/"}))

    async with (
        lh.account("board") as lease,
        lh.session(lease) as session,
        httpx.AsyncClient(cookies=jar_from(session.storage_state), transport=rotates) as web,
    ):
        await web.get("https://board.example/")
        told = await session.save(with_jar(session.storage_state, web.cookies), health="ok")

    assert (told.set, told.unchanged, told.deleted) == (1, 1, 0)
    assert (await lh.sessions.get(account)).storage_state["cookies"][0]["sameSite"] == "Strict"
    assert values(await lh.sessions.get(account)) == {"sid": "s2", "device": "d"}


def test_the_calls_of_both_clients_are_documented() -> None:
    for client in (Leasehold, AsyncLeasehold):
        assert client.browser_session.__doc__
        assert client.session.__doc__
