"""A request with a key happens once, however often it is sent."""

import asyncio

import httpx

from tests.parts.house import House

BODY = {"slug": "board", "domain": "board.example"}


async def test_a_repeat_makes_nothing_and_answers_from_the_row_as_it_is_now(admin: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    await admin.post("/v2/sites", json=BODY, headers=key)
    await admin.patch("/v2/sites/board", json={"name": "renamed"})

    repeat = await admin.post("/v2/sites", json=BODY, headers=key)

    assert (repeat.status_code, repeat.json()["name"]) == (201, "renamed")
    assert len((await admin.get("/v2/sites")).json()["items"]) == 1


async def test_the_body_is_compared_after_parsing(admin: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "k1", "Content-Type": "application/json"}
    await admin.post("/v2/sites", content=b'{"slug":"board","domain":"board.example"}', headers=headers)

    spelled = b'{"domain": "board.e\\u0078ample",  "slug": "board", "name": null}'
    same = await admin.post("/v2/sites", content=spelled, headers=headers)
    other = await admin.post("/v2/sites", json={**BODY, "domain": "c.example"}, headers={"Idempotency-Key": "k1"})

    assert same.status_code == 201
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-mismatch")


async def test_twins_that_run_at_once_make_one(admin: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "twin"}

    answers = await asyncio.gather(*(admin.post("/v2/sites", json=BODY, headers=key) for _ in range(8)))

    assert {answer.status_code for answer in answers} == {201}
    assert len((await admin.get("/v2/audit", params={"subject": "board"})).json()["items"]) == 1


async def test_a_refused_request_is_not_remembered(admin: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    refused = await admin.post("/v2/sites", json={**BODY, "domain": "co.uk"}, headers=key)

    made = await admin.post("/v2/sites", json=BODY, headers=key)

    assert (refused.status_code, made.status_code) == (422, 201)


async def test_a_key_belongs_to_one_token_and_one_route(home: House, admin: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    await admin.post("/v2/sites", json=BODY, headers=key)
    neighbour = await home.caller()

    other_token = await neighbour.post("/v2/sites", json=BODY, headers=key)
    other_route = await admin.post("/v2/tokens", json={"name": "t", "role": "viewer"}, headers=key)

    assert other_token.status_code == 409  # a request of its own: the slug is taken
    assert other_route.status_code == 201


async def test_a_key_used_on_two_routes_finds_what_each_made(admin: httpx.AsyncClient) -> None:
    key, token = {"Idempotency-Key": "k1"}, {"name": "t", "role": "viewer"}
    await admin.post("/v2/sites", json=BODY, headers=key)
    made = (await admin.post("/v2/tokens", json=token, headers=key)).json()

    site = await admin.post("/v2/sites", json=BODY, headers=key)
    again = await admin.post("/v2/tokens", json=token, headers=key)

    assert (site.json()["slug"], again.json()["id"]) == ("board", made["id"])


async def test_a_key_lasts_a_day(home: House, admin: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    await admin.post("/v2/sites", json=BODY, headers=key)
    home.database.run("UPDATE idempotency_key SET at = at - interval '25 hours'")

    later = await admin.post("/v2/sites", json={**BODY, "slug": "next", "domain": "next.example"}, headers=key)

    assert (later.status_code, later.json()["slug"]) == (201, "next")


async def test_old_keys_are_swept(home: House, admin: httpx.AsyncClient) -> None:
    await admin.post("/v2/sites", json=BODY, headers={"Idempotency-Key": "old"})
    home.database.run("UPDATE idempotency_key SET at = at - interval '25 hours'")
    await admin.post("/v2/tokens", json={"name": "t", "role": "viewer"}, headers={"Idempotency-Key": "new"})

    tasks = {task.name: task for task in home.app.state.background.tasks}
    await tasks["sweep-idempotency-keys"].step()

    assert home.database.rows("SELECT key FROM idempotency_key") == [("new",)]


async def test_what_is_remembered_of_a_body_cannot_be_guessed(home: House, admin: httpx.AsyncClient) -> None:
    neighbour = await home.caller()
    for client in (admin, neighbour):
        await client.post("/v2/tokens", json={"name": "t", "role": "viewer"}, headers={"Idempotency-Key": "k"})

    digests = home.database.rows("SELECT DISTINCT body_digest FROM idempotency_key")

    assert len(digests) == 2  # the same body under two tokens shows as two


async def test_a_key_of_odd_characters_is_refused(admin: httpx.AsyncClient) -> None:
    for key in ("", "with space", "x" * 201):
        answer = await admin.post("/v2/sites", json=BODY, headers={"Idempotency-Key": key})

        assert (answer.status_code, answer.json()["errors"][0]["in"]) == (422, "header")
