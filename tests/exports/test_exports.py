"""Exports: everything of a kind and nothing of others', and what `import` makes of it elsewhere."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from leasehold import accounts, seeds
from leasehold.auth import Role
from leasehold.caller import Caller
from leasehold.exports import Exported, Exports
from tests.jobs.conftest import folder, home
from tests.parts.broker import Broker
from tests.parts.house import House
from tests.parts.process import PATIENCE_S
from tests.parts.uploads import upload

__all__ = ["folder", "home"]

JSON = dict[str, Any]
SECRET = {"password": "LHCANARYfish"}


@pytest.fixture
def exports(home: House) -> Exports:
    state = home.app.state
    return Exports(state.db, state.accounts, state.sites)


async def lines(exports: Exports, caller: Caller, what: Exported, **how: bool) -> list[JSON]:
    return [json.loads(line) async for line in exports.lines(caller, what, **how)]


async def furnish(client: httpx.AsyncClient, domain: str = "board.example") -> None:
    assert (await client.post("/v2/sites", json={"slug": "board", "domain": domain})).is_success


async def stock(client: httpx.AsyncClient) -> None:
    await furnish(client)
    account = {"site": "board", "username": "ann", "secret": SECRET, "labels": {"tier": "a"}, "priority": 3}
    assert (await client.post("/v2/accounts", json=account)).is_success
    seed = {"site": "board", "url": "https://board.example/t/1?p=2", "labels": {"lang": "de"}, "cursor": {"at": 7}}
    assert (await client.post("/v2/seeds", json={"items": [seed]})).is_success
    assert (await upload(client, {"page": b"1"})).is_success
    await Broker(client).submit(job_id="crawl")
    record = {"source": "own", "source_id": "1", "kind": "performer", "name": "Ann Example"}
    taken = await client.post("/v2/entities/records", json={"items": [record]})
    batch = taken.json()["batch"]
    async with asyncio.timeout(PATIENCE_S):
        while (await client.get(f"/v2/entities/batches/{batch}")).json()["done_at"] is None:
            await asyncio.sleep(0.01)


async def test_every_kind_is_a_line_each_and_of_one_organisation_alone(
    home: House, exports: Exports, admin: httpx.AsyncClient
) -> None:
    await stock(admin)
    await stock(await home.caller(Role.ADMIN, "others"))
    home.database.run(
        "INSERT INTO run (id, organisation, name, collector, platform, categories, estimate, estimated_cost_micros,"
        " budget_cap_micros, soft_warning_percent, total_items, created_by)"
        " SELECT gen_random_uuid(), id, 'a run', 'amazon', 'amazon', '{books}', '[]', 0, 1, 80, 1, 'ann'"
        " FROM organisation"
    )
    home.database.run(
        "INSERT INTO run_item (id, organisation, run, category, item_type, external_id, job)"
        " SELECT gen_random_uuid(), organisation, id, 'books', 'product', 'B07FZ8S74R', 'crawl' FROM run"
    )
    caller = await home.tokens.local_caller("default")

    found = {what: await lines(exports, caller, what) for what in Exported}

    assert {what: len(some) for what, some in found.items() if what is not Exported.AUDIT} == {
        what: 1 for what in Exported if what is not Exported.AUDIT
    }
    assert len(found[Exported.AUDIT]) >= 3
    assert found[Exported.RECORDS][0]["entity_id"] == found[Exported.ENTITIES][0]["id"]
    assert found[Exported.ITEMS][0]["run_id"] == found[Exported.RUNS][0]["id"]
    assert found[Exported.JOBS][0]["tasks"][0]["platform"] == "alpha"
    assert found[Exported.CAPTURES][0]["files"][0]["name"] == "page"
    assert found[Exported.SITES][0]["mounts"][0]["host"] == "board.example"
    assert found[Exported.ACCOUNTS][0]["state"] == "active"
    assert "LHCANARYfish" not in json.dumps(found)


async def test_accounts_and_seeds_are_what_import_reads(
    home: House, exports: Exports, admin: httpx.AsyncClient
) -> None:
    await stock(admin)
    assert (await admin.post("/v2/sites/board/moves", json={"to": "board2.example"})).is_success
    caller = await home.tokens.local_caller("default")
    held = await lines(exports, caller, Exported.ACCOUNTS, with_secrets=True)
    sown = await lines(exports, caller, Exported.SEEDS)
    await furnish(await home.caller(Role.ADMIN, "others"), "board2.example")
    other = await home.tokens.local_caller("others")

    text = "\n".join(json.dumps(line) for line in held)
    taken = await accounts.take_in(home.app.state.accounts, other, list(accounts.from_ndjson(text)))
    garden: seeds.Seeds = home.app.state.seeds
    registry = await garden.registry(other)
    items = [seeds.from_line(registry, line, None) for line in seeds.from_ndjson(json.dumps(sown[0]))]
    assert not [item for item in items if isinstance(item, str)], items
    await garden.upsert(other, [item for item in items if not isinstance(item, str)])

    assert (taken.created, taken.rejected) == (1, [])
    assert await lines(exports, other, Exported.ACCOUNTS, with_secrets=True) == held
    assert await lines(exports, other, Exported.SEEDS) == sown
    assert sown[0]["url"] == "https://board2.example/t/1?p=2"
    assert held[0]["secret"] == SECRET
    # Each secret that left is in the audit.
    told = [event["action"] for event in await lines(exports, other, Exported.AUDIT)]
    assert told.count("account.revealed") == 1
