"""`leasehold artifacts publish`: at once, from either store of accounts, and with a sentence when it cannot."""

import orjson

from tests.parts.house import house
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase
from tests.parts.process import Place


async def test_it_publishes_now_and_counts_accounts_where_they_are(
    here: Place, database: TestDatabase, mongo_database: MongoDatabase
) -> None:
    url = mongo_database.url.replace("/?", f"/{mongo_database.name}?")
    async with house(database, duties=(), pools="mongo", mongo_url=url) as home:
        admin = await home.caller()
        await admin.post("/v2/sites", json={"slug": "board", "domain": "board.example"})
        for name in ("ann", "bob"):
            await admin.post("/v2/accounts", json={"site": "board", "username": name, "secret": {}})
        await admin.post("/v2/accounts/acquire", json={"site": "board", "owner": "us", "ttl_seconds": 3600})
        await home.app.state.artifacts.publish(lambda _line: None)
        served = (await home.client().get("/status/status.v1.json")).json()
    environment = {
        "LEASEHOLD_DATABASE_URL": database.url,
        "LEASEHOLD_POOLS": "mongo",
        "LEASEHOLD_MONGO_URL": url,
    }

    done = here.run("artifacts", "publish", **environment)
    failed = here.run("artifacts", "publish", LEASEHOLD_ARTIFACT_URL="file:///dev/null/x", **environment)

    assert (done.code, done.out.splitlines()[0].split(",")[0]) == (0, "status/pulse.v1.json: pulse version 1")
    assert f"Written to {here.data / 'artifacts'}." in done.err
    found = orjson.loads((here.data / "artifacts/status/status.v1.json").read_bytes())
    assert found["accounts"] == served["accounts"] == {"free": 1, "held": 1, "cooling": 0, "blocked": 0, "inactive": 0}
    assert found["leases"]["account"] == served["leases"]["account"] == 1
    assert failed.code == 2
    assert failed.err.splitlines()[-1] == (
        "leasehold: /dev/null/x cannot be written (Not a directory). "
        "Check LEASEHOLD_ARTIFACT_URL and who owns the place. The last edition stands."
    )
