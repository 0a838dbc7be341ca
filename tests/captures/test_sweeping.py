"""Bytes that no capture has are taken away, and those that one has or is about to have never are."""

import asyncio
import random
import resource
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from leasehold.captures import remove_stray, reread, strays, sweep
from leasehold.captures.blobs import Key
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase
from tests.parts.uploads import drafts, lose_all, paths, sha256, stored, upload


def ours(home: House) -> UUID:
    organisation: UUID = home.database.rows("SELECT id FROM organisation WHERE slug = 'default'")[0][0]
    return organisation


def an_hour_passes(home: House) -> None:
    home.database.run("UPDATE blob SET claimed_at = claimed_at - interval '61 minutes'")


async def swept(home: House) -> int:
    return await sweep(home.app.state.db, home.app.state.captures.blobs, ours(home))


async def test_bytes_of_a_deleted_capture_are_swept_an_hour_later(
    admin: httpx.AsyncClient, home: House, blobs: Path
) -> None:
    made = (await upload(admin, {"a": b"1"})).json()["id"]
    await admin.delete(f"/v2/captures/{made}")

    at_once = await swept(home)
    an_hour_passes(home)
    later = await swept(home)

    assert (at_once, later) == (0, 1)
    assert stored(blobs) == set()
    assert home.database.rows("SELECT 1 FROM blob") == []


async def test_bytes_that_another_capture_has_stay(admin: httpx.AsyncClient, home: House, blobs: Path) -> None:
    first = (await upload(admin, {"a": b"shared", "b": b"own"})).json()["id"]
    second = (await upload(admin, {"a": b"shared"})).json()["id"]
    await admin.delete(f"/v2/captures/{first}")
    an_hour_passes(home)

    await swept(home)

    assert stored(blobs) == {sha256(b"shared")}
    assert (await admin.get(f"/v2/captures/{second}/files/a")).content == b"shared"


async def test_bytes_in_use_are_never_swept_however_old(admin: httpx.AsyncClient, home: House, blobs: Path) -> None:
    await upload(admin, {"a": b"1"})
    home.database.run("UPDATE blob SET claimed_at = claimed_at - interval '10 years', in_use = false")

    assert await swept(home) == 0
    assert stored(blobs) == {sha256(b"1")}


async def test_who_brings_bytes_that_are_being_swept_waits_and_puts_them_in_place(
    admin: httpx.AsyncClient, home: House, blobs: Path
) -> None:
    made = (await upload(admin, {"a": b"again"})).json()["id"]
    await admin.delete(f"/v2/captures/{made}")
    with home.database.connect() as sweeper, sweeper.transaction():
        sweeper.execute("DELETE FROM blob")  # it has the row, and is about to remove the bytes
        uploading = asyncio.create_task(upload(admin, {"a": b"again"}))
        await asyncio.sleep(0.3)
        is_waiting = not uploading.done()
        lose_all(blobs)

    answer = (await asyncio.wait_for(uploading, 30)).json()

    assert is_waiting
    assert answer["files"][0]["deduplicated"] is False
    assert (await admin.get(f"/v2/captures/{answer['id']}/files/a")).content == b"again"


async def test_an_upload_whose_bytes_were_swept_before_it_came_to_be_is_told_to_try_again(
    admin: httpx.AsyncClient, home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    captures = home.app.state.captures
    real = captures._resolve

    async def slow(*given: object) -> object:
        home.database.run("DELETE FROM blob")
        return await real(*given)

    monkeypatch.setattr(captures, "_resolve", slow)

    answer = await upload(admin)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert home.database.rows("SELECT 1 FROM capture") == []


async def test_uploads_of_the_same_bytes_go_on_beside_the_sweeper(
    admin: httpx.AsyncClient, home: House, blobs: Path
) -> None:
    dice = random.Random(1)  # noqa: S311
    contents = [bytes([n]) * 1000 for n in range(3)]
    is_over = asyncio.Event()

    async def keep_sweeping() -> int:
        count = 0
        while not is_over.is_set():
            count += await sweep(home.app.state.db, home.app.state.captures.blobs, ours(home), grace_s=0)
        return count

    async def keep_uploading() -> None:
        for _ in range(25):
            content = dice.choice(contents)
            answer = await upload(admin, {"a": content})
            if answer.status_code == 503:  # without its hour of grace, a claim can be swept under an upload
                continue
            assert answer.status_code == 201
            path = f"/v2/captures/{answer.json()['id']}"
            assert (await admin.get(f"{path}/files/a")).content == content
            await admin.delete(path)

    sweeping = asyncio.create_task(keep_sweeping())
    await asyncio.gather(*(keep_uploading() for _ in range(4)))
    is_over.set()

    assert await sweeping > 0
    db, store = home.app.state.db, home.app.state.captures.blobs
    await sweep(db, store, ours(home), grace_s=0)
    for key in await strays(db, store):  # of uploads that were answered 503
        await remove_stray(db, store, key)
    assert stored(blobs) == set()
    assert (await reread(home.app.state.db, home.app.state.captures.blobs, ours(home))).is_whole


async def test_bytes_that_no_row_speaks_of_are_found_and_removed(
    admin: httpx.AsyncClient, home: House, blobs: Path
) -> None:
    await upload(admin, {"a": b"known"})
    await upload(admin, {"a": b"stray"})
    home.database.run("DELETE FROM capture_file WHERE size = 5 AND sha256 = %s", bytes.fromhex(sha256(b"stray")))
    home.database.run("DELETE FROM blob WHERE sha256 = %s", bytes.fromhex(sha256(b"stray")))
    db, store = home.app.state.db, home.app.state.captures.blobs

    found = await strays(db, store)
    removed = [await remove_stray(db, store, key) for key in found]

    assert found == [Key(ours(home), bytes.fromhex(sha256(b"stray")))]
    assert removed == [True]
    assert stored(blobs) == {sha256(b"known")}


async def test_a_stray_that_somebody_has_meanwhile_is_left_alone(
    admin: httpx.AsyncClient, home: House, blobs: Path
) -> None:
    await upload(admin, {"a": b"1"})
    key = Key(ours(home), bytes.fromhex(sha256(b"1")))

    assert await remove_stray(home.app.state.db, home.app.state.captures.blobs, key) is False
    assert stored(blobs) == {sha256(b"1")}


async def test_every_blob_is_read_again_and_what_is_wrong_is_named(
    admin: httpx.AsyncClient, home: House, blobs: Path
) -> None:
    made = {
        content: (await upload(admin, {"a": content})).json()["id"] for content in (b"well", b"gone", b"torn", b"rot")
    }
    db, store = home.app.state.db, home.app.state.captures.blobs
    before = await reread(db, store, ours(home))
    for path in paths(blobs):
        if path.name == sha256(b"gone"):
            path.unlink()
        elif path.name == sha256(b"torn"):
            path.write_bytes(b"to")
        elif path.name == sha256(b"rot"):
            path.write_bytes(b"rat")

    after = await reread(db, store, ours(home))

    assert (before.is_whole, before.blobs, before.bytes) == (True, 4, 15)
    assert after.is_whole is False
    assert after.missing == [f"{sha256(b'gone')} ({made[b'gone']})"]
    assert sorted(after.damaged) == sorted([f"{sha256(c)} ({made[c]})" for c in (b"torn", b"rot")])


@pytest.fixture
async def cramped(admin: httpx.AsyncClient) -> AsyncIterator[None]:
    """No file of this process may grow beyond a megabyte: a disk that is full, as far as it can tell."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * 1024, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_is_told_and_leaves_nothing(
    admin: httpx.AsyncClient, home: House, blobs: Path, cramped: None
) -> None:
    answer = await upload(admin, {"small": b"1", "large": b"x" * 3_000_000})

    assert (answer.status_code, answer.json()["type"]) == (507, "/problems/storage-full")
    assert stored(blobs) == set()
    assert drafts(blobs) == []
    assert home.database.rows("SELECT 1 FROM capture UNION ALL SELECT 1 FROM blob") == []
    assert (await upload(admin, {"small": b"1"})).status_code == 201


async def test_a_store_that_cannot_be_used_is_told(admin: httpx.AsyncClient, blobs: Path) -> None:
    Path.write_bytes(blobs, b"a file where the folder should be")

    answer = await upload(admin)

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")
    Path.unlink(blobs)
    assert (await upload(admin)).status_code == 201


async def test_captures_in_another_store(database: TestDatabase, tmp_path: Path) -> None:
    async with house(database, data_dir=tmp_path, blob_url="memory://captures") as far:
        client = await far.caller()
        await client.post("/v2/sites", json={"slug": "board", "domain": "board.example"})

        made = (await upload(client, {"a": b"far" * 100_000})).json()
        again = (await upload(client, {"b": b"far" * 100_000})).json()

        path = f"/v2/captures/{made['id']}/files/a"
        assert (await client.get(path)).content == b"far" * 100_000
        assert (await client.get(path, headers={"Range": "bytes=3-5"})).content == b"far"
        assert again["files"][0]["deduplicated"] is True
        for capture in (made, again):
            await client.delete(f"/v2/captures/{capture['id']}")
        an_hour_passes(far)
        assert await swept(far) == 1
        assert list(far.app.state.captures.blobs.each()) == []
    assert not (tmp_path / "blobs").exists()
