"""No secret gets into a log, whoever logs it and however deep it sits."""

import json
import logging

import pytest

from leasehold import logs

TOKEN = "lh_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture(autouse=True)
def _json_logs(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "json")


def lines(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().err


def test_what_is_named_like_a_secret_is_hidden(capfd: pytest.CaptureFixture[str]) -> None:
    logs.get("test").info("thing.done", password="p4ss", Authorization="Bearer x", detail={"secret": {"a": "b4d"}})

    event = json.loads(lines(capfd))
    assert (event["password"], event["Authorization"], event["detail"]) == (
        logs.HIDDEN,
        logs.HIDDEN,
        {"secret": logs.HIDDEN},
    )


def test_what_looks_like_a_token_is_hidden_anywhere(capfd: pytest.CaptureFixture[str]) -> None:
    logs.get("test").warning("thing.odd", header=f"Bearer {TOKEN}", many=[f"x{TOKEN}", {"deep": TOKEN}])

    assert TOKEN not in lines(capfd)


def test_a_password_in_an_address_is_hidden(capfd: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("some.library").warning("cannot reach postgresql://owner:p4ssw0rd@db/leasehold")

    out = lines(capfd)
    assert "p4ssw0rd" not in out
    assert "@db/leasehold" in out


def test_a_stack_trace_is_cleaned_too(capfd: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError(TOKEN)
    except ValueError:
        logs.get("test").exception("thing.failed")

    out = lines(capfd)
    assert "ValueError" in out
    assert TOKEN not in out


def test_events_below_the_level_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning", "json")

    logs.get("test").info("thing.usual")

    assert lines(capfd) == ""


def test_the_console_form_is_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("info", "console")

    logs.get("test").info("thing.done", site="board")

    assert "thing.done" in (out := lines(capfd))
    assert "site=board" in out
