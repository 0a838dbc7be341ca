"""`leasehold verify`, as an operator runs it: one line for each organisation, and an exit code for machines."""

import re

import psycopg
import pytest

from leasehold.embedded import Embedded
from tests.parts.process import Place, until


def test_books_that_are_whole_are_a_line_for_each_organisation(here: Place) -> None:
    for organisation in ("default", "other", "other"):
        here.run("tokens", "create", "--role", "viewer", "--org", organisation)

    first, second = here.run("verify"), here.run("verify")

    assert first.code == 0, first.err
    default, leases, seeds, captures, tasks, jobs, runs, graph, other, *_ = first.out.splitlines()
    assert re.fullmatch(r"ok    default      audit: 1 event in 1 seal, head [0-9a-f]{64}", default)
    assert re.fullmatch(r"ok    other        audit: 2 events in 1 seal, head [0-9a-f]{64}", other)
    assert leases == "ok    default      leases: 0 grants = 0 released + 0 expired + 0 revoked + 0 held"
    assert seeds == "ok    default      seeds: 0 grants = 0 released + 0 expired + 0 revoked + 0 held"
    assert captures == "ok    default      captures: 0 grants = 0 released + 0 expired + 0 revoked + 0 held"
    assert tasks == "ok    default      tasks: 0 grants = 0 released + 0 expired + 0 revoked + 0 held"
    assert jobs == "ok    default      jobs: 0 tasks accepted, 0 ended, 0 live"
    assert runs == "ok    default      runs: 0 runs"
    assert graph == "ok    default      graph: 0 records in 0 entities"
    assert second.out == first.out
    assert here.processes() == []


def test_a_database_without_anybody_is_whole(here: Place) -> None:
    verified = here.run("verify")

    assert (verified.code, verified.out) == (0, "nothing to verify: there is no organisation yet\n")


def test_a_server_that_runs_has_sealed_already_and_is_not_disturbed(here: Place) -> None:
    server = here.up()
    until(lambda: "audit.sealed" in server.err)

    verified = here.run("verify")

    assert verified.code == 0, verified.out
    assert "audit.sealed" not in verified.err
    (head,) = re.findall(r"head ([0-9a-f]{64})", verified.out)
    assert head in server.err


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "UPDATE audit_event SET actor_name = 'bob'",
            "seal 1 does not fit its 1 events: one of them, or the seal, was changed.",
        ),
        ("DELETE FROM audit_event", "seal 1 covers 1 events and 0 are there: events were removed."),
        (
            "INSERT INTO audit_event (id, organisation, actor_name, action, subject, xact)"
            " SELECT gen_random_uuid(), organisation, 'bob', action, subject, '3' FROM audit_event",
            "seal 1 covers 1 events and 2 are there: events were slipped in.",
        ),
        ("UPDATE audit_seal SET seq = 2", "seal 1 was removed."),
        ("UPDATE audit_seal SET xact = '1000000000000'", "it names transactions that this server has not had yet."),
    ],
)
def test_what_was_done_to_the_audit_is_named(here: Place, statement: str, found: str) -> None:
    here.run("tokens", "create", "--role", "viewer")
    here.run("verify")
    own = Embedded(here.data)
    with psycopg.connect(own.start(), autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")  # past the triggers, as only a superuser can
        conn.execute(statement.encode())

    verified = here.run("verify")
    own.stop()

    assert verified.code == 1
    assert verified.out.startswith(f"FAIL  default      audit: {found}")


def test_one_organisation_with_a_fault_does_not_hide_the_others(here: Place) -> None:
    for organisation in ("bad", "good"):
        here.run("tokens", "create", "--role", "viewer", "--org", organisation)
    here.run("verify")
    own = Embedded(here.data)
    with psycopg.connect(own.start(), autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("DELETE FROM audit_event USING organisation o WHERE o.id = organisation AND o.slug = 'bad'")

    verified = here.run("verify")
    own.stop()

    assert verified.code == 1
    assert [line[:18].split() for line in verified.out.splitlines()] == [
        ["FAIL", "bad"],
        *[["ok", "bad"]] * 7,
        *[["ok", "good"]] * 8,
    ]


def test_books_of_leases_that_do_not_balance_are_named(here: Place) -> None:
    server = here.up()
    site, account = {"slug": "board", "domain": "board.example"}, {"site": "board", "username": "a", "secret": {}}
    server.ask("POST", "/v2/sites", server.token, json=site)
    server.ask("POST", "/v2/accounts", server.token, json=account)
    got = server.ask("POST", "/v2/accounts/acquire", server.token, json={"site": "board", "owner": "ann"})
    server.ask("POST", f"/v2/leases/{got.json()['leases'][0]['id']}/release", server.token, json={"outcome": "ok"})
    whole = here.run("verify")
    own = Embedded(here.data)
    with psycopg.connect(own.start(), autocommit=True) as conn:
        conn.execute("UPDATE account SET fence = 7")

    spoilt = here.run("verify")
    own.stop()

    assert "ok    default      leases: 1 grants = 1 released + 0 expired + 0 revoked + 0 held" in whole.out
    assert spoilt.code == 1
    assert "FAIL  default      leases: 7 grants = 1 released" in spoilt.out
    assert "1 accounts whose fence is not the number of their leases" in spoilt.out
