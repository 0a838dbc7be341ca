"""How the database goes about a grant: it must not look at all of a site to give out one account."""

import json
from typing import Any

from leasehold.accounts.store import SQL
from leasehold.ids import uuid7
from tests.parts.house import House

ACCOUNTS = 20_000
SITES = 10


async def filled(home: House) -> Any:
    client = await home.caller()
    for n in range(SITES):
        await client.post("/v2/sites", json={"slug": f"s{n}", "domain": f"s{n}.example"})
    organisation = home.database.rows("SELECT id FROM organisation WHERE slug = 'default'")[0][0]
    with home.database.connect() as conn:
        with conn.cursor().copy("COPY account (id, organisation, site, username) FROM STDIN") as copy:
            for n in range(ACCOUNTS):
                copy.write_row((uuid7(), organisation, f"s{n % SITES}", f"u{n}"))
        conn.execute("ANALYZE account")
    return organisation


def rows_read(plan: dict[str, Any]) -> float:
    """Of accounts, by the whole plan."""
    mine = plan["Actual Rows"] * plan["Actual Loops"] if plan.get("Relation Name") == "account" else 0
    return mine + sum(rows_read(inner) for inner in plan.get("Plans", []))


async def test_one_account_of_a_large_site_is_found_without_looking_at_the_others(home: House) -> None:
    organisation = await filled(home)
    wanted = {"organisation": organisation, "sites": ["s1", "s2"], "counts": [1, 2]}

    async with home.app.state.db.transaction(organisation) as conn:
        cur = await conn.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + SQL["pick_any"], wanted)
        found = (await cur.fetchone())[0]

    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    assert rows_read(plan) == 3
