"""The second wall: even queries that forgot their organisation reach the rows of one alone."""

import asyncio
import re
import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from leasehold import audit
from leasehold.auth import Role
from leasehold.db import Conn, Database, WallMissing
from leasehold.embedded import Embedded
from leasehold.migrate import migrate
from tests.hall.test_queries import STATEMENTS
from tests.parts.broker import Broker, chunk, failed
from tests.parts.house import House
from tests.parts.uploads import upload

FILTER = re.compile(r"(\w+\.)?organisation = %\(organisation\)s::uuid")


def verb(statement: str) -> str:
    """SELECT, INSERT …: the first word that is no comment."""
    return next(line for line in statement.splitlines() if not line.startswith("--")).split()[0]


FORGETFUL = [
    (feature, name, FILTER.sub("true", statement))
    for feature, name, statement in STATEMENTS
    if FILTER.search(statement) and verb(statement) != "INSERT"
]
IDS = [f"{feature}.{name}" for feature, name, _ in FORGETFUL]
TABLES = (
    "organisation",
    "token",
    "idempotency_key",
    "audit_event",
    "audit_seal",
    "site",
    "mount",
    "move",
    "registry_version",
    "account",
    "account_secret",
    "lease",
    "lease_end",
    "waiter",
    "session_version",
    "session_base",
    "seed",
    "seed_bed",
    "blob",
    "capture",
    "capture_file",
    "external_file",
    "legacy_item",
    "legacy_run",
    "job",
    "task",
    "task_event",
    "receipt",
    "result",
    "dead_letter",
    "platform_pause",
)

# Bytes that no capture has.
UNUSED = bytes(32)


@pytest.fixture
async def two(home: House) -> tuple[House, UUID, UUID]:
    """Two organisations with a row in every table each, and the same names in both."""
    for organisation in ("ours", "theirs"):
        client = await home.caller(Role.ADMIN, organisation)
        key = {"Idempotency-Key": "k"}
        await client.post("/v2/sites", json={"slug": "board", "domain": "a.example"}, headers=key)
        await client.post("/v2/sites/board/moves", json={"to": "b.example"})
        await client.post("/v2/sites", json={"slug": "empty", "domain": "empty.example"})
        for name in ("ann", "bob"):
            await client.post("/v2/accounts", json={"site": "board", "username": name, "secret": {"password": name}})
        for owner in ("first", "second"):
            got = await client.post("/v2/accounts/acquire", json={"site": "board", "owner": owner})
            lease = got.json()["leases"][0]
            session = f"/v2/sessions/{lease['resource_id']}?base=fresh"
            await client.put(session, json={"cookies": []}, headers={"Leasehold-Lease": lease["id"]})
        await client.post(f"/v2/leases/{got.json()['leases'][0]['id']}/release", json={"outcome": "failed"})
        items = [{"site": "board", "url": f"https://b.example/{n}"} for n in range(2)]
        await client.post("/v2/seeds", json={"items": items})
        for content in (b"1", b"2"):
            await upload(client, {"a": content})
        await client.post("/v2/captures/acquire", json={"owner": "mill"})
        await crawl(client)
    home.database.run(
        "INSERT INTO waiter (id, organisation, process, site, priority, wanted, labels)"
        " SELECT gen_random_uuid(), id, gen_random_uuid(), 'board', 4, 1, '{}' FROM organisation"
    )
    home.database.run(
        "INSERT INTO blob (organisation, sha256, size, claimed_at)"
        " SELECT id, %s, 1, clock_timestamp() - interval '1 minute' FROM organisation",
        UNUSED,
    )
    home.database.run(
        "INSERT INTO external_file (capture, organisation, place, name, sha256, size, content_type)"
        " SELECT id, organisation, 0, 'b', %s, 1, 'text/html' FROM capture",
        UNUSED,
    )
    home.database.run(
        "INSERT INTO legacy_item (organisation, kind, legacy_id, document, site, digest)"
        " SELECT organisation, 'site', 'old', 'boards 1', slug, %s FROM site WHERE slug = 'board'",
        UNUSED,
    )
    home.database.run(
        "INSERT INTO legacy_run (organisation, source, step, phase, tallies, report_bytes)"
        " SELECT id, %s, 1, 'captures', '{}', 0 FROM organisation",
        UNUSED,
    )
    ids = dict(home.database.rows("SELECT slug, id FROM organisation"))
    for organisation_id in ids.values():
        await seal(home, organisation_id)
    return home, ids["ours"], ids["theirs"]


async def crawl(client: httpx.AsyncClient) -> None:
    """A job that is worked on, one that failed, and a platform that was paused then."""
    broker = Broker(client)
    for job in ("same", "dead"):
        await broker.submit("youtube", job_id=job, task_type="video", payload={"video_id": "dQw4w9WgXcQ"})
    first, second = (await broker.offer("youtube", limit=2))["leases"]
    await broker.bring(chunk(first, "p1", {"n": 1}), failed(second, "not_found"))
    await client.post("/v2/platforms/youtube/pause")


async def seal(home: House, organisation: UUID) -> None:
    """All of its audit, so that the server finds nothing more to seal while a test looks."""
    async with asyncio.timeout(30):
        while True:
            await audit.seal_all(home.app.state.db, organisation)
            async with home.app.state.db.transaction(organisation) as conn:
                if (await audit.check(conn, organisation)).waiting == 0:
                    return
            await asyncio.sleep(0.01)  # other tests use the same cluster, and their transactions hold a seal back


def rows_of(home: House, organisation: UUID) -> dict[str, list[Any]]:
    found = {}
    for table in TABLES:
        column = "id" if table == "organisation" else "organisation"
        found[table] = home.database.rows(f"SELECT t::text FROM {table} t WHERE {column} = %s ORDER BY 1", organisation)
    return found


def given(home: House, organisation: UUID) -> dict[str, Any]:
    """A value for every parameter there is, chosen to hit the rows of both organisations."""
    (site,) = home.database.rows(
        "SELECT to_jsonb(s) FROM site s WHERE organisation = %s AND slug = 'board'", organisation
    )
    token = home.database.rows("SELECT token FROM idempotency_key WHERE organisation = %s", organisation)[0][0]
    hit = {"organisation": organisation, "slug": "empty", "site": "board", "slugs": ["board"], "id": token}
    key = {"token": token, "route": "POST /v2/sites", "key": "k", "resource": "board", "body_digest": b""}
    page = {"after": None, "before": None, "limit": 500, "subject": None}
    chain = {"seq": 0, "era": 0, "xact": "0", "event": UUID(int=0)}
    lists = _lists(home)
    whole = {"to_era": 9, "to_xact": "0", "to_event": UUID(int=0)}
    return {
        **site[0],
        **hit,
        **key,
        **page,
        **chain,
        **whole,
        **lists,
        **_captures(home),
        **_jobs(home),
        **_LEGACY,
        "host": "b.example",
        "port": None,
        "prefix": "/",
        "reason": "x",
        "name": "x",
    }


# What imports out of an older system take.
_LEGACY: dict[str, Any] = {
    "legacy_ids": ["old"],
    "after_id": "",
    "source": UNUSED,
    "step": 1,
    "phase": "stolen",
    "position": None,
    "report_bytes": 7,
    "tallies": "{}",
    "current": True,
}


def _captures(home: House) -> dict[str, Any]:
    """The captures and blobs of both."""
    captures = [row[0] for row in home.database.rows("SELECT id FROM capture ORDER BY 1")]
    held = home.database.rows("SELECT id FROM lease WHERE kind = 'capture' ORDER BY 1")
    return {
        "capture": captures[0],
        "captures": captures,
        "digests": [row[0] for row in home.database.rows("SELECT sha256 FROM blob ORDER BY 1")],
        "digest": UNUSED,
        "after_digest": b"",
        "lease": held[0][0],
        "how": "revoked",
        "outcome": None,
        "states": ["rejected"] * len(captures),
        "failed": [7] * len(captures),
        "grace": 0,
        "since": None,
        "url": None,
        "before_at": None,
        "sub": "",
        "rest": "/thread/1",
    }


def _jobs(home: House) -> dict[str, Any]:
    """The jobs and tasks of both."""
    tasks = [row[0] for row in home.database.rows("SELECT id FROM task ORDER BY 1")]
    n = len(tasks)
    return {
        "jobs": ["same", "dead"],
        "job": "same",
        "tasks": tasks,
        "task": tasks[0],
        "platforms": ["youtube"],
        "platform": "youtube",
        "status": None,
        "before_id": None,
        "before_key": None,
        "after_place": None,
        "task_types": None,
        "deadline_s": 60,
        "marks": [bytes(16)] * n,
        "statuses": ["cancelled"] * n,
        "sub_statuses": ["stolen"] * n,
        "attempts": [7] * n,
        "losses": [7] * n,
        "seens": ["{}"] * n,
        "final_seqs": [None] * n,
        "final_statuses": [None] * n,
        "result_counts": [7] * n,
        "last_errors": [None] * n,
        "holds": [False] * n,
        "over": [True] * n,
        "patiences": [60] * n,
    }


def _lists(home: House) -> dict[str, Any]:
    """What batches take: the accounts and leases of both, so that a forgotten filter would reach the others'."""
    accounts = [row[0] for row in home.database.rows("SELECT id FROM account ORDER BY 1")]
    held = [row[0] for row in home.database.rows("SELECT id FROM lease ORDER BY 1")]
    ended = [row[0] for row in home.database.rows("SELECT id FROM lease_end ORDER BY 1")]
    tokens = [row[0] for row in home.database.rows("SELECT id FROM token ORDER BY 1")]
    n = len(accounts)
    seeds = [row[0] for row in home.database.rows("SELECT id FROM seed ORDER BY 1")]
    references = [row[0] for row in home.database.rows("SELECT reference FROM seed ORDER BY 1")]
    sealed = [row[0] for row in home.database.rows("SELECT sealed FROM account_secret ORDER BY account")]
    return {
        "closed": [UUID(int=0)],
        "versions": [1] * n,
        "old_key_ids": ["test"] * n,
        "old_sealed": sealed,
        "new_key_ids": ["x"] * n,
        "new_sealed": [b"x"] * n,
        "account": accounts[0],
        "ids": [*accounts, *seeds],
        "references": references,
        "urls": ["stolen"] * (n + len(seeds)),
        "kinds": ["stolen"] * (n + len(seeds)),
        "priorities": [50],
        "intervals": [60] * (n + len(seeds)),
        "mins": [60] * (n + len(seeds)),
        "maxes": [60] * (n + len(seeds)),
        "enableds": [False] * (n + len(seeds)),
        "cursors": [None] * (n + len(seeds)),
        "dues": [None] * (n + len(seeds)),
        "known": None,
        "served": [True],
        "due": None,
        "enabled": None,
        "hours": 24,
        "how": "revoked",
        "outcome": None,
        "lease": held[0],
        "delay": 1.0,
        "interval": 60,
        "is_gone": True,
        "cursor": None,
        "found": 1,
        "accounts": accounts,
        "leases": [*held, *ended],
        "ttls": [60] * n,
        "ttl": 60,
        "max_age": 3600,
        "hows": ["revoked"] * n,
        "outcomes": [None] * n,
        "reasons": [None] * n,
        "standings": ["active"] * n,
        "blocked_reasons": [None] * n,
        "failures": [7] * n,
        "failed_visits": 7,
        "unclean": [7] * n,
        "probations": [True] * n,
        "logins": [True] * n,
        "penalties": [None] * n,
        "rests": [7] * n,
        "owners": ["thief"] * n,
        "tokens": tokens,
        "routes": ["POST /v2/sites"] * n,
        "keys": ["k"] * n,
        "resources": ["b"] * n,  # a part of what is there
        "body_digests": [b""] * n,
        "sites": ["board"],
        "labels": None,
        "labelled": False,
        "counts": [9],
        "usernames": ["ann", "bob"],
        "window": 600,
        "owner": "first",
        "kind": "account",
        "state": None,
        "query": None,
        "priority": None,
        "after_site": None,
        "after_username": None,
        "process": UUID(int=0),
        "held": accounts[0],
        "asking": [],
        "ending": held,
        "renewing": held,
        "moved": False,
        "row": accounts[0],
        "number": 1,
        "rev": 2,
        "most": 0,
        "after_rev": None,
        "has_session": False,
        "old_key_id": "test",
        "before": None,
        "version": 1,
        "key_id": "x",
        "sealed": b"x",
    }


async def run(conn: Conn, statement: str, values: dict[str, Any]) -> list[Any]:
    cur = await conn.execute(statement.encode(), values)
    return await cur.fetchall() if cur.description else []


def steady(rows: list[Any]) -> list[Any]:
    """Without what follows from the clock, which goes on between two runs."""
    return [[value for value in row if not isinstance(value, float | datetime)] for row in rows]


async def test_both_organisations_have_rows_everywhere(two: tuple[House, UUID, UUID]) -> None:
    home, ours, theirs = two

    assert all(rows_of(home, ours).values())
    assert all(rows_of(home, theirs).values())


@pytest.mark.parametrize(("feature", "name", "statement"), FORGETFUL, ids=IDS)
async def test_a_query_without_its_filter_stays_at_home(
    two: tuple[House, UUID, UUID], feature: str, name: str, statement: str
) -> None:
    home, ours, theirs = two
    values = given(home, ours)
    before = rows_of(home, theirs)

    async with home.app.state.db.transaction(ours) as conn:
        with_filter = next(text for f, n, text in STATEMENTS if (f, n) == (feature, name))
        found = await run(conn, statement, values)
        if verb(statement) == "SELECT":
            assert steady(found) == steady(await run(conn, with_filter, values))

    assert rows_of(home, theirs) == before


async def test_every_table_alone_shows_its_own_rows(two: tuple[House, UUID, UUID]) -> None:
    home, ours, _theirs = two

    async with home.app.state.db.transaction(ours) as conn:
        for table in TABLES:
            column = "id" if table == "organisation" else "organisation"
            seen = await run(conn, f"SELECT DISTINCT {column} FROM {table}", {})

            assert seen == [(ours,)], table


async def test_a_row_for_another_organisation_is_refused(two: tuple[House, UUID, UUID]) -> None:
    home, ours, theirs = two

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with home.app.state.db.transaction(ours) as conn:
            await run(conn, "INSERT INTO site (organisation, slug, name) VALUES (%(o)s, 's', 's')", {"o": theirs})


async def test_a_transaction_for_nobody_sees_nothing(two: tuple[House, UUID, UUID]) -> None:
    home, ours, _theirs = two
    async with home.app.state.db.transaction(ours):
        pass  # the setting of this transaction must not reach the next on the same connection

    async with home.app.state.db.pool.connection() as conn:
        for table in TABLES:
            assert await run(conn, f"SELECT 1 FROM {table}", {}) == []


async def test_the_system_role_reaches_only_what_it_was_granted(two: tuple[House, UUID, UUID]) -> None:
    home, _ours, _theirs = two

    for table in ("site", "mount", "move", "audit_event", "audit_seal", "registry_version"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with home.app.state.db.system() as conn:
                await run(conn, f"SELECT 1 FROM {table}", {})


async def test_a_role_that_steps_over_the_wall_stops_the_start() -> None:
    folder = Path(tempfile.mkdtemp(prefix="leasehold-wall-"))  # a cluster of its own: roles belong to all of one
    folder.chmod(0o755)  # noqa: ASYNC240
    cluster = Embedded(folder)
    url = cluster.start()
    try:
        migrate(url)
        async with Database(url, pool_size=2):
            pass
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("ALTER ROLE leasehold_app BYPASSRLS")

        with pytest.raises(WallMissing, match="bypass"):
            await Database(url, pool_size=2).open()
    finally:
        cluster.stop()
        shutil.rmtree(folder)
