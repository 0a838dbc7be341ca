"""An import that was stopped at a known place goes on from exactly there, and only one at a time goes on."""

import asyncio

import pytest

from leasehold.auth import Role
from leasehold.legacy import ImportFailed
from leasehold.legacy.store import SQL
from tests.legacy.old import BOARD, Old, event, page
from tests.parts.house import House
from tests.parts.mongo import MongoDatabase


class Stopped(Exception):
    """What a test stops an import with."""


async def stopped(old: Old, at: str, organisation: str = "default") -> None:
    """Import until this is said, and no further."""

    def heard(line: str) -> None:
        if line.startswith(at):
            raise Stopped

    with pytest.raises(Stopped):
        await old.bring(organisation, heard=heard)


async def test_it_goes_on_after_the_last_document_and_its_counts_with_it(
    old: Old, home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.legacy.service.BATCH", 2)
    monkeypatch.setattr("leasehold.legacy.service._SAY_EVERY", 1)
    old.fill(pages=4)
    old.insert("pages", page(-1, board=None))
    await stopped(old, "captures: 2 read")

    ran = await old.bring()

    assert ran.said[0] == "going on with captures, where an earlier run was stopped"
    assert ran.row("sites") == [1, 1, 0, 0]
    assert ran.row("captures") == [5, 4, 0, 1]  # none of them was read twice
    assert [one["_id"] for one in ran.bad] == ['{"$numberInt": "-1"}']
    assert ran.agree


async def test_what_a_lost_batch_had_told_is_cut_off(old: Old, home: House) -> None:
    old.fill(pages=1)
    old.insert("pages", page(5, board=None))
    await stopped(old, "captures")
    with old.report.open("a") as report:
        report.write('{"wrong": "told by a batch that was lost"}\n{"wro')

    ran = await old.bring()

    assert [one["wrong"] for one in ran.bad] == ["site: is missing."]


async def test_the_report_is_for_its_owner_alone(old: Old, home: House) -> None:
    old.fill(pages=1)

    await old.bring()

    assert old.report.stat().st_mode & 0o777 == 0o600


async def test_another_database_is_another_import(old: Old, home: House) -> None:
    old.fill(pages=2)
    await stopped(old, "captures")
    other = Old(MongoDatabase(old.mongo.mongo, f"{old.mongo.name}_other"), old.database, old.folder)
    other.mongo.empty()
    other.insert("boards", {"_id": 7, "title": "Other", "hosts": [{"name": "other.example", "from": 1_400_000_000}]})
    other.insert("pages", page(-3, board=7))
    other.insert("log", event(0, _id="o0", page=-3))

    ran = await other.bring()

    assert [ran.row(kind) for kind in ("sites", "captures", "events")] == [[1, 1, 0, 0]] * 3


async def test_the_end_of_an_import_is_not_that_of_another_organisation_s(old: Old, home: House) -> None:
    await home.caller(Role.ADMIN, "theirs")
    old.fill(pages=2)
    await stopped(old, "captures", "theirs")

    ours = await old.bring()
    theirs = await old.bring("theirs")

    assert ours.row("captures") == [2, 2, 0, 0]
    assert theirs.said[0] == "going on with captures, where an earlier run was stopped"
    assert theirs.row("captures") == [2, 2, 0, 0]


async def test_one_that_was_overtaken_stops(old: Old, home: House) -> None:
    old.fill(pages=1)

    def heard(line: str) -> None:
        if line.startswith("captures"):
            old.database.run("UPDATE legacy_run SET step = step + 1")

    with pytest.raises(ImportFailed, match="Another import of the same is under way"):
        await old.bring(heard=heard)


async def test_imports_of_one_organisation_take_turns(old: Old, home: House) -> None:
    await home.caller()
    old.fill(pages=1)
    turn = "SELECT pg_advisory_xact_lock(hashtextextended('legacy import ' || id::text, 0)) FROM organisation"
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with old.database.connect() as other, other.transaction():
        other.execute(f"{turn} WHERE slug = 'default'")
        bringing = asyncio.create_task(old.bring())
        async with asyncio.timeout(30):
            while old.database.rows(waiting) == [(0,)]:
                await asyncio.sleep(0.02)
                assert not bringing.done()
        assert old.count("site") == 0

    assert (await bringing).row("captures") == [1, 1, 0, 0]


async def test_every_statement_names_the_organisation_and_leans_on_no_wall_behind_it(old: Old, home: House) -> None:
    await home.caller()
    await home.caller(Role.ADMIN, "theirs")
    old.fill(pages=1)
    await stopped(old, "captures", "theirs")
    ((ours,),) = old.database.rows("SELECT id FROM organisation WHERE slug = 'default'")
    ((source, step),) = old.database.rows("SELECT source, step FROM legacy_run")
    run = {"organisation": ours, "source": source}
    item = {"organisation": ours, "kind": "site"}
    now = {"step": step, "phase": "done", "position": None, "tallies": "{}", "report_bytes": 0}

    with old.database.connect() as conn:  # row-level security does not bind it
        touched = [
            conn.execute(SQL[name], values).rowcount
            for name, values in (
                ("known", {**item, "legacy_ids": [str(BOARD)]}),
                ("items", {**item, "after_id": "", "limit": 9}),
                ("progress", run),
                ("advance", {**run, **now}),
                ("finish", run),
            )
        ]

    assert old.count("legacy_item") > 0
    assert touched == [0, 0, 0, 0, 0]
