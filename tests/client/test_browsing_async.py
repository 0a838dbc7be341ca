"""A session in a browser, with an event loop: what is loaded, when it is saved, and what becomes of failures."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest

from leasehold.client import AsyncLeasehold, HeldAccount, InvalidRequest, LeaseLost
from leasehold.client.session_calls import Health
from tests.client.pretender import AsyncPages, AsyncPretender
from tests.client.standin import SECRET, StandIn, problem


@pytest.fixture
async def lh(server: StandIn) -> AsyncIterator[AsyncLeasehold]:
    async with AsyncLeasehold(server.address, "lh_x") as client:
        yield client


@pytest.fixture
def browser() -> AsyncPretender:
    return AsyncPretender()


@pytest.fixture
async def lease(lh: AsyncLeasehold) -> AsyncIterator[HeldAccount]:
    async with lh.account("board") as held:
        yield held


def lost() -> Any:
    return problem(410, "lease-lost", reason="revoked")


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not is_so():
            await asyncio.sleep(0.02)


async def test_what_came_along_is_loaded_without_another_request(
    server: StandIn, lh: AsyncLeasehold, browser: AsyncPretender
) -> None:
    async with lh.account("board", include_session=True) as lease:
        assert lease.session
        state = lease.session.storage_state
        async with lh.browser_session(lease, browser, locale="de") as context:
            assert context.options == {"storage_state": state, "locale": "de"}

    assert server.fetches == []
    assert [(one.query["base"], one.lease) for one in server.uploads] == [("3", lease.id)]
    assert context.is_closed


async def test_a_second_browser_loads_what_the_first_has_saved(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    async with lh.browser_session(lease, browser):
        pass
    async with lh.browser_session(lease, browser) as second:
        assert second.options == {"storage_state": server.session}

    assert [one.lease for one in server.fetches] == [lease.id]
    assert [one.query["base"] for one in server.uploads] == ["3", "4"]


async def test_an_account_without_a_session_starts_fresh(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    lease._session = None

    session = lh.browser_session(lease, browser)
    async with session as context:
        assert context.options == {}
        assert session.base == "fresh"

    assert [one.query["base"] for one in server.uploads] == ["fresh"]
    assert repr(session) == "AsyncBrowserSession(account='acct_1', base=4)"


async def test_each_upload_starts_from_the_one_before(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    session = lh.browser_session(lease, browser)
    async with session:
        await asyncio.gather(session.save(), session.save())

    assert [one.query["base"] for one in server.uploads] == ["3", "4", "5"]
    assert len({one.query["upload_id"] for one in server.uploads}) == 3


async def test_an_upload_is_sent_again_as_the_same_and_says_when(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    server.on_upload = [server.cut, lambda: problem(503, "unavailable"), lambda: problem(500, "internal-error")]

    async with lh.browser_session(lease, browser):
        pass

    queries = [one.query for one in server.uploads]
    assert len(queries) == 4
    assert len({query["upload_id"] for query in queries}) == len({query["captured_at"] for query in queries}) == 1
    sent = [datetime.fromisoformat(query["sent_at"]) for query in queries]
    assert sent == sorted(set(sent))
    assert sent[0] >= datetime.fromisoformat(queries[0]["captured_at"])


async def test_a_replaced_cookie_is_saved_at_once(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    async with lh.browser_session(lease, browser) as context:
        context.jar["other"] = "x"
        await asyncio.sleep(1.2)
        assert server.uploads == []
        context.jar["sid"] = "s2"
        await until(lambda: server.uploads)
        await asyncio.sleep(0)

    assert [one["value"] for one in server.uploads[0].body["cookies"] if one["name"] == "sid"] == ["s2"]
    assert server.uploads[0].query["health"] == "unknown"
    assert [one.query["base"] for one in server.uploads] == ["3", "4"]


async def test_a_cookie_that_is_replaced_all_the_time_is_saved_now_and_then(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    async with lh.browser_session(lease, browser) as context:
        for number in range(50):
            context.jar["sid"] = f"n{number}"
            await asyncio.sleep(0.1)
        saved = len(server.uploads)

    assert 1 <= saved <= 3


async def test_a_cookie_that_is_gone_is_no_reason_to_save(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    async with lh.browser_session(lease, browser) as context:
        del context.jar["sid"]
        await asyncio.sleep(1.5)
        assert server.uploads == []


async def test_a_signed_out_context_is_not_saved_on_the_way(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    asked: list[AsyncPages] = []

    async def check(context: AsyncPages) -> Health:
        asked.append(context)
        return "logged_out"

    async with lh.browser_session(lease, browser, health=check) as context:
        context.jar["sid"] = "stranger"
        await until(lambda: asked)
        assert server.uploads == []

    assert [one.query["health"] for one in server.uploads] == ["logged_out"]
    assert asked == [context, context]


async def test_what_was_marked_on_the_lease_counts_and_stops_the_saving_on_the_way(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    session = lh.browser_session(lease, browser, health=lambda _context: "ok")
    async with session as context:
        session.ok()
        lease.logged_out("a login page")
        context.jar["sid"] = "stranger"
        await asyncio.sleep(1.5)
        assert server.uploads == []

    assert [one.query["health"] for one in server.uploads] == ["logged_out"]


def _failing(_context: AsyncPages) -> Health:
    raise ValueError(SECRET)


async def _waited_for(_context: AsyncPages) -> Health:
    return "ok"


@pytest.mark.parametrize(
    ("check", "said", "health"),
    [
        (None, None, "unknown"),
        (None, "ok", "ok"),
        (None, "logged_out", "logged_out"),
        (_waited_for, None, "ok"),
        (_waited_for, "logged_out", "logged_out"),
        (lambda _context: "ok", None, "ok"),
        (_failing, None, "unknown"),
        (lambda _context: "perhaps", None, "unknown"),
    ],
)
async def test_how_the_account_was_is_told(
    server: StandIn,
    lh: AsyncLeasehold,
    lease: HeldAccount,
    browser: AsyncPretender,
    caplog: pytest.LogCaptureFixture,
    check: Any,
    said: str | None,
    health: str,
) -> None:
    session = lh.browser_session(lease, browser, health=check)
    async with session:
        if said:
            getattr(session, said)()

    assert [one.query["health"] for one in server.uploads] == [health]
    assert SECRET not in caplog.text
    assert ("failed" in caplog.text) == (health == "unknown" and check is not None)


async def test_an_upload_that_is_refused_is_kept_and_told(
    server: StandIn,
    lh: AsyncLeasehold,
    lease: HeldAccount,
    browser: AsyncPretender,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.on_upload = [lambda: problem(422, "invalid-request")]

    session = lh.browser_session(lease, browser)
    async with session:
        pass

    assert isinstance(session.error, InvalidRequest)
    assert session.unsaved
    assert session.unsaved["cookies"][0]["value"] == "s1"
    assert session.report is None
    assert "was not saved: InvalidRequest" in caplog.text
    assert SECRET not in caplog.text + repr(session)


async def test_the_next_upload_starts_where_the_last_that_arrived_ended(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    session = lh.browser_session(lease, browser)
    async with session:
        await session.save()
        server.on_upload = [lambda: problem(422, "invalid-request")]
        with pytest.raises(InvalidRequest):
            await session.save()
        assert isinstance(session.error, InvalidRequest)

    assert [one.query["base"] for one in server.uploads] == ["3", "4", "4"]
    assert session.unsaved is None
    assert _error_of(session) is None


def _error_of(session: Any) -> Any:
    return session.error


async def _left(session: Any, error: Exception | None = None) -> None:
    async with session:
        if error:
            raise error


async def test_a_lost_lease_is_raised_unless_something_else_is(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    server.on_upload = [lost, lost]
    session = lh.browser_session(lease, browser)

    with pytest.raises(LeaseLost) as told:
        await _left(session)
    with pytest.raises(ZeroDivisionError):
        await _left(lh.browser_session(lease, browser), ZeroDivisionError())

    assert told.value is session.error
    assert all(context.is_closed for context in browser.made)


async def test_a_browser_that_has_gone_is_told_and_closed(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender, caplog: pytest.LogCaptureFixture
) -> None:
    session = lh.browser_session(lease, browser)
    async with session as context:
        context.is_dead = True

    assert isinstance(session.error, ConnectionError)
    assert context.is_closed
    assert server.uploads == []
    assert "ConnectionError" in caplog.text
    assert SECRET not in caplog.text


async def cancelled(work: Callable[[asyncio.Event], Awaitable[None]], times: int) -> None:
    begun = asyncio.Event()
    task = asyncio.ensure_future(work(begun))
    await begun.wait()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("times", [1, 4])
async def test_whoever_is_cancelled_saves_first_and_gives_back_afterwards(
    server: StandIn, lh: AsyncLeasehold, browser: AsyncPretender, times: int
) -> None:
    server.on_upload = [server.slowly(0.3)]

    async def work(begun: asyncio.Event) -> None:
        async with lh.account("board") as lease, lh.browser_session(lease, browser) as context:
            context.slow_s = 0.1
            begun.set()
            await asyncio.sleep(60)

    await cancelled(work, times)

    assert [one.method for one in server.heard if "acquire" not in one.path and one.method != "GET"] == ["PUT", "POST"]
    assert server.session is not None
    assert browser.made[0].is_closed
    assert server.outcomes == [("ok", "cancelled")]


async def test_the_last_save_starts_from_one_that_was_left_alone(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    server.on_upload = [server.slowly(0.5)]
    session = lh.browser_session(lease, browser)
    async with session:
        saving = asyncio.create_task(session.save())
        await until(lambda: server.uploads)
        saving.cancel()

    assert [one.query["base"] for one in server.uploads] == ["3", "4"]


async def test_a_release_waits_for_a_save_that_was_left_alone(server: StandIn, lh: AsyncLeasehold) -> None:
    server.on_upload = [server.slowly(0.5)]

    async def work(begun: asyncio.Event) -> None:
        async with lh.account("board") as lease, lh.session(lease) as session:
            begun.set()
            await session.save({"cookies": []})

    await cancelled(work, 1)

    assert server.session == {"cookies": []}
    assert [one.method for one in server.heard][-2:] == ["PUT", "POST"]
    assert server.releases[0].at_s - server.uploads[0].at_s >= 0.5


async def test_a_cancelled_beginning_leaves_no_context_behind(
    lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    begun = asyncio.Event()

    class Slow(AsyncPretender):
        async def new_context(self, **options: Any) -> AsyncPages:
            begun.set()
            await asyncio.sleep(0.2)
            return await browser.new_context(**options)

    async def work() -> None:
        async with lh.browser_session(lease, Slow()):
            pass

    task = asyncio.create_task(work())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [context.is_closed for context in browser.made] == [True]


async def test_a_client_that_was_closed_is_told(
    server: StandIn, browser: AsyncPretender, caplog: pytest.LogCaptureFixture
) -> None:
    lh = AsyncLeasehold(server.address, "lh_x")
    made: list[Any] = []

    async def work() -> None:
        async with lh.account("board") as lease:
            made.append(lh.browser_session(lease, browser, watch=()))
            async with made[0]:
                await lh.close()

    with pytest.raises(LeaseLost):
        await work()

    assert isinstance(made[0].error, RuntimeError)
    assert "was not saved" in caplog.text


async def test_parts_are_asked_for_on_both_sides(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    async with lh.browser_session(lease, browser, include=["indexeddb", "opfs"]) as context:
        pass

    assert [one.query["include"] for one in server.fetches] == ["indexeddb,opfs"]
    assert context.captures == [{"indexed_db": True, "opfs": True}]


async def test_the_state_is_the_session_s_alone(
    lh: AsyncLeasehold, lease: HeldAccount, browser: AsyncPretender
) -> None:
    with pytest.raises(TypeError):
        lh.browser_session(lease, browser, storage_state={})


async def test_a_session_without_a_browser_is_loaded_and_saved(
    server: StandIn, lh: AsyncLeasehold, lease: HeldAccount
) -> None:
    async with lh.session(lease, source="manual") as session:
        assert session.storage_state["cookies"] == [{"value": SECRET}]
        await session.save({"cookies": []}, health="ok")
        await session.save({"cookies": []})

    told = [(one.query["base"], one.query["source"], one.query["health"]) for one in server.uploads]
    assert told == [("3", "manual", "ok"), ("4", "manual", "unknown")]
    assert session.storage_state == {"cookies": []}
    assert SECRET not in repr(session)
