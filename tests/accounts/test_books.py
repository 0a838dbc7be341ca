"""The books of leases balance in either store, and a row changed past leasehold is seen."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from leasehold.accounts import MongoBooks, connect, postgres_books
from leasehold.leases import Books
from tests.contracts.stage import Stage

Keep = Callable[[], Awaitable[Books]]


def organisation_of(stage: Stage) -> UUID:
    organisation: UUID = stage.home.database.rows("SELECT id FROM organisation")[0][0]
    return organisation


async def books(stage: Stage) -> Books:
    app = stage.home.app
    organisation = organisation_of(stage)
    if app.state.settings.pools == "postgres":
        return await postgres_books(app.state.db, organisation)
    keeper = MongoBooks(*connect(app.state.settings.mongo_url.get_secret_value()))
    try:
        return await keeper.books(organisation)
    finally:
        await keeper.close()


@pytest.fixture(autouse=True)
async def _life(stage: Stage) -> None:
    """Leases that ended in every way, and one that is held."""
    await stage.site(reclaim_delay_seconds=0)
    await stage.accounts("one", "two")
    for _ in range(3):
        await stage.release(await stage.acquire())
    await stage.revoke(await stage.acquire())
    await stage.acquire(ttl_seconds=5)
    await stage.passes(6)
    await stage.way.send("POST", "/v2/accounts/reclaim", {})
    await stage.acquire()


async def test_every_grant_is_accounted_for(stage: Stage) -> None:
    found = await books(stage)

    assert found.are_whole
    assert str(found) == "6 grants = 3 released + 1 expired + 1 revoked + 1 held"


async def test_an_end_on_its_way_into_the_history_counts_once(stage: Stage) -> None:
    if stage.home.app.state.settings.pools == "mongo":
        keeper = MongoBooks(*connect(stage.home.app.state.settings.mongo_url.get_secret_value()))
        await keeper._carry_all(organisation_of(stage))
        (end,) = await keeper._ends.find({"how": "revoked"}).to_list()
        await keeper._accounts.update_one({"_id": end["resource"]}, {"$push": {"ended": {**end, "id": end["_id"]}}})
        await keeper.close()

    found = await books(stage)

    assert found.are_whole
    assert str(found) == "6 grants = 3 released + 1 expired + 1 revoked + 1 held"


async def test_a_lost_end_is_seen(stage: Stage) -> None:
    if stage.home.app.state.settings.pools == "postgres":
        stage.home.database.run("DELETE FROM lease_end WHERE how = 'revoked'")
    else:
        keeper = MongoBooks(*connect(stage.home.app.state.settings.mongo_url.get_secret_value()))
        await keeper._carry_all(organisation_of(stage))
        await keeper._ends.delete_one({"how": "revoked"})
        await keeper.close()

    found = await books(stage)

    assert (found.unbalanced, found.are_whole) == (1, False)


async def test_two_leases_at_once_are_seen(stage: Stage) -> None:
    if stage.home.app.state.settings.pools == "postgres":
        stage.home.database.run("UPDATE lease_end SET ended_at = ended_at + interval '1 hour' WHERE how = 'released'")
    else:
        keeper = MongoBooks(*connect(stage.home.app.state.settings.mongo_url.get_secret_value()))
        await keeper._carry_all(organisation_of(stage))
        later = [{"$set": {"ended_at": {"$add": ["$ended_at", 3_600_000]}}}]
        await keeper._ends.update_many({"how": "released"}, later)
        await keeper.close()

    assert (await books(stage)).overlapping > 0
