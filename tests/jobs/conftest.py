"""What tests of jobs share: a house with two small platforms in files of its own, a producer and a worker."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.parts.broker import Broker
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

PLATFORM = """
platform: {slug}
transport: http
task_types:
  page:
    schema:
      type: object
      required: [page]
      additionalProperties: false
      properties: {{page: {{type: string, minLength: 1}}}}
    example: {{page: front}}
  search:
    schema: {{type: object, required: [words], properties: {{words: {{type: string}}}}}}
    example: {{words: moon}}
limits: {limits}
timeouts: {{lease_seconds: 5}}
retry:
  attempts: 3
  backoff: {{first_seconds: {wait}, jitter: 0.0}}
  retryable: [timeout, rate_limited]
  fatal: {fatal}
"""


def platform(
    slug: str, *, concurrency: int = 10, wait: float = 0.0, limits: str | None = None, fatal: str = "[not_found]"
) -> str:
    limits = limits or f"{{concurrency: {concurrency}}}"
    return PLATFORM.format(slug=slug, limits=limits, wait=float(wait), fatal=fatal)


def change(home: House, folder: Path, more: str, slug: str = "alpha", **said: Any) -> None:
    """Say something more in a platform's file, or something else."""
    (folder / f"{slug}.yaml").write_text(platform(slug, **said) + more)
    home.app.state.jobs.catalogue.reload()
    assert not home.app.state.jobs.catalogue.faults, home.app.state.jobs.catalogue.faults


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Platforms `alpha` and `beta`."""
    found = tmp_path / "platforms"
    found.mkdir()
    for slug in ("alpha", "beta"):
        (found / f"{slug}.yaml").write_text(platform(slug))
    return found


@pytest.fixture
async def home(database: TestDatabase, folder: Path) -> AsyncIterator[House]:
    async with house(database, platforms_dir=folder) as made:
        yield made


@pytest.fixture
async def admin(home: House) -> httpx.AsyncClient:
    return await home.caller()


@pytest.fixture
def broker(admin: httpx.AsyncClient) -> Broker:
    return Broker(admin)
