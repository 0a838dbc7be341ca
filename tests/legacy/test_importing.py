"""An import out of an older system: everything arrives, once, and is what it was."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from bson import Binary, DatetimeMS, Decimal128, MaxKey, MinKey, Timestamp

from leasehold.auth import Role
from leasehold.settings import Settings
from tests.legacy.old import BOARD, SUM, Old, event, page
from tests.parts.house import House

THEN = datetime(2015, 1, 1, tzinfo=UTC)


async def test_a_site_arrives_with_every_address_it_had(old: Old, home: House, admin: httpx.AsyncClient) -> None:
    old.fill()

    ran = await old.bring()

    site = (await admin.get("/v2/sites/the-board")).json()
    assert ran.agree
    assert ran.all_good
    assert [(one["host"], one["trust"], one["since"]) for one in site["mounts"]] == [
        ("old.example", "urls", "2014-05-13T16:53:20Z"),
        ("new.example", "credentials", "2017-07-14T02:40:00Z"),
    ]
    assert (site["name"], site["epoch"], site["current_domain"]) == ("The Board", 2, "new.example")
    (move,) = (await admin.get("/v2/sites/the-board/moves")).json()["items"]
    assert (move["from_address"], move["to_address"], move["at"]) == (
        "https://old.example/",
        "https://new.example/",
        "2017-07-14T02:40:00Z",
    )


async def test_a_capture_arrives_as_a_record(old: Old, home: House, admin: httpx.AsyncClient) -> None:
    old.fill(pages=1)

    await old.bring()

    (capture,) = (await admin.get("/v2/captures")).json()["items"]
    assert capture["state"] == "delivered"
    assert capture["reference"] == {"site": "the-board", "sub": "", "rest": "/t/0"}
    assert (capture["captured_at"], capture["job_id"], capture["labels"]) == (
        "2015-06-01T12:00:00Z",
        "job-7",
        {"lang": "en"},
    )
    assert capture["files"] == [
        {
            "name": "page.html",
            "sha256": SUM,
            "size": 1000,
            "content_type": "text/html",
            "deduplicated": False,
            "external": True,
            "location": "/mnt/old/0/page.html",
        }
    ]
    found = (await admin.get("/v2/captures", params={"url": "https://new.example/t/0"})).json()["items"]
    assert [one["id"] for one in found] == [capture["id"]]


async def test_bytes_that_stayed_behind_are_gone_and_it_is_said_where_they_were(
    old: Old, home: House, admin: httpx.AsyncClient
) -> None:
    old.fill(pages=1)
    await old.bring()
    (capture,) = (await admin.get("/v2/captures")).json()["items"]

    refused = await admin.get(f"/v2/captures/{capture['id']}/files/page.html")

    assert refused.status_code == 410
    assert refused.json()["type"] == "/problems/file-elsewhere"
    assert refused.json()["location"] == "/mnt/old/0/page.html"


async def test_a_record_is_never_handed_to_a_consumer(old: Old, home: House, admin: httpx.AsyncClient) -> None:
    old.fill(pages=0)
    old.insert("pages", page(1, status=3))
    await old.bring()
    (capture,) = (await admin.get("/v2/captures")).json()["items"]

    requeued = await admin.post(f"/v2/captures/{capture['id']}/requeue")
    offered = await admin.post("/v2/captures/acquire", json={"owner": "mill"})

    assert capture["state"] == "rejected"
    assert (requeued.status_code, requeued.json()["type"]) == (410, "/problems/file-elsewhere")
    assert offered.json()["leases"] == []


async def test_what_happened_there_is_in_the_audit_with_its_own_time(
    old: Old, home: House, admin: httpx.AsyncClient
) -> None:
    old.fill(pages=1)
    await old.bring()
    (capture,) = (await admin.get("/v2/captures")).json()["items"]

    life = (await admin.get(f"/v2/captures/{capture['id']}/audit")).json()["items"]

    assert [one["event"] for one in life] == ["imported", "history", "history"]
    assert life[0]["detail"]["legacy_id"] == "0"
    assert life[1]["detail"] == {
        "imported": True,
        "event": "fetched",
        "original_at": "2015-06-01T12:00:00+00:00",
        "original_actor": "robot 4",
        "legacy_id": "e000000",
        "detail": {"try": 1, "took": 0.5},
    }
    assert life[1]["actor_name"] == "command line"
    assert life[1]["at"] > "2026"


async def test_nothing_is_made_twice(old: Old, home: House) -> None:
    old.fill(pages=4)
    first = await old.bring()
    before = [old.count(table) for table in ("capture", "external_file", "audit_event", "mount", "legacy_item")]

    second = await old.bring()

    assert [first.row(kind) for kind in ("sites", "domains", "captures", "events")] == [
        [1, 1, 0, 0],
        [2, 2, 0, 0],
        [4, 4, 0, 0],
        [8, 8, 0, 0],
    ]
    assert [second.row(kind) for kind in ("sites", "domains", "captures", "events")] == [
        [1, 0, 1, 0],
        [2, 0, 2, 0],
        [4, 0, 4, 0],
        [8, 0, 8, 0],
    ]
    assert second.agree
    assert [old.count(t) for t in ("capture", "external_file", "audit_event", "mount", "legacy_item")] == before
    assert old.count("legacy_run") == 0


async def test_what_came_later_is_brought_by_the_next_run(old: Old, home: House, admin: httpx.AsyncClient) -> None:
    old.fill(pages=2)
    await old.bring()
    old.insert("pages", page(-5), page(7))
    hosts = [{"name": "old.example", "from": 1_400_000_000, "safe": False}, {"name": "new.example", "from": 1.5e9}]
    old.change("boards", BOARD, {"hosts": [*hosts, {"name": "newest.example", "from": 1.6e9}]})

    ran = await old.bring()

    site = (await admin.get("/v2/sites/the-board")).json()
    assert ran.row("captures") == [4, 2, 2, 0]
    assert ran.row("domains") == [3, 1, 2, 0]
    assert (site["current_domain"], site["epoch"]) == ("newest.example", 3)
    assert ran.agree


async def test_ids_of_every_type_are_read(old: Old, home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    old.fill(pages=0)
    good = [
        7,
        7.5,
        "7x",
        {"a": 1},
        BOARD,
        Binary.from_uuid(uuid4()),
        Decimal128("1.5"),
        THEN,
        b"\x00\x01",
        Timestamp(5, 1),
    ]
    ids = [None, float("nan"), MinKey(), *good, True, DatetimeMS(2**62), MaxKey()]
    old.insert("pages", *(page(n, _id=id_) for n, id_ in enumerate(ids)))
    monkeypatch.setattr("leasehold.legacy.source.PAGE", 1)

    ran, again = await old.bring(), await old.bring()

    assert ran.row("captures") == [16, 14, 0, 2]
    assert again.row("captures") == [16, 0, 14, 2]
    assert {one["wrong"] for one in ran.bad} == {"_id: is no id."}


async def test_a_removed_capture_comes_back_under_its_id(old: Old, home: House, admin: httpx.AsyncClient) -> None:
    old.fill(pages=1)
    await old.bring()
    (capture,) = (await admin.get("/v2/captures")).json()["items"]
    assert (await admin.delete(f"/v2/captures/{capture['id']}")).status_code == 204

    ran = await old.bring()

    (again,) = (await admin.get("/v2/captures")).json()["items"]
    assert again["id"] == capture["id"]
    assert ran.row("captures") == [1, 1, 0, 0]
    assert ran.agree


async def test_a_dry_run_writes_nothing(old: Old, home: House) -> None:
    old.fill()
    old.insert("pages", {"_id": "broken"})
    before = old.count("audit_event")

    ran = await old.bring(dry_run=True)

    assert [ran.row(kind) for kind in ("sites", "domains", "captures", "events")] == [
        [1, 1, 0, 0],
        [2, 2, 0, 0],
        [4, 3, 0, 1],
        [6, 6, 0, 0],
    ]
    assert ran.bad == []
    assert any('"_id":"\\"broken\\""' in line for line in ran.said)
    assert [old.count(t) for t in ("site", "capture", "legacy_item", "legacy_run")] == [0, 0, 0, 0]
    assert old.count("audit_event") == before
    assert not (old.folder / "bad.ndjson").exists()


async def test_organisations_have_their_own(old: Old, home: House) -> None:
    old.fill(pages=1)
    theirs = await home.caller(Role.ADMIN, "theirs")
    await old.bring("theirs")
    ours = await home.caller()

    second = await old.bring()

    ids = [(await client.get("/v2/captures")).json()["items"][0]["id"] for client in (ours, theirs)]
    assert second.row("captures") == [1, 1, 0, 0]
    assert ids[0] != ids[1]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE capture SET url = 'https://old.example/other'",
        "UPDATE external_file SET size = size + 1",
        "UPDATE mount SET since = since - interval '1 day' WHERE NOT current",
        "DELETE FROM external_file",
    ],
)
async def test_rows_that_were_changed_meanwhile_are_told(old: Old, home: House, change: str) -> None:
    old.fill()
    await old.bring()
    old.database.run(change)

    ran = await old.bring()

    assert not ran.agree
    assert any("DIFFER" in line for line in ran.said)


async def test_an_event_that_was_changed_is_told(old: Old, home: House) -> None:
    old.fill()
    await old.bring()
    with old.database.connect() as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("UPDATE audit_event SET detail = detail || '{\"event\": \"x\"}' WHERE action = 'capture.history'")

    ran = await old.bring()

    assert [line.endswith("agree") for line in ran.said if ": read" in line] == [True, True, False]


async def test_a_site_that_moved_on_since_is_no_difference(old: Old, home: House, admin: httpx.AsyncClient) -> None:
    old.fill()
    await old.bring()
    await admin.post("/v2/sites/the-board/moves", json={"to": "later.example"})

    ran = await old.bring()

    assert ran.agree
    assert ran.all_good


async def test_events_may_be_inside_their_captures(old: Old, home: House) -> None:
    old.map = old.map.replace('collection = "log"', 'collection = "pages"\neach = "trail"').replace(
        'capture = "page"', 'capture = "^_id"'
    )
    old.fill(pages=0)
    trail: list[Any] = [event(0), event(1), "no event"]
    old.insert("pages", page(1, trail=trail), page(2), page(3, trail="no list"))

    ran = await old.bring()

    assert ran.row("events") == [4, 2, 0, 2]
    assert [one["wrong"] for one in ran.bad] == ["event: is missing.", "trail: must be a list."]
    assert ran.agree


async def test_a_history_is_told_in_the_order_of_time_however_it_was_written(
    old: Old, home: House, admin: httpx.AsyncClient
) -> None:
    times = {"second": 1_500_000_000, "third": 1_600_000_000, "first": 1_400_000_000}
    hosts = [{"name": f"{name}.example", "from": since} for name, since in times.items()]
    old.insert("boards", {"_id": 1, "title": "b", "hosts": hosts})
    old.insert("pages", page(1, board=1))
    old.insert("log")

    ran = await old.bring()

    site = (await admin.get("/v2/sites/b")).json()
    assert [one["host"] for one in site["mounts"]] == ["first.example", "second.example", "third.example"]
    assert site["current_domain"] == "third.example"
    assert ran.agree


async def test_what_happened_is_told_in_the_order_it_happened_in(
    old: Old, home: House, admin: httpx.AsyncClient
) -> None:
    old.fill(pages=0)
    old.insert("pages", page(0))
    old.insert("log", event(0, what="third", ts=3), event(1, what="first", ts=1), event(2, page=0, what="second", ts=2))
    await old.bring()
    (capture,) = (await admin.get("/v2/captures")).json()["items"]

    life = (await admin.get(f"/v2/captures/{capture['id']}/audit")).json()["items"]

    assert [one["detail"]["event"] for one in life[1:]] == ["first", "second", "third"]


async def test_a_domain_of_a_site_nobody_knows_is_told(old: Old, home: House) -> None:
    old.map = old.map.replace('collection = "boards"\neach = "hosts"', 'collection = "hosts"').replace("^_id", "of")
    old.fill(pages=0)
    old.insert("hosts", {"_id": 1, "of": BOARD, "name": "a.example", "from": 1_400_000_000})
    old.insert("hosts", {"_id": 2, "of": "nobody", "name": "b.example", "from": 1_400_000_000})

    ran = await old.bring()

    assert (ran.row("sites"), ran.row("domains")) == ([1, 1, 0, 0], [2, 1, 0, 1])
    assert [one["wrong"] for one in ran.bad] == ["site: no document of a site has this id or slug."]


async def test_every_row_is_compared_however_many_there_are(
    old: Old, home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.legacy.checking._AT_ONCE", 1)
    old.fill(pages=3)
    await old.bring()
    old.database.run("UPDATE capture SET job_id = 'x' WHERE url = 'https://old.example/t/2'")

    ran = await old.bring()

    assert [line.endswith("agree") for line in ran.said if ": read" in line] == [True, False, True]
    assert "captures: read 3 " in next(line for line in ran.said if line.startswith("captures: read"))


async def test_captures_find_every_site_that_was_imported_before(
    old: Old, home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.legacy.service.BATCH", 1)
    for number in range(3):
        hosts = [{"name": f"b{number}.example", "from": 1_400_000_000}]
        old.insert("boards", {"_id": number, "title": f"b{number}", "hosts": hosts})
    old.insert("pages")
    old.insert("log")
    await old.bring()
    old.insert("pages", *(page(number, board=number) for number in range(3)))
    old.map = old.map[old.map.index("[captures]") : old.map.index("[events]")]

    ran = await old.bring()

    assert ran.row("captures") == [3, 3, 0, 0]


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_a_site_may_live_at_a_special_host_where_that_is_allowed(old: Old, home: House, is_allowed: bool) -> None:
    old.insert("boards", {"_id": 1, "title": "b", "hosts": [{"name": "board.internal", "from": 1_400_000_000}]})
    old.insert("pages")
    old.insert("log")

    ran = await old.bring(settings=Settings(allow_special_hosts=is_allowed))

    assert ran.row("sites") == ([1, 1, 0, 0] if is_allowed else [1, 0, 0, 1])
