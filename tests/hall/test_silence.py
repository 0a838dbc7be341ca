"""A PostgreSQL that takes everything and answers nothing: who asked is told so in time, and then it works again."""

import asyncio

import pytest
from psycopg.conninfo import conninfo_to_dict

from leasehold.db import Database, NoAnswer, _Line
from leasehold.ids import uuid7
from tests.parts.postgres import TestDatabase
from tests.parts.weather import Sky, Weather, over_postgres

# Generous: it is only used up when something is broken.
PATIENCE_S = 30.0


async def ask_in_vain(db: Database, sky: Sky, weather: Weather, monkeypatch: pytest.MonkeyPatch) -> None:
    async with db.transaction(uuid7()) as conn:
        monkeypatch.setattr(_Line, "answer_s", 0.2)
        sky.turn(weather)
        await conn.execute("SELECT 1")


@pytest.mark.parametrize("weather", [Weather.SILENT, Weather.DEAF])
async def test_nobody_waits_for_ever_for_an_answer(
    database: TestDatabase, weather: Weather, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = conninfo_to_dict(database.url)
    async with over_postgres(database.url) as sky:
        url = f"postgresql://{place['user']}@127.0.0.1:{sky.port}/{place['dbname']}"
        async with Database(url, pool_size=1) as db, asyncio.timeout(PATIENCE_S):
            with pytest.raises(NoAnswer):
                await ask_in_vain(db, sky, weather, monkeypatch)
            monkeypatch.undo()
            sky.turn(Weather.FAIR)

            async with db.transaction(uuid7()) as conn:
                assert await (await conn.execute("SELECT 2")).fetchone() == (2,)
            assert sky.felt[weather] > 0
