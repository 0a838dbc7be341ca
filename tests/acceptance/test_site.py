"""The documentation as a site: it is built without a warning, loads nothing from elsewhere, and can be searched."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tests.parts.chromium import chromium

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING -" not in built.stderr
    return folder


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_links_out_of_the_docs_lead_to_copies(site: Path) -> None:
    rabbitmq = (site / "rabbitmq.html").read_text()

    assert 'href="project/asyncapi.json"' in rabbitmq
    assert (site / "project/asyncapi.json").read_bytes() == (ROOT / "asyncapi.json").read_bytes()
    assert 'href="../leases.html' in (site / "project/index.html").read_text(), "the README's links lead back to docs/"


def test_every_decision_can_be_found(site: Path) -> None:
    index = (site / "index.html").read_text()

    for file in (ROOT / "docs/adr").glob("0*.md"):
        assert f'href="adr/{file.stem}.html"' in index


def test_lists_and_blocks_come_out_as_such(site: Path) -> None:
    """MkDocs wants four spaces for what belongs to a list, where others are content with two."""
    for page in site.rglob("*.html"):
        article = page.read_text().partition("<article")[2].partition("</article>")[0]
        text = re.sub(r"<pre.*?</pre>", "", article, flags=re.DOTALL)

        assert not re.search(r"```|\n\|", text), f"{page.name} shows a block or a table as text"
    for source in (ROOT / "docs").rglob("*.md"):
        assert not re.search(r"^ {1,3}```", source.read_text(), re.MULTILINE), f"{source.name}: indent by four"


async def search(page: Page, word: str) -> str | None:
    """Where the first thing that is found leads. What is typed before the page's script listens is typed again."""
    field, first = page.locator("input.md-search__input"), page.locator("a.md-search-result__link").first
    await field.click()
    async with asyncio.timeout(90):
        while not await first.is_visible():
            await field.fill("")
            await field.fill(word)
            with suppress(PlaywrightTimeout):
                await first.wait_for(timeout=5_000)
    return await first.get_attribute("href")


async def test_a_browser_loads_nothing_from_elsewhere_and_finds_a_word(site: Path) -> None:
    with served(site) as address:
        async with chromium() as browser:
            page = await browser.new_page()
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))

            await page.goto(f"{address}/index.html")
            found = await search(page, "reclaim_delay_seconds")

            foreign = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
            assert foreign == []
            assert found
            answer = await page.goto(f"{address}/{found.removeprefix(address + '/')}")
            assert answer
            assert answer.ok
