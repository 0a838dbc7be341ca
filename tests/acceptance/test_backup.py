"""Backup and restore as an operator does them: beside a running server, into another folder, and cut short."""

import json
import shutil
import signal

import psycopg

from leasehold.embedded import Embedded
from leasehold.migrate import LOCK_KEY
from tests.parts.process import Place, until

# Not the one who looks before anything is begun, under the same name.
_WAITS = """
SELECT count(*)
  FROM pg_stat_activity
 WHERE application_name = 'leasehold-migrate-lock' AND to_regclass('public.restore_under_way') IS NOT NULL
"""


def test_a_place_is_backed_up_while_it_works_and_made_again_elsewhere(here: Place) -> None:
    server = here.up()
    for path, body in (
        ("/v2/sites", {"slug": "board", "domain": "board.example"}),
        ("/v2/accounts", {"site": "board", "username": "ann", "secret": {"password": "LHCANARYfish"}}),
    ):
        assert server.ask("POST", path, server.token, body).status_code == 201
    target = here.folder / "monday"

    made = here.run("backup", str(target))

    assert made.code == 0, made.err
    manifest = json.loads((target / "manifest.json").read_text())
    (key,) = manifest["keys"]
    assert f"The keys are NOT in it. To open its secrets it takes {key}." in made.err
    assert b"LHCANARYfish" not in b"".join(file.read_bytes() for file in target.rglob("*") if file.is_file())
    assert {file.stat().st_mode & 0o077 for file in target.rglob("*")} == {0}
    assert here.run("backup", "--check", str(target)).code == 0
    server.end()

    # The keys are kept apart: without them nothing is begun.
    half, whole = here.folder / "half", here.folder / "whole"
    refused = here.run("restore", str(target), "--into", str(half))
    assert refused.code == 2
    assert "There is no key" in refused.err

    # Cut short when all of it is there but the end: held up where the schema is looked at, and killed.
    for folder in (half, whole):
        folder.mkdir(exist_ok=True)
        shutil.copy(here.data / "keys", folder / "keys")
    own = Embedded(half)
    with psycopg.connect(own.start(), autocommit=True) as conn:
        conn.execute("SELECT pg_advisory_lock(%s::bigint)", [LOCK_KEY])
        cut = here.start("restore", str(target), "--into", str(half))
        until(lambda: conn.execute(_WAITS).fetchone() == (1,))
        cut.process.send_signal(signal.SIGKILL)
        cut.process.wait()
    for command in (["verify", "--data", str(half)], ["restore", str(target), "--into", str(half)]):
        refused = here.run(*command)
        assert refused.code == 2
        assert "restore again into an empty database" in refused.err
    own.stop()

    restored = here.run("restore", str(target), "--into", str(whole))

    assert restored.code == 0, restored.err
    assert restored.err.count("ok    default") == 8
    token = restored.out.strip()
    again = here.start("up", "--port", "0", "--data", str(whole)).ready()
    assert again.token is None
    assert again.ask("GET", "/v2/sites", server.token).status_code == 401
    (account,) = again.ask("GET", "/v2/accounts", token).json()["items"]
    revealed = again.ask("POST", f"/v2/accounts/{account['id']}/reveal", token).json()
    assert revealed["secret"] == {"password": "LHCANARYfish"}
    actions = [event["action"] for event in again.ask("GET", "/v2/audit?limit=100", token).json()["items"]]
    assert "database.restored" in actions
    assert again.end() == 0
    assert here.processes() == []
