"""The audit: every change by an operator is in it, and nothing takes it out again."""

import httpx
import psycopg
import pytest

from tests.parts.house import House


async def test_every_change_is_there_with_actor_and_request(admin: httpx.AsyncClient) -> None:
    await admin.post("/v2/sites", json={"slug": "board", "domain": "a.example"}, headers={"X-Request-Id": "r-1"})
    await admin.patch("/v2/sites/board", json={"policy": {"cooldown_seconds": 9}})
    await admin.post("/v2/sites/board/moves", json={"to": "b.example", "reason": "seized"})
    await admin.post("/v2/sites/board/moves", json={"to": "c.example", "trust": "observed"})
    await admin.post("/v2/sites/board/pause", json={"reason": "wave"})
    await admin.post("/v2/sites/board/resume")
    await admin.delete("/v2/sites/board")

    events = (await admin.get("/v2/audit", params={"subject": "board"})).json()["items"]

    assert [event["action"] for event in reversed(events)] == [
        "site.created",
        "site.changed",
        "site.moved",
        "site.move_proposed",
        "site.paused",
        "site.resumed",
        "site.deleted",
    ]
    assert {event["actor_name"] for event in events} == {"a admin"}
    created, changed, moved = reversed(events[-3:])
    assert created["request_id"] == "r-1"
    assert changed["detail"] == {"cooldown_seconds": {"from": 0, "to": 9}}
    assert (moved["detail"]["from"], moved["detail"]["reason"]) == ("https://a.example/", "seized")


async def test_a_dry_run_and_a_refusal_leave_no_trace(admin: httpx.AsyncClient) -> None:
    await admin.post("/v2/sites", json={"slug": "board", "domain": "a.example"})
    await admin.post("/v2/sites/board/moves", json={"to": "b.example", "dry_run": True})
    await admin.post("/v2/sites/board/moves", json={"to": "co.uk"})

    events = (await admin.get("/v2/audit", params={"subject": "board"})).json()["items"]

    assert [event["action"] for event in events] == ["site.created"]


async def test_tokens_are_audited_without_the_token(admin: httpx.AsyncClient) -> None:
    made = (await admin.post("/v2/tokens", json={"name": "t", "role": "viewer"})).json()
    await admin.delete(f"/v2/tokens/{made['id']}")

    events = (await admin.get("/v2/audit", params={"subject": made["id"]})).json()["items"]

    assert [event["action"] for event in events] == ["token.revoked", "token.created"]
    assert made["token"] not in str(events)


async def test_the_audit_is_read_page_by_page(admin: httpx.AsyncClient) -> None:
    for n in range(3):
        await admin.post("/v2/sites", json={"slug": f"s{n}", "domain": f"s{n}.example"})

    first = (await admin.get("/v2/audit", params={"limit": 2})).json()
    rest = (await admin.get("/v2/audit", params={"limit": 2, "cursor": first["next_cursor"]})).json()

    assert [event["subject"] for event in first["items"]] == ["s2", "s1"]
    assert rest["items"][0]["subject"] == "s0"


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_event SET action = 'x'", "DELETE FROM audit_event", "TRUNCATE audit_event"]
)
async def test_nobody_changes_the_audit_not_even_the_owner(
    home: House, admin: httpx.AsyncClient, statement: str
) -> None:
    await admin.post("/v2/sites", json={"slug": "board", "domain": "a.example"})

    for role in ("leasehold_app", "leasehold_system", "postgres"):
        with home.database.connect() as conn:
            conn.execute(f"SET ROLE {role}".encode())
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(statement.encode())

    assert len((await admin.get("/v2/audit", params={"subject": "board"})).json()["items"]) == 1
