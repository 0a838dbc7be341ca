"""The chain over the audit: every event gets into it once, and whatever is done to it afterwards shows."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from leasehold import audit
from leasehold.audit import Checked, Fault, Kind
from leasehold.auth import Tokens
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.ids import uuid7
from leasehold.migrate import folder, migrate, shipped
from tests.parts.house import house
from tests.parts.postgres import Postgres, TestDatabase

EVENT = "INSERT INTO audit_event (id, organisation, actor_name, action, subject) VALUES (%s, %s, 'ann', 'x', %s)"
# No transaction will ever have this number.
FAR = "1000000000000"


@pytest.fixture
async def db(database: TestDatabase) -> AsyncIterator[Database]:
    async with Database(database.url, pool_size=4) as opened:
        yield opened


@pytest.fixture
async def ours(db: Database) -> Caller:
    return await Tokens(db).local_caller("ours")


@pytest.fixture
async def three_seals(db: Database, database: TestDatabase, ours: Caller) -> Caller:
    """Two events under each of three seals: a1 a2, b1 b2, c1 c2."""
    for letter in "abc":
        await happens(db, ours, f"{letter}1", f"{letter}2")
        await settle(database)
        await audit.seal_all(db, ours.organisation)
    return ours


async def happens(db: Database, caller: Caller, *subjects: str) -> None:
    """An event for each, in a transaction of its own."""
    for subject in subjects:
        async with db.transaction(caller.organisation) as conn:
            await audit.record(conn, caller, "site.paused", subject, {"n": 1.0})


async def settle(database: TestDatabase) -> None:
    """Wait until no transaction is open that is older than an event; other tests use the same cluster."""
    too_young = "SELECT 1 FROM audit_event WHERE era = audit_era() AND xact >= pg_snapshot_xmin(pg_current_snapshot())"
    async with asyncio.timeout(30):
        while database.rows(too_young):
            await asyncio.sleep(0.01)


async def check(db: Database, caller: Caller) -> Checked:
    async with db.transaction(caller.organisation) as conn:
        return await audit.check(conn, caller.organisation)


def seals(database: TestDatabase, caller: Caller) -> list[tuple[int, int]]:
    """The number of each seal and how many events it covers."""
    return database.rows("SELECT seq, events FROM audit_seal WHERE organisation = %s ORDER BY seq", caller.organisation)


def tamper(database: TestDatabase, statement: str) -> None:
    """What only a superuser can do: past the triggers and the foreign keys."""
    with database.connect() as conn:
        for table in ("audit_event", "audit_seal"):
            conn.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL".encode())
        try:
            conn.execute(statement.encode())
        finally:
            for table in ("audit_event", "audit_seal"):
                conn.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL".encode())


async def test_sealing_goes_on_where_the_last_seal_ended(db: Database, database: TestDatabase, ours: Caller) -> None:
    await happens(db, ours, "a", "b")
    await settle(database)
    first = await audit.seal_all(db, ours.organisation)
    again = await audit.seal_all(db, ours.organisation)
    await happens(db, ours, "c")
    waiting = await check(db, ours)
    await settle(database)
    second = await audit.seal_all(db, ours.organisation)

    checked = await check(db, ours)

    assert (first, again, second) == (2, 0, 1)
    assert seals(database, ours) == [(1, 2), (2, 1)]
    ((head,),) = database.rows("SELECT encode(digest, 'hex') FROM audit_seal WHERE seq = 2")
    assert (waiting.seals, waiting.sealed, waiting.waiting, waiting.fault) == (1, 2, 1, None)
    assert checked == Checked(seals=2, sealed=3, waiting=0, head=head, fault=None)


async def test_an_audit_without_events_is_whole(db: Database, ours: Caller) -> None:
    assert await audit.seal_all(db, ours.organisation) == 0

    assert await check(db, ours) == Checked(seals=0, sealed=0, waiting=0, head=None, fault=None)


async def test_who_has_nothing_to_seal_takes_no_turn(db: Database, three_seals: Caller) -> None:
    async with db.transaction(three_seals.organisation) as conn:
        await audit.seal(conn, three_seals.organisation)

        cur = await conn.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
        assert await cur.fetchall() == []


async def test_an_open_transaction_holds_the_seal_back_and_nothing_is_lost(
    db: Database, database: TestDatabase, ours: Caller
) -> None:
    await happens(db, ours, "before")
    await settle(database)
    await audit.seal_all(db, ours.organisation)

    with database.connect() as other, other.transaction():
        other.execute(EVENT, [uuid7(), ours.organisation, "late"])
        await happens(db, ours, "after")
        meanwhile = await audit.seal_all(db, ours.organisation)
        seen = await check(db, ours)
    await settle(database)
    finally_sealed = await audit.seal_all(db, ours.organisation)

    assert meanwhile == 0
    assert (seen.sealed, seen.waiting, seen.fault) == (1, 1, None)
    assert finally_sealed == 2
    in_order = database.rows("SELECT subject FROM audit_event ORDER BY era, xact, id")
    assert [subject for (subject,) in in_order] == ["before", "late", "after"]
    whole = await check(db, ours)
    assert (whole.sealed, whole.waiting, whole.fault) == (3, 0, None)


async def test_two_sealers_at_once_make_one_chain(db: Database, database: TestDatabase, ours: Caller) -> None:
    await happens(db, ours, "a", "b")
    await settle(database)
    async with db.transaction(ours.organisation) as one:
        first = await audit.seal(one, ours.organisation)
        async with asyncio.timeout(20), db.transaction(ours.organisation) as other:
            second = await audit.seal(other, ours.organisation)
    await happens(db, ours, "c")
    await settle(database)
    both = await asyncio.gather(*(audit.seal_all(db, ours.organisation) for _ in range(4)))

    assert (first, second, sum(both)) == (2, 0, 1)
    assert seals(database, ours) == [(1, 2), (2, 1)]
    assert (await check(db, ours)).fault is None


async def test_whoever_waited_for_its_turn_starts_from_the_newest_seal(
    db: Database, database: TestDatabase, ours: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two look at the same last seal; one seals and ends before the other takes its turn."""
    await happens(db, ours, "a")
    await settle(database)
    take_turn = audit.chain._take_turn

    async def dawdle(*arguments: object) -> bool:
        monkeypatch.setattr(audit.chain, "_take_turn", take_turn)
        await audit.seal_all(db, ours.organisation)
        monkeypatch.setattr(audit.chain, "_take_turn", dawdle)
        return await take_turn(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(audit.chain, "_take_turn", dawdle)
    async with db.transaction(ours.organisation) as conn:
        assert await audit.seal(conn, ours.organisation) == 0

    assert seals(database, ours) == [(1, 1)]
    assert (await check(db, ours)).fault is None


async def test_many_events_are_sealed_batch_by_batch(db: Database, database: TestDatabase, ours: Caller) -> None:
    database.run(
        "INSERT INTO audit_event (id, organisation, actor_name, action, subject)"
        " SELECT gen_random_uuid(), %s, 'ann', 'site.paused', n::text FROM generate_series(1, %s) n",
        ours.organisation,
        2 * audit.BATCH + 7,
    )
    await settle(database)
    async with db.transaction(ours.organisation) as conn:
        first = await audit.seal(conn, ours.organisation)
    rest = await audit.seal_all(db, ours.organisation)

    checked = await check(db, ours)

    assert (first, rest) == (audit.BATCH, audit.BATCH + 7)
    assert [events for _, events in seals(database, ours)] == [audit.BATCH, audit.BATCH, 7]
    assert (checked.seals, checked.sealed, checked.fault) == (3, 2 * audit.BATCH + 7, None)


# Column by column, what is done to the event b1, and what is found.
EVENT_CHANGES = [
    ("id", "id = gen_random_uuid()", None),
    ("organisation", "organisation = (SELECT id FROM organisation WHERE slug = 'theirs')", Kind.MISSING),
    ("at", "at = at + interval '1 microsecond'", Kind.CHANGED),
    ("at", "at = 'infinity'", Kind.CHANGED),
    ("actor", "actor = gen_random_uuid()", Kind.CHANGED),
    ("actor_name", "actor_name = 'bob'", Kind.CHANGED),
    ("actor_name", "actor_name = actor_name || left(action, 1), action = substr(action, 2)", Kind.CHANGED),
    ("action", "action = 'site.resumed'", Kind.CHANGED),
    ("subject", "subject = 'b3'", Kind.CHANGED),
    ("detail", """detail = '{"n": 1.00}'""", Kind.CHANGED),
    ("request_id", "request_id = ''", Kind.CHANGED),
    ("xact", "xact = '1'", Kind.ADDED),  # it stands under the first seal then
    ("era", "era = -7", Kind.ADDED),
    ("era", "era = 7", Kind.AHEAD),
]


@pytest.mark.parametrize(("column", "change", "kind"), EVENT_CHANGES, ids=[change for _, change, _ in EVENT_CHANGES])
async def test_an_event_changed_behind_the_seal_is_found(
    db: Database, database: TestDatabase, three_seals: Caller, column: str, change: str, kind: Kind | None
) -> None:
    await Tokens(db).local_caller("theirs")

    tamper(database, f"UPDATE audit_event SET {change} WHERE subject = 'b1'")

    fault = (await check(db, three_seals)).fault
    assert fault is not None
    assert kind is None or fault.kind == kind
    assert kind != Kind.CHANGED or fault == Fault(2, Kind.CHANGED, expected=2, found=2)


def test_every_column_of_an_event_is_in_the_chain(database: TestDatabase) -> None:
    columns = database.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 'audit_event'")

    assert {name for (name,) in columns} == {column for column, _, _ in EVENT_CHANGES}


async def test_a_removed_event_is_found(db: Database, database: TestDatabase, three_seals: Caller) -> None:
    tamper(database, "DELETE FROM audit_event WHERE subject = 'b1'")

    checked = await check(db, three_seals)

    assert checked.fault == Fault(2, Kind.MISSING, expected=2, found=1)
    assert (checked.seals, checked.sealed) == (3, 5)


@pytest.mark.parametrize(("beside", "seal"), [("a1", 1), ("b2", 2), ("c1", 3)])
async def test_an_event_slipped_in_behind_the_seal_is_found(
    db: Database, database: TestDatabase, three_seals: Caller, beside: str, seal: int
) -> None:
    database.run(
        "INSERT INTO audit_event (id, organisation, actor_name, action, subject, xact)"
        " SELECT %s, organisation, 'bob', 'site.paused', 'x', xact FROM audit_event WHERE subject = %s",
        UUID(int=1),  # the first of its transaction
        beside,
    )

    assert (await check(db, three_seals)).fault == Fault(seal, Kind.ADDED, expected=2, found=3)


async def test_an_event_put_in_the_place_of_another_is_found(
    db: Database, database: TestDatabase, three_seals: Caller
) -> None:
    tamper(
        database,
        "WITH gone AS (DELETE FROM audit_event WHERE subject = 'b1' RETURNING *)"
        " INSERT INTO audit_event (id, organisation, actor_name, action, subject, detail, at, xact)"
        " SELECT gen_random_uuid(), organisation, actor_name, action, subject, detail, at, xact FROM gone",
    )

    assert (await check(db, three_seals)).fault == Fault(2, Kind.CHANGED, expected=2, found=2)


async def test_the_first_of_several_faults_is_told(db: Database, database: TestDatabase, three_seals: Caller) -> None:
    tamper(database, "UPDATE audit_event SET actor_name = 'bob' WHERE subject IN ('a2', 'c1')")

    assert (await check(db, three_seals)).fault == Fault(1, Kind.CHANGED, expected=2, found=2)


async def test_an_event_changed_together_with_its_seal_is_found_at_the_next(
    db: Database, database: TestDatabase, three_seals: Caller
) -> None:
    """Whoever forges a seal would have to forge all that follow, and then the head is another one."""
    tamper(database, "CREATE TABLE aside AS SELECT * FROM audit_seal WHERE seq = 3")
    tamper(database, "CREATE TABLE aside_too AS SELECT * FROM audit_event WHERE subject LIKE 'c_'")
    try:
        tamper(database, "DELETE FROM audit_event WHERE subject LIKE 'c_'")
        tamper(database, "DELETE FROM audit_seal WHERE seq >= 2")
        tamper(database, "UPDATE audit_event SET actor_name = 'bob' WHERE subject = 'b1'")
        await audit.seal_all(db, three_seals.organisation)
        forged = await check(db, three_seals)
        tamper(database, "INSERT INTO audit_event SELECT * FROM aside_too")
        tamper(database, "INSERT INTO audit_seal SELECT * FROM aside")
        checked = await check(db, three_seals)
    finally:
        tamper(database, "DROP TABLE IF EXISTS aside, aside_too")

    assert (forged.seals, forged.fault) == (2, None)
    assert (checked.seals, checked.fault) == (3, Fault(3, Kind.CHANGED, expected=2, found=2))


SEAL_CHANGES = [
    ("digest", 2, "digest = sha256(digest)", Fault(2, Kind.CHANGED, 2, 2)),
    ("digest", 3, "digest = sha256(digest)", Fault(3, Kind.CHANGED, 2, 2)),
    ("at", 2, "at = at - interval '1 microsecond'", Fault(2, Kind.CHANGED, 2, 2)),
    ("events", 2, "events = 3", Fault(2, Kind.MISSING, 3, 2)),
    ("event", 2, "event = 'ffffffff-ffff-ffff-ffff-ffffffffffff'", Fault(2, Kind.CHANGED, 2, 2)),
    ("xact", 2, "xact = '1'", Fault(2, Kind.BROKEN)),
    ("xact", 3, f"xact = '{FAR}'", Fault(3, Kind.AHEAD)),
    ("era", 2, "era = 0", Fault(2, Kind.BROKEN)),
    ("seq", 2, "seq = 9", Fault(2, Kind.GAP)),
    ("organisation", 2, "organisation = gen_random_uuid()", Fault(2, Kind.GAP)),
]


@pytest.mark.parametrize(
    ("column", "seq", "change", "fault"), SEAL_CHANGES, ids=[f"{seq} {change}" for _, seq, change, _ in SEAL_CHANGES]
)
async def test_a_changed_seal_is_found(
    db: Database, database: TestDatabase, three_seals: Caller, column: str, seq: int, change: str, fault: Fault
) -> None:
    tamper(database, f"UPDATE audit_seal SET {change} WHERE seq = {seq}")

    assert (await check(db, three_seals)).fault == fault


def test_every_column_of_a_seal_is_in_the_chain(database: TestDatabase) -> None:
    columns = database.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 'audit_seal'")

    assert {name for (name,) in columns} == {column for column, _, _, _ in SEAL_CHANGES}


@pytest.mark.parametrize("seq", [1, 2])
async def test_a_removed_seal_is_found(db: Database, database: TestDatabase, three_seals: Caller, seq: int) -> None:
    tamper(database, f"DELETE FROM audit_seal WHERE seq = {seq}")

    assert (await check(db, three_seals)).fault == Fault(seq, Kind.GAP)


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_seal SET events = 9", "DELETE FROM audit_seal", "TRUNCATE audit_seal"]
)
async def test_nobody_changes_a_seal_not_even_the_owner(
    db: Database, database: TestDatabase, three_seals: Caller, statement: str
) -> None:
    for role in ("leasehold_app", "leasehold_system", "postgres"):
        with database.connect() as conn:
            conn.execute(f"SET ROLE {role}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(statement.encode())

    assert seals(database, three_seals) == [(1, 2), (2, 2), (3, 2)]


async def test_each_organisation_has_a_chain_of_its_own(
    db: Database, database: TestDatabase, three_seals: Caller
) -> None:
    theirs = await Tokens(db).local_caller("theirs")
    await happens(db, theirs, "x")
    await settle(database)

    ours_again = await audit.seal_all(db, three_seals.organisation)
    unsealed = await check(db, theirs)
    await audit.seal_all(db, theirs.organisation)

    assert ours_again == 0
    assert (unsealed.seals, unsealed.waiting) == (0, 1)
    assert seals(database, theirs) == [(1, 1)]
    assert (await check(db, theirs)).fault is None
    assert (await check(db, three_seals)).seals == 3


async def test_how_a_session_writes_values_does_not_matter(db: Database, three_seals: Caller) -> None:
    async with db.transaction(three_seals.organisation) as conn:
        await conn.execute("SET LOCAL timezone = 'Asia/Tokyo'")
        await conn.execute("SET LOCAL datestyle = 'German'")
        await conn.execute("SET LOCAL bytea_output = 'escape'")
        checked = await audit.check(conn, three_seals.organisation)

    assert (checked.sealed, checked.fault) == (6, None)


async def test_after_a_restore_a_new_era_goes_on_after_the_old_one(
    db: Database, database: TestDatabase, three_seals: Caller
) -> None:
    """The last event of the old cluster was not sealed when the dump was taken, and its number is far from ours."""
    database.run(EVENT, old := uuid7(), three_seals.organisation, "old")
    tamper(database, f"UPDATE audit_event SET xact = '{FAR}' WHERE id = '{old}'")
    forgotten = await check(db, three_seals)
    database.run("ALTER TABLE audit_event ALTER era SET DEFAULT 2")
    try:
        await happens(db, three_seals, "new")
        await settle(database)
        sealed = await audit.seal_all(db, three_seals.organisation)
        checked = await check(db, three_seals)
    finally:
        database.run("ALTER TABLE audit_event ALTER era SET DEFAULT 1")

    assert forgotten.fault == Fault(3, Kind.AHEAD)
    assert sealed == 2
    assert (checked.sealed, checked.waiting, checked.fault) == (8, 0, None)


async def test_transactions_are_sorted_as_numbers(db: Database, database: TestDatabase, ours: Caller) -> None:
    for subject, xact in (("ten", "10"), ("nine", "9")):
        database.run(
            "INSERT INTO audit_event (id, organisation, actor_name, action, subject, xact)"
            " VALUES (%s, %s, 'ann', 'x', %s, %s)",
            uuid7(),
            ours.organisation,
            subject,
            xact,
        )
    await audit.seal_all(db, ours.organisation)

    ((last,),) = database.rows("SELECT subject FROM audit_seal JOIN audit_event ON event = audit_event.id")

    assert last == "ten"
    assert (await check(db, ours)).fault is None


async def test_events_from_before_the_chain_are_sealed_too(postgres: Postgres, worker_id: str, tmp_path: Path) -> None:
    fresh = postgres.create(f"lh_chain_{worker_id}")
    files = Path(shutil.copytree(folder(), tmp_path / "migrations"))
    for later in shipped()[2:]:
        (files / f"{later}.sql").unlink()
    migrate(fresh.url, files=files)
    organisation = uuid7()
    fresh.run("INSERT INTO organisation (id, slug) VALUES (%s, 'old')", organisation)
    for subject in ("a", "b"):
        fresh.run(EVENT, uuid7(), organisation, subject)

    migrate(fresh.url)
    await settle(fresh)

    async with Database(fresh.url, pool_size=2) as db:
        assert await audit.seal_all(db, organisation) == 2
        async with db.transaction(organisation) as conn:
            assert (await audit.check(conn, organisation)).fault is None


async def test_a_running_server_seals_by_itself(database: TestDatabase) -> None:
    async with house(database) as home:
        for organisation in ("ours", "theirs"):
            await home.token(organisation=organisation)
        await settle(database)
        (task,) = [task for task in home.app.state.background.tasks if task.name == "seal-audit"]

        await task.step()

        assert task.every_s == 5.0
        assert task.is_well
    sealed: list[tuple[UUID, int]] = database.rows("SELECT organisation, sum(events) FROM audit_seal GROUP BY 1")
    assert [int(events) for _, events in sealed] == [1, 1]
