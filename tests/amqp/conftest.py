"""What tests of RabbitMQ share: a house with platforms that work over it, an operator, and a stranger's program."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from leasehold import duties
from leasehold.amqp import declare
from tests.jobs.conftest import platform
from tests.parts.broker import Broker
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.wire import Wire, wire


def amqp_platform(slug: str, *, concurrency: int = 10, wait: float = 0.0, lease: int = 5, queue: int = 300) -> str:
    text = platform(slug, concurrency=concurrency, wait=wait).replace("transport: http", "transport: amqp")
    return text.replace("lease_seconds: 5", f"lease_seconds: {lease}, queue_seconds: {queue}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Platforms `alpha` and `beta` over RabbitMQ, `plain` over HTTP."""
    found = tmp_path / "platforms"
    found.mkdir()
    for slug in ("alpha", "beta"):
        (found / f"{slug}.yaml").write_text(amqp_platform(slug))
    (found / "plain.yaml").write_text(platform("plain"))
    return found


@pytest.fixture
async def home(database: TestDatabase, folder: Path, amqp_url: str) -> AsyncIterator[House]:
    async with house(database, duties=duties.ALL, platforms_dir=folder, amqp_url=amqp_url) as made:
        await made.token()  # makes the organisation
        yield made


@pytest.fixture
async def broker(home: House) -> Broker:
    return Broker(await home.caller())


@pytest.fixture
async def line(home: House, amqp_url: str) -> AsyncIterator[Wire]:
    async with wire(amqp_url) as made:
        await declare(made.channel, ["alpha", "beta"])  # the house does, too; who is first does not matter
        yield made
