"""The smoke run of the torture: half a minute of kills and stops, and no promise about leases broken."""

import pytest

from tests.faults.torture import Plan, stores_in, torture
from tests.parts.postgres import Postgres

SEED = 20_261


@pytest.mark.parametrize("store", ["postgres", "mongo"])
async def test_leases_keep_every_promise_under_torture(
    store: str, postgres: Postgres, request: pytest.FixtureRequest
) -> None:
    mongo = request.getfixturevalue("mongo") if store == "mongo" else None

    # The mongod is this worker's own; PostgreSQL is everybody's: test_database.py has one of its own.
    plan = Plan(seed=SEED, seconds=20, strikes_database=mongo is not None)
    report = await torture(plan, stores_in(postgres, mongo))

    assert not report.faults, str(report)
