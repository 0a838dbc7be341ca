"""The keys of secrets as an operator has them: made, looked at, and changed while servers run, whatever is killed."""

import json
import random
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from leasehold.keys import LOCK_KEY
from leasehold.vault import Keyring, Vault
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import Ended, Leasehold, Place, until
from tests.parts.sealed import PostgresDrawer

ONE, TWO = (f"{name}:{letter * 43}=" for name, letter in (("k1", "A"), ("k2", "E")))
SECRET = "Hunter2Hunter2"


@pytest.fixture
def fresh(postgres: Postgres, worker_id: str) -> TestDatabase:
    return postgres.create(f"lh_keys_{worker_id}")


class Rooms:
    """A place and the database its leasehold works on."""

    def __init__(self, here: Place, database: TestDatabase) -> None:
        self.here = here
        self.database = database
        self.env = {"LEASEHOLD_DATABASE_URL": database.url}
        self.file = here.data / "keys"
        self.token: str | None = None

    def up(self, **more: str) -> Leasehold:
        up = self.here.up(**self.env, **more)
        self.token = self.token or up.token
        return up

    def serve(self, **more: str) -> Leasehold:
        server = self.here.serve(**self.env, **more)
        self.token = self.token or server.token
        return server

    def start(self, *words: str, **more: str) -> Leasehold:
        return self.here.start(*words, **self.env, **more)

    def run(self, *words: str, **more: str) -> Ended:
        return self.here.run(*words, **self.env, **more)

    def rotate(self, *words: str, **more: str) -> list[str]:
        done = self.run("keys", "rotate", *words, **more)
        assert done.code == 0, done.err
        assert done.err == ""
        return done.out.splitlines()

    def ids(self) -> list[str]:
        return [line.partition(":")[0] for line in self.file.read_text().splitlines() if not line.startswith("#")]

    def fill(self, server: Leasehold, count: int) -> None:
        server.ask("POST", "/v2/sites", self.token, json={"slug": "board", "domain": "a.example"})
        items = [{"site": "board", "username": f"u{n}", "secret": {"n": n}} for n in range(count)]
        made = server.ask("POST", "/v2/accounts/import", self.token, json={"items": items})
        assert made.json()["created"] == count, made.text

    def use(self, server: Leasehold) -> None:
        """Acquire and give back; the secret has to be the account's own."""
        answer = server.ask("POST", "/v2/accounts/acquire", self.token, json={"site": "board", "owner": "ann"})
        assert answer.status_code == 200, answer.text
        (lease,) = answer.json()["leases"]
        assert lease["account"]["secret"] == {"n": int(lease["account"]["username"][1:])}
        server.ask("POST", f"/v2/leases/{lease['id']}/release", self.token, json={"outcome": "ok"})

    def opened(self, keys: Keyring) -> list[int]:
        """The number that is in each secret, opened with these keys alone."""
        vault = Vault(keys)
        return sorted(json.loads(row.open(vault))["n"] for row in PostgresDrawer(self.database).rows().values())

    def used(self) -> set[str]:
        return {row.key_id for row in PostgresDrawer(self.database).rows().values()}


@pytest.fixture
def rooms(here: Place, fresh: TestDatabase) -> Rooms:
    return Rooms(here, fresh)


def assert_is_a_sentence(ended: Ended, *words: str) -> None:
    assert ended.code == 2, ended.err
    (line,) = ended.err.splitlines()
    assert line.startswith("leasehold: ")
    assert [word for word in words if word not in line] == [], line
    assert SECRET not in ended.out + ended.err


def test_the_first_start_makes_a_key_that_only_its_owner_can_read(rooms: Rooms) -> None:
    rooms.up().end()
    made = rooms.file.read_text()
    rooms.up().end()

    assert stat.S_IMODE(rooms.file.stat().st_mode) == 0o600
    assert len(rooms.ids()) == 1
    assert rooms.file.read_text() == made


def test_serve_makes_no_key_and_says_so(rooms: Rooms) -> None:
    refused = rooms.run("serve", "--port", "0", LEASEHOLD_KEYS="")

    assert_is_a_sentence(refused, "There is no key", "LEASEHOLD_KEYS", str(rooms.file))
    assert not rooms.file.exists()


def test_there_is_nothing_to_rotate_where_there_is_no_key(rooms: Rooms) -> None:
    refused = rooms.run("keys", "rotate")

    assert_is_a_sentence(refused, "There is no key", "LEASEHOLD_KEYS")
    assert not rooms.here.data.exists()


def test_a_key_changes_while_the_server_runs(rooms: Rooms) -> None:
    up = rooms.up()
    rooms.fill(up, 3)
    rooms.use(up)
    (old,) = rooms.ids()

    began = rooms.rotate()
    (new, *_) = rooms.ids()
    rooms.use(up)
    ended = rooms.rotate("--finish")
    rooms.use(up)

    file = rooms.file
    assert began == [
        f"{new} is the new key, the first in {file}.",
        "accounts in PostgreSQL 3 of 3",
        f"Every secret is under {new} (3 re-wrapped).",
        f"{old} is still in {file}. Make a copy of that file, then remove it with `leasehold keys rotate --finish`.",
    ]
    assert ended == [
        f"Every secret is under {new} (0 re-wrapped).",
        f"Removed {old} from {file}: no secret needs it.",
    ]
    assert rooms.ids() == [new]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert rooms.opened(Keyring.from_file(file)) == [0, 1, 2]


@pytest.mark.parametrize("words", [(), ("--finish",)])
def test_a_change_that_was_cut_short_goes_on_with_the_key_it_had(rooms: Rooms, words: tuple[str, ...]) -> None:
    up = rooms.up()
    rooms.fill(up, 3)
    (old,) = rooms.ids()
    new = Keyring.from_file(rooms.file).add_key()

    said = rooms.rotate(*words)

    assert f"Every secret is under {new} (3 re-wrapped)." in said
    assert rooms.ids() == ([new] if words else [new, old])
    assert rooms.used() == {new}
    rooms.use(up)


def test_finishing_twice_is_finishing_once(rooms: Rooms) -> None:
    rooms.fill(rooms.up(), 2)
    rooms.rotate()
    rooms.rotate("--finish")
    (new,) = rooms.ids()

    again = rooms.rotate("--finish")

    assert again[-1] == f"It is the only key in {rooms.file}: there is nothing to finish."
    assert rooms.ids() == [new]


@contextmanager
def collecting(rooms: Rooms, server: Leasehold) -> Iterator[list[float]]:
    """A collector that uses accounts all the while; yields when it did. What goes wrong for it is raised at the end."""
    used: list[float] = []
    wrong: list[BaseException] = []
    is_over = threading.Event()

    def collect() -> None:
        try:
            while not is_over.is_set():
                rooms.use(server)
                used.append(time.monotonic())
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=collect)
    thread.start()
    try:
        yield used
    finally:
        is_over.set()
        thread.join()
    assert wrong == []


def test_killed_again_and_again_it_gets_there_and_loses_nothing(rooms: Rooms, worker_id: str) -> None:
    chance = random.Random(worker_id)  # noqa: S311 (when to kill)
    up = rooms.up()
    rooms.fill(up, 2000)
    (first,) = rooms.ids()

    with collecting(rooms, up) as used:
        kill_often(rooms, chance, [1, 1, 2, 2, 3, 2, 1, 4])
        kill_half_way(rooms)
        rooms.rotate()
        newest, were_there = rooms.ids()[0], rooms.ids()
        at_the_end = rooms.used()
        kill_often(rooms, chance, [1, 1], "--finish")
        rooms.rotate("--finish")
        count = len(used)
        until(lambda: len(used) > count)

    assert (at_the_end, first in were_there) == ({newest}, True)
    assert rooms.ids() == [newest]
    assert rooms.opened(Keyring.from_file(rooms.file)) == list(range(2000))


def kill_often(rooms: Rooms, chance: random.Random, lines: list[int], *words: str) -> None:
    """Start it once for each and kill it a moment after it said so many lines. Whenever it is killed, everything opens
    with the keys there are."""
    for wanted in lines:
        rotation = rooms.start("keys", "rotate", *words)
        until(lambda: rotation.process.poll() is not None or rotation.out.count("\n") >= wanted)  # noqa: B023
        time.sleep(chance.uniform(0, 0.1))
        rotation.kill()
        assert rooms.opened(Keyring.from_file(rooms.file)) == list(range(2000))


def kill_half_way(rooms: Rooms) -> None:
    """Start it with more to do than it can, as somebody holds a row, and kill it when it has begun."""
    Keyring.from_file(rooms.file).add_key()
    before = rooms.used()
    with psycopg.connect(rooms.database.url) as other:
        other.execute("SELECT FROM account_secret LIMIT 1 FOR UPDATE")
        rotation = rooms.start("keys", "rotate")
        until(lambda: rooms.used() - before)
        rotation.kill()
    assert len(rooms.used()) > 1
    assert rooms.opened(Keyring.from_file(rooms.file)) == list(range(2000))


def test_no_key_goes_while_a_server_may_still_store_what_it_sealed_with_it(rooms: Rooms) -> None:
    up = rooms.up()
    rooms.fill(up, 2)
    drawer = PostgresDrawer(rooms.database)
    under_old = next(iter(drawer.rows().values()))
    rooms.rotate()
    before = rooms.ids()

    with psycopg.connect(rooms.database.url, application_name="leasehold") as slow:
        slow.execute(
            "UPDATE account_secret SET key_id = %s, sealed = %s WHERE account = %s",
            [under_old.key_id, under_old.sealed, under_old.account],
        )
        finishing = rooms.start("keys", "rotate", "--finish")
        until(lambda: "under way (1 open)" in finishing.out)
        while_it_waits = rooms.ids()
        slow.commit()
    code = finishing.process.wait(60)

    assert code == 0, finishing.err
    assert while_it_waits == before
    assert "(1 re-wrapped)" in finishing.out
    assert rooms.ids() == before[:1]
    assert rooms.opened(Keyring.from_file(rooms.file)) == [0, 1]


def test_two_do_not_change_keys_at_once(rooms: Rooms) -> None:
    rooms.up()
    before = rooms.ids()
    with psycopg.connect(rooms.database.url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK_KEY])

        refused = rooms.run("keys", "rotate")

    assert_is_a_sentence(refused, "Another `leasehold keys rotate` is at work")
    assert rooms.ids() == before


def test_keys_of_the_setting_are_changed_by_whoever_sets_them(rooms: Rooms) -> None:
    server = rooms.serve(LEASEHOLD_KEYS=f"{ONE},{TWO}")
    rooms.fill(server, 3)
    alone = rooms.rotate(LEASEHOLD_KEYS=ONE)

    said = rooms.rotate(LEASEHOLD_KEYS=f"{TWO},{ONE}")
    rooms.use(server)
    again = rooms.rotate("--finish", LEASEHOLD_KEYS=f"{TWO},{ONE}")

    may_leave = (
        "No secret needs k1: once every server was started with k2 as its first key, it may leave LEASEHOLD_KEYS."
    )
    assert (
        alone[-1] == "It is the only key in LEASEHOLD_KEYS. To change it, put a new one before it and run this again."
    )
    assert said == [
        "3 of 3 secrets are not under k2 yet.",
        "accounts in PostgreSQL 3 of 3",
        "Every secret is under k2 (3 re-wrapped).",
        may_leave,
    ]
    assert again == ["Every secret is under k2 (0 re-wrapped).", may_leave]
    assert rooms.used() == {"k2"}
    assert rooms.opened(Keyring.parse(TWO)) == [0, 1, 2]
    assert not rooms.file.exists()


def test_rows_under_a_key_that_is_not_there_stop_it_before_it_changes_anything(rooms: Rooms) -> None:
    server = rooms.serve(LEASEHOLD_KEYS=ONE)
    rooms.fill(server, 2)
    server.end()
    rooms.here.data.mkdir(exist_ok=True)
    Keyring.create_file(rooms.file)
    before = rooms.file.read_text()

    by_file, by_setting = rooms.run("keys", "rotate"), rooms.run("keys", "rotate", LEASEHOLD_KEYS=TWO)

    assert_is_a_sentence(by_file, "2 are sealed with k1", f"Bring that key back into {rooms.file}")
    assert_is_a_sentence(by_setting, "2 are sealed with k1", "Bring that key back into LEASEHOLD_KEYS")
    assert rooms.file.read_text() == before
    assert rooms.used() == {"k1"}


def test_a_secret_that_was_meddled_with_is_named(rooms: Rooms) -> None:
    rooms.fill(rooms.up(), 3)
    (old,) = rooms.ids()
    rooms.database.run("UPDATE account_secret SET sealed = set_byte(sealed, 70, 0) WHERE true")
    rooms.database.run("UPDATE account_secret SET sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20))")

    refused = rooms.run("keys", "rotate", LEASEHOLD_LOG_LEVEL="error")

    assert refused.code == 2
    assert "Of accounts in PostgreSQL, 3 do not open" in refused.err.splitlines()[-1]
    assert "Store their secrets again" in refused.err.splitlines()[-1]
    assert rooms.ids()[-1] == old


def finding(examined: Ended, what: str) -> str:
    (line,) = [line for line in examined.out.splitlines() if line[6:].startswith(f"{what} ")]
    return line


@pytest.mark.usefixtures("durable")
def test_doctor_looks_whether_the_keys_fit_the_secrets(rooms: Rooms) -> None:
    rooms.run("migrate")
    at_first = rooms.run("doctor")
    rooms.fill(rooms.up(), 2)
    (key,) = rooms.ids()
    well = rooms.run("doctor")
    rooms.file.chmod(0o640)
    open_ = rooms.run("doctor")
    rooms.file.unlink()
    lost = rooms.run("doctor")
    other = rooms.run("doctor", LEASEHOLD_KEYS=ONE)

    assert (at_first.code, finding(at_first, "keys")[:21]) == (0, "ok    keys         no")
    assert (well.code, finding(well, "keys")) == (0, f"ok    keys         {key} seals; 2 sealed")
    assert finding(open_, "keys").startswith(f"FAIL  keys         The key file {rooms.file} is open to others")
    assert finding(lost, "keys").startswith("FAIL  keys         There is no key to seal secrets with.")
    assert finding(other, "keys") == (
        f"FAIL  keys         2 secrets are sealed with {key}, which is not in LEASEHOLD_KEYS. Bring that key back into"
        " LEASEHOLD_KEYS; if it is lost for good, store those secrets again."
    )
    assert [ended.code for ended in (open_, lost, other)] == [1, 1, 1]


@pytest.fixture
def in_mongo(rooms: Rooms, mongo_database: MongoDatabase) -> dict[str, str]:
    url = mongo_database.url.replace("/?", f"/{mongo_database.name}?")
    return {"LEASEHOLD_POOLS": "mongo", "LEASEHOLD_MONGO_URL": url}


def test_keys_change_in_mongo_and_in_what_stayed_behind(
    rooms: Rooms, mongo_database: MongoDatabase, in_mongo: dict[str, str]
) -> None:
    up = rooms.up(**in_mongo)
    rooms.fill(up, 3)
    rooms.use(up)

    began = rooms.rotate(**in_mongo)
    without_address = rooms.run("keys", "rotate")
    rooms.use(up)
    ended = rooms.rotate("--finish", **in_mongo)
    rooms.use(up)

    (new,) = rooms.ids()
    assert "accounts in MongoDB 3 of 3" in began
    assert ended[-1].startswith("Removed ")
    assert_is_a_sentence(without_address, "The accounts are in mongo", "LEASEHOLD_MONGO_URL")
    with mongo_database.connect() as client:
        assert client[mongo_database.name]["accounts"].distinct("secret.key_id") == [new]


@pytest.mark.usefixtures("durable")
def test_doctor_looks_at_mongo(rooms: Rooms, mongo_database: MongoDatabase, in_mongo: dict[str, str]) -> None:
    rooms.run("migrate")
    with mongo_database.connect() as client:
        client.drop_database(mongo_database.name)
    bare = rooms.run("doctor", **in_mongo)
    up = rooms.up(**in_mongo)
    rooms.fill(up, 1)
    well = rooms.run("doctor", **in_mongo)
    elsewhere = rooms.run("doctor")
    down = rooms.run("doctor", LEASEHOLD_POOLS="mongo", LEASEHOLD_MONGO_URL=f"mongodb://ann:{SECRET}@127.0.0.1:1/x")
    odd = rooms.run("doctor", LEASEHOLD_POOLS="mongo", LEASEHOLD_MONGO_URL=f"mongodb://ann:x/{SECRET}@127.0.0.1:1/x")
    empty = rooms.run("doctor", LEASEHOLD_POOLS="mongo")

    assert finding(bare, "mongo").startswith("FAIL  mongo        lacks the indexes name, free, due, ")
    assert (well.code, finding(well, "pools")) == (0, "ok    pools        are in mongo")
    assert finding(well, "mongo").endswith("(6.0 or newer is needed), writes reach a majority")
    assert finding(well, "keys").endswith(" seals; 1 sealed")
    assert finding(elsewhere, "pools").startswith(
        "FAIL  pools        The accounts are in mongo, but LEASEHOLD_POOLS says"
    )
    assert finding(down, "mongo").startswith(
        "FAIL  mongo        LEASEHOLD_MONGO_URL: MongoDB does not answer (127.0.0.1:1"
    )
    assert finding(odd, "mongo").startswith("FAIL  mongo        LEASEHOLD_MONGO_URL cannot be read as mongodb://")
    assert finding(empty, "mongo").startswith("FAIL  mongo        LEASEHOLD_MONGO_URL is empty.")
    assert [ended.code for ended in (bare, elsewhere, down, odd, empty)] == [1] * 5
    assert not any(SECRET in ended.out + ended.err for ended in (down, odd))


def test_doctor_leaves_the_store_as_it_is(rooms: Rooms, in_mongo: dict[str, str]) -> None:
    rooms.run("migrate")

    examined = rooms.run("doctor", **in_mongo)

    assert finding(examined, "pools") == "ok    pools        are in mongo"
    assert rooms.database.rows("SELECT store FROM pool") == [("postgres",)]


@pytest.mark.parametrize("command", ["serve --port 0", "keys rotate", "migrate-pools --to mongo"])
def test_an_address_of_mongo_that_cannot_be_read_is_a_sentence_without_its_password(rooms: Rooms, command: str) -> None:
    address = f"mongodb://ann:x/{SECRET}@127.0.0.1:1/x"

    refused = rooms.run(*command.split(), LEASEHOLD_KEYS=ONE, LEASEHOLD_POOLS="mongo", LEASEHOLD_MONGO_URL=address)

    assert refused.code == 2
    assert "LEASEHOLD_MONGO_URL cannot be read" in refused.err.splitlines()[-1]
    assert "Traceback" not in refused.err
    assert SECRET not in refused.out + refused.err
