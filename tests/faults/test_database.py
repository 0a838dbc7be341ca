"""PostgreSQL is killed, and the way to it gets every kind of weather: no promise about leases is broken."""

from tests.faults.torture import Plan, stores_in, torture
from tests.parts import postgres as parts

SEED = 20_263


async def test_leases_keep_every_promise_whatever_happens_to_the_database() -> None:
    with parts.alone() as postgres:
        plan = Plan(seed=SEED, seconds=24, strikes_servers=False, strikes_database=True)

        report = await torture(plan, stores_in(postgres))

    assert not report.faults, str(report)
