"""Documents that are nothing of ours: each is reported with what is wrong, none stops the others, none is repeated."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from bson import DatetimeMS, Decimal128, Int64, ObjectId

from tests.legacy.old import BOARD, SUM, Old, event, page
from tests.parts.house import House

CANARY = "LHCANARYa1b2"
THEN = datetime(2015, 1, 1, tzinfo=UTC)


def file(**changed: Any) -> list[dict[str, Any]]:
    return [{"path": "a.html", "sum": SUM, "bytes": 1, **changed}]


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"board": None}, "site: is missing."),
        ({"board": "nobody"}, "site: no site of your organisation has this id or slug."),
        ({"board": {"deep": {"er": CANARY}}}, "site: no site of your organisation has this id or slug."),
        ({"request": CANARY}, "captured_at: is missing."),
        ({"request": {"url": 7, "at": THEN}}, "url: must be text."),
        ({"request": {"url": f"https://x/{CANARY}\x00", "at": THEN}}, "url: must not contain the NUL"),
        ({"request": {"url": "https://x/" + "a" * 40_000, "at": THEN}}, "url: must be of 1 to 32768"),
        ({"request": {"url": "https://x/", "at": CANARY}}, "captured_at: must be a time; `as` converts"),
        ({"request": {"url": "https://x/", "at": DatetimeMS(2**62)}}, "captured_at: must be a time"),
        (
            {"request": {"url": "https://x/", "at": datetime(1950, 1, 1, tzinfo=UTC)}},
            "captured_at: must be a time between",
        ),
        ({"job": "a b"}, "job_id: must be 1 to 200 letters"),
        ({"status": CANARY}, None),  # the map has a default
        ({"tags": {"a": "b\x00"}}, "labels: must not contain the NUL character."),
        ({"tags": {"a": 7}}, "labels: must be text."),
        ({"tags": [CANARY]}, "labels: must be at most 50 pairs of text."),
        ({"blobs": CANARY}, "blobs: must be a list."),
        ({"blobs": [CANARY]}, "files.0.name: is missing."),
        ({"blobs": file(sum=CANARY)}, "files.0.sha256: must be a SHA-256."),
        ({"blobs": file(sum=None)}, "files.0.sha256: is missing."),
        ({"blobs": file(bytes=-1)}, "files.0.size: must be a whole number"),
        ({"blobs": file(bytes=float("nan"))}, "files.0.size: must be a finite number."),
        ({"blobs": file(bytes=True)}, "files.0.size: must be a number."),
        ({"blobs": file(bytes=Decimal128("12"))}, None),
        ({"blobs": file(bytes=Int64(2**40))}, None),
        ({"blobs": file() + file()}, "files.1.name: another file of the capture has it."),
        ({"blobs": file(path=f"https://u:{CANARY}@h/a.html")}, "files.0.location: must not carry a user name"),
        ({"body": "x" * 15_000_000}, None),  # huge, but nothing the map names
    ],
)
async def test_a_bad_capture_is_told_and_the_others_are_imported(
    old: Old, home: House, changed: dict[str, Any], wrong: str | None
) -> None:
    old.fill(pages=2)
    old.insert("pages", page(9, **changed))

    ran = await old.bring()

    bad = 0 if wrong is None else 1
    assert ran.row("captures") == [3, 3 - bad, 0, bad]
    assert ran.agree
    assert ran.all_good == (wrong is None)
    assert CANARY not in str(ran.bad) + str(ran.said)
    if wrong is not None:
        (told,) = ran.bad
        assert (told["collection"], told["_id"]) == ("pages", '{"$numberInt": "9"}')
        assert told["wrong"].startswith(wrong)


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"page": 77}, "capture: none was imported under this id."),
        ({"page": None}, "capture: is missing."),
        ({"what": "drop table"}, "event: must be 1 to 50 of a-z, 0-9 and _."),
        ({"ts": 1e300}, "at: is no time we can keep."),
        ({"ts": "1"}, "at: must be a number."),
        ({"who": "a\nb"}, "actor: must not contain control characters."),
        ({"more": {"a": "b\x00"}}, "detail: must not contain the NUL character"),
        ({"more": {"a": "b" * 20_000}}, "detail: must be at most 16384 bytes"),
        ({"more": {"n": float("nan"), "z": -0.0, "big": 1e22, "at": THEN, "id": BOARD}}, None),
        ({"more": [1, {"x": None}]}, None),
    ],
)
async def test_a_bad_event_is_told_and_the_others_are_imported(
    old: Old, home: House, changed: dict[str, Any], wrong: str | None
) -> None:
    old.fill(pages=1)
    old.insert("log", event(1, _id="odd", **changed))

    ran = await old.bring()

    bad = 0 if wrong is None else 1
    assert ran.row("events") == [3, 3 - bad, 0, bad]
    assert ran.agree
    if wrong is not None:
        assert ran.bad[0]["wrong"].startswith(wrong)


@pytest.mark.parametrize(
    ("hosts", "wrong"),
    [
        ([{"name": "co.uk", "from": 1}], "host: a site cannot live there (public-suffix)."),
        ([{"name": "127.0.0.1", "from": 1}], "host: a site cannot live there (ip-literal)."),
        ([{"name": "board.local", "from": 1}], "host: a site cannot live there (special-use)."),
        ([{"name": "b.example"}], "since: is missing."),
        ([{"name": "b.example", "from": 99_999_999_999}], "since: must be a time between"),
    ],
)
async def test_a_site_with_a_bad_address_is_not_imported_at_all(
    old: Old, home: House, hosts: list[Any], wrong: str
) -> None:
    old.insert("boards", {"_id": 1, "title": "B", "hosts": [{"name": "good.example", "from": 0}, *hosts]})
    old.insert("pages")
    old.insert("log")

    ran = await old.bring()

    assert (ran.row("sites"), ran.row("domains")) == ([1, 0, 0, 1], [2, 0, 0, 2])
    assert ran.bad[0]["wrong"].startswith(wrong)
    assert ran.bad[1]["wrong"].startswith("one of its domains is bad (boards")
    assert old.count("site") == 0


@pytest.mark.parametrize(
    ("boards", "wrong"),
    [
        ([{"title": "B!"}, {"title": "b?"}], "another document has the same id or slug."),
        ([{"title": "!!"}], "slug: must be of 1 to 500 characters."),
        ([{"title": 7}], "slug: must be text."),
        ([{"title": "b", "hosts": []}], "no domain speaks of this site."),
        (
            [{"title": "b", "hosts": [{"name": "a.example", "from": 1}, {"name": "c.example", "from": 1}]}],
            "conflict: two",
        ),
        (
            [{"title": "b", "hosts": [{"name": "a.example", "from": 7e9}]}],
            "conflict: one of its addresses begins in the",
        ),
    ],
)
async def test_a_bad_site_is_told(old: Old, home: House, boards: list[Any], wrong: str) -> None:
    hosts = [{"name": "b.example", "from": 1}]
    old.insert("boards", *({"_id": number, "hosts": hosts, **board} for number, board in enumerate(boards)))
    old.insert("pages")
    old.insert("log")

    ran = await old.bring()

    assert ran.row("sites")[3] == 1
    assert any(told["wrong"].startswith(wrong) for told in ran.bad)


async def test_a_site_that_is_there_with_another_history_is_a_conflict(
    old: Old, home: House, admin: httpx.AsyncClient
) -> None:
    await admin.post("/v2/sites", json={"slug": "the-board", "domain": "elsewhere.example"})
    old.fill(pages=1)

    ran = await old.bring()

    site = (await admin.get("/v2/sites/the-board")).json()
    assert ran.bad[0]["wrong"] == "conflict: a site of this slug is here, and its history of addresses is another one."
    assert [one["host"] for one in site["mounts"]] == ["elsewhere.example"]
    assert ran.row("captures") == [1, 0, 0, 1]  # they name the site by an id that was not imported


async def test_two_sites_at_one_address_from_one_moment_are_a_conflict(
    old: Old, home: House, admin: httpx.AsyncClient
) -> None:
    late = {"name": "b.example", "from": 1_500_000_000}
    for number, name in enumerate(("one", "two")):
        own = {"name": f"{name}.example", "from": 1_600_000_000}
        old.insert("boards", {"_id": number, "title": name, "hosts": [late, own]})
    old.insert("pages")
    old.insert("log")

    ran = await old.bring()

    assert ran.row("sites") == [2, 1, 0, 1]
    assert ran.bad[0]["wrong"] == "conflict: the site one has one of its addresses at the same time."
    assert (await admin.post("/v2/sites/rewrite", json={"urls": ["https://b.example/x"]})).status_code == 200


@pytest.mark.parametrize(
    ("mine", "wrong"),
    [
        ([("b.example", 1_400_000_000)], "conflict: the site x has one of its addresses at the same time."),
        ([("b.example", 1_600_000_000)], "conflict: the site x has one of its addresses at the same time."),
        ([("b.example", 1_600_000_000), ("c.example", 1_700_000_000)], "conflict: the site x has one of its addresses"),
        ([("b.example", 1_400_000_000), ("c.example", 1_700_000_000)], None),
    ],
)
async def test_nobody_loses_the_address_it_lives_at(
    old: Old, home: House, admin: httpx.AsyncClient, mine: list[tuple[str, int]], wrong: str | None
) -> None:
    old.insert("boards", {"_id": 1, "title": "x", "hosts": [{"name": "b.example", "from": 1_500_000_000}]})
    hosts = [{"name": name, "from": since} for name, since in mine]
    old.insert("boards", {"_id": 2, "title": "y", "hosts": hosts})
    old.insert("pages")
    old.insert("log")

    ran = await old.bring()

    told = [one["wrong"] for one in ran.bad if one["wrong"].startswith("conflict")]
    assert [one.startswith(wrong or "") for one in told] == ([True] if wrong else [])
    rewritten = await admin.post("/v2/sites/rewrite", json={"urls": ["https://b.example/t"]})
    assert rewritten.json()["items"][0]["site"] == "x"


async def test_an_address_that_went_from_one_site_to_another_is_no_conflict(
    old: Old, home: House, admin: httpx.AsyncClient
) -> None:
    shared = "shared.example"
    first = [{"name": shared, "from": 1_400_000_000}, {"name": "own.example", "from": 1_500_000_000}]
    old.insert("boards", {"_id": 1, "title": "b", "hosts": [{"name": shared, "from": 1_550_000_000}]})
    old.insert("boards", {"_id": 2, "title": "a", "hosts": first})
    old.insert("pages")
    old.insert("log")

    ran = await old.bring()

    assert ran.row("sites") == [2, 2, 0, 0]
    assert (await admin.get("/v2/sites/a")).json()["current_domain"] == "own.example"


async def test_two_documents_under_one_id_are_told_apart(old: Old, home: House) -> None:
    old.map = old.map.replace('site = "board"', 'site = "board"\nid = "no"')
    old.fill(pages=0)
    old.insert("pages", page(1, no=5), page(2, no="5"), page(3, no=ObjectId()))

    first, second = await old.bring(), await old.bring()

    assert first.row("captures") == [3, 2, 0, 1]
    assert second.row("captures") == [3, 0, 2, 1]
    assert first.bad[0]["wrong"] == 'the document pages {"$numberInt": "1"} was imported under this id.'


async def test_a_document_that_changed_since_is_told_and_ours_stays(old: Old, home: House) -> None:
    old.fill(pages=1)
    await old.bring()
    old.change("pages", 0, {"job": "another"})

    ran = await old.bring()

    assert ran.bad[0]["wrong"] == "it was imported before, and says something else now."
    assert old.database.rows("SELECT job_id FROM capture") == [("job-7",)]
    assert ran.agree
