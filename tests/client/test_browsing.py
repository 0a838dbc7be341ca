"""A session in a browser, without an event loop: what is loaded, when it is saved, and what becomes of failures."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leasehold.client import HeldAccount, InvalidRequest, Leasehold, LeaseLost
from tests.client.pretender import Pretender
from tests.client.standin import SECRET, StandIn, problem


@pytest.fixture
def lh(server: StandIn) -> Iterator[Leasehold]:
    with Leasehold(server.address, "lh_x") as client:
        yield client


@pytest.fixture
def lease(lh: Leasehold) -> Iterator[HeldAccount]:
    with lh.account("board") as held:
        yield held


@pytest.fixture
def browser() -> Pretender:
    return Pretender()


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_state_is_loaded_and_saved_with_its_base(
    server: StandIn, lh: Leasehold, lease: HeldAccount, browser: Pretender
) -> None:
    session = lh.browser_session(lease, browser, locale="de")
    with session as context:
        assert context.options["storage_state"]["cookies"] == [{"value": SECRET}]
        assert context.options["locale"] == "de"
        session.ok()

    assert [(one.query["base"], one.query["health"]) for one in server.uploads] == [("3", "ok")]
    assert context.is_closed
    assert session.report
    assert session.report.version == 4


def test_an_account_without_a_session_starts_fresh(
    server: StandIn, lh: Leasehold, lease: HeldAccount, browser: Pretender
) -> None:
    lease._session = None

    with lh.browser_session(lease, browser) as context:
        assert context.options == {}

    assert [one.query["base"] for one in server.uploads] == ["fresh"]


def test_a_replaced_cookie_is_saved_when_a_page_has_loaded(
    server: StandIn, lh: Leasehold, lease: HeldAccount, browser: Pretender
) -> None:
    with lh.browser_session(lease, browser) as context:
        context.loaded()
        assert context.captures == []
        time.sleep(0.3)
        context.jar["sid"] = "s2"
        context.loaded()
        until(lambda: server.uploads)
        context.jar["sid"] = "s3"
        context.loaded()
        assert len(context.captures) == 1

    assert [one.query["base"] for one in server.uploads] == ["3", "4"]


def test_a_signed_out_context_is_not_saved_on_the_way(
    server: StandIn, lh: Leasehold, lease: HeldAccount, browser: Pretender
) -> None:
    with lh.browser_session(lease, browser, health=lambda _context: "logged_out") as context:
        context.jar["sid"] = "stranger"
        context.loaded()
        assert context.captures == []

    assert [one.query["health"] for one in server.uploads] == ["logged_out"]


def test_an_upload_that_is_refused_is_kept_and_told(
    server: StandIn, lh: Leasehold, lease: HeldAccount, browser: Pretender, caplog: pytest.LogCaptureFixture
) -> None:
    server.on_upload = [lambda: problem(422, "invalid-request")]

    session = lh.browser_session(lease, browser)
    with session:
        pass

    assert isinstance(session.error, InvalidRequest)
    assert session.unsaved
    assert "was not saved: InvalidRequest" in caplog.text
    assert SECRET not in caplog.text


def left(session: Any, error: Exception | None = None) -> None:
    with session:
        if error:
            raise error


def test_a_lost_lease_is_raised_unless_something_else_is(
    server: StandIn, lh: Leasehold, lease: HeldAccount, browser: Pretender
) -> None:
    server.on_upload = [lambda: problem(410, "lease-lost", reason="revoked")] * 2

    with pytest.raises(LeaseLost):
        left(lh.browser_session(lease, browser))
    with pytest.raises(ZeroDivisionError):
        left(lh.browser_session(lease, browser), ZeroDivisionError())

    assert [context.is_closed for context in browser.made] == [True, True]


def test_a_browser_that_has_gone_is_told_and_closed(
    server: StandIn, lh: Leasehold, lease: HeldAccount, browser: Pretender, caplog: pytest.LogCaptureFixture
) -> None:
    session = lh.browser_session(lease, browser)
    with session as context:
        context.is_dead = True
        context.loaded()

    assert isinstance(session.error, ConnectionError)
    assert context.is_closed
    assert server.uploads == []
    assert SECRET not in caplog.text


def test_a_session_without_a_browser_is_loaded_and_saved(server: StandIn, lh: Leasehold, lease: HeldAccount) -> None:
    with lh.session(lease, source="persistent") as session:
        lease.logged_out()
        session.save({"cookies": []}, health="ok")
        session.save({"cookies": []})

    told = [(one.query["base"], one.query["source"], one.query["health"]) for one in server.uploads]
    assert told == [("3", "persistent", "logged_out"), ("4", "persistent", "logged_out")]
