"""Sites over HTTP: section 6 of the contract."""

import asyncio
from typing import Any

import httpx
import pytest

from leasehold.auth import Role
from tests.parts.house import House


async def make(client: httpx.AsyncClient, slug: str = "board", domain: Any = "board1.example", **more: Any) -> Any:
    answer = await client.post("/v2/sites", json={"slug": slug, "domain": domain, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def move(client: httpx.AsyncClient, to: Any, slug: str = "board", **more: Any) -> httpx.Response:
    return await client.post(f"/v2/sites/{slug}/moves", json={"to": to, **more})


async def rewritten(client: httpx.AsyncClient, *urls: str, **more: Any) -> list[Any]:
    answer = await client.post("/v2/sites/rewrite", json={"urls": list(urls), **more})
    assert answer.status_code == 200, answer.text
    items: list[Any] = answer.json()["items"]
    return items


async def test_a_new_site_has_the_defaults_of_the_contract(admin: httpx.AsyncClient) -> None:
    site = await make(admin)

    assert site["name"] == "board"
    assert site["current_domain"] == "board1.example"
    assert (site["paused"], site["pause_reason"]) == (False, None)
    assert site["policy"] == {
        "max_concurrent_accounts": None,
        "cooldown_seconds": 0,
        "reclaim_delay_seconds": 15,
        "quarantine_after_unclean": 3,
        "probation_after_seconds": None,
        "breaker_percent": 60,
        "breaker_min_accounts": 5,
        "breaker_window_seconds": 600,
        "seed_concurrency": None,
        "min_interval_ms": 0,
        "auth_markers": [],
    }
    (mount,) = site["mounts"]
    assert {key: mount[key] for key in ("host", "scheme", "port", "prefix", "subdomains", "trust")} == {
        "host": "board1.example",
        "scheme": "https",
        "port": None,
        "prefix": "/",
        "subdomains": "keep",
        "trust": "credentials",
    }


async def test_a_slug_is_taken_once(admin: httpx.AsyncClient) -> None:
    await make(admin)

    again = await admin.post("/v2/sites", json={"slug": "board", "domain": "other.example"})

    assert (again.status_code, again.json()["type"]) == (409, "/problems/site-exists")


async def test_a_site_can_live_below_a_prefix_of_a_shared_host(admin: httpx.AsyncClient) -> None:
    await make(admin, "shop", "host.example")
    site = await make(admin, "forum", {"host": "HOST.example", "prefix": "/a/../forum", "port": 443})

    assert (site["mounts"][0]["prefix"], site["mounts"][0]["port"]) == ("/forum/", None)
    items = await rewritten(admin, "https://host.example/forum/t/1", "https://host.example/cart")
    assert [item["site"] for item in items] == ["forum", "shop"]


@pytest.mark.parametrize(
    ("domain", "pointer"), [(5, "/domain"), ({"host": "a.example", "port": 0}, "/domain/port"), ({}, "/domain/host")]
)
async def test_a_pointer_into_an_address_is_a_path_the_client_wrote(
    admin: httpx.AsyncClient, domain: object, pointer: str
) -> None:
    answer = await admin.post("/v2/sites", json={"slug": "board", "domain": domain})

    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]


async def test_an_unknown_site_is_404_everywhere(admin: httpx.AsyncClient) -> None:
    answers = [
        await admin.get("/v2/sites/nope"),
        await admin.patch("/v2/sites/nope", json={}),
        await admin.delete("/v2/sites/nope"),
        await move(admin, "x.example", slug="nope"),
        await admin.get("/v2/sites/nope/moves"),
        await admin.post("/v2/sites/nope/pause"),
        await admin.post("/v2/sites/nope/resume"),
        await admin.get("/v2/sites/nope/explain"),
    ]

    assert {(answer.status_code, answer.json()["type"]) for answer in answers} == {(404, "/problems/site-unknown")}


async def test_a_patch_changes_what_it_names_and_nothing_else(admin: httpx.AsyncClient) -> None:
    await make(admin, policy={"cooldown_seconds": 30, "max_concurrent_accounts": 7})

    answer = await admin.patch(
        "/v2/sites/board",
        json={"name": "The board", "policy": {"max_concurrent_accounts": None, "breaker_percent": 80}},
    )

    site = answer.json()
    assert site["name"] == "The board"
    policy = site["policy"]
    assert (policy["cooldown_seconds"], policy["max_concurrent_accounts"], policy["breaker_percent"]) == (30, None, 80)


async def test_deleting_a_site_frees_its_slug_and_its_address(admin: httpx.AsyncClient) -> None:
    await make(admin)

    assert (await admin.delete("/v2/sites/board")).status_code == 204

    assert (await admin.get("/v2/sites/board")).status_code == 404
    await make(admin, "other", "board1.example")


async def test_a_move_is_an_epoch_and_an_entry_in_the_history(admin: httpx.AsyncClient) -> None:
    await make(admin)

    answer = await move(admin, "board2.example", reason="seized")

    assert answer.status_code == 200
    moved = answer.json()
    assert (moved["epoch"], moved["affected"]) == (2, {"seeds": 0, "sessions": 0})
    site = (await admin.get("/v2/sites/board")).json()
    assert site["current_domain"] == "board2.example"
    assert [mount["host"] for mount in site["mounts"]] == ["board1.example", "board2.example"]
    (entry,) = (await admin.get("/v2/sites/board/moves")).json()["items"]
    assert (entry["reason"], entry["actor_name"], entry["epoch"]) == ("seized", "a admin", 2)
    assert (entry["from_address"], entry["to_address"]) == ("https://board1.example/", "https://board2.example/")


async def test_a_dry_run_tells_the_same_and_changes_nothing(admin: httpx.AsyncClient) -> None:
    before = await make(admin)

    tried = (await move(admin, "board2.example", dry_run=True)).json()

    assert (await admin.get("/v2/sites/board")).json() == before
    assert (await admin.get("/v2/sites/board/moves")).json()["items"] == []
    done = (await move(admin, "board2.example")).json()
    assert {**tried, "dry_run": False} == done


async def test_a_dry_run_shows_what_becomes_of_some_urls(admin: httpx.AsyncClient) -> None:
    await make(admin)
    await make(admin, "forum", {"host": "board2.example", "prefix": "/forum/"})
    urls = ["https://www.board1.example/x", "https://board1.example/forum/t", "https://nobody.example/"]

    tried = (await move(admin, "board2.example", dry_run=True, urls=urls)).json()["sample"]
    await move(admin, "board2.example")

    assert [item["verdict"] for item in tried] == ["rewritten", "refused:shadowed:forum", "unmanaged"]
    assert tried == await rewritten(admin, *urls)


async def test_moving_back_takes_the_urls_back(admin: httpx.AsyncClient) -> None:
    await make(admin)
    await move(admin, "board2.example")

    await move(admin, "board1.example")

    (item,) = await rewritten(admin, "https://board2.example/x")
    assert item["url"] == "https://board1.example/x"


async def test_moving_to_where_it_lives_changes_nothing(admin: httpx.AsyncClient) -> None:
    await make(admin)

    moved = (await move(admin, "BOARD1.example.")).json()

    assert (moved["epoch"], moved["changed"]) == (1, False)
    assert (await admin.get("/v2/sites/board/moves")).json()["items"] == []


async def test_more_trust_in_the_same_address_is_a_move(admin: httpx.AsyncClient) -> None:
    await make(admin)
    await move(admin, "board2.example", trust="urls")

    moved = (await move(admin, "board2.example", trust="credentials")).json()

    assert (moved["epoch"], moved["changed"]) == (3, True)
    assert (await admin.get("/v2/sites/board")).json()["mounts"][-1]["trust"] == "credentials"


async def test_a_proposal_names_nothing(admin: httpx.AsyncClient) -> None:
    await make(admin)

    proposed = (await move(admin, "evil.example", trust="observed")).json()

    assert (proposed["epoch"], proposed["changed"]) == (1, False)
    site = (await admin.get("/v2/sites/board")).json()
    assert site["current_domain"] == "board1.example"
    assert site["mounts"][-1]["trust"] == "observed"
    items = await rewritten(admin, "https://evil.example/x", "https://board1.example/x")
    assert [item["verdict"] for item in items] == ["unmanaged", "unchanged"]


async def test_a_proposal_made_twice_stands_once(admin: httpx.AsyncClient) -> None:
    await make(admin)

    for _ in range(2):
        await move(admin, "seen.example", trust="observed")

    assert len((await admin.get("/v2/sites/board")).json()["mounts"]) == 2
    assert len((await admin.get("/v2/sites/board/moves")).json()["items"]) == 1


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("127.0.0.1", "ip-literal"),
        ("0x7f.1", "ip-literal"),
        ("co.uk", "public-suffix"),
        ("github.io", "public-suffix"),
        ("app.localhost", "special-use"),
        ("com", "single-label"),
        ("evil.com:8080", "host-syntax"),
        ("", "host-syntax"),
        ("a" * 64 + ".example", "dns-length"),
    ],
)
async def test_a_host_that_may_not_be_one_is_refused_with_the_reason(
    admin: httpx.AsyncClient, host: str, reason: str
) -> None:
    await make(admin)

    answers = [await move(admin, host), await admin.post("/v2/sites", json={"slug": "new", "domain": host})]

    for answer in answers:
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/address-refused")
        assert answer.json()["reason"] == reason


async def test_a_host_where_another_site_lives_is_refused(admin: httpx.AsyncClient) -> None:
    await make(admin)
    await make(admin, "shop", "shop.example")

    answer = await move(admin, "shop.example")

    assert answer.status_code == 422
    assert (answer.json()["reason"], answer.json()["site"]) == ("another-site", "shop")


async def test_a_site_cannot_be_made_where_another_lives(admin: httpx.AsyncClient) -> None:
    await make(admin)

    answer = await admin.post("/v2/sites", json={"slug": "twin", "domain": "BOARD1.example"})

    assert (answer.status_code, answer.json()["reason"], answer.json()["site"]) == (422, "another-site", "board")


async def test_making_and_deleting_a_site_is_seen_by_rewriting_at_once(admin: httpx.AsyncClient) -> None:
    (nobody,) = await rewritten(admin, "https://board1.example/x")
    await make(admin)
    (ours,) = await rewritten(admin, "https://board1.example/x")
    await admin.delete("/v2/sites/board")
    (gone,) = await rewritten(admin, "https://board1.example/x")

    assert [item["verdict"] for item in (nobody, ours, gone)] == ["unmanaged", "unchanged", "unmanaged"]


async def test_a_repeated_move_with_a_key_moves_once(admin: httpx.AsyncClient) -> None:
    await make(admin)
    key, body = {"Idempotency-Key": "m1"}, {"to": "board2.example", "reason": "seized"}
    first = await admin.post("/v2/sites/board/moves", json=body, headers=key)
    await move(admin, "board3.example")

    repeat = await admin.post("/v2/sites/board/moves", json=body, headers=key)

    assert repeat.json() == first.json()
    assert (await admin.get("/v2/sites/board")).json()["current_domain"] == "board3.example"


async def test_a_key_of_a_move_that_changed_nothing_is_not_remembered(admin: httpx.AsyncClient) -> None:
    await make(admin)
    key = {"Idempotency-Key": "m1"}
    await admin.post("/v2/sites/board/moves", json={"to": "board1.example"}, headers=key)
    await admin.post("/v2/sites/board/moves", json={"to": "board2.example", "dry_run": True}, headers=key)

    real = await admin.post("/v2/sites/board/moves", json={"to": "board2.example"}, headers=key)

    assert (real.status_code, real.json()["changed"]) == (200, True)


async def test_history_stays_in_order_when_the_clock_was_set_back(home: House, admin: httpx.AsyncClient) -> None:
    await make(admin)
    home.database.run("UPDATE mount SET since = since + interval '1 hour'")

    await move(admin, "board2.example")

    assert [mount["host"] for mount in (await admin.get("/v2/sites/board")).json()["mounts"]][-1] == "board2.example"
    assert (await rewritten(admin, "https://board1.example/x"))[0]["url"] == "https://board2.example/x"


async def test_a_second_change_waits_for_the_first(home: House, admin: httpx.AsyncClient) -> None:
    await make(admin)
    with home.database.connect() as other, other.transaction():
        other.execute("SELECT FROM site WHERE slug = 'board' FOR UPDATE")

        late = asyncio.create_task(admin.patch("/v2/sites/board", json={"policy": {"cooldown_seconds": 9}}))
        await asyncio.sleep(0.2)
        assert not late.done()
        other.execute("UPDATE site SET breaker_percent = 33 WHERE slug = 'board'")

    policy = (await late).json()["policy"]
    assert (policy["cooldown_seconds"], policy["breaker_percent"]) == (9, 33)


async def test_more_organisations_than_indexes_are_kept_can_ask_at_once(home: House) -> None:
    clients = [await home.caller(Role.VIEWER, f"org{n}") for n in range(70)]

    for _ in range(2):
        answers = await asyncio.gather(*(rewritten(client, "https://a.example/") for client in clients))

    assert {items[0]["verdict"] for items in answers} == {"unmanaged"}


async def test_an_address_another_site_left_can_be_taken_over(admin: httpx.AsyncClient) -> None:
    await make(admin, "x", "old.example")
    await move(admin, "x.example", slug="x")
    await make(admin, "y", "y.example")

    assert (await move(admin, "old.example", slug="y")).status_code == 200

    items = await rewritten(admin, "https://old.example/p", "https://y.example/p")
    assert [(item["site"], item["url"]) for item in items] == [
        ("y", "https://old.example/p"),
        ("y", "https://old.example/p"),
    ]


async def test_two_sites_never_get_one_address_at_once(admin: httpx.AsyncClient) -> None:
    slugs = [f"site{n}" for n in range(8)]
    for slug in slugs:
        await make(admin, slug, f"{slug}.example")

    answers = await asyncio.gather(*(move(admin, "wanted.example", slug=slug) for slug in slugs))

    assert sorted(answer.status_code for answer in answers) == [200] + [422] * 7


async def test_rewriting_answers_as_of_the_time_that_is_asked(home: House, admin: httpx.AsyncClient) -> None:
    await make(admin)
    await move(admin, "board2.example")
    home.database.run("UPDATE mount SET since = '2024-01-01Z' WHERE host = 'board1.example'")
    home.database.run("UPDATE mount SET since = '2026-01-01Z' WHERE host = 'board2.example'")
    home.app.state.sites._registries.clear()  # the rows were changed behind its back

    (then,) = await rewritten(admin, "https://board1.example/x", at="2025-01-01T00:00:00Z")
    (before,) = await rewritten(admin, "https://board1.example/x", at="2023-01-01T00:00:00+02:00")

    assert (then["url"], then["verdict"]) == ("https://board1.example/x", "unchanged")
    assert before["verdict"] == "unmanaged"


async def test_every_url_is_answered_in_its_place(admin: httpx.AsyncClient) -> None:
    await make(admin)
    await move(admin, "board2.example")

    items = await rewritten(admin, "https://board1.example/x", "javascript:1", "//board1.example/", "https://a.b")

    assert [item["verdict"] for item in items] == [
        "rewritten",
        "refused:scheme",
        "refused:unparsable",
        "unmanaged",
    ]
    assert [item["changed"] for item in items] == [True, False, False, False]
    assert items[1]["input"] == items[1]["url"] == "javascript:1"


@pytest.mark.parametrize("urls", [[], ["https://a.example/"] * 10_001])
async def test_rewriting_takes_from_one_to_ten_thousand_urls(admin: httpx.AsyncClient, urls: list[str]) -> None:
    answer = await admin.post("/v2/sites/rewrite", json={"urls": urls})

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/urls")


async def test_a_second_process_sees_a_move_at_once(home: House, admin: httpx.AsyncClient) -> None:
    await make(admin)
    await rewritten(admin, "https://board1.example/x")  # both have their index by now
    from tests.parts.house import house

    async with house(home.database) as other:
        neighbour = await other.caller()
        await rewritten(neighbour, "https://board1.example/x")

        await move(admin, "board2.example")

        (item,) = await rewritten(neighbour, "https://board1.example/x")
        assert item["url"] == "https://board2.example/x"


async def test_a_paused_site_says_why_until_it_is_resumed(admin: httpx.AsyncClient) -> None:
    await make(admin)

    paused = (await admin.post("/v2/sites/board/pause", json={"reason": "captcha wave"})).json()
    told = (await admin.get("/v2/sites/board/explain")).json()
    resumed = (await admin.post("/v2/sites/board/resume")).json()

    assert (paused["paused"], paused["pause_reason"]) == (True, "captcha wave")
    assert "captcha wave" in told["sentence"]
    assert (resumed["paused"], resumed["pause_reason"]) == (False, None)


async def test_a_second_pause_keeps_its_time_and_takes_the_new_reason(admin: httpx.AsyncClient) -> None:
    await make(admin)
    first = (await admin.post("/v2/sites/board/pause", json={"reason": "one"})).json()

    second = (await admin.post("/v2/sites/board/pause", json={"reason": "two"})).json()

    assert (second["paused_at"], second["pause_reason"]) == (first["paused_at"], "two")


async def test_sites_are_listed_by_slug_page_by_page(admin: httpx.AsyncClient) -> None:
    for slug in ("c", "a", "b"):
        await make(admin, slug, f"{slug}.example")

    first = (await admin.get("/v2/sites", params={"limit": 2})).json()
    second = (await admin.get("/v2/sites", params={"limit": 2, "cursor": first["next_cursor"]})).json()

    assert [site["slug"] for site in first["items"]] == ["a", "b"]
    assert [site["slug"] for site in second["items"]] == ["c"]
    assert second["next_cursor"] is None


async def test_an_organisation_sees_its_own_sites_alone(home: House, admin: httpx.AsyncClient) -> None:
    await make(admin)
    stranger = await home.caller(Role.ADMIN, "strangers")

    assert (await stranger.get("/v2/sites")).json()["items"] == []
    assert (await stranger.get("/v2/sites/board")).status_code == 404
    assert (await rewritten(stranger, "https://board1.example/"))[0]["verdict"] == "unmanaged"
    await make(stranger)  # the same slug and host, and nobody is in anybody's way


async def test_special_hosts_are_a_switch(home: House) -> None:
    from tests.parts.house import house

    async with house(home.database, allow_special_hosts=True) as open_house:
        client = await open_house.caller()

        site = await make(client, "local", {"host": "localhost", "scheme": "http", "port": 8080})

    assert site["current_domain"] == "localhost"
