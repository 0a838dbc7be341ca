"""`leasehold demo` as a process: every screen comes alive, leases make the difference, and nothing is left."""

import re
import time
from collections.abc import Callable
from typing import Any

from tests.parts.process import Leasehold, Place

# Generous: it is only used up when something is broken.
PATIENCE_S = 240.0
# What is configured on the machine; the demo must not touch any of it.
ELSEWHERE = {
    "LEASEHOLD_DATABASE_URL": "postgresql://ann:hunter2@127.0.0.1:1/production",
    "LEASEHOLD_POOLS": "mongo",
    "LEASEHOLD_PORT": "1",
    "HTTP_PROXY": "http://127.0.0.1:1",
}


def items(demo: Leasehold, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = demo.ask("GET", path, demo.token).json()["items"]
    return found


def parity(demo: Leasehold, platform: str) -> dict[str, Any]:
    found: dict[str, Any] = demo.ask("GET", f"/v2/platforms/{platform}/parity", demo.token).json()
    return found


def eventually(demo: Leasehold, what: str, is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert demo.process.poll() is None, demo.err
        assert time.monotonic() < deadline, f"never: {what}\n{demo.out}\n{demo.err}"
        time.sleep(0.2)


def wrongs(demo: Leasehold) -> list[str]:
    """What went wrong; not that a busy machine kept somebody waiting for a connection: that is tried again."""
    entries = re.split(r"^(?=\d{4}-\d\d-\d\dT)", demo.err, flags=re.MULTILINE)
    return [entry for entry in entries if entry and "PoolTimeout" not in entry]


def test_every_screen_comes_alive_and_ctrl_c_leaves_nothing(here: Place) -> None:
    demo = here.start("demo", "--data", str(here.folder / "demo"), **ELSEWHERE)
    eventually(demo, "up", lambda: "Ctrl-C stops it." in demo.out)

    def some(path: str, **wanted: object) -> Callable[[], object]:
        return lambda: any(wanted.items() <= one.items() for one in items(demo, path))

    alive = {
        # First what does not last, so that it is not missed and waited for once more.
        "a run whose provider is down": some("/v2/runs", pause_reason="provider_down"),
        "accounts that are blocked": some("/v2/accounts?limit=500", state="blocked"),
        "a run whose provider came back": some("/v2/runs", name="Sellers of toys", status="completed"),
        "a site that has moved": some("/v2/sites", current_domain="forum-2.localhost"),
        "sites": some("/v2/sites", current_domain="board.localhost"),
        "accounts in use": some("/v2/accounts?limit=500", state="using"),
        "accounts that rest": some("/v2/accounts?limit=500", state="cooling"),
        "accounts with a wrong password": some("/v2/accounts?limit=500", state="inactive"),
        "seeds that are due": lambda: items(demo, "/v2/seeds?due=true"),
        "sessions of some age": lambda: any(one["version"] > 2 for one in items(demo, "/v2/sessions")),
        "captures that were taken": some("/v2/captures?limit=500", state="delivered"),
        "leases on accounts": some("/v2/leases?limit=500", kind="account"),
        "a run that goes on": some("/v2/runs", status="running"),
        "a run whose budget is used up": some("/v2/runs", pause_reason="budget"),
        "jobs that are done": some("/v2/jobs?platform=youtube", status="completed"),
        "dead letters": lambda: items(demo, "/v2/jobs/dead-letters"),
        "results that are compared": lambda: parity(demo, "tiktok")["equal"] > 0,
        "people": lambda: items(demo, "/v2/entities?kind=performer"),
        "sellers": lambda: items(demo, "/v2/entities?kind=seller"),
        "reviews": lambda: items(demo, "/v2/entities/reviews"),
        "sources": lambda: any((one["last_sweep"] or {}) for one in items(demo, "/v2/sources")),
    }
    for what, is_so in alive.items():
        eventually(demo, what, is_so)
    books = items(demo, "/v2/jobs/books")

    assert demo.end() == 0
    assert here.processes() == []
    assert {one["unaccounted"] for one in books} == {0}
    assert wrongs(demo) == []


def test_without_leases_accounts_are_blocked_and_with_them_none(here: Place) -> None:
    demo = here.start("demo", "--without-leases", "--visits", "50", TMPDIR=str(here.folder), **ELSEWHERE)
    assert demo.process.wait(PATIENCE_S) == 0, demo.err

    rows = re.findall(r"^  (\w.*?)  +(\S+)  +(\S+)$", demo.out, re.MULTILINE)
    without = {what: float(one.strip("$")) for what, one, _ in rows}
    having = {what: float(other.strip("$")) for what, _, other in rows}
    for what in ("accounts blocked by the board", "pages collected again", "money spent twice"):
        assert without[what] > 0
        assert having[what] == 0
    assert having["sessions lost, signed in again"] == having["trusted devices lost"] == 0
    assert having["pages collected"] > without["pages collected"] > 0
    assert here.processes() == []


def test_it_stops_by_itself_and_takes_its_folder_along(here: Place) -> None:
    temporary = here.folder / "tmp"
    temporary.mkdir(mode=0o755)
    demo = here.start("demo", "--seconds", "1", TMPDIR=str(temporary))

    assert demo.process.wait(PATIENCE_S) == 0, demo.err
    assert "Stopping" in demo.out
    assert list(temporary.iterdir()) == []
    assert here.processes() == []


def test_a_folder_that_is_not_empty_is_left_alone(here: Place) -> None:
    (here.folder / "notes.txt").write_text("mine")

    refused = here.run("demo", "--data", str(here.folder))

    assert refused.code == 2
    assert "Choose another --data" in refused.err
    assert (here.folder / "notes.txt").read_text() == "mine"
