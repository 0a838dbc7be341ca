"""Uploads that are as they should be: what is kept, what is answered, and what a repeat finds."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold.auth import Role
from tests.parts.house import House
from tests.parts.uploads import END, META, drafts, file_part, meta_part, paths, send, sha256, stored, upload


async def test_a_capture_is_kept_with_its_files(admin: httpx.AsyncClient, blobs: Path) -> None:
    content = bytes(range(256)) * 1000

    answer = await upload(admin, {"page.html": b"<p>hello</p>", "shot.png": content})

    assert answer.status_code == 201
    made = answer.json()
    assert made["late"] is False
    assert [(file["name"], file["sha256"], file["size"], file["deduplicated"]) for file in made["files"]] == [
        ("page.html", sha256(b"<p>hello</p>"), 12, False),
        ("shot.png", sha256(content), 256_000, False),
    ]
    assert stored(blobs) == {sha256(b"<p>hello</p>"), sha256(content)}
    assert drafts(blobs) == []
    kept = (await admin.get(f"/v2/captures/{made['id']}")).json()
    assert (kept["state"], kept["url"], kept["size"], kept["site"]) == ("received", META["url"], 256_012, "board")


async def test_everything_said_in_meta_is_kept(admin: httpx.AsyncClient) -> None:
    ids = {"seed_id": "seed_" + "1" * 32, "account_id": "acct_" + "2" * 32}
    said: dict[str, Any] = {
        **ids,
        "job_id": "crawl-7:a",
        "labels": {"depth": "3"},
        "captured_at": "2025-03-01T12:00:00Z",
    }

    made = (await upload(admin, **said)).json()

    kept = (await admin.get(f"/v2/captures/{made['id']}")).json()
    assert {name: kept[name] for name in said} == said


@pytest.mark.parametrize("order", ["first", "between", "last"])
async def test_meta_may_stand_anywhere(admin: httpx.AsyncClient, order: str) -> None:
    parts = [file_part("a", b"1"), file_part("b", b"2")]
    parts.insert({"first": 0, "between": 1, "last": 2}[order], meta_part())

    answer = await send(admin, b"".join(parts) + END)

    assert answer.status_code == 201
    assert [file["name"] for file in answer.json()["files"]] == ["a", "b"]


async def test_the_type_of_a_part_is_kept_and_bytes_are_bytes_without_one(admin: httpx.AsyncClient) -> None:
    parts = file_part("a.html", b"1", "Content-Type: text/html; charset=utf-8") + file_part("b", b"2")

    made = (await send(admin, meta_part() + parts + END)).json()

    assert [file["content_type"] for file in made["files"]] == ["text/html; charset=utf-8", "application/octet-stream"]


async def test_an_empty_file_is_a_file(admin: httpx.AsyncClient) -> None:
    answer = await upload(admin, {"empty": b""})

    assert answer.status_code == 201
    assert answer.json()["files"][0]["size"] == 0


async def test_a_file_that_looks_like_a_boundary_is_kept_as_it_is(admin: httpx.AsyncClient) -> None:
    content = b"\r\n--b0undary\r\n--" + b"\r" * 70_000 + b"\r\n--b0undaryb0undaryb0undaryb0undarX"

    made = (await upload(admin, {"odd": content})).json()

    assert made["files"][0]["sha256"] == sha256(content)
    assert (await admin.get(f"/v2/captures/{made['id']}/files/odd")).content == content


async def test_the_same_bytes_are_stored_once(admin: httpx.AsyncClient, blobs: Path) -> None:
    first = (await upload(admin, {"a": b"same"})).json()

    second = (await upload(admin, {"b": b"same", "c": b"other"})).json()

    assert first["files"][0]["deduplicated"] is False
    assert [file["deduplicated"] for file in second["files"]] == [True, False]
    assert stored(blobs) == {sha256(b"same"), sha256(b"other")}


async def test_two_files_of_one_capture_may_have_the_same_bytes(admin: httpx.AsyncClient, blobs: Path) -> None:
    made = (await upload(admin, {"a": b"same", "b": b"same"})).json()

    assert {file["sha256"] for file in made["files"]} == {sha256(b"same")}
    assert stored(blobs) == {sha256(b"same")}


async def test_another_organisation_does_not_learn_that_somebody_has_the_bytes(
    admin: httpx.AsyncClient, home: House, blobs: Path
) -> None:
    await upload(admin, {"a": b"same"})
    stranger = await home.caller(organisation="strangers")
    await stranger.post("/v2/sites", json={"slug": "board", "domain": "board.example"})

    made = (await upload(stranger, {"a": b"same"})).json()

    assert made["files"][0]["deduplicated"] is False
    assert len(paths(blobs)) == 2


async def test_bytes_that_are_gone_or_cut_short_are_put_in_place_again(admin: httpx.AsyncClient, blobs: Path) -> None:
    await upload(admin, {"a": b"same", "b": b"whole"})
    for path in paths(blobs):
        path.unlink() if path.name == sha256(b"same") else path.write_bytes(b"who")

    again = (await upload(admin, {"a": b"same", "b": b"whole"})).json()

    assert [file["deduplicated"] for file in again["files"]] == [False, False]
    assert (await admin.get(f"/v2/captures/{again['id']}/files/b")).content == b"whole"


async def test_a_repeat_finds_what_the_first_made(admin: httpx.AsyncClient) -> None:
    first = await upload(admin, {"a": b"1"}, key="k")

    again = await upload(admin, {"a": b"1"}, key="k")

    assert (again.status_code, again.json()) == (201, first.json())
    assert len((await admin.get("/v2/captures")).json()["items"]) == 1


async def test_a_repeat_may_send_its_parts_in_another_order(admin: httpx.AsyncClient) -> None:
    first = await send(
        admin, meta_part() + file_part("a", b"1") + file_part("b", b"2") + END, **{"Idempotency-Key": "k"}
    )

    again = await send(
        admin, file_part("b", b"2") + file_part("a", b"1") + meta_part() + END, **{"Idempotency-Key": "k"}
    )

    assert again.json()["id"] == first.json()["id"]


@pytest.mark.parametrize(
    ("files", "changes"), [({"a": b"2"}, {}), ({"b": b"1"}, {}), ({"a": b"1"}, {"url": "https://board.example/2"})]
)
async def test_another_body_under_the_key_is_refused(
    admin: httpx.AsyncClient, files: dict[str, bytes], changes: dict[str, str]
) -> None:
    await upload(admin, {"a": b"1"}, key="k")

    other = await upload(admin, files, key="k", **changes)

    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-mismatch")
    assert len((await admin.get("/v2/captures")).json()["items"]) == 1


async def test_the_url_is_kept_and_its_reference_beside_it(admin: httpx.AsyncClient) -> None:
    odd = "https://WWW.board.example/a/../thread/1?x=1#y"

    made = (await upload(admin, url=odd)).json()

    kept = (await admin.get(f"/v2/captures/{made['id']}")).json()
    assert kept["url"] == odd
    assert kept["reference"] == {"site": "board", "sub": "", "rest": "/thread/1?x=1#y"}


@pytest.mark.parametrize("url", ["https://elsewhere.example/1", "https://other.example/1", "not a url", "ftp://x/"])
async def test_a_url_of_another_site_or_of_none_is_kept_without_a_reference(admin: httpx.AsyncClient, url: str) -> None:
    await admin.post("/v2/sites", json={"slug": "other", "domain": "other.example"})

    made = (await upload(admin, url=url)).json()

    kept = (await admin.get(f"/v2/captures/{made['id']}")).json()
    assert (kept["url"], kept["reference"]) == (url, None)


async def test_a_url_is_resolved_as_of_the_time_it_was_captured(admin: httpx.AsyncClient, home: House) -> None:
    await admin.post("/v2/sites/board/moves", json={"to": "new.example"})
    home.database.run("UPDATE mount SET since = since - interval '1 year' WHERE host = 'board.example'")
    before = "2026-06-01T00:00:00Z"

    late = (await upload(admin, url="https://new.example/1", captured_at=before)).json()
    then = (await upload(admin, url="https://board.example/1", captured_at=before)).json()

    references = [(await admin.get(f"/v2/captures/{made['id']}")).json()["reference"] for made in (late, then)]
    assert references == [None, {"site": "board", "sub": "", "rest": "/1"}]


async def test_a_url_is_found_again_after_its_site_moved(admin: httpx.AsyncClient) -> None:
    made = (await upload(admin, url="https://board.example/thread/9")).json()
    await upload(admin, url="https://board.example/thread/8")
    await admin.post("/v2/sites/board/moves", json={"to": "new.example"})

    found = (await admin.get("/v2/captures", params={"url": "https://new.example/thread/9"})).json()["items"]

    assert [(one["id"], one["url"]) for one in found] == [(made["id"], "https://board.example/thread/9")]


async def test_a_capture_under_a_live_lease_is_not_late(admin: httpx.AsyncClient) -> None:
    lease = await _lease(admin)

    made = (await upload(admin, lease_id=lease)).json()

    assert made["late"] is False


@pytest.mark.parametrize("end", ["released", "expired", "revoked"])
async def test_a_capture_under_a_lease_that_ended_is_kept_as_late(
    admin: httpx.AsyncClient, home: House, end: str
) -> None:
    lease = await _lease(admin)
    if end == "released":
        await admin.post(f"/v2/leases/{lease}/release", json={"outcome": "ok"})
    elif end == "revoked":
        await admin.delete(f"/v2/leases/{lease}")
    else:
        home.database.run("UPDATE lease SET expires_at = clock_timestamp() - interval '1 second'")

    made = await upload(admin, lease_id=lease)

    assert (made.status_code, made.json()["late"]) == (201, True)
    events = (await admin.get(f"/v2/captures/{made.json()['id']}/audit")).json()["items"]
    assert [event["event"] for event in events] == ["received", "late"]


async def test_a_lease_that_never_was_is_refused_and_nothing_is_stored(admin: httpx.AsyncClient, blobs: Path) -> None:
    lease = await _lease(admin)
    never = lease[:-5] + ("00001" if lease[-5:] != "00001" else "00011")

    answer = await upload(admin, lease_id=never)

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/lease-unknown")
    assert stored(blobs) == set()


async def test_the_lease_of_another_organisation_never_was(admin: httpx.AsyncClient, home: House) -> None:
    lease = await _lease(admin)
    stranger = await home.caller(organisation="strangers")
    await stranger.post("/v2/sites", json={"slug": "board", "domain": "board.example"})

    answer = await upload(stranger, lease_id=lease)

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/lease-unknown")


async def test_a_site_that_is_not_there_is_refused_and_nothing_is_stored(admin: httpx.AsyncClient, blobs: Path) -> None:
    answer = await upload(admin, site="nowhere")

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/site-unknown")
    assert stored(blobs) == set()


async def test_a_site_with_captures_is_not_deleted(admin: httpx.AsyncClient) -> None:
    await upload(admin)

    answer = await admin.delete("/v2/sites/board")

    assert (answer.status_code, answer.json()["holds"]) == (409, {"captures": 1})


async def test_a_collector_may_hand_in_and_not_look(home: House, admin: httpx.AsyncClient) -> None:
    collector = await home.caller(Role.COLLECTOR)

    assert (await upload(collector)).status_code == 201
    assert (await collector.get("/v2/captures")).status_code == 403


async def test_bytes_received_are_counted(admin: httpx.AsyncClient, home: House) -> None:
    await upload(admin, {"a": b"12345"})
    await home.app.state.captures.measure([row[0] for row in home.database.rows("SELECT id FROM organisation")])

    text = (await admin.get("/metrics")).text

    assert "leasehold_capture_bytes_total 5.0" in text
    assert 'leasehold_captures{state="received"} 1.0' in text


async def test_what_happened_is_in_the_audit_with_who_did_it(admin: httpx.AsyncClient) -> None:
    made = (await upload(admin, {"a": b"1"})).json()

    (event,) = (await admin.get(f"/v2/captures/{made['id']}/audit")).json()["items"]

    assert (event["event"], event["action"], event["actor_name"]) == ("received", "capture.received", "a admin")
    assert event["detail"]["files"] == [{"name": "a", "size": 1, "sha256": sha256(b"1")}]


async def _lease(client: httpx.AsyncClient) -> str:
    await client.post("/v2/accounts", json={"site": "board", "username": "ann", "secret": {}})
    got = await client.post("/v2/accounts/acquire", json={"site": "board", "owner": "me"})
    lease: str = json.loads(got.text)["leases"][0]["id"]
    return lease
