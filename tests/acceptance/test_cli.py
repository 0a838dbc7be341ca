"""The command line: settings from where they may come, and every fault a sentence that says what to do."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from leasehold import __version__
from leasehold.cli import app
from leasehold.embedded import Embedded
from leasehold.life import CannotStart, database
from leasehold.migrate import migrate, shipped
from leasehold.settings import Settings
from tests.parts.postgres import Postgres
from tests.parts.process import Ended, Place, place

VECTORS = Path(__file__).parents[1] / "data/urls/vectors.json"
SESSION_VECTORS = VECTORS.parents[1] / "sessions/merge_vectors.json"
SECRET = "Hunter2Hunter2"
NOWHERE = f"postgresql://ann:{SECRET}@127.0.0.1:1/leasehold"


@pytest.fixture
def here() -> Iterator[Place]:
    with place() as made:
        yield made


def assert_is_a_sentence(ended: Ended, *words: str) -> None:
    """That it was refused with one line for a person, which has these words and no secret."""
    assert ended.code == 2, ended.err
    assert ended.out == ""
    (line,) = ended.err.splitlines()
    assert line.startswith("leasehold: ")
    assert [word for word in words if word not in line] == [], line
    assert SECRET not in line


def run(*words: str) -> Ended:
    """A command that reads no settings and starts nothing, in the test's own process."""
    done = CliRunner().invoke(app, words)
    return Ended(done.exit_code, done.stdout, done.stderr)


def test_each_wrong_variable_is_named_with_what_it_may_be(here: Place) -> None:
    refused = here.run(
        "up",
        LEASEHOLD_PORT="abc",
        LEASEHOLD_LOG_LEVEL="loud",
        LEASEHOLD_BOOTSTRAP_TOKEN=SECRET,
        LEASEHOLD_DATABASE_URL=f"mysql://ann:{SECRET}@127.0.0.1/leasehold",
        LEASEHOLD_BODY_LIMIT_BYTES="1",
    )

    assert refused.code == 2
    assert sorted(refused.err.removeprefix("leasehold: ").splitlines()) == [
        "LEASEHOLD_BODY_LIMIT_BYTES should be greater than or equal to 1024 (or `body_limit_bytes` in leasehold.toml).",
        "LEASEHOLD_BOOTSTRAP_TOKEN must be lh_ followed by at least 24 letters or digits "
        "(or `bootstrap_token` in leasehold.toml).",
        "LEASEHOLD_DATABASE_URL must be empty (embedded PostgreSQL) or start with postgresql:// "
        "(or `database_url` in leasehold.toml).",
        "LEASEHOLD_LOG_LEVEL should be 'debug', 'info', 'warning' or 'error' (or `log_level` in leasehold.toml).",
        "LEASEHOLD_PORT should be a valid integer, unable to parse string as an integer (or `port` in leasehold.toml).",
    ]
    assert not here.data.exists()


def test_a_broken_file_of_settings_is_named(here: Place) -> None:
    (here.folder / "leasehold.toml").write_text(f'bootstrap_token = "{SECRET}')

    refused = here.run("up")

    assert_is_a_sentence(refused, "leasehold.toml cannot be read")


def test_a_wrong_value_in_the_file_is_named(here: Place) -> None:
    (here.folder / "leasehold.toml").write_text(f'bootstrap_token = "{SECRET}"')

    refused = here.run("up")

    assert_is_a_sentence(refused, "`bootstrap_token` in leasehold.toml", "at least 24 letters or digits")


def test_a_mistyped_variable_is_asked_about(here: Place) -> None:
    refused = here.run("serve", LEASEHOLD_PROT="8700", LEASEHOLD_DATABASE_URL=NOWHERE)

    assert "LEASEHOLD_PROT is not a setting and is ignored; did you mean LEASEHOLD_PORT?" in refused.err.splitlines()


def test_the_file_is_read_and_the_environment_and_the_command_line_stand_over_it(here: Place) -> None:
    ports = []
    with socket.socket() as one, socket.socket() as two, socket.socket() as three:
        for taken in (one, two, three):
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            ports.append(str(taken.getsockname()[1]))
        (here.folder / "leasehold.toml").write_text(f"port = {ports[0]}")

        by_file = here.run("up")
        by_environment = here.run("up", LEASEHOLD_PORT=ports[1])
        by_command_line = here.run("up", "--port", ports[2], LEASEHOLD_PORT=ports[1])

    for refused, port in zip([by_file, by_environment, by_command_line], ports, strict=True):
        assert_is_a_sentence(refused, f"127.0.0.1:{port}")


@pytest.mark.parametrize("command", ["serve", "tokens create --role admin", "verify"])
def test_a_database_that_does_not_answer_is_a_sentence_without_its_password(here: Place, command: str) -> None:
    refused = here.run(*command.split(), LEASEHOLD_PORT="0", LEASEHOLD_DATABASE_URL=NOWHERE)

    assert_is_a_sentence(refused, "LEASEHOLD_DATABASE_URL", "does not answer", "Connection refused")


def test_an_address_of_a_database_that_cannot_be_read_is_a_sentence_without_its_password(here: Place) -> None:
    refused = here.run("migrate", LEASEHOLD_DATABASE_URL=f"postgresql://ann:{SECRET}@[::1/leasehold")

    assert_is_a_sentence(refused, "LEASEHOLD_DATABASE_URL cannot be read", "Percent-encode")


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:p%zz{SECRET}@127.0.0.1:1/leasehold",
        f"postgresql://ann:p {SECRET}@127.0.0.1:1/leasehold",
        f"postgresql://ann:p@{SECRET}@127.0.0.1:1/leasehold",
        f"postgresql://127.0.0.1:{SECRET}/p@127.0.0.1:1/leasehold",
    ],
)
def test_nothing_of_such_an_address_is_quoted(address: str) -> None:
    settings = Settings(database_url=SecretStr(address))

    with pytest.raises(CannotStart, match="cannot be read") as refused, database(settings) as url:
        psycopg.connect(url)

    assert SECRET not in str(refused.value)


def test_migrate_says_what_it_applied_and_doctor_finds_all_well(here: Place) -> None:
    first, second = here.run("migrate"), here.run("migrate")
    examined = here.run("doctor")

    assert (first.code, first.out.splitlines()) == (0, [f"applied {name}" for name in shipped()])
    assert (second.code, second.out) == (0, "nothing to apply\n")
    assert examined.code == 0, examined.out
    assert {line[:6] for line in examined.out.splitlines()} == {"ok    "}
    assert here.processes() == []


def test_doctor_names_a_database_that_does_not_answer(here: Place) -> None:
    examined = here.run("doctor", LEASEHOLD_DATABASE_URL=NOWHERE)

    assert examined.code == 1
    (bad,) = failures(examined)
    assert bad.startswith("FAIL  database     LEASEHOLD_DATABASE_URL: the database does not answer")
    assert SECRET not in examined.out + examined.err


@pytest.mark.usefixtures("durable")
def test_doctor_names_a_schema_that_is_not_there(here: Place, postgres: Postgres, worker_id: str) -> None:
    fresh = postgres.create(f"lh_doctor_{worker_id}")

    examined = here.run("doctor", LEASEHOLD_DATABASE_URL=fresh.url)

    assert examined.code == 1
    assert failures(examined) == [f"FAIL  schema       lacks {', '.join(shipped())}. Run `leasehold migrate`."]


def test_doctor_names_a_data_folder_that_cannot_be_used(here: Place) -> None:
    here.data.write_text("a file")

    examined = here.run("doctor")

    assert examined.code == 1
    assert failures(examined)[0].startswith(f"FAIL  data folder  {here.data} cannot be written.")


def test_doctor_names_a_postgres_that_cannot_start(here: Place) -> None:
    (here.data / "postgres" / "letters").mkdir(parents=True)

    examined = here.run("doctor")

    assert examined.code == 1
    (bad,) = failures(examined)
    assert bad.startswith(f"FAIL  database     {here.home} holds something that is no PostgreSQL")


def test_doctor_names_a_role_that_row_level_security_does_not_bind(here: Place) -> None:
    own = Embedded(here.data)  # a cluster of its own: roles belong to all databases of one
    url = own.start()
    migrate(url)
    with psycopg.connect(url) as conn:
        conn.execute("ALTER ROLE leasehold_app BYPASSRLS")

    examined = here.run("doctor")
    own.stop()

    assert examined.code == 1
    (bad,) = failures(examined)
    assert bad.startswith("FAIL  role         leasehold_app is a superuser, may bypass row security, or owns tables")


def failures(examined: Ended) -> list[str]:
    return [line for line in examined.out.splitlines() if not line.startswith("ok ")]


def test_the_published_vectors_pass(here: Place) -> None:
    passed = here.run("conformance", "urls", str(VECTORS))

    assert (passed.code, passed.out) == (0, "56 passed, 0 failed\n")


def test_the_published_session_vectors_pass(here: Place) -> None:
    passed = here.run("conformance", "sessions", str(SESSION_VECTORS))

    assert (passed.code, passed.out) == (0, "35 passed, 0 failed\n")


def test_a_session_vector_that_does_not_hold_is_one_line(tmp_path: Path) -> None:
    vectors: list[dict[str, Any]] = json.loads(SESSION_VECTORS.read_text("utf-8"))
    vectors[0]["expect"]["cookies"].pop()
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(vectors))

    failed = run("conformance", "sessions", str(changed))

    assert failed.code == 1
    difference, summary = failed.out.splitlines()
    assert difference.startswith("M01: cookie a.example/ dev: expected nothing, got ")
    assert summary == "34 passed, 1 failed"


def test_a_vector_that_does_not_hold_is_one_line(tmp_path: Path) -> None:
    document: dict[str, Any] = json.loads(VECTORS.read_text("utf-8"))
    vector = next(vector for vector in document["vectors"] if vector["kind"] == "url")
    vector["expect"] = "https://elsewhere.example/"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document))

    failed = run("conformance", "urls", str(changed))

    assert failed.code == 1
    difference, summary = failed.out.splitlines()
    assert difference.startswith(f"{vector['id']}: expected 'https://elsewhere.example/'")
    assert summary == "55 passed, 1 failed"


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "No such file"), (b"{", "not JSON"), (b'{"\xff"}', "not JSON"), (b"[]", "not a JSON object")],
)
def test_a_file_of_vectors_that_cannot_be_read_is_a_sentence(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "vectors.json"
    if content is not None:
        file.write_bytes(content)

    assert_is_a_sentence(run("conformance", "urls", str(file)), why)


def test_the_version_is_told() -> None:
    for words in ("version", "--version"):
        told = run(words)

        assert (told.code, told.out) == (0, f"{__version__}\n")


def test_help_lists_the_commands() -> None:
    helped = run("--help")

    assert helped.code == 0
    for command in ("up", "serve", "migrate", "tokens", "doctor", "verify", "keys", "conformance", "version"):
        assert f" {command} " in helped.out


@pytest.mark.parametrize(
    ("words", "option"),
    [(["--org", ""], "--org"), (["--org", "A B"], "--org"), (["--name", ""], "--name"), (["--name", "a\nb"], "--name")],
)
def test_an_odd_organisation_or_name_is_refused_before_anything_starts(words: list[str], option: str) -> None:
    refused = run("tokens", "create", "--role", "admin", *words)

    assert refused.code == 2
    assert option in refused.err
