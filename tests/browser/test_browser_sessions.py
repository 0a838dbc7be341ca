"""Sessions of accounts in a real Chromium: one sign-in lasts for all who hold the account, whatever becomes of them."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page
from playwright.async_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

from leasehold.client import AsyncLeasehold, HeldAccount, LeaseLost, NothingFree
from leasehold.client import Leasehold as Client
from leasehold.client.session_calls import Health
from tests.parts.board import HOST, PASSWORD, Board, board
from tests.parts.chromium import FLAGS, chromium, program
from tests.parts.process import Leasehold

pytestmark = pytest.mark.asyncio(loop_scope="module")

URL = f"http://{HOST}/"
WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture(scope="module")
def site() -> Iterator[Board]:
    with board() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chrome(site: Board) -> AsyncIterator[Browser]:
    """A Chromium that finds the site."""
    async with chromium(site.flag) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lh(server: Leasehold) -> AsyncIterator[AsyncLeasehold]:
    assert server.token
    async with AsyncLeasehold(server.address, server.token) as client:
        await client.sites.create(
            "board", domain=HOST, policy={"reclaim_delay_seconds": 0, "cooldown_seconds": 0, "auth_markers": ["sid"]}
        )
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def account(request: pytest.FixtureRequest, lh: AsyncLeasehold, site: Board) -> str:
    return await opened(lh, site, request.node.name)


async def opened(lh: AsyncLeasehold, site: Board, user: str) -> str:
    code = site.register(user)
    return (await lh.accounts.create("board", user, secret={"password": PASSWORD, "code": code})).id


def held(lh: AsyncLeasehold, account: str, **more: Any) -> AbstractAsyncContextManager[HeldAccount]:
    return lh.account("board", account_id=account, wait=30, **more)


async def user_of(context: BrowserContext) -> str:
    """Whom the page that was opened last is for; nobody if it is for strangers."""
    return str(await context.pages[-1].evaluate("document.body.dataset.user"))


async def is_signed_in(context: BrowserContext) -> Health:
    return "ok" if await user_of(context) else "logged_out"


async def sign_in(context: BrowserContext, lease: HeldAccount, *, with_code: bool = True) -> None:
    page = await fill_in(context, lease, with_code=with_code)
    await page.click("button")
    await page.wait_for_url(URL)


async def fill_in(context: BrowserContext, lease: HeldAccount, *, with_code: bool = True) -> Page:
    page = await context.new_page()
    await page.goto(URL)
    await page.fill("[name=username]", lease.username)
    await page.fill("[name=password]", lease.secret["password"])
    await page.fill("[name=code]", lease.secret["code"] if with_code else "")
    return page


async def first_time(lh: AsyncLeasehold, chrome: Browser, account: str) -> None:
    async with held(lh, account) as lease:
        session = lh.browser_session(lease, chrome, health=is_signed_in)
        async with session as context:
            await sign_in(context, lease)
        assert session.error is None


async def visit(lh: AsyncLeasehold, chrome: Browser, account: str, *, times: int = 2, rest_s: float = 0) -> list[str]:
    """What a worker does; returns who it was to the site."""
    users = []
    async with held(lh, account, include_session=True) as lease:
        session = lh.browser_session(lease, chrome, health=is_signed_in)
        async with session as context:
            page = await context.new_page()
            for _ in range(times):
                await page.goto(URL)
                users.append(await user_of(context))
            await asyncio.sleep(rest_s)
        assert session.error is None
    return users


async def trust(lh: AsyncLeasehold, account: str) -> str:
    cookies = (await lh.sessions.get(account)).storage_state["cookies"]
    return next(str(one["value"]) for one in cookies if one["name"] == "device_trust")


async def loads(chrome: Browser, lh: AsyncLeasehold, account: str) -> tuple[str, dict[str, Any]]:
    """Who a browser is that loads what is handed out, and what its page has stored."""
    given = await lh.sessions.get(account)
    context = await chrome.new_context(storage_state=given.storage_state)  # type: ignore[arg-type]
    try:
        page = await context.new_page()
        await page.goto(URL)
        return await user_of(context), await page.evaluate("({...localStorage})")
    finally:
        await context.close()


async def until_version(lh: AsyncLeasehold, account: str, version: int) -> None:
    async with asyncio.timeout(30):
        while (await lh.sessions.get(account)).version < version:
            await asyncio.sleep(0.05)


async def killed_after_a_rotation(lh: AsyncLeasehold, site: Board, account: str) -> None:
    """A worker of its own process turns a page and is shot, and its Chromium with it."""
    before = (await lh.sessions.get(account)).version
    words = [sys.executable, str(WORKER), str(lh._http.base_url), account, URL, program(), *FLAGS, site.flag]
    token = lh._http.headers["Authorization"].removeprefix("Bearer ")
    worker = await asyncio.create_subprocess_exec(
        *words, env=os.environ | {"TOKEN": token}, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        assert worker.stdout
        assert await asyncio.wait_for(worker.stdout.readline(), 60) == b"turned\n"
        await until_version(lh, account, before + 1)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        await worker.wait()


async def test_one_sign_in_lasts_for_everybody_whatever_happens(
    lh: AsyncLeasehold, chrome: Browser, site: Board
) -> None:
    ann, bob = await opened(lh, site, "ann"), await opened(lh, site, "bob")
    for account in (ann, bob):
        await first_time(lh, chrome, account)
    trusted = await trust(lh, ann)

    one_by_one = [await visit(lh, chrome, ann) for _ in range(3)]
    at_once = await asyncio.gather(visit(lh, chrome, ann), visit(lh, chrome, bob))
    await killed_after_a_rotation(lh, site, ann)
    after_the_kill = await visit(lh, chrome, ann)
    site.is_odd = True
    odd = await visit(lh, chrome, ann, rest_s=1.5)  # long enough to be looked at on the way
    site.is_odd = False
    after_the_oddity = await visit(lh, chrome, ann)

    assert one_by_one == [["ann", "ann"]] * 3
    assert list(at_once) == [["ann", "ann"], ["bob", "bob"]]
    assert (after_the_kill, odd, after_the_oddity) == (["ann", "ann"], ["", ""], ["ann", "ann"])
    user, stored = await loads(chrome, lh, ann)
    assert (user, stored["visits"]) == ("ann", "15")
    assert await trust(lh, ann) == trusted
    assert site.logins == {"ann": 1, "bob": 1}


async def test_a_worker_that_is_killed_after_a_rotation_loses_nothing(
    lh: AsyncLeasehold, chrome: Browser, site: Board, account: str
) -> None:
    await first_time(lh, chrome, account)

    await killed_after_a_rotation(lh, site, account)

    assert await visit(lh, chrome, account, times=1) != [""]


async def test_a_task_that_is_cancelled_saves_what_it_has(lh: AsyncLeasehold, chrome: Browser, account: str) -> None:
    await first_time(lh, chrome, account)
    turned = asyncio.Event()
    contexts = []

    async def work() -> None:
        # Nothing is watched, so what is saved is saved at the end.
        async with held(lh, account) as lease, lh.browser_session(lease, chrome, watch=()) as context:
            contexts.append(context)
            await (await context.new_page()).goto(URL)
            turned.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await turned.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (await loads(chrome, lh, account))[0] != ""
    assert contexts[0] not in chrome.contexts


async def test_what_a_block_that_fails_has_is_saved(lh: AsyncLeasehold, chrome: Browser, account: str) -> None:
    await first_time(lh, chrome, account)

    async def work() -> None:
        async with held(lh, account) as lease, lh.browser_session(lease, chrome, watch=()) as context:
            await (await context.new_page()).goto(URL)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await work()

    assert (await loads(chrome, lh, account))[0] != ""


async def test_a_stranger_s_cookie_is_kept_aside(
    lh: AsyncLeasehold, chrome: Browser, site: Board, account: str
) -> None:
    await first_time(lh, chrome, account)
    before = await lh.sessions.get(account)

    async with held(lh, account) as lease:
        site.is_odd = True
        session = lh.browser_session(lease, chrome, watch=())
        async with session as context:
            await (await context.new_page()).goto(URL)
            lease.logged_out("a login page")
        site.is_odd = False

    assert session.report
    assert session.report.held > 0
    assert await lh.sessions.get(account) == before
    (listed,) = [one async for one in lh.sessions.all(site="board") if one.account_id == account]
    assert len(listed.branches) == 1
    assert (await loads(chrome, lh, account))[0] != ""


async def test_a_lost_device_is_why_this_matters(lh: AsyncLeasehold, chrome: Browser, account: str) -> None:
    """The site itself: without `device_trust` nobody signs in a second time."""
    await first_time(lh, chrome, account)

    async with held(lh, account) as lease:
        context = await chrome.new_context()
        page = await fill_in(context, lease)
        async with page.expect_response(lambda response: response.request.method == "POST") as answered:
            await page.click("button")
        led_to = (await answered.value).headers["location"]
        await context.close()

    assert led_to == "/login"


async def test_databases_come_along_when_they_are_asked_for(lh: AsyncLeasehold, chrome: Browser, account: str) -> None:
    await first_time(lh, chrome, account)
    put = """() => new Promise(done => {
        const opening = indexedDB.open("notes", 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore("all").put("kept", "k");
        opening.onsuccess = () => { opening.result.close(); done(); };
    })"""
    get = "() => indexedDB.databases().then(all => all.map(one => one.name))"

    async with held(lh, account) as lease:
        async with lh.browser_session(lease, chrome, include=["indexeddb"]) as context:
            page = await context.new_page()
            await page.goto(URL)
            await page.evaluate(put)
        async with lh.browser_session(lease, chrome, include=["indexeddb"]) as context:
            page = await context.new_page()
            await page.goto(URL)
            with_them = await page.evaluate(get)
        async with lh.browser_session(lease, chrome) as context:
            page = await context.new_page()
            await page.goto(URL)
            without = await page.evaluate(get)

    assert (with_them, without) == (["notes"], [])
    kept = (await lh.sessions.get(account, include=["indexeddb"])).storage_state["origins"]
    assert [one["name"] for origin in kept for one in origin["indexedDB"]] == ["notes"]


async def test_a_revoked_lease_saves_nothing_and_says_so(lh: AsyncLeasehold, chrome: Browser, account: str) -> None:
    await first_time(lh, chrome, account)
    version = (await lh.sessions.get(account)).version
    sessions = []

    async def work() -> None:
        async with held(lh, account) as lease:
            sessions.append(lh.browser_session(lease, chrome, watch=()))
            async with sessions[0] as context:
                await (await context.new_page()).goto(URL)
                await lh.leases.revoke(lease.id)

    with pytest.raises(LeaseLost):
        await work()

    assert isinstance(sessions[0].error, LeaseLost)
    assert sessions[0].unsaved
    assert (await lh.sessions.get(account)).version == version
    assert sessions[0].context not in chrome.contexts


async def test_without_an_event_loop_it_is_the_same(
    lh: AsyncLeasehold, chrome: Browser, site: Board, account: str
) -> None:
    await first_time(lh, chrome, account)
    token = lh._http.headers["Authorization"].removeprefix("Bearer ")

    def work() -> list[Any]:
        with (
            sync_playwright() as playwright,
            Client(str(lh._http.base_url), token) as client,
            client.account("board", account_id=account, wait=30) as lease,
        ):
            browser = playwright.chromium.launch(executable_path=program(), args=[*FLAGS, site.flag])
            session = client.browser_session(lease, browser)
            with session as context:
                page = context.new_page()
                page.goto(URL)
                user = page.evaluate("document.body.dataset.user")
                deadline = time.monotonic() + 30
                while session.report is None and time.monotonic() < deadline:
                    page.wait_for_timeout(50)  # also what lets its events through
                on_the_way = session.report
            browser.close()
            return [user, on_the_way, session.report, session.error]

    user, on_the_way, at_the_end, error = await asyncio.to_thread(work)

    assert user
    assert error is None
    assert on_the_way.version < at_the_end.version or at_the_end.unchanged
    assert "cookie board.example/ sid" in on_the_way.names["set"]
    assert (await loads(chrome, lh, account))[0] == user


async def test_a_browser_that_died_is_told_and_ends_nothing_else(
    lh: AsyncLeasehold, site: Board, account: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with chromium(site.flag) as short_lived, held(lh, account) as lease:
        session = lh.browser_session(lease, short_lived)
        async with session as context:
            await (await context.new_page()).goto(URL)
            await short_lived.close()

    assert isinstance(session.error, PlaywrightError)
    assert "was not saved" in caplog.text
    with pytest.raises(NothingFree):
        async with lh.account("board", account_id=account), lh.account("board", account_id=account):
            pass
