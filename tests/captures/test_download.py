"""Files on their way out: whole, in part, or not at all when the caller has them; and never as a page."""

import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold.auth import Role
from tests.parts.house import House
from tests.parts.uploads import END, file_part, lose_all, meta_part, send, sha256, upload

CONTENT = bytes(range(256)) * 4000


@pytest.fixture
async def path(admin: httpx.AsyncClient) -> str:
    made = (await upload(admin, {"page.bin": CONTENT})).json()
    return f"/v2/captures/{made['id']}/files/page.bin"


async def test_a_file_comes_back_as_it_was_sent(admin: httpx.AsyncClient, path: str) -> None:
    answer = await admin.get(path)

    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["etag"] == f'"{sha256(CONTENT)}"'
    assert (answer.headers["content-length"], answer.headers["accept-ranges"]) == (str(len(CONTENT)), "bytes")


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-999", 0, 1000),
        ("bytes=1000-", 1000, len(CONTENT)),
        ("bytes=-500", len(CONTENT) - 500, len(CONTENT)),
        ("bytes=-99999999", 0, len(CONTENT)),
        (f"bytes=300000-{10**17}", 300_000, len(CONTENT)),
    ],
)
async def test_a_range_of_it(admin: httpx.AsyncClient, path: str, asked: str, start: int, stop: int) -> None:
    answer = await admin.get(path, headers={"Range": asked})

    assert (answer.status_code, answer.content) == (206, CONTENT[start:stop])
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(CONTENT)}"


@pytest.mark.parametrize("asked", ["bytes=1024000-", f"bytes={10**17}-{10**17}", "bytes=-0"])
async def test_a_range_there_is_not(admin: httpx.AsyncClient, path: str, asked: str) -> None:
    answer = await admin.get(path, headers={"Range": asked})

    assert (answer.status_code, answer.json()["type"]) == (416, "/problems/range-refused")
    assert answer.headers["content-range"] == f"bytes */{len(CONTENT)}"


@pytest.mark.parametrize(
    "asked", ["bytes=5-3", "bytes=-", "bytes=a-b", "lines=0-1", "bytes=0-1,5-6", "bytes=" + ",".join(["0-1"] * 10_000)]
)
async def test_what_is_no_range_or_several_brings_the_whole(admin: httpx.AsyncClient, path: str, asked: str) -> None:
    answer = await admin.get(path, headers={"Range": asked})

    assert (answer.status_code, len(answer.content)) == (200, len(CONTENT))


async def test_a_range_of_another_version_brings_the_whole(admin: httpx.AsyncClient, path: str) -> None:
    other = await admin.get(path, headers={"Range": "bytes=0-1", "If-Range": '"other"'})
    same = await admin.get(path, headers={"Range": "bytes=0-1", "If-Range": f'"{sha256(CONTENT)}"'})

    assert (other.status_code, same.status_code) == (200, 206)


@pytest.mark.parametrize("tags", ['"{}"', 'W/"{}"', '"x", "{}"', "*"])
async def test_what_the_caller_has_is_not_sent_again(admin: httpx.AsyncClient, path: str, tags: str) -> None:
    answer = await admin.get(path, headers={"If-None-Match": tags.format(sha256(CONTENT))})

    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == f'"{sha256(CONTENT)}"'


async def test_a_head_tells_the_same_without_reading_the_file(admin: httpx.AsyncClient, path: str, blobs: Path) -> None:
    lose_all(blobs)

    head = await admin.head(path)

    assert (head.status_code, head.content) == (200, b"")
    assert (head.headers["content-length"], head.headers["etag"]) == (str(len(CONTENT)), f'"{sha256(CONTENT)}"')


async def test_an_empty_file_can_be_fetched(admin: httpx.AsyncClient) -> None:
    made = (await upload(admin, {"empty": b""})).json()

    answer = await admin.get(f"/v2/captures/{made['id']}/files/empty")

    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    ("said", "served"),
    [
        ("text/html", "application/octet-stream"),
        ("image/svg+xml", "application/octet-stream"),
        ("application/xhtml+xml", "application/octet-stream"),
        ("text/xml", "application/octet-stream"),
        ("application/javascript", "application/octet-stream"),
        ("application/pdf", "application/octet-stream"),
        ("TEXT/HTML; charset=utf-8", "application/octet-stream"),
        ("image/png", "image/png"),
        ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        ("application/json", "application/json"),
    ],
)
async def test_a_captured_page_is_never_shown_as_one(admin: httpx.AsyncClient, said: str, served: str) -> None:
    page = file_part("page.html", b"<script>alert(1)</script>", f"Content-Type: {said}")
    made = (await send(admin, meta_part() + page + END)).json()

    answer = await admin.get(f"/v2/captures/{made['id']}/files/page.html")

    headers = answer.headers
    assert headers["content-type"] == served
    assert headers["content-disposition"] == 'attachment; filename="page.html"'
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "name", ["nothing", "..%2f..", "%2e%2e%2f", "../../etc/passwd", "a" * 300, "page.bin/x", "%00"]
)
async def test_a_name_that_is_not_there(admin: httpx.AsyncClient, path: str, name: str) -> None:
    answer = await admin.get(path.rpartition("/")[0] + "/" + name)

    assert answer.status_code in (400, 404, 405, 422)
    assert answer.headers["content-type"] == "application/problem+json"


async def test_another_organisations_file_is_not_there(home: House, path: str) -> None:
    stranger = await home.caller(organisation="strangers")

    assert (await stranger.get(path)).status_code == 404


async def test_bytes_that_are_missing_are_an_error_and_not_an_empty_file(
    admin: httpx.AsyncClient, path: str, blobs: Path
) -> None:
    lose_all(blobs)

    answer = await admin.get(path)

    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/internal-error")


async def test_a_list_is_paged_newest_first_and_filtered(admin: httpx.AsyncClient) -> None:
    await admin.post("/v2/sites", json={"slug": "other", "domain": "other.example"})
    made = [(await upload(admin, {"a": os.urandom(4)})).json()["id"] for _ in range(5)]
    other = (await upload(admin, site="other")).json()["id"]

    async def ids(**params: Any) -> list[str]:
        found: list[str] = []
        while True:
            page = (await admin.get("/v2/captures", params={"limit": 2, **params})).json()
            found += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                return found
            params["cursor"] = page["next_cursor"]

    assert await ids() == [other, *reversed(made)]
    assert await ids(site="board") == list(reversed(made))
    assert await ids(state="stuck") == []
    assert await ids(state="received", site="other") == [other]
    third = (await admin.get(f"/v2/captures/{made[2]}")).json()["received_at"]
    assert await ids(site="board", since=third) == [made[4], made[3], made[2]]


@pytest.mark.parametrize(
    "params",
    [{"state": "lost"}, {"since": "yesterday"}, {"cursor": "x"}, {"cursor": "MjAyNi0wMS0wMSB4"}, {"colour": "x"}],
)
async def test_a_filter_that_is_none_is_refused(admin: httpx.AsyncClient, params: dict[str, str]) -> None:
    assert (await admin.get("/v2/captures", params=params)).status_code == 422


@pytest.mark.parametrize("capture", ["cap_" + "0" * 32, "cap_x", "acct_" + "0" * 32, "nothing"])
async def test_a_capture_that_never_was(admin: httpx.AsyncClient, capture: str) -> None:
    for method, path in [("GET", ""), ("GET", "/files/a"), ("GET", "/audit"), ("POST", "/requeue"), ("DELETE", "")]:
        answer = await admin.request(method, f"/v2/captures/{capture}{path}")

        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/capture-unknown")


async def test_a_viewer_may_look_and_change_nothing(home: House, admin: httpx.AsyncClient, path: str) -> None:
    viewer = await home.caller(Role.VIEWER)

    assert (await viewer.get(path)).status_code == 200
    assert (await viewer.delete(path.partition("/files")[0])).status_code == 403
