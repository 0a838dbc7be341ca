"""What is handed out loads into a real Chromium, and what Chromium saves again is what was handed out."""

import time
from typing import Any

import pytest
from playwright.async_api import Browser

from leasehold.sessions import (
    Canonical,
    Envelope,
    Health,
    History,
    Source,
    Wish,
    hand_out,
    handed_out,
    read_state,
    receive,
)
from leasehold.sessions.merge import Upload, derive
from tests.sessions.states import ALL, EVERYTHING, KEY, cookie, known, sample, sample_time, send, state

pytestmark = pytest.mark.asyncio(loop_scope="session")

PARTS: list[dict[str, Any]] = [
    {"partitionKey": "https://top.example", "_crHasCrossSiteAncestor": True},
    {"partitionKey": "https://top.example", "_crHasCrossSiteAncestor": False},
    {"partitionKey": "https://b.example"},
]


def moved_to_today(name: str) -> dict[str, Any]:
    """A sample whose cookies end as long after now as they did after the day it was made."""
    held, shift = sample(name), int(time.time()) - sample_time(name) // 1000
    for one in held["cookies"]:
        one["expires"] += shift if one["expires"] != -1 else 0
    return held


async def reload(browser: Browser, given: dict[str, Any]) -> dict[str, Any]:
    context = await browser.new_context(storage_state=given)  # type: ignore[arg-type]
    try:
        return await context.storage_state(indexed_db=True, opfs=True)  # type: ignore[return-value]
    finally:
        await context.close()


def read(held: dict[str, Any]) -> Canonical:
    return read_state(held, EVERYTHING, time.time())


def saved_as_nothing(given: dict[str, Any], saved: dict[str, Any], handed: float) -> bool:
    """Whether an upload of what was saved would change nothing."""
    upload = Upload("u", round(time.time() * 1000), read(saved), Source.CONTEXT, Health.OK, handed_out=handed)
    done = derive(upload, read(given), KEY)
    return not done.sets and not done.deletions


async def test_the_merge_of_real_states_comes_back_slot_for_slot(browser: Browser) -> None:
    history = History()
    for name in ("01", "02", "03", "06", "07", "08", "12a", "12b"):
        history = send(history, name, time.time() - 60, moved_to_today(name)).history
    given = hand_out(history, time.time(), ALL).state

    saved = await reload(browser, given)

    assert len(read(given).entries) == 71
    assert read(saved).entries == read(given).entries


async def test_a_crowded_site_keeps_the_cookie_it_gave_once(browser: Browser) -> None:
    once, now = state(cookie("device", "d", expires=time.time() + 9e6)), time.time()
    history = send(History(), "u0", now - 900, once).history
    for n in (1, 2):
        history = send(history, f"u{n}", now - 900 + n, once, known(once)).history
    crowd = [cookie(f"c{n}", "x", domain=f"h{n % 9}.a.example") for n in range(200)]
    history = send(history, "u3", now - 60, {"cookies": crowd, "origins": []}).history
    given = hand_out(history, now).state

    saved = await reload(browser, given)

    assert given["cookies"][0]["name"] == "device"
    assert len(saved["cookies"]) == 180
    assert read(saved).entries == read(given).entries


async def test_long_lives_are_cut_by_the_browser_and_that_is_no_write(browser: Browser) -> None:
    now = time.time()
    held = state(cookie("far", expires=253402300799), cookie("ten-years", expires=now + 3650 * 86400), cookie("s"))
    history = send(History(), "u0", now - 60, held).history
    given = hand_out(history, now).state

    saved = await reload(browser, given)

    assert read(saved).entries != read(given).entries
    assert saved_as_nothing(given, saved, now)


async def test_partitions_stay_apart_within_their_room(browser: Browser) -> None:
    now = time.time()
    parted = [cookie(f"p{n:03}", "x" * 100, **part) for part in PARTS for n in range(120)]
    plain = [cookie(f"p{n:03}", "x" * 100) for n in range(185)]
    history = send(History(), "u0", now - 60, {"cookies": parted + plain, "origins": []}).history
    given = hand_out(history, now)

    saved = await reload(browser, given.state)

    assert len(given.state["cookies"]) == 3 * 98 + 180
    assert len(given.over_cap) == 3 * 22 + 5
    assert read(saved).entries == read(given.state).entries


NASTY: list[dict[str, Any]] = [
    {"name": "", "value": "v"},
    {"name": "a b"},
    {"name": "(a)"},
    {"name": "ü"},
    {"value": '"v"'},
    {"value": "ü,\\ä"},
    {"value": ""},
    {"value": "x" * 4090},
    {"path": "/ä b?c#d"},
    {"path": "/a/../b"},
    {"path": "/a\\b"},
    {"path": "//a<b>"},
    {"path": "/a\tb"},
    {"path": "/" + "x" * 1023},
    {"path": ""},
    {"domain": "A_B.Example."},
    {"domain": ".a.example."},
    {"domain": "%61.example"},
    {"domain": ".[::1]"},
    {"domain": ".1.2.3.4"},
    {"domain": "0x7f.1"},
    {"domain": ".co.uk"},
    {"domain": ".localhost"},
    {"domain": "*.a.example"},
    {"domain": "a..example"},
    {"domain": "x" * 64 + ".example"},
    {"domain": "BÜCHER.example:80"},
    {"domain": ".a.example:80"},
    {"domain": "a.123"},
    {"name": "__Http-x", "httpOnly": True},
    {"name": "__Host-Http-x", "httpOnly": True},
    {"name": "__HOST-x"},
    {"name": "__Secure-x", "domain": ".a.example"},
    {"name": "__Host-x", "domain": ".1.2.3.4"},
    {"name": "__other"},
    {"sameSite": "no_restriction"},
    {"sameSite": None, "secure": False},
    {"expires": 0},
    {"expires": 1},
    {"expires": 1826260442.6073441},
    {"expires": 253402300799},
    {"partitionKey": "https://co.uk"},
    {"partitionKey": "http://[::1]:80", "_crHasCrossSiteAncestor": False},
    {"partitionKey": "ftp://x.example"},
    {"partitionKey": "https://a.x.github.io"},
]


async def test_whatever_was_let_in_loads_under_the_name_it_is_kept_by(browser: Browser) -> None:
    now, history = time.time(), History()
    for number, odd in enumerate(NASTY):
        one = {**cookie(f"n{number}", "v"), **odd}
        history = send(history, f"u{number:03}", now - 60, {"cookies": [one], "origins": []}).history
    names = ["\0", "ü", "😀", "\t\n", "", " ", "__proto__", "length", "key", "x" * 10_000]
    items = [{"name": name, "value": name} for name in names]
    local = {"cookies": [], "origins": [{"origin": "https://XN--BCHER-KVA.example:443/", "localStorage": items}]}
    history = send(history, "v", now - 60, local).history
    given = hand_out(history, now).state

    saved = await reload(browser, given)

    assert len(given["cookies"]) > 30
    assert saved_as_nothing(given, saved, now)
    lost = read(given).entries.keys() - read(saved).entries.keys()
    assert lost == {"l\thttps://xn--bcher-kva.example\tlength"}, "Playwright does not see this key; no deletion"


async def test_files_and_databases_come_back(browser: Browser) -> None:
    held = moved_to_today("09")
    held["origins"][0]["opfs"] += [
        {"path": "d/e/f.bin", "type": "file", "base64": "AAEC"},
        {"path": "g", "type": "directory"},
    ]
    history = send(History(), "u0", time.time() - 60, held).history
    given = hand_out(history, time.time(), Wish(databases=True, files=True)).state

    saved = await reload(browser, given)

    assert read(given).entries.keys() <= read(saved).entries.keys()
    assert saved_as_nothing(given, {**saved, "origins": _without_folders(saved)}, time.time())


def _without_folders(saved: dict[str, Any]) -> list[Any]:
    """Folders that a browser lists because there is something in them."""
    return [
        {**one, "opfs": [file for file in one.get("opfs", []) if file["path"] not in ("d", "d/e")]}
        for one in saved["origins"]
    ]


async def test_a_lease_that_reads_and_sends_back_changes_nothing(browser: Browser) -> None:
    now, history = time.time(), History()
    for name in ("01", "06", "07", "12a"):
        history = send(history, name, now - 60, moved_to_today(name)).history

    saved = await reload(browser, hand_out(history, now).state)
    got = receive(
        history,
        saved,
        Envelope("zz", round(time.time() * 1000), Source.CONTEXT, Health.UNKNOWN, "lease", now),
        handed_out(history, now),
        KEY,
    )

    assert got.report.counts() | {"unchanged": 0} == {
        "set": 0,
        "unchanged": 0,
        "deleted": 0,
        "expired": 0,
        "stale_echo": 0,
        "absent_kept": 0,
        "held": 0,
        "over_cap": 0,
        "rejected": [],
    }
