"""`leasehold up` and `serve` as real processes: the first start, the next one, and every way to end."""

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.parts.ports import free_port
from tests.parts.postgres import Postgres, TestDatabase
from tests.parts.process import PATIENCE_S, Leasehold, Place, place, until

ADMIN = "lh_" + "Bootstrap0" * 3
SITE = {"slug": "board", "domain": "board1.example"}


@pytest.fixture(scope="module")
def _lived_in() -> Iterator[Place]:
    with place() as made:
        first = made.up(LEASEHOLD_BOOTSTRAP_TOKEN=ADMIN)
        make_site(first, ADMIN)
        first.end()
        yield made


@pytest.fixture
def home(_lived_in: Place) -> Iterator[Place]:
    """A place where leasehold was before; its admin's token is `ADMIN`, and it has a site."""
    yield _lived_in
    _lived_in.clear()


def fresh(postgres: Postgres) -> TestDatabase:
    return postgres.create(f"lh_serve_{os.getpid()}")


def make_site(up: Leasehold, token: str | None) -> None:
    answer = up.ask("POST", "/v2/sites", token, json=SITE)
    assert answer.status_code == 201, answer.text


def has_site(up: Leasehold, token: str | None) -> bool:
    return up.ask("GET", "/v2/sites/board", token).status_code == 200


def test_the_first_start_prints_an_address_and_an_admin_token_that_works(here: Place) -> None:
    up = here.up(LEASEHOLD_LOG_LEVEL="debug")

    assert up.token is not None
    assert up.out.count(up.token) == 2  # by itself, and in a line to paste into a shell
    tokens = up.ask("GET", "/v2/tokens", up.token).json()["items"]
    assert [token["role"] for token in tokens] == ["admin"]
    assert "lh_" not in up.err


def test_the_next_start_prints_no_token_and_finds_everything(home: Place) -> None:
    up = home.up()

    assert "lh_" not in up.out
    assert has_site(up, ADMIN)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_well_and_leaves_no_process(home: Place, number: signal.Signals) -> None:
    up = home.up()
    assert home.postmaster in home.processes()

    code = up.end(number)

    assert code == 0
    assert home.processes() == []
    assert "Traceback" not in up.err


def test_an_impatient_second_signal_leaves_no_process_either(home: Place) -> None:
    up = home.up()

    up.process.send_signal(signal.SIGINT)
    until(lambda: is_refused(up.port))
    code = up.end(signal.SIGINT)

    assert code == 0
    assert home.processes() == []


@pytest.mark.parametrize("sign", ["postgres.new", "postgres/PG_VERSION", "postgres/postmaster.pid"])
def test_a_signal_during_the_start_leaves_no_process(here: Place, sign: str) -> None:
    up = here.start("up", "--port", "0")
    until((here.data / sign).exists)

    code = up.end()

    assert code == 0
    assert here.processes() == []
    assert "Traceback" not in up.err


def test_after_a_kill_the_next_start_finds_everything_and_later_leaves_no_process(home: Place) -> None:
    home.up().kill()
    orphan = home.postmaster

    next_one = home.up()

    assert home.postmaster == orphan
    assert has_site(next_one, ADMIN)
    assert next_one.end() == 0
    assert home.processes() == []


def test_after_a_kill_of_postgres_too_the_next_start_finds_everything(home: Place) -> None:
    home.up().kill()
    home.postmaster.kill()

    next_one = home.up()

    assert has_site(next_one, ADMIN)
    assert next_one.end() == 0
    assert home.processes() == []


def test_a_postgres_that_dies_under_it_is_started_again(home: Place) -> None:
    up = home.up()
    died = home.postmaster.pid

    os.kill(died, signal.SIGKILL)

    until(lambda: up.ask("GET", "/v2/sites/board", ADMIN).status_code == 200 and home.postmaster.pid != died)
    until(lambda: up.ask("GET", "/readyz").status_code == 200)
    assert up.end() == 0
    assert home.processes() == []


def test_two_starts_at_once_on_one_port_are_one_server(home: Place, here: Place) -> None:
    port = str(free_port())

    both = [where.start("up", "--port", port) for where in (home, here)]
    until(lambda: any(one.process.poll() is not None for one in both))

    loser, winner = sorted(both, key=lambda one: one.process.poll() is None)
    assert winner.ready().end() == 0
    assert loser.process.returncode == 2
    assert "--port" in loser.err
    assert "lh_" not in loser.out


def test_only_its_owner_may_read_its_keys_and_hold_its_locks(home: Place) -> None:
    home.up()

    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in home.data.iterdir() if file.is_file()}

    assert modes == dict.fromkeys(["up.lock", "postgres.lock", "postgres.users", "keys", "keys.lock"], 0o600)


def test_a_later_start_prints_a_command_that_makes_a_token_for_it(home: Place) -> None:
    up = home.up()
    (command,) = [line.strip() for line in up.out.splitlines() if "tokens create" in line]

    made = subprocess.run(command, shell=True, capture_output=True, text=True, cwd="/", check=True)  # noqa: S602

    assert up.ask("GET", "/v2/tokens", made.stdout.strip()).status_code == 200


def test_a_second_up_names_the_first_and_changes_nothing(home: Place) -> None:
    first = home.up()
    before = home.postmaster

    second = home.run("up", "--port", "0")

    assert second.code == 2
    (line,) = second.err.splitlines()
    assert f"{first.address} (pid {first.pid})" in line
    assert second.out == ""
    assert home.postmaster == before
    assert has_site(first, ADMIN)


def test_a_taken_port_is_a_sentence_about_port(here: Place) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        refused = here.run("up", "--port", str(port))

    assert refused.code == 2
    (line,) = refused.err.splitlines()
    assert f"127.0.0.1:{port}" in line
    assert "--port" in line
    assert not here.home.exists()


def test_a_bootstrap_token_becomes_the_admin_and_is_not_printed(here: Place) -> None:
    up = here.up(LEASEHOLD_BOOTSTRAP_TOKEN=ADMIN)

    assert up.ask("GET", "/v2/tokens", ADMIN).json()["items"][0]["role"] == "admin"
    assert "lh_" not in up.out + up.err


def test_a_bootstrap_token_is_ignored_where_there_is_an_admin(home: Place) -> None:
    other = "lh_" + "Another000" * 3

    up = home.up(LEASEHOLD_BOOTSTRAP_TOKEN=other)

    assert up.ask("GET", "/v2/sites", other).status_code == 401
    assert up.ask("GET", "/v2/sites", ADMIN).status_code == 200


def test_a_folder_below_a_closed_one_works_and_the_closed_one_stays_closed() -> None:
    with place("closed/data") as here:
        closed = here.folder / "closed"
        closed.mkdir(mode=0o700)

        up = here.up()

        make_site(up, up.token)
        assert up.end() == 0
        assert here.processes() == []
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        assert has_site(here.up(), up.token)


def test_a_data_folder_that_was_removed_starts_anew_also_below_a_closed_one() -> None:
    with place("closed/data") as here:
        (here.folder / "closed").mkdir(mode=0o700)
        first = here.up()
        first.end()
        old = here.home
        shutil.rmtree(here.data)

        again = here.up()

        assert again.token not in (None, first.token)
        shutil.rmtree(old, ignore_errors=True)


def test_a_folder_whose_path_is_too_long_for_a_socket_works() -> None:
    with place("/".join(["a-rather-long-name"] * 8)) as here:
        up = here.up()

        make_site(up, up.token)
        assert up.end() == 0
        assert here.processes() == []


def test_a_token_can_be_made_beside_a_running_server_and_works_at_once(home: Place) -> None:
    up = home.up()

    made = home.run("tokens", "create", "--role", "viewer")

    assert made.code == 0, made.err
    assert re.fullmatch(r"lh_\w{42}\n", made.out)
    assert up.ask("GET", "/v2/sites", made.out.strip()).status_code == 200
    assert made.out.strip() not in made.err + up.err
    assert home.postmaster in home.processes()


def test_a_token_can_be_made_while_nothing_runs_and_nothing_runs_afterwards(here: Place) -> None:
    made = here.run("tokens", "create", "--role", "admin")

    assert here.processes() == []
    assert re.fullmatch(r"lh_\w{42}\n", made.out)
    up = here.up()
    assert up.token is None
    assert up.ask("GET", "/v2/tokens", made.out.strip()).status_code == 200


def test_serve_serves_a_database_of_its_own(here: Place, postgres: Postgres) -> None:
    database = fresh(postgres)

    serve = here.serve(LEASEHOLD_DATABASE_URL=database.url)

    assert serve.ask("GET", "/v2/sites", serve.token).status_code == 200
    assert not here.home.exists()
    assert serve.end(signal.SIGTERM) == 0
    assert postgres.cluster.is_running()


def test_two_servers_on_a_fresh_database_make_one_admin(here: Place, postgres: Postgres) -> None:
    database = fresh(postgres)

    both = [here.start("serve", "--port", "0", LEASEHOLD_DATABASE_URL=database.url) for _ in range(2)]
    tokens = [serve.ready().token for serve in both]

    (token,) = filter(None, tokens)
    assert [serve.ask("GET", "/v2/sites", token).status_code for serve in both] == [200, 200]
    assert database.rows("SELECT role FROM token") == [("admin",)]


def test_a_request_under_way_is_answered_while_the_server_stops(here: Place, postgres: Postgres) -> None:
    serve = here.serve(LEASEHOLD_DATABASE_URL=fresh(postgres).url)
    body = json.dumps(SITE).encode()
    head = (
        f"POST /v2/sites HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {serve.token}\r\nExpect: 100-continue\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", serve.port)) as client, client.makefile("rb") as answer:
        client.sendall(head.encode())
        assert answer.readline() == b"HTTP/1.1 100 Continue\r\n"
        serve.process.send_signal(signal.SIGTERM)
        until(lambda: is_refused(serve.port))
        time.sleep(0.5)  # longer than it takes to stop when nothing is under way

        client.sendall(body)

        assert b"\r\nHTTP/1.1 201 Created\r\n" in answer.read()
    assert serve.process.wait(PATIENCE_S) == 0


def is_refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # it closes just now
        return False
    return False
