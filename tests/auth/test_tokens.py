"""Tokens: shown once, hashed at rest, never more than their maker, dead at once when revoked."""

import asyncio
import re

import httpx
import pytest

from leasehold.auth import PERMISSIONS, Role, secret
from tests.parts.house import House


async def mint(client: httpx.AsyncClient, **body: object) -> httpx.Response:
    return await client.post("/v2/tokens", json={"name": "new", **body})


async def test_a_token_is_shown_once_and_works(home: House, admin: httpx.AsyncClient) -> None:
    made = (await mint(admin, role="viewer")).json()

    assert re.fullmatch(r"tok_[0-9a-f]{32}", made["id"])
    assert re.fullmatch(r"lh_[A-Za-z0-9]{42}", made["token"])
    assert (await home.client(made["token"]).get("/v2/sites")).status_code == 200
    listed = (await admin.get("/v2/tokens")).json()["items"]
    assert made["id"] in [token["id"] for token in listed]
    assert all("token" not in token for token in listed)


async def test_the_database_holds_no_usable_token(home: House, admin: httpx.AsyncClient) -> None:
    token = (await mint(admin, role="viewer")).json()["token"]

    dump = str(home.database.rows("SELECT t::text FROM token t")) + str(
        home.database.rows("SELECT e::text FROM audit_event e")
    )

    assert token not in dump
    assert token.removeprefix("lh_")[:12] not in dump


async def test_a_repeat_does_not_show_the_token_again(admin: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    first = (await admin.post("/v2/tokens", json={"name": "t", "role": "viewer"}, headers=key)).json()

    repeat = await admin.post("/v2/tokens", json={"name": "t", "role": "viewer"}, headers=key)

    assert repeat.status_code == 201
    assert (repeat.json()["id"], repeat.json()["token"]) == (first["id"], None)


async def test_nobody_mints_more_than_they_hold(home: House, admin: httpx.AsyncClient) -> None:
    clerk = home.client((await mint(admin, permissions=["tokens.manage", "sites.view"])).json()["token"])

    more = await mint(clerk, role="viewer")
    less = await mint(clerk, permissions=["sites.view"])

    assert (more.status_code, more.json()["type"]) == (403, "/problems/permission-denied")
    assert "accounts.view" in more.json()["missing"]
    assert less.status_code == 201


async def test_a_missing_permission_is_named(home: House) -> None:
    producer = await home.caller(Role.PRODUCER)

    answer = await producer.get("/v2/sites")

    assert (answer.status_code, answer.json()["permission"]) == (403, "sites.view")


@pytest.mark.parametrize("body", [{}, {"role": "viewer", "permissions": ["sites.view"]}, {"role": "king"}])
async def test_a_token_has_a_role_or_permissions(admin: httpx.AsyncClient, body: dict[str, object]) -> None:
    assert (await mint(admin, **body)).status_code == 422


@pytest.mark.parametrize("made_up", ["lh_", "lh_short", "xx_" + "a" * 42, "lh_" + "a" * 41 + "!", "lh_" + "a" * 42])
async def test_a_token_nobody_made_is_401(home: House, made_up: str) -> None:
    answer = await home.client(made_up).get("/v2/sites")

    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/unauthenticated")
    assert made_up.removeprefix("lh_") == "" or made_up not in answer.text


async def test_a_mistyped_token_is_told_so(home: House) -> None:
    token = await home.token()
    mistyped = token[:-1] + ("A" if token[-1] != "A" else "B")

    answer = await home.client(mistyped).get("/v2/sites")

    assert "mistyped" in answer.json()["detail"]


async def test_an_expired_token_is_401(home: House, admin: httpx.AsyncClient) -> None:
    made = (await mint(admin, role="viewer", expires_in_seconds=60)).json()
    home.database.run("UPDATE token SET expires_at = clock_timestamp() WHERE name = 'new'")

    assert (await home.client(made["token"]).get("/v2/sites")).status_code == 401


async def test_a_revoked_token_is_401_at_once(home: House, admin: httpx.AsyncClient) -> None:
    made = (await mint(admin, role="viewer")).json()
    client = home.client(made["token"])
    assert (await client.get("/v2/sites")).status_code == 200

    assert (await admin.delete(f"/v2/tokens/{made['id']}")).status_code == 204

    assert (await client.get("/v2/sites")).status_code == 401
    assert made["id"] not in str((await admin.get("/v2/tokens")).json())
    assert (await admin.delete(f"/v2/tokens/{made['id']}")).status_code == 404


@pytest.mark.parametrize("token_id", ["tok_1", "acct_" + "0" * 32, "tok_" + "0" * 32, "x" * 300])
async def test_an_id_that_never_was_is_404(admin: httpx.AsyncClient, token_id: str) -> None:
    assert (await admin.delete(f"/v2/tokens/{token_id}")).status_code == 404


async def test_another_organisations_token_is_404(home: House, admin: httpx.AsyncClient) -> None:
    made = (await mint(admin, role="viewer")).json()
    stranger = await home.caller(Role.ADMIN, "strangers")

    assert (await stranger.delete(f"/v2/tokens/{made['id']}")).status_code == 404
    assert (await home.client(made["token"]).get("/v2/sites")).status_code == 200


async def test_use_is_noted_to_the_minute(home: House, admin: httpx.AsyncClient) -> None:
    await admin.get("/v2/sites")

    (token,) = (await admin.get("/v2/tokens")).json()["items"]

    assert token["last_used_at"] is not None


async def test_use_within_the_minute_is_not_written_again(home: House, admin: httpx.AsyncClient) -> None:
    await admin.get("/v2/sites")
    (before,) = home.database.rows("SELECT last_used_at FROM token")
    home.tokens._known.clear()

    await admin.get("/v2/sites")

    assert home.database.rows("SELECT last_used_at FROM token") == [before]


async def test_a_token_revoked_in_another_process_is_refused_a_second_later(home: House) -> None:
    token = await home.token(Role.VIEWER)
    assert (await home.client(token).get("/v2/sites")).status_code == 200
    home.database.run("UPDATE token SET revoked_at = clock_timestamp()")

    async with asyncio.timeout(15):
        while (await home.client(token).get("/v2/sites")).status_code != 401:
            await asyncio.sleep(0.05)


async def test_a_token_ends_with_its_makers_at_the_latest(home: House, admin: httpx.AsyncClient) -> None:
    short = (await mint(admin, role="admin", expires_in_seconds=600)).json()
    maker = home.client(short["token"])

    for_ever = (await mint(maker, role="viewer")).json()
    longer = (await mint(maker, role="viewer", expires_in_seconds=6000)).json()
    shorter = (await mint(maker, role="viewer", expires_in_seconds=60)).json()

    assert for_ever["expires_at"] == longer["expires_at"] == short["expires_at"]
    assert shorter["expires_at"] < short["expires_at"]


async def test_everybody_may_ask_who_they_are(home: House) -> None:
    producer = await home.caller(Role.PRODUCER)

    me = (await producer.get("/v2/tokens/self")).json()

    assert (me["name"], me["role"], me["permissions"]) == ("a producer", "producer", ["jobs.submit", "jobs.view"])
    assert me["id"].startswith("tok_")


async def test_the_first_start_makes_one_admin(home: House) -> None:
    token = await home.tokens.bootstrap(None)
    again = await home.tokens.bootstrap(None)

    assert token is not None
    assert again is None
    assert (await home.client(token).get("/v2/tokens")).status_code == 200


async def test_a_bootstrap_token_needs_no_checksum_and_comes_too_late_later(home: House) -> None:
    given, late = "lh_" + "a" * 24, "lh_" + "b" * 24

    assert await home.tokens.bootstrap(given) is None
    assert await home.tokens.bootstrap(late) is None

    assert (await home.client(given).get("/v2/tokens")).status_code == 200
    assert (await home.client(late).get("/v2/tokens")).status_code == 401


def test_the_roles_are_those_of_the_contract() -> None:
    collector = "accounts.use seeds.use sessions.use captures.write tasks.work sites.view leases.view"
    manage = (
        "accounts.manage seeds.manage sessions.manage captures.consume sites.manage jobs.manage runs.manage "
        "entities.manage leases.manage"
    )
    assert PERMISSIONS[Role.COLLECTOR] == set(collector.split())
    assert PERMISSIONS[Role.PRODUCER] == {"jobs.submit", "jobs.view"}
    assert all(permission.endswith(".view") for permission in PERMISSIONS[Role.VIEWER])
    assert PERMISSIONS[Role.VIEWER] >= {"captures.view", "runs.view", "entities.view", "accounts.view"}
    operator = PERMISSIONS[Role.VIEWER] | PERMISSIONS[Role.COLLECTOR] | PERMISSIONS[Role.PRODUCER]
    assert PERMISSIONS[Role.OPERATOR] == operator | set(manage.split())
    admin = {"accounts.reveal", "settings.manage", "tokens.manage"}
    assert PERMISSIONS[Role.ADMIN] == PERMISSIONS[Role.OPERATOR] | admin


def test_a_checksum_finds_every_changed_letter() -> None:
    token = secret.mint()

    assert secret.is_well_formed(token)
    assert not any(
        secret.is_well_formed(token[:place] + ("x" if token[place] != "x" else "y") + token[place + 1 :])
        for place in range(3, len(token))
    )
