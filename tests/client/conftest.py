"""What the SDK's own tests can ask for."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator

import pytest
import uvicorn

from leasehold.app import edged
from tests.client.standin import StandIn, standing_in
from tests.parts.house import House


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A server that fails as it is told to."""
    with standing_in() as made:
        yield made


@pytest.fixture
async def address(home: House) -> AsyncIterator[str]:
    """A whole leasehold that listens on loopback, as the SDK's own thread needs it."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(edged(home.app), lifespan="off", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await serving
    listener.close()
