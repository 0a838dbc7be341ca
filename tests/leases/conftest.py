"""What tests of clocks share: a PostgreSQL whose clock jumps when a test says so, started once for all of them."""

from collections.abc import Iterator

import pytest

from tests.parts.faketime import WallClock, jumping_postgres
from tests.parts.postgres import Postgres, TestDatabase, migrated


@pytest.fixture(scope="session")
def odd_postgres() -> Iterator[tuple[Postgres, WallClock]]:
    with jumping_postgres() as running:
        yield running


@pytest.fixture(scope="session")
def odd_database(odd_postgres: tuple[Postgres, WallClock]) -> TestDatabase:
    return migrated(odd_postgres[0], "lh_clock")
