"""An import that is killed goes on where it was, and nothing is there twice; as an operator runs it."""

import os
import subprocess
import sys

import pytest

from tests.legacy.old import Old, page
from tests.parts.process import Ended, Leasehold, Place, until

PAGES = 3_000


@pytest.fixture
def place(here: Place, old: Old) -> Place:
    return here


def words(old: Old, *more: str) -> list[str]:
    return ["import", "legacy-mongo", old.url, "--map", str(old.map_file), *more]


def start(place: Place, old: Old, *more: str) -> Leasehold:
    return place.start(*words(old, *more), LEASEHOLD_DATABASE_URL=old.database.url)


def run(place: Place, old: Old, *more: str) -> Ended:
    return place.run(*words(old, *more), LEASEHOLD_DATABASE_URL=old.database.url)


def test_killed_again_and_again_it_comes_to_its_end_and_nothing_is_doubled(place: Place, old: Old) -> None:
    old.fill(pages=PAGES)
    bad = [page(PAGES + number, board=None) for number in range(50)]
    old.insert("pages", *bad)
    reached = 0
    kills = 0

    for goal in (1, PAGES // 3, PAGES - 100, PAGES + 2 * PAGES // 3):
        killed = start(place, old)
        _until_items(old, killed, goal)
        kills += killed.process.poll() is None
        killed.kill()
        assert _items(old) >= reached
        reached = _items(old)
    ended = run(place, old)

    assert kills >= 3
    assert ended.code == 0, ended.err
    assert "going on with" in ended.out
    assert ended.out.count("; agree") == 3
    assert f"{'captures':<10}{PAGES + 50:>12,}{PAGES:>12,}{0:>12,}{50:>12,}" in ended.out
    assert f"{'events':<10}{2 * PAGES:>12,}{2 * PAGES:>12,}{0:>12,}{0:>12,}" in ended.out
    assert [old.count(table) for table in ("capture", "external_file")] == [PAGES, PAGES]
    counted = old.database.rows("SELECT action, count(*) FROM audit_event GROUP BY 1 ORDER BY 1")
    assert counted == [("capture.history", 2 * PAGES), ("capture.imported", PAGES), ("site.imported", 1)]
    assert len((place.folder / "legacy-bad.ndjson").read_text().splitlines()) == 50


def _until_items(old: Old, running: Leasehold, goal: int) -> None:
    until(lambda: _items(old) >= goal or running.process.poll() is not None)


def _items(old: Old) -> int:
    return old.count("legacy_item")


def test_a_clean_stop_is_gone_on_from_too(place: Place, old: Old) -> None:
    old.fill(pages=PAGES)
    stopped = start(place, old)
    until(lambda: _items(old) > 500)

    stopped.end()
    ended = run(place, old)

    assert ended.code == 0, ended.err
    assert old.count("capture") == PAGES


def test_two_at_once_never_double_anything(place: Place, old: Old) -> None:
    old.fill(pages=2_000)

    both = [start(place, old, "--report", f"{number}.ndjson") for number in range(2)]
    codes = sorted(one.process.wait(60) for one in both)
    again = run(place, old)

    assert codes in ([0, 0], [0, 2])
    assert all("Another import of the same is under way" in one.err for one in both if one.process.returncode == 2)
    assert again.code == 0, again.err
    assert [old.count("capture"), old.count("external_file")] == [2_000, 2_000]
    assert old.database.rows("SELECT count(*) FROM audit_event WHERE action = 'capture.history'") == [(4_000,)]


def test_mongodb_going_away_is_a_sentence_and_the_import_goes_on_later(place: Place, old: Old) -> None:
    old.fill(pages=PAGES)
    running = start(place, old)
    until(lambda: _items(old) > 500)

    old.mongo.mongo.kill()
    code = running.process.wait(60)
    old.mongo.mongo.start()
    ended = run(place, old)

    assert code == 2
    assert running.err.startswith("leasehold: The MongoDB of the address does not answer")
    assert ended.code == 0, ended.err
    assert old.count("capture") == PAGES


def test_bad_documents_are_no_failure_unless_it_is_strict(place: Place, old: Old) -> None:
    old.fill(pages=1)
    old.insert("pages", page(5, board=None))

    plain, strict = run(place, old), run(place, old, "--strict")

    assert (plain.code, strict.code) == (0, 1)
    assert "1 documents are bad and were not imported; each is in legacy-bad.ndjson" in plain.out


def test_rows_that_differ_are_a_failure(place: Place, old: Old) -> None:
    old.fill(pages=1)
    run(place, old)
    old.database.run("UPDATE capture SET job_id = 'x'")

    again = run(place, old)

    assert again.code == 1
    assert "DIFFER" in again.out


def test_verify_does_not_miss_bytes_that_were_never_here(place: Place, old: Old) -> None:
    old.fill(pages=3)
    run(place, old)

    verified = place.run("verify", "--captures", LEASEHOLD_DATABASE_URL=old.database.url)

    assert verified.code == 0, verified.out
    assert "captures: 0 blobs" in verified.out


def test_an_unknown_organisation_is_refused(place: Place, old: Old) -> None:
    old.fill(pages=1)

    refused = run(place, old, "--org", "nobody")

    assert refused.code == 2
    assert "--org: there is no such organisation." in refused.err


def test_the_address_may_come_over_standard_input(place: Place, old: Old) -> None:
    old.fill(pages=1)
    command = [sys.executable, "-m", "leasehold", "import", "legacy-mongo", "-", "--map", str(old.map_file)]

    ended = subprocess.run(
        command,
        input=old.url.encode(),
        cwd=place.folder,
        env=os.environ | {"LEASEHOLD_DATABASE_URL": old.database.url, "LEASEHOLD_DATA_DIR": str(place.data)},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert old.count("capture") == 1
