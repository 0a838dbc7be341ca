"""The status page as a server shows it: public, cached by what it is, and nothing but what was published."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(_worker_database: TestDatabase) -> AsyncIterator[House]:
    _worker_database.empty()
    async with house(_worker_database, duties=()) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor(home: House) -> httpx.AsyncClient:
    """Somebody without a token, after the first edition."""
    await home.app.state.artifacts.publish(lambda _line: None)
    return home.client()


async def test_before_the_first_edition_people_are_told_what_to_do(home: House) -> None:
    async with house(home.database, duties=()) as fresh:
        page = await fresh.client().get("/status", headers={"Accept": "text/html,*/*"})
        program = await fresh.client().get("/status/status.v1.json")

    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "leasehold artifacts publish" in page.text
    assert (program.status_code, program.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(("path", "below"), [("/status", "status/"), ("/status/", "./"), ("/status/index.html", "./")])
async def test_the_page_finds_what_it_needs_from_each_of_its_addresses(
    visitor: httpx.AsyncClient, path: str, below: str
) -> None:
    page = await visitor.get(path)

    assert page.status_code == 200
    needed = [part.partition('"')[0] for part in page.text.split(f'="{below}')[1:]]
    assert len(needed) == 4  # the icon, the style, the script, and the numbers for those without scripts
    for name in needed:
        assert (await visitor.get(f"/status/{name}")).status_code == 200
    policy = page.headers["content-security-policy"]
    assert ("'unsafe-inline'" in policy, "script-src 'self'" in policy) == (False, True)


async def test_what_somebody_has_already_is_not_sent_again(visitor: httpx.AsyncClient) -> None:
    for path in ("/status", "/status/status.v1.json"):
        first = await visitor.get(path)
        etag = first.headers["etag"]
        same = await visitor.get(path, headers={"If-None-Match": f'"other", W/{etag}'})
        other = await visitor.get(path, headers={"If-None-Match": '"other"'})
        head = await visitor.head(path)

        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
        assert (other.status_code, other.content) == (200, first.content)
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", etag)
        assert first.headers["cache-control"] == "no-cache"


async def test_what_is_named_by_its_content_may_be_kept_for_ever(visitor: httpx.AsyncClient, home: House) -> None:
    (script,) = (home.app.state.settings.data_dir / "artifacts/status").glob("page.*.js")

    answer = await visitor.get(f"/status/{script.name}")

    assert (answer.content, "immutable" in answer.headers["cache-control"]) == (script.read_bytes(), True)
    assert "javascript" in answer.headers["content-type"]


@pytest.mark.parametrize(
    "path",
    [
        "/status/../../keys",
        "/status/..%2f..%2fkeys",
        "/status/%2e%2e/%2e%2e/keys",
        "/status//etc/passwd",
        "/status/..%5c..%5ckeys",
        "/status/status.v1.json%00",
        "/status/../index.json",
        "/status/keys",
    ],
)
async def test_nothing_else_can_be_reached(visitor: httpx.AsyncClient, home: House, path: str) -> None:
    data: Path = home.app.state.settings.data_dir
    (data / "keys").write_text("hunter2")
    (data / "artifacts/status/keys").write_text("hunter2")  # of nobody's edition

    answer = await visitor.get(httpx.URL("http://leasehold", raw_path=path.encode()))

    assert answer.status_code in (400, 404)
    assert "hunter2" not in answer.text
