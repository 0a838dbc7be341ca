"""What tests of seeds can ask for."""

import httpx
import pytest

from tests.parts.house import House
from tests.seeds.garden import Garden


@pytest.fixture
async def garden(home: House, admin: httpx.AsyncClient) -> Garden:
    return Garden(home, admin)
