"""The SDK against the real app, blocking and asynchronous alike."""

import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

import leasehold.client as sdk
from leasehold.app import edged
from leasehold.client import AsyncLeasehold, Leasehold, asynchronous, blocking
from leasehold.problems import Problem
from tests.parts.house import House


@pytest.fixture
async def lh(home: House) -> AsyncIterator[AsyncLeasehold]:
    transport = httpx.ASGITransport(app=edged(home.app))
    async with AsyncLeasehold("http://leasehold", await home.token(), transport=transport) as client:
        yield client


async def test_a_site_is_made_moved_and_its_urls_rewritten(lh: AsyncLeasehold) -> None:
    await lh.sites.create("board", domain="board1.example", policy={"cooldown_seconds": 5})

    tried = await lh.sites.move("board", to="board2.example", dry_run=True)
    moved = await lh.sites.move("board", to="board2.example", reason="seized")
    (item,) = await lh.sites.rewrite(["https://www.board1.example/t/1"])

    assert (tried.epoch, tried.dry_run, moved.epoch) == (2, True, 2)
    assert (item.url, item.verdict, item.site) == ("https://board2.example/t/1", "rewritten", "board")
    assert (await lh.sites.get("board")).policy.cooldown_seconds == 5


async def test_a_pause_is_explained_and_ended(lh: AsyncLeasehold) -> None:
    await lh.sites.create("board", domain="board1.example")

    await lh.sites.pause("board", reason="captcha wave")

    assert "captcha wave" in (await lh.sites.explain("board")).sentence
    assert not (await lh.sites.resume("board")).paused


async def test_all_sites_come_page_after_page(lh: AsyncLeasehold) -> None:
    for slug in ("a", "b", "c"):
        await lh.sites.create(slug, domain=f"{slug}.example")

    assert [site.slug async for site in lh.sites.all()] == ["a", "b", "c"]
    assert (await lh.sites.page(limit=2)).next_cursor is not None


async def test_a_refusal_is_the_exception_of_its_type(lh: AsyncLeasehold) -> None:
    await lh.sites.create("board", domain="board1.example")

    with pytest.raises(sdk.SiteUnknown):
        await lh.sites.get("nope")
    with pytest.raises(sdk.AddressRefused) as refused:
        await lh.sites.move("board", to="127.0.0.1")
    with pytest.raises(sdk.SiteExists):
        await lh.sites.create("board", domain="other.example")

    assert refused.value.members["reason"] == "ip-literal"
    assert refused.value.request_id


async def test_a_slug_is_one_step_of_a_path(lh: AsyncLeasehold) -> None:
    with pytest.raises(sdk.ProblemError):
        await lh.sites.delete("../tokens")


class Flaky(httpx.AsyncBaseTransport):
    """A network that fails before or after the server did its work."""

    def __init__(self, real: httpx.AsyncBaseTransport, faults: list[Callable[[httpx.Response], Any]]) -> None:
        self._real = real
        self._faults = faults
        self.keys: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("Idempotency-Key"))
        answer = await self._real.handle_async_request(request)
        if self._faults:
            await answer.aread()
            return self._faults.pop(0)(answer)  # type: ignore[no-any-return]
        return answer


def lost(_answer: httpx.Response) -> httpx.Response:
    raise httpx.ReadError("the answer was lost")


def busy(_answer: httpx.Response) -> httpx.Response:
    return httpx.Response(503, headers={"Retry-After": "0"}, json={"type": "/problems/unavailable"})


async def flaky(home: House, *faults: Callable[[httpx.Response], Any]) -> tuple[AsyncLeasehold, Flaky]:
    transport = Flaky(httpx.ASGITransport(app=edged(home.app)), list(faults))
    return AsyncLeasehold("http://leasehold", await home.token(), transport=transport), transport


async def test_a_lost_answer_to_a_creation_is_fetched_again_and_nothing_is_made_twice(home: House) -> None:
    client, network = await flaky(home, lost, busy)

    async with client:
        site = await client.sites.create("board", domain="a.example")

    assert site.slug == "board"
    assert len(network.keys) == 3
    assert len(set(network.keys)) == 1


async def test_a_change_is_not_sent_twice(home: House) -> None:
    client, network = await flaky(home, busy)

    async with client:
        with pytest.raises(sdk.Unavailable):
            await client.sites.pause("board", reason="x")

    assert len(network.keys) == 1


async def test_a_server_that_stays_away_is_told_in_the_end(home: House) -> None:
    client, network = await flaky(home, *[busy] * 10)

    async with client:
        with pytest.raises(sdk.Unavailable):
            await client.sites.get("board")

    assert len(network.keys) == 4


def test_an_answer_that_is_no_problem_is_still_an_exception() -> None:
    transport = httpx.MockTransport(lambda _request: httpx.Response(502, text="<html>bad gateway</html>"))

    with Leasehold("http://proxy", "lh_x", transport=transport) as client, pytest.raises(sdk.ProblemError) as caught:
        client.sites.pause("board", reason="x")

    assert caught.value.status == 502


def test_every_problem_of_the_server_has_an_exception() -> None:
    ours = {kind.type() for kind in Problem.kinds.values()}

    assert ours == set(sdk.ProblemError.kinds)
    assert {kind.__name__ for kind in sdk.ProblemError.kinds.values()} <= set(sdk.__all__)


def test_both_clients_offer_the_same_calls() -> None:
    def calls(resource: type) -> dict[str, inspect.Signature]:
        return {
            name: inspect.signature(method)
            for name, method in vars(resource).items()
            if not name.startswith("_") and name != "all"
        }

    for name in ("Sites", "Accounts", "Leases", "Sessions", "Jobs"):
        assert calls(getattr(blocking, name)) == calls(getattr(asynchronous, name))
    for name in ("account", "accounts_held"):
        assert inspect.signature(getattr(Leasehold, name)) == inspect.signature(getattr(AsyncLeasehold, name))


def test_the_models_are_those_of_the_api(home: House) -> None:
    schemas = home.app.openapi()["components"]["schemas"]
    pairs = {"Site": "SiteOut", "Mount": "MountOut", "Policy": "PolicyOut", "Moved": "MovedOut"}
    pairs |= {"Rewritten": "RewrittenOut", "Explanation": "ExplanationOut"}
    pairs |= {"Account": "AccountOut", "GrantedAccount": "GrantedAccount"}
    pairs |= {"SessionState": "GrantedSession"}
    pairs |= {"Session": "SessionOut", "SessionVersion": "VersionOut"}
    pairs |= {"SessionEntry": "EntryOut", "SessionWriter": "MadeOut", "UploadReport": "TakenOut"}
    pairs |= {"RejectedEntry": "RejectedOut"}
    pairs |= {"AccountStats": "StatsOut", "AccountCounts": "CountsOut", "Imported": "ImportOut"}
    pairs |= {
        "Rejected": "RejectedLineOut",
        "Lease": "LeaseOut",
        "Grant": "GrantOut",
        "Grants": "OfferOut",
    }
    pairs |= {"Waiting": "WaitingOut", "PastLease": "PastLeaseOut", "Released": "ReleaseOut"}
    pairs |= {"Renewed": "OwnerHeartbeatOut"}

    for model, schema in pairs.items():
        assert set(getattr(sdk, model).model_fields) == set(schemas[schema]["properties"]), model


def test_the_public_face_is_sorted_and_complete() -> None:
    public = {name for name in vars(sdk) if not name.startswith("_") and not inspect.ismodule(getattr(sdk, name))}

    assert sdk.__all__ == sorted(sdk.__all__)
    assert public == set(sdk.__all__)


def test_the_token_is_nowhere_in_a_repr() -> None:
    with Leasehold("http://server", "lh_LHCANARY") as client:
        assert "LHCANARY" not in repr(client) + repr(client._http) + str(vars(client))
