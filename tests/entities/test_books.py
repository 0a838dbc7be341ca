"""The books of a graph: whole after whatever is done to it, and not when rows were changed by hand."""

import pytest

from leasehold.entities import Books, Writers, books
from tests.entities.conftest import World
from tests.entities.people import records
from tests.entities.test_linking import organisation_of
from tests.entities.test_people_say import split_off, two

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def found(world: World) -> Books:
    return await books(world.home.app.state.db, await organisation_of(world))


async def test_they_are_whole_whatever_people_do(world: World) -> None:
    await world.hand_over(*records(30))
    ada, bela = await two(world)
    await world.ask("POST", "/v2/entities/merge", {"keep": ada["id"], "merge": bela["id"]})
    await split_off(world, ada, "b1")
    await world.ask("DELETE", f"/v2/entities/{ada['id']}")

    told = await found(world)

    assert told.are_whole, told
    assert told.records > 60
    assert told.entities == len(await world.entities())


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE source_record SET entity = gen_random_uuid() WHERE source_id = 'a1'", "misplaced"),
        ("UPDATE entity SET size = 7 WHERE name = 'Ada Lovelace'", "miscounted"),
        ("DELETE FROM source_record WHERE source_id = 'a1'", "loose"),
        ("UPDATE record_batch SET left_over = 1", "stranded"),
    ],
)
async def test_what_was_done_past_leasehold_is_named(world: World, statement: str, fault: str) -> None:
    await two(world)
    organisation = await organisation_of(world)
    narrowed = f"{statement} {'AND' if 'WHERE' in statement else 'WHERE'} organisation = '{organisation}'"
    assert (await found(world)).are_whole

    world.home.database.run(narrowed)

    assert getattr(await found(world), fault) > 0


async def test_a_batch_is_forgotten_a_week_after_it_was_written(world: World) -> None:
    accepted = await world.ask("POST", "/v2/entities/records", {"items": records(1)}, 202)
    await world.written(accepted["batch"])
    writers = Writers(world.home.app.state.db, {}, world.home.app.state.entities.eraser)
    await writers.sweep()
    await world.ask("GET", f"/v2/entities/batches/{accepted['batch']}")

    world.home.database.run("UPDATE record_batch SET done_at = done_at - interval '8 days'")
    await writers.sweep()

    await world.ask("GET", f"/v2/entities/batches/{accepted['batch']}", status=404)
