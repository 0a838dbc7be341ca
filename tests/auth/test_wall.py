"""The second wall: even queries that forgot their organisation reach the rows of one alone."""

import asyncio
import re
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from leasehold import audit
from leasehold.auth import Role
from leasehold.db import Conn, Database, RollBack, WallMissing
from leasehold.embedded import Embedded
from leasehold.migrate import migrate
from tests.hall.test_queries import STATEMENTS
from tests.parts.broker import Broker, chunk, failed
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
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
    "seed_visit",
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
    "replay",
    "platform_pause",
    "document_seen",
    "platform_phase",
    "platform_tally",
    "platform_breaker",
    "platform_limit",
    "alert",
    "alert_message",
    "live_ticket",
    "organisation_setting",
    "run",
    "run_item",
    "run_ledger",
    "run_event",
    "entity",
    "graph_writer",
    "link_epoch",
    "record_batch",
    "record_queue",
    "record_dead_letter",
    "source_record",
    "link_key",
    "edge",
    "edge_part",
    "link_decision",
    "entity_change",
    "graph_count",
    "suppression",
    "suppression_key",
    "faces.model",
    "faces.look",
    "faces.face",
    "faces.image",
    "source",
    "source_sighting",
    "source_dead_letter",
)

# Every row of an organisation in a table, as text.
ROWS = {
    table: f"SELECT t::text FROM {table} t WHERE {'id' if table == 'organisation' else 'organisation'} = %s ORDER BY 1"
    for table in TABLES
}

# The same two records in both graphs, and everything there is about them.
GRAPH = (
    "INSERT INTO graph_writer (organisation, holder, fence, until)"
    " SELECT id, '00000000-0000-0000-0000-000000000007', 1, clock_timestamp() FROM organisation",
    "INSERT INTO link_epoch (organisation, kind, number, version, origin, state, parameters)"
    " SELECT id, 'performer', 1, 'v', 'learned', 'current', '{}' FROM organisation",
    "INSERT INTO link_epoch (organisation, kind, number, version, origin, state, parameters)"
    " SELECT id, 'performer', 2, 'v', 'learned', 'proposed', '{}' FROM organisation",
    "INSERT INTO record_batch (id, organisation, items, left_over)"
    " SELECT gen_random_uuid(), id, 2, 2 FROM organisation",
    "INSERT INTO record_dead_letter (id, organisation, source, source_id, batch, reason, content)"
    " SELECT gen_random_uuid(), id, 'ebay', 'one', gen_random_uuid(), 'x', 'x' FROM organisation",
    "INSERT INTO source_record (organisation, node, id, kind, source, source_id, name, content, digest, entity, step)"
    " SELECT e.organisation, n, gen_random_uuid(), 'performer', 'ebay', 'one', 'Ann', '{}', '', e.id, 'created'"
    "   FROM entity e, generate_series(1, 2) n",
    "INSERT INTO link_key (organisation, key, node, epoch) SELECT id, 1, 1, 1 FROM organisation",
    "INSERT INTO edge (organisation, a, b, epoch, bits, step, teaches)"
    " SELECT id, 1, 2, 1, 5, 'explicit_id', 1 FROM organisation",
    "INSERT INTO edge_part (organisation, a, b, field, bits, part) SELECT id, 1, 2, 'face', 1, '{}' FROM organisation",
    "INSERT INTO link_decision (organisation, a, b, decision, actor) SELECT id, 1, 2, 'same', 'ann' FROM organisation",
    "INSERT INTO entity_change (organisation, entity, change, actor)"
    " SELECT organisation, id, 'created', 'writer' FROM entity",
    "INSERT INTO graph_count (organisation, source, name, count) SELECT id, 'ebay', 'created', 1 FROM organisation",
    "INSERT INTO suppression (organisation, mark) SELECT id, 'x' FROM organisation",
    "INSERT INTO suppression_key (organisation, key_id, sealed) SELECT id, 'test', 'x' FROM organisation",
)

# Bytes that no capture has.
UNUSED = bytes(32)


@dataclass(frozen=True)
class World:
    """Two organisations, the whole database, and the way requests take into it."""

    database: TestDatabase
    ours: UUID
    theirs: UUID
    values: dict[str, Any]  # for every parameter there is
    rows: dict[str, list[Any]]  # of theirs

    def way_in(self) -> Database:
        return Database(self.database.url, pool_size=2)


@pytest.fixture(scope="module")
def two(_worker_database: TestDatabase) -> World:
    """Two organisations with a row in every table each, and the same names in both. Tests leave it as it is."""
    _worker_database.empty()
    return asyncio.run(settled(_worker_database))


async def settled(database: TestDatabase) -> World:
    async with house(database) as home:
        await populate(home)
    # Now that nobody writes it.
    database.run(
        "INSERT INTO record_queue (organisation, batch, priority, items, bytes, content)"
        " SELECT organisation, id, 0, 1, 2, '[]' FROM record_batch"
    )
    ids = dict(database.rows("SELECT slug, id FROM organisation"))
    ours, theirs = ids["ours"], ids["theirs"]
    return World(database, ours, theirs, given(database, ours), rows_of(database, theirs))


async def populate(home: House) -> None:
    for organisation in ("ours", "theirs"):
        client = await home.caller(Role.ADMIN, organisation)
        key = {"Idempotency-Key": "k"}
        await client.post("/v2/sites", json={"slug": "board", "domain": "a.example"}, headers=key)
        await client.post("/v2/sites/board/moves", json={"to": "b.example"})
        await client.post("/v2/sites", json={"slug": "empty", "domain": "empty.example"})
        for name in ("ann", "bob"):
            await client.post(
                "/v2/accounts", json={"site": "board", "username": name, "secret": {"password": f"LHCANARY of {name}"}}
            )
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
        await client.post("/v2/live/tickets")
        await client.put("/v2/settings", json={"max_concurrent_runs": 2})
        await client.post("/v2/runs", json={"collector": "amazon", "categories": ["toys"]})
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
        "INSERT INTO seed_visit (organisation, seed, number, at, outcome, previous_interval_seconds, interval_seconds,"
        " next_due_at, owner)"
        " SELECT organisation, id, 1, clock_timestamp(), 'ok', 60, 60, clock_timestamp(), 'first' FROM seed"
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
    home.database.run(
        "INSERT INTO document_seen (task, organisation, identity) SELECT id, organisation, %s FROM task", bytes(16)
    )
    home.database.run(
        "INSERT INTO platform_phase (organisation, platform, phase, by_name) SELECT id, 'youtube', 'dual', 'ann'"
        " FROM organisation"
    )
    home.database.run(
        "INSERT INTO platform_breaker (organisation, platform, reason, probe_at)"
        " SELECT id, 'youtube', 'x', clock_timestamp() FROM organisation"
    )
    home.database.run(
        "INSERT INTO platform_limit (organisation, platform, concurrency, by_name, reason)"
        " SELECT id, 'youtube', 60, 'ann', 'x' FROM organisation"
    )
    home.database.run(
        "INSERT INTO alert_message (id, organisation, kind, count, job_ids, at)"
        " SELECT gen_random_uuid(), id, 'x', 1, '{}', clock_timestamp() FROM organisation"
    )
    home.database.run(
        "INSERT INTO run_item (id, organisation, run, category, item_type, external_id, job)"
        " SELECT gen_random_uuid(), organisation, id, 'toys', 'product', 'one', 'same' FROM run"
    )
    home.database.run(
        "INSERT INTO run_ledger (organisation, run, kind, purpose, reserved_micros, spent_micros)"
        " SELECT organisation, id, 'reserve', 'listing', 0, 0 FROM run"
    )
    home.database.run(
        "INSERT INTO entity (id, organisation, kind, name, key)"
        " SELECT gen_random_uuid(), id, 'seller', 'Ann', 'ebay:ann' FROM organisation"
    )
    _sweep(home.database)
    add_faces(home.database)
    for statement in GRAPH:
        home.database.run(statement)
    for (organisation_id,) in home.database.rows("SELECT id FROM organisation"):
        await seal(home, organisation_id)


def add_faces(database: TestDatabase) -> None:
    """A record in each that was looked at, with the same names in both."""
    database.run(
        "INSERT INTO faces.model (organisation, digest, name, dimension, metric, calibration)"
        " SELECT id, %s, 'x', 2, 'l2', '{}' FROM organisation",
        UNUSED,
    )
    database.run(
        "INSERT INTO faces.look (organisation, record, source, setup, holder, held_until)"
        " SELECT id, %s, 'box', %s, %s, clock_timestamp() + interval '1 hour' FROM organisation",
        _FACES["record"],
        UNUSED,
        _FACES["holder"],
    )
    database.run(
        "INSERT INTO faces.face (organisation, record, model, image, source, dimension, vector, quality, expires_at)"
        " SELECT id, %s, %s, %s, 'box', 2, '{1,2}', 1, clock_timestamp() + interval '9 days' FROM organisation",
        _FACES["record"],
        UNUSED,
        UNUSED,
    )
    database.run(
        "INSERT INTO faces.image (organisation, record, digest, source, content_type, content, expires_at)"
        " SELECT id, %s, %s, 'box', 'image/png', 'x', clock_timestamp() + interval '9 days' FROM organisation",
        _FACES["record"],
        UNUSED,
    )


def _sweep(database: TestDatabase) -> None:
    """A source that is driven, with something that was seen and something that nobody could read."""
    database.run(
        "INSERT INTO source (organisation, name, status, place, driver, driver_fence, driver_until)"
        " SELECT id, 'stashdb', 'sweeping', '{\"phase\": \"list\"}', %s, 1, clock_timestamp() + interval '1 hour'"
        " FROM organisation",
        UUID(int=7),
    )
    database.run(
        "INSERT INTO source_sighting (organisation, source, source_id, digest, sweep, pass)"
        " SELECT id, 'stashdb', 'p1', %s, %s, 1 FROM organisation",
        bytes(16),
        UUID(int=7),
    )
    database.run(
        "INSERT INTO source_dead_letter (id, organisation, source, source_id, reason, payload, digest)"
        " SELECT gen_random_uuid(), id, 'stashdb', 'p1', 'x', '{}', %s FROM organisation",
        bytes(16),
    )


async def crawl(client: httpx.AsyncClient) -> None:
    """A job that is worked on, one that failed and waits again, and a platform that was paused then."""
    broker = Broker(client)
    for job in ("same", "dead"):
        await broker.submit("youtube", job_id=job, task_type="video", payload={"video_id": "dQw4w9WgXcQ"})
    first, second = (await broker.offer("youtube", limit=2))["leases"]
    await broker.bring(chunk(first, "p1", {"n": 1}), failed(second, "not_found"))
    await client.post("/v2/jobs/dead-letters/replay", json={"filter": {}})
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


def rows_of(database: TestDatabase, organisation: UUID) -> dict[str, list[Any]]:
    return {table: database.rows(ROWS[table], organisation) for table in TABLES}


async def rows_now(conn: Conn, organisation: UUID) -> dict[str, list[Any]]:
    """The same within a transaction, past every wall."""
    await conn.execute("SET LOCAL ROLE NONE")
    return {table: await (await conn.execute(ROWS[table].encode(), [organisation])).fetchall() for table in TABLES}


def given(database: TestDatabase, organisation: UUID) -> dict[str, Any]:
    """A value for every parameter there is, chosen to hit the rows of both organisations."""
    (site,) = database.rows("SELECT to_jsonb(s) FROM site s WHERE organisation = %s AND slug = 'board'", organisation)
    token = database.rows("SELECT token FROM idempotency_key WHERE organisation = %s", organisation)[0][0]
    hit = {"organisation": organisation, "slug": "empty", "site": "board", "slugs": ["board"], "id": token}
    key = {"token": token, "route": "POST /v2/sites", "key": "k", "resource": "board", "body_digest": b""}
    overview = {"now": datetime(2026, 1, 1, tzinfo=UTC), "step_s": 60, "most_seeds": 1000}
    page = {"after": None, "before": None, "limit": 500, "subject": None, **overview}
    chain = {"seq": 0, "era": 0, "xact": "0", "event": UUID(int=0)}
    lists = _lists(database)
    whole = {"to_era": 9, "to_xact": "0", "to_event": UUID(int=0)}
    return {
        **site[0],
        **hit,
        **key,
        **page,
        **chain,
        **whole,
        **lists,
        **_captures(database),
        **_jobs(database),
        **_runs(database, organisation),
        **_graph(database),
        **_visits(database, organisation),
        **_LEGACY,
        **_FACES,
        **_SOURCES,
        "host": "b.example",
        "port": None,
        "prefix": "/",
        "reason": "x",
        "name": "x",
        "permission": "runs.view",
        "numbers": [0],
    }


# What faces take.
_FACES: dict[str, Any] = {
    "record": UUID(int=77),
    "records": [UUID(int=77)],
    "holder": UUID(int=78),
    "model": UNUSED,
    "image": UNUSED,
    "of_source": "box",
    "sources": ["other"],
    "counted": '{"stolen": 1}',
    "dimension": 2,
    "vector": [3.0, 4.0],
    "quality": 1.0,
    "days": 0,
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


# What sweeping a source takes.
_SOURCES: dict[str, Any] = {
    "source_name": "stashdb",
    "src": ["sweeping"],
    "dst": "paused",
    "new_place": '{"stolen": true}',
    "waiting": None,
    "rate": 1.0,
    "expected": 7,
    "seen_more": 7,
    "pages_more": 7,
    "handed_more": 7,
    "gone_more": 7,
    "errors_more": 7,
    "newest": None,
    "note": "stolen",
    "sweep_facts": "{}",
    "is_full": True,
    "source_ids": ["p1"],
    "ends": ["deleted"],
    "survivors": [None],
    "sweep": UUID(int=7),
    "pass": 1,
    "own": True,
}


def _captures(database: TestDatabase) -> dict[str, Any]:
    """The captures and blobs of both."""
    captures = [row[0] for row in database.rows("SELECT id FROM capture ORDER BY 1")]
    held = database.rows("SELECT id FROM lease WHERE kind = 'capture' ORDER BY 1")
    return {
        "capture": captures[0],
        "captures": captures,
        "digests": [row[0] for row in database.rows("SELECT sha256 FROM blob ORDER BY 1")],
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


def _jobs(database: TestDatabase) -> dict[str, Any]:
    """The jobs and tasks of both."""
    tasks = [row[0] for row in database.rows("SELECT id FROM task ORDER BY 1")]
    n = len(tasks)
    return {
        "jobs": ["same", "dead"],
        "job": "same",
        "tasks": tasks,
        "task": tasks[0],
        "platforms": ["youtube"],
        "named_platforms": ["youtube", "youtube"],
        "platform": "youtube",
        "status": None,
        "older_than_s": None,
        "within_s": None,
        "error": None,
        "attempt_over": None,
        "of_run": None,
        "as_given": False,
        "concurrency": 7,
        "rate_tasks": 7,
        "rate_per_s": 7.0,
        "rate_burst": 7,
        "concurrencies": [10],
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
        "awaits": [False] * n,
        "chunks": ["[]"] * n,
        "entries": ["1-1"] * n,
        "identities": [bytes(16)] * n,
        "patience_s": 0,
        "space": "main",
        "to_phase": "stream",
        "snoozes": [7] * n,
        "costs": [7] * n,
        "aparts": [None],
        "bursts": [None],
        "manies": [1],
        "tally_ids": [UUID(int=7)],
        "goods": [1],
        "bads": [1],
        "is_canary": False,
        "tries_on": False,
        "overrun": 0,
        "canary_s": 60,
        "window_s": 60,
        "probe_s": 1.0,
        "by_name": "thief",
        "letters": [row[0] for row in database.rows("SELECT id FROM dead_letter ORDER BY 1")],
        "named": None,
        "replayed": None,
        "with_replayed": True,
        "until": datetime(2100, 1, 1, tzinfo=UTC),
        "place": None,
        "place_id": None,
        "replay": database.rows("SELECT id FROM replay ORDER BY 1")[0][0],
        "more": 7,
        "skipped": "[]",
        "deadlines": [60] * n,
        "queue_s": [60] * n,
        "depths": [500],
        "messages": [row[0] for row in database.rows("SELECT id FROM alert_message ORDER BY 1")],
        "swarms": ["dead_letters"],
        "quiet_s": 60,
    }


def _runs(database: TestDatabase, ours: UUID) -> dict[str, Any]:
    """The runs and entities of both; where one is named, it is theirs."""
    (theirs,) = database.rows("SELECT id FROM run WHERE organisation <> %s", ours)
    (seller,) = database.rows("SELECT id FROM entity WHERE organisation <> %s", ours)
    return {
        "run": theirs[0],
        "runs": [row[0] for row in database.rows("SELECT id FROM run ORDER BY 1")],
        "entity": seller[0],
        "kind": None,
        "q": None,
        "category": None,
        "collector": "amazon",
        "config": '{"stolen": {}}',
        "names": ["one"],
        "cap": 1,
        "soft": 50,
        "sub_status": None,
        "detail": "stolen",
        "wait_s": 1.0,
        "lease_s": 1.0,
        "driver": UUID(int=7),
        "fence": 1,
        "micros": 1,
        "reserved": 0,
        "spent": 1,
        "total": 7,
        "processed_now": 7,
        "failed_now": 7,
        "skipped_now": 7,
        "recent": 7,
        "recent_failed": 7,
        "warning": "{}",
        "codes": ["stolen"],
        "error_messages": ["stolen"],
        "datas": ["{}"],
        "steps": 10,
        "used_percent": None,
        "created_by": None,
        "without": [],
    }


def _visits(database: TestDatabase, ours: UUID) -> dict[str, Any]:
    """What a seed of theirs is named by."""
    (theirs, *_) = database.rows("SELECT id FROM seed WHERE organisation <> %s ORDER BY 1", ours)
    return {"seed": theirs[0], "previous": 60, "every": 1}


def _graph(database: TestDatabase) -> dict[str, Any]:
    """The graphs of both: the same nodes, as a record's number depends on nothing but what it is."""
    entities = [row[0] for row in database.rows("SELECT id FROM entity ORDER BY 1")]
    batches = [row[0] for row in database.rows("SELECT id FROM record_batch ORDER BY 1")]
    return {
        "seqs": [row[0] for row in database.rows("SELECT seq FROM record_queue ORDER BY 1")],
        "batch": batches[0],
        "batches": batches,
        "done": [1] * len(batches),
        "from_source": None,
        "nodes": [1, 2],
        "times": [7, 7],
        "hashes": [1, 1],
        "epoch": 1,
        "near": [1],
        "added": [1, 2],
        "join": 0,
        "founders": [1, 2],
        "gone": entities,
        "heirs": entities,
        "entities": entities,
        "review": 0,
        "holder": UUID(int=7),
        "firsts": [1],
        "seconds": [2],
        "a": 1,
        "b": 2,
        "teaches": None,
        "worths": [7.0],
        "difference": '{"stolen": true}',
        "reached": 7,
        "record_count": 7,
        "of_sources": ["ebay"],
        "node": 1,
        "sources": ["ebay"],
        "source_ids": ["one"],
    }


def _lists(database: TestDatabase) -> dict[str, Any]:
    """What batches take: the accounts and leases of both, so that a forgotten filter would reach the others'."""
    accounts = [row[0] for row in database.rows("SELECT id FROM account ORDER BY 1")]
    held = [row[0] for row in database.rows("SELECT id FROM lease ORDER BY 1")]
    ended = [row[0] for row in database.rows("SELECT id FROM lease_end ORDER BY 1")]
    tokens = [row[0] for row in database.rows("SELECT id FROM token ORDER BY 1")]
    n = len(accounts)
    seeds = [row[0] for row in database.rows("SELECT id FROM seed ORDER BY 1")]
    references = [row[0] for row in database.rows("SELECT reference FROM seed ORDER BY 1")]
    sealed = [row[0] for row in database.rows("SELECT sealed FROM account_secret ORDER BY account")]
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
        "most": 1,
        "begin": None,
        "dropped": [],
        "code": None,
        "reserves": [0, 0],
        "categories": None,
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


async def test_both_organisations_have_rows_everywhere(two: World) -> None:
    assert all(rows_of(two.database, two.ours).values())
    assert all(rows_of(two.database, two.theirs).values())


@pytest.mark.parametrize(("feature", "name", "statement"), FORGETFUL, ids=IDS)
async def test_a_query_without_its_filter_stays_at_home(two: World, feature: str, name: str, statement: str) -> None:
    async with two.way_in() as db, db.transaction(two.ours) as conn:
        with_filter = next(text for f, n, text in STATEMENTS if (f, n) == (feature, name))
        found = await run(conn, statement, two.values)
        if verb(statement) == "SELECT":
            assert steady(found) == steady(await run(conn, with_filter, two.values))
        after = await rows_now(conn, two.theirs)
        raise RollBack

    assert after == two.rows


async def test_every_table_alone_shows_its_own_rows(two: World) -> None:
    async with two.way_in() as db, db.transaction(two.ours) as conn:
        for table in TABLES:
            column = "id" if table == "organisation" else "organisation"
            seen = await run(conn, f"SELECT DISTINCT {column} FROM {table}", {})

            assert seen == [(two.ours,)], table


async def test_a_row_for_another_organisation_is_refused(two: World) -> None:
    row = "INSERT INTO site (organisation, slug, name) VALUES (%(o)s, 's', 's')"

    async with two.way_in() as db:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with db.transaction(two.ours) as conn:
                await run(conn, row, {"o": two.theirs})


async def test_a_transaction_for_nobody_sees_nothing(two: World) -> None:
    async with two.way_in() as db:
        async with db.transaction(two.ours):
            pass  # the setting of this transaction must not reach the next on the same connection

        async with db.pool.connection() as conn:
            for table in TABLES:
                assert await run(conn, f"SELECT 1 FROM {table}", {}) == []


async def test_the_system_role_reaches_only_what_it_was_granted(two: World) -> None:
    async with two.way_in() as db:
        for table in ("site", "mount", "move", "audit_event", "audit_seal", "registry_version"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                async with db.system() as conn:
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
