"""The UI's files are served from this server alone, under a strict policy."""

from pathlib import Path

import httpx
import pytest

from leasehold import ui
from tests.parts.house import House


@pytest.fixture
def client(home: House) -> httpx.AsyncClient:
    assert ui.folder() is not None, "the UI is not built; run `make setup`"
    return home.client()


@pytest.mark.parametrize("path", ["/ui/", "/ui/sites/board", "/ui/anything/else"])
async def test_every_page_is_the_app_under_a_strict_policy(client: httpx.AsyncClient, path: str) -> None:
    page = await client.get(path)

    assert page.status_code == 200
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "http://" not in page.text.replace("http://www.w3.org", "")
    assert "https://" not in page.text


@pytest.mark.parametrize("path", ["/", "/ui"])
async def test_the_way_in_leads_to_the_ui(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)

    assert (answer.status_code, answer.headers["location"]) == (307, "/ui/")


async def test_a_file_that_an_upgrade_took_away_is_404(client: httpx.AsyncClient) -> None:
    answer = await client.get("/ui/assets/index-old.js")

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found")


@pytest.mark.parametrize(
    "path", ["/ui/..%2f..%2fpyproject.toml", "/ui/%2e%2e/%2e%2e/pyproject.toml", "/ui//etc/passwd", "/ui/" + "a" * 3000]
)
async def test_nothing_outside_the_folder_is_served(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)

    assert answer.status_code == 200  # the app, which says for itself that there is no such page
    assert "[project]" not in answer.text
    assert "root:" not in answer.text


async def test_files_with_a_hash_in_their_name_are_kept_by_the_browser(client: httpx.AsyncClient) -> None:
    built = ui.folder()
    assert built is not None
    script = min((built / "assets").glob("*.js"))

    answer = await client.get(f"/ui/assets/{script.name}")

    assert "immutable" in answer.headers["cache-control"]


async def test_the_reference_needs_nobody_else(client: httpx.AsyncClient) -> None:
    page = await client.get("/docs")

    assert page.status_code == 200
    assert "https://" not in page.text


async def test_a_checkout_without_a_built_ui_says_how_to_build_it(tmp_path: Path) -> None:
    answer = ui.serve({}, "")

    assert answer.status_code == 503
    assert b"make setup" in answer.body
