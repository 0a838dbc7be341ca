"""From a record that was left open to a proposal, with dlib, pictures over HTTP and pgvector, all real."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from PIL import Image

from leasehold.db import Database
from leasehold.faces import Faces, ModelRefused, Setup, erase, expire, vacuum
from leasehold.faces.fetching import Fetcher
from leasehold.faces.store import near
from tests.parts.faces import Gallery, Records, pattern, png, small_model
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

ORGANISATION, OTHER = UUID(int=1), UUID(int=2)
SOURCE = {"legal_basis": "consent, collected by the source", "retention_days": 30}


def make_setup(canary: Path, **sources: dict[str, Any]) -> Setup:
    said = {"embedders": [{"preset": "dlib"}], "canary": canary, "sources": sources or {"stashdb": SOURCE}}
    return Setup.model_validate(said)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def way_in(_worker_database: TestDatabase) -> AsyncIterator[Database]:
    async with Database(_worker_database.url, pool_size=4) as db:
        yield db


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def loaded(way_in: Database, people: Path) -> AsyncIterator[Faces]:
    """One with its models loaded, which takes longer than all the rest."""
    made = Faces(way_in, make_setup(people), Records(), Records(), 12.0, allow_private=True)
    yield made
    await made.close()


@pytest.fixture
def records() -> Records:
    return Records()


@pytest.fixture
def faces(loaded: Faces, records: Records, people: Path, database: TestDatabase) -> Faces:
    """The same for every test, with records of its own and nothing kept yet."""
    loaded._open = loaded._propose = records
    configure(loaded, people)
    return loaded


def configure(faces: Faces, canary: Path, **sources: dict[str, Any]) -> None:
    """As if it were started anew with these sources, its models loaded already."""
    faces._setup = make_setup(canary, **sources)
    faces._prepared = set()


@pytest.fixture
def shown(gallery: Gallery, people: Path) -> Callable[[str], str]:
    """Puts a picture into the gallery; returns where it is."""

    def show(name: str) -> str:
        return gallery.show(f"/{name}", (people / name).read_bytes(), "image/jpeg")

    return show


async def test_records_with_the_same_face_are_proposed_and_others_are_not(
    faces: Faces, records: Records, shown: Callable[[str], str], database: TestDatabase
) -> None:
    first = records.want(shown("obama-1.jpg"), shown("obama-2.jpg"))
    second = records.want(shown("obama-3.jpg"))
    other = records.want(shown("biden-1.jpg"))

    looked = await faces.step([ORGANISATION])

    assert looked == 3
    assert records.looked_at == {first: 2, second: 1, other: 1}
    assert set(records.proposed) == {(second, first)}
    part = records.proposed[second, first]
    assert (part.field, part.outcome) == ("face", "same")
    assert 2 < part.bits <= 6
    kept = database.rows("SELECT dimension, cardinality(vector), octet_length(image) FROM faces.face")
    assert kept == [(128, 128, 32)] * 4
    assert database.rows("SELECT count(*) FROM faces.image") == [(0,)]


async def test_two_records_can_be_compared_on_demand_also_to_tell_them_apart(
    faces: Faces, records: Records, shown: Callable[[str], str], way_in: Database
) -> None:
    first, other = records.want(shown("obama-1.jpg")), records.want(shown("biden-1.jpg"))
    faceless = records.want()
    await faces.step([ORGANISATION])

    async with way_in.transaction(ORGANISATION) as conn:
        part = await faces.between(conn, ORGANISATION, first, other)
        nothing = await faces.between(conn, ORGANISATION, first, faceless)

    assert part is not None
    assert (part.outcome, part.bits) == ("differs", -3.0)
    assert nothing is None


async def test_one_picture_of_somebody_else_does_not_speak_for_a_record(
    faces: Faces, records: Records, shown: Callable[[str], str], way_in: Database
) -> None:
    mixed = records.want(shown("obama-1.jpg"), shown("obama-2.jpg"), shown("biden-1.jpg"))
    same, other = records.want(shown("obama-3.jpg")), records.want(shown("biden-1.jpg"))
    await faces.step([ORGANISATION])

    async with way_in.transaction(ORGANISATION) as conn:
        found = [await faces.between(conn, ORGANISATION, mixed, one) for one in (same, other)]

    assert [part.outcome for part in found if part] == ["same", "differs"]
    assert set(records.proposed) == {(same, mixed)}


async def test_a_source_that_did_not_opt_in_is_not_touched(
    faces: Faces, records: Records, shown: Callable[[str], str], gallery: Gallery
) -> None:
    records.want(shown("obama-1.jpg"), source="fansdb")
    refused = records.wanting[next(iter(records.wanting))]

    looked = await faces.step([ORGANISATION])
    async with Fetcher(allow_private=True) as fetcher:
        forced = await faces.look(ORGANISATION, refused, fetcher)

    assert (looked, forced, gallery.came, records.looked_at) == (0, False, [], {})


async def test_pictures_are_counted_by_what_became_of_them_and_five_are_enough(
    faces: Faces, records: Records, shown: Callable[[str], str], gallery: Gallery, database: TestDatabase
) -> None:
    gone, nobody = gallery.url + "/gone.jpg", gallery.show("/nobody.png", pattern(1, 1, 300))
    html = gallery.show("/x", b"<html>", "text/html")
    record = records.want(gone, nobody, html, shown("obama-1.jpg"), shown("obama-2.jpg"), shown("obama-3.jpg"))

    await faces.step([ORGANISATION])

    assert records.looked_at == {record: 2}
    (counts,) = database.rows("SELECT counts FROM faces.look")
    assert counts == ({"status": 1, "no-face": 1, "content-type": 1, "embedded": 2},)
    assert "/obama-3.jpg" not in [path for path, _ in gallery.came]


async def test_a_picture_of_two_people_is_nobodys(
    faces: Faces, records: Records, gallery: Gallery, people: Path, database: TestDatabase
) -> None:
    with Image.open(people / "obama-1.jpg") as opened:
        one = opened.resize((400, 500))
    both = Image.new("RGB", (800, 500))
    both.paste(one, (0, 0))
    both.paste(one, (400, 0))
    record = records.want(gallery.show("/both.png", png(both)))

    await faces.step([ORGANISATION])

    assert records.looked_at == {record: 0}
    assert database.rows("SELECT counts FROM faces.look") == [({"several-faces": 1},)]


async def test_looking_again_adds_nothing_that_is_there(
    faces: Faces, records: Records, shown: Callable[[str], str], database: TestDatabase
) -> None:
    record = records.want(shown("obama-1.jpg"))
    await faces.step([ORGANISATION])
    records.looked_at.clear()

    await faces.step([ORGANISATION])

    assert records.looked_at == {record: 0}
    assert database.rows("SELECT count(*) FROM faces.face") == [(1,)]


async def test_a_record_has_five_faces_however_often_it_is_looked_at(
    faces: Faces, records: Records, shown: Callable[[str], str], database: TestDatabase
) -> None:
    record = records.want(shown("obama-1.jpg"))
    await faces.step([ORGANISATION])
    database.run(
        "INSERT INTO faces.face (organisation, record, model, image, source, dimension, vector, quality, expires_at)"
        " SELECT organisation, record, model, sha256(n::text::bytea), source, dimension, vector, quality, expires_at"
        "   FROM faces.face, generate_series(1, 3) n"
    )
    records.looked_at.clear()
    records.wanting[record] = replace(records.wanting[record], images=[shown("obama-2.jpg"), shown("obama-3.jpg")])

    await faces.step([ORGANISATION])

    assert records.looked_at == {record: 1}
    assert database.rows("SELECT count(*) FROM faces.face") == [(5,)]


async def test_a_record_somebody_else_is_at_is_left_to_them_until_their_time_is_over(
    faces: Faces, records: Records, shown: Callable[[str], str], database: TestDatabase
) -> None:
    record = records.want(shown("obama-1.jpg"))
    await faces.step([ORGANISATION])
    records.looked_at.clear()
    database.run(
        "UPDATE faces.look SET holder = gen_random_uuid(), held_until = clock_timestamp() + interval '1 minute'"
    )

    busy = await faces.step([ORGANISATION])
    database.run("UPDATE faces.look SET held_until = clock_timestamp()")
    free = await faces.step([ORGANISATION])

    assert (busy, free, records.looked_at) == (0, 1, {record: 0})


async def test_a_record_that_is_erased_while_it_is_looked_at_leaves_nothing(
    faces: Faces, records: Records, shown: Callable[[str], str], way_in: Database, database: TestDatabase
) -> None:
    await faces.step([ORGANISATION])
    record = records.want(shown("obama-1.jpg"))

    class Erasing(Fetcher):
        async def fetch(self, url: str) -> Any:
            fetched = await super().fetch(url)
            async with way_in.transaction(ORGANISATION) as conn:
                await erase(conn, ORGANISATION, [record])
            return fetched

    async with Erasing(allow_private=True) as fetcher:
        kept = await faces.look(ORGANISATION, records.wanting[record], fetcher)

    assert not kept
    assert database.rows("SELECT (SELECT count(*) FROM faces.face), (SELECT count(*) FROM faces.look)") == [(0, 0)]
    assert records.looked_at == {}


async def test_pictures_are_kept_where_their_source_says_so_and_no_longer(
    faces: Faces, records: Records, shown: Callable[[str], str], people: Path, database: TestDatabase, way_in: Database
) -> None:
    configure(faces, people, stashdb={**SOURCE, "keep_images": True}, fansdb=SOURCE)
    record = records.want(shown("obama-1.jpg"))
    records.want(shown("biden-1.jpg"), source="fansdb")
    await faces.step([ORGANISATION])
    (kept,) = database.rows("SELECT record, content FROM faces.image")

    configure(faces, people, stashdb=SOURCE)
    await faces.step([ORGANISATION])

    assert kept == (record, (people / "obama-1.jpg").read_bytes())
    assert database.rows("SELECT count(*) FROM faces.image") == [(0,)]
    assert database.rows("SELECT source FROM faces.face") == [("stashdb",)]  # the other one opted out


async def test_what_is_past_its_time_is_deleted_whether_faces_are_on_or_not(
    faces: Faces, records: Records, shown: Callable[[str], str], people: Path, database: TestDatabase, way_in: Database
) -> None:
    records.want(shown("obama-1.jpg"))
    await faces.step([ORGANISATION])
    database.run("UPDATE faces.face SET created_at = created_at - interval '8 days'")
    early = await expire(way_in, [ORGANISATION])

    configure(faces, people, stashdb={**SOURCE, "retention_days": 7})
    await faces.step([ORGANISATION])
    late = await expire(way_in, [ORGANISATION])

    assert (early.vectors, late.vectors) == (0, 1)


async def test_erasing_takes_everything_of_a_record_and_only_that(
    faces: Faces, records: Records, shown: Callable[[str], str], people: Path, way_in: Database, database: TestDatabase
) -> None:
    configure(faces, people, stashdb={**SOURCE, "keep_images": True})
    first, other = records.want(shown("obama-1.jpg"), shown("obama-2.jpg")), records.want(shown("biden-1.jpg"))
    await faces.step([ORGANISATION])

    async with way_in.transaction(ORGANISATION) as conn:
        erased = await erase(conn, ORGANISATION, [first])

    assert (erased.vectors, erased.images) == (2, 2)
    for table in ("face", "image", "look"):
        assert database.rows(f"SELECT DISTINCT record FROM faces.{table}") == [(other,)]


async def test_an_erased_vector_is_in_the_index_until_the_vacuum(
    faces: Faces, records: Records, shown: Callable[[str], str], way_in: Database, database: TestDatabase
) -> None:
    record = records.want(shown("obama-1.jpg"))
    await faces.step([ORGANISATION])
    (stored,) = database.rows("SELECT halfvec_send(vector::halfvec(128)) FROM faces.face")
    numbers = stored[0][4:]  # after the number of dimensions; the index has each number the other way round
    within = b"".join(numbers[at : at + 2][::-1] for at in range(0, len(numbers), 2))

    async with way_in.transaction(ORGANISATION) as conn:
        await erase(conn, ORGANISATION, [record])
    before = on_disk(database)
    await vacuum(way_in)
    after = on_disk(database)

    assert within in before
    assert within not in after


def on_disk(database: TestDatabase) -> bytes:
    """The file of the only index of vectors."""
    database.run("CHECKPOINT")
    found = database.rows(
        "SELECT pg_read_binary_file(pg_relation_filepath(indexrelid)) FROM pg_stat_user_indexes"
        " WHERE indexrelname LIKE 'face_near_%%'"
    )
    return b"".join(content for (content,) in found)


async def test_two_models_that_disagree_propose_nothing(
    way_in: Database, records: Records, gallery: Gallery, patterns: Path, tmp_path: Path, database: TestDatabase
) -> None:
    embedders = [
        small_model(tmp_path / "rest.onnx", colours=(1, 2)),  # does not see red
        {**small_model(tmp_path / "red.onnx", colours=(0,)), "name": "red"},  # sees nothing else
    ]
    setup = Setup.model_validate({"embedders": embedders, "canary": patterns, "sources": {"stashdb": SOURCE}})
    pictures = {"one": pattern(7, 1), "same": pattern(7, 2), "redder": pattern(7, 1, red=8)}
    first, same, redder = (records.want(gallery.show(f"/{name}", content)) for name, content in pictures.items())

    faces = Faces(way_in, setup, records, records, 12.0, allow_private=True)
    await faces.step([ORGANISATION])
    one_model = Faces(way_in, make_setup_of(setup, embedders[:1]), records, records, 12.0)
    one_model._calibrations = faces._calibrations
    async with way_in.transaction(ORGANISATION) as conn:
        alone = await one_model.between(conn, ORGANISATION, first, redder)
        together = await faces.between(conn, ORGANISATION, first, redder)
    await faces.close()
    await one_model.close()

    assert alone is not None
    assert together is not None
    assert (alone.outcome, together.outcome) == ("same", "differs")
    assert set(records.proposed) == {(same, first)}


def make_setup_of(setup: Setup, embedders: list[dict[str, Any]]) -> Setup:
    return Setup.model_validate({"embedders": embedders, "canary": setup.canary, "sources": {"stashdb": SOURCE}})


async def test_pictures_that_come_too_slowly_end_with_their_record(
    faces: Faces, records: Records, shown: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, database: TestDatabase
) -> None:
    await faces.step([ORGANISATION])
    monkeypatch.setattr("leasehold.faces.service._RECORD_S", 1.0)
    record = records.want(shown("obama-1.jpg"), "http://pictures.example/never", shown("obama-2.jpg"))

    class Slow(Fetcher):
        async def fetch(self, url: str) -> Any:
            return await (asyncio.sleep(60) if url.endswith("never") else super().fetch(url))

    async with Slow(allow_private=True) as fetcher:
        kept = await faces.look(ORGANISATION, records.wanting[record], fetcher)

    assert kept
    assert database.rows("SELECT counts FROM faces.look") == [({"embedded": 1, "timeout": 2},)]


async def test_a_database_without_pgvector_says_how_to_get_it(faces: Faces, database: TestDatabase) -> None:
    database.run("DROP EXTENSION IF EXISTS vector CASCADE")
    database.run("DROP ROLE IF EXISTS lh_plain")
    database.run("CREATE ROLE lh_plain")
    database.run("ALTER FUNCTION faces.prepare OWNER TO lh_plain")
    try:
        with pytest.raises(ModelRefused, match="CREATE EXTENSION vector"):
            await faces.step([ORGANISATION])
    finally:
        database.run("ALTER FUNCTION faces.prepare OWNER TO CURRENT_USER")
        database.run("DROP ROLE lh_plain")

    await faces.step([ORGANISATION])  # as a superuser it is made


async def test_organisations_find_their_own_faces_alone(
    faces: Faces, records: Records, shown: Callable[[str], str], way_in: Database, database: TestDatabase
) -> None:
    records.want(shown("obama-1.jpg"))
    await faces.step([ORGANISATION])
    theirs = records.want(shown("obama-3.jpg"))

    await faces.step([OTHER])
    async with way_in.transaction(OTHER) as conn:
        model = next(iter(faces._manifests))
        probe = [0.0] * 128
        crossed = await near(conn, ORGANISATION, theirs, model, probe, 10, 10_000)

    past_the_wall = database.rows(
        "SELECT record FROM faces.near(%s, %s, %s, %s::real[], 10, 10000)", OTHER, model, UUID(int=0), probe
    )

    assert records.proposed == {}
    assert crossed == []
    assert past_the_wall == [(theirs,)]


async def test_many_are_found_through_the_index_by_the_role_that_asks(
    faces: Faces, records: Records, way_in: Database, database: TestDatabase
) -> None:
    await faces.step([ORGANISATION, OTHER])
    model = next(iter(faces._manifests))
    fill(database, model, 800)
    probe = database.rows("SELECT record, vector FROM faces.face WHERE organisation = %s LIMIT 1", ORGANISATION)[0]
    nobody = UUID(int=0)

    async with way_in.transaction(ORGANISATION) as conn:
        exact = await near(conn, ORGANISATION, nobody, model, probe[1], 10, 10_000)
        before = database.rows("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'face_near_%%'")
        proposed = await near(conn, ORGANISATION, nobody, model, probe[1], 10, 100)
    async with asyncio.timeout(10):
        while (
            database.rows("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'face_near_%%'") == before
        ):
            await asyncio.sleep(0.1)

    assert exact[0] == proposed[0] == (probe[0], 0.0)
    assert len(proposed) == 10
    assert len({record for record, _ in exact} & {record for record, _ in proposed}) >= 8


def fill(database: TestDatabase, model: bytes, many: int) -> None:
    """Many vectors of two organisations."""
    database.run("SELECT setseed(0.5)")
    database.run(
        "INSERT INTO faces.face (organisation, record, model, image, source, dimension, vector, quality, expires_at)"
        " SELECT CASE WHEN n %% 2 = 0 THEN %s::uuid ELSE %s::uuid END, gen_random_uuid(), %s,"
        "        sha256(n::text::bytea), 's', 128,"
        "        (SELECT array_agg(random()::real) FROM generate_series(1, 128 + n * 0)), 1,"
        "        clock_timestamp() + interval '1 day'"
        "   FROM generate_series(1, %s) n",
        ORGANISATION,
        OTHER,
        model,
        many,
    )
    database.run("ANALYZE faces.face")
