"""Seeds over HTTP as operators see them: added, listed, changed, removed, and what is refused."""

from typing import Any

import pytest

from tests.seeds.garden import Garden, Refused


async def test_a_new_seed_is_due_at_once_and_has_the_usual_rhythm(garden: Garden) -> None:
    await garden.site()

    made = await garden.send("POST", "/v2/seeds", {"items": [{"site": "board", "url": "https://board.example/new"}]})

    assert (made["created"], made["updated"]) == (1, 0)
    (seed,) = made["items"]
    shown = ("site", "url", "original_url", "kind", "cursor", "labels", "enabled", "consecutive_failures")
    assert {name: seed[name] for name in shown} == {
        "site": "board",
        "url": "https://board.example/new",
        "original_url": "https://board.example/new",
        "kind": "page",
        "cursor": None,
        "labels": {},
        "enabled": True,
        "consecutive_failures": 0,
    }
    intervals = ("interval_seconds", "min_interval_seconds", "max_interval_seconds")
    assert [seed[name] for name in intervals] == [3600, 60, 1_209_600]
    assert await garden.paths() == ["https://board.example/new"]


async def test_the_same_address_is_the_same_seed_however_it_is_spelled(garden: Garden) -> None:
    await garden.site()
    (first,) = await garden.seeds("/a/../b?x=1", priority=10)

    for url in ("HTTP://WWW.board.EXAMPLE:80/b?x=1", "https://board.example/./b?x=1"):
        again = await garden.send("POST", "/v2/seeds", {"items": [{"site": "board", "url": url}]})
        assert (again["created"], again["updated"], again["items"][0]["id"]) == (0, 1, first["id"])
    assert (await garden.get(first))["priority"] == 10


async def test_an_address_of_before_a_move_is_the_same_seed(garden: Garden) -> None:
    await garden.site()
    (first,) = await garden.seeds("/a")
    await garden.send("POST", "/v2/sites/board/moves", {"to": "moved.example"})

    items = [{"site": "board", "url": "https://board.example/a"}, {"site": "board", "url": "https://moved.example/a"}]
    again = await garden.send("POST", "/v2/seeds", {"items": items})

    assert (again["created"], again["updated"]) == (0, 1)
    assert [seed["id"] for seed in again["items"]] == [first["id"]] * 2
    assert again["items"][0]["url"] == "https://moved.example/a"


async def test_a_moved_site_hands_out_its_new_address(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a?q=1#part")
    moved = await garden.send("POST", "/v2/sites/board/moves", {"to": {"host": "moved.example", "prefix": "/forum"}})

    lease = await garden.acquire()

    assert moved["affected"]["seeds"] == 1
    assert lease["seed"]["url"] == "https://moved.example/forum/a?q=1#part"
    assert lease["seed"]["original_url"] == "https://board.example/a?q=1#part"


async def test_a_seed_without_a_place_at_the_new_address_is_not_handed_out(garden: Garden) -> None:
    await garden.site()
    items = [
        {"site": "board", "url": "https://blog.board.example/a"},
        {"site": "board", "url": "https://board.example/"},
    ]
    made = await garden.send("POST", "/v2/seeds", {"items": items})
    await garden.send("POST", "/v2/sites/board/moves", {"to": {"host": "moved.example", "subdomains": "none"}})

    assert await garden.paths() == ["https://moved.example/"]

    homeless = await garden.get(made["items"][0])
    assert (homeless["url"], homeless["lease_id"]) == (None, None)
    assert homeless["next_due_at"] > made["items"][0]["next_due_at"]


async def test_of_an_address_that_stands_twice_the_last_one_counts(garden: Garden) -> None:
    await garden.site()
    url = "https://board.example/a"

    made = await garden.send(
        "POST", "/v2/seeds", {"items": [{"site": "board", "url": url, "priority": n} for n in (1, 2)]}
    )

    assert (made["created"], [seed["priority"] for seed in made["items"]]) == (1, [2, 2])


async def test_an_update_changes_what_it_says_and_keeps_the_schedule(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a", labels={"x": "1"}, cursor={"page": 3}, interval_seconds=600)
    visited = await garden.release(await garden.acquire(), found=0)

    (again,) = await garden.seeds("/a", priority=99)

    kept = ("id", "interval_seconds", "next_due_at", "labels", "cursor", "last_outcome")
    assert {name: again[name] for name in kept} == {name: visited[name] for name in kept}
    assert (again["priority"], visited["id"]) == (99, seed["id"])


async def test_ten_thousand_seeds_go_in_one_request(garden: Garden) -> None:
    await garden.site()
    items = [{"site": "board", "url": f"https://board.example/{n}"} for n in range(10_000)]

    made = await garden.send("POST", "/v2/seeds", {"items": items})
    again = await garden.send("POST", "/v2/seeds", {"items": items})

    assert (made["created"], made["updated"], len(made["items"])) == (10_000, 0, 10_000)
    assert (again["created"], again["updated"]) == (0, 10_000)
    with pytest.raises(Refused) as refused:
        await garden.send("POST", "/v2/seeds", {"items": [*items, items[0]]})
    assert (refused.value.status, refused.value.pointers) == (422, ["/items"])


async def test_a_repeat_under_the_same_key_answers_the_same(garden: Garden) -> None:
    await garden.site()
    body = {"items": [{"site": "board", "url": "https://board.example/a"}]}

    first = await garden.send("POST", "/v2/seeds", body, key="k")
    again = await garden.send("POST", "/v2/seeds", body, key="k")

    assert first == again


@pytest.mark.parametrize(
    "url",
    [
        "board.example/a",
        "//board.example/a",
        "ftp://board.example/a",
        "javascript:alert(1)",
        "https://ann:secret@board.example/a",
        "https://elsewhere.example/a",
        "https://shop.example/a",
        "https://board.example.evil.example/",
        "https://board.example:8443/",
        "https://[::1]/",
        "http://",
        "",
        "https://board.example/" + "a" * 9000,
    ],
)
async def test_a_wrong_address_is_refused_with_a_pointer_and_costs_all(garden: Garden, url: str) -> None:
    await garden.site()
    await garden.site("shop")
    items = [{"site": "board", "url": "https://board.example/good"}, {"site": "board", "url": url}]

    with pytest.raises(Refused) as refused:
        await garden.send("POST", "/v2/seeds", {"items": items})

    assert (refused.value.status, refused.value.pointers) == (422, ["/items/1/url"])
    assert "secret" not in str(refused.value)
    assert (await garden.send("GET", "/v2/seeds"))["items"] == []


async def test_an_unknown_site_is_not_there_and_a_pointer_tells_which(garden: Garden) -> None:
    await garden.site()
    items = [{"site": slug, "url": "https://board.example/"} for slug in ("board", "nowhere")]

    with pytest.raises(Refused) as refused:
        await garden.send("POST", "/v2/seeds", {"items": items})

    assert (refused.value.status, refused.value.problem["type"]) == (404, "/problems/site-unknown")
    assert refused.value.pointers == ["/items/1/site"]


@pytest.mark.parametrize(
    "fields",
    [
        {"interval_seconds": 0},
        {"interval_seconds": -5},
        {"interval_seconds": 10**12},
        {"interval_seconds": 1.5},
        {"interval_seconds": "60"},
        {"interval_seconds": True},
        {"min_interval_seconds": 100, "max_interval_seconds": 50},
        {"interval_seconds": 10, "min_interval_seconds": 20},
        {"interval_seconds": 30, "max_interval_seconds": 20},
        {"priority": 101},
        {"priority": -1},
        {"labels": {"a": 1}},
        {"labels": {"": "x"}},
        {"kind": ""},
        {"kind": "a\nb"},
        {"enabled": "yes"},
        {"cursor": "x" * 20_000},
        {"next_due_at": "tomorrow"},
        {"next_due_at": "0001-01-01T00:00:00Z"},
        {"next_due_at": "9999-12-31T23:59:59Z"},
        {"surprise": 1},
    ],
)
async def test_what_makes_no_sense_is_refused(garden: Garden, fields: dict[str, Any]) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")

    with pytest.raises(Refused) as refused:
        await garden.seeds("/b", **fields)
    assert refused.value.status == 422
    with pytest.raises(Refused) as refused:
        await garden.change(seed, **fields)
    assert refused.value.status == 422


async def test_an_interval_beyond_the_usual_bounds_widens_them(garden: Garden) -> None:
    await garden.site()

    (quick,) = await garden.seeds("/a", interval_seconds=5)

    assert (quick["interval_seconds"], quick["min_interval_seconds"]) == (5, 5)


async def test_a_change_says_what_it_changes(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a", cursor=["x"], labels={"a": "b"})

    changed = await garden.change(
        seed, priority=7, kind="feed", labels={"c": "d"}, cursor=None, enabled=False, max_interval_seconds=7200
    )

    wanted = {"priority": 7, "kind": "feed", "labels": {"c": "d"}, "cursor": None, "enabled": False}
    assert {name: changed[name] for name in wanted} == wanted
    assert changed["max_interval_seconds"] == 7200
    events = await garden.send("GET", f"/v2/audit?subject={seed['id']}")
    assert events["items"][0]["detail"]["priority"] == {"from": 50, "to": 7}


async def test_who_is_to_be_visited_more_often_is_due_within_that(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")
    visited = await garden.release(await garden.acquire(), found=0)

    changed = await garden.change(visited, interval_seconds=120)

    assert changed["next_due_at"] < visited["next_due_at"]
    assert (await garden.change(visited, interval_seconds=7200))["next_due_at"] == changed["next_due_at"]


async def test_a_seed_can_be_made_due_now(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a")
    visited = await garden.release(await garden.acquire())
    assert (await garden.waiting())["reason"] == "not_due"

    await garden.change(visited, next_due_at="now")

    assert (await garden.acquire())["resource_id"] == visited["id"]


async def test_a_seed_being_visited_is_not_removed(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")
    lease = await garden.acquire()

    with pytest.raises(Refused) as refused:
        await garden.send("DELETE", f"/v2/seeds/{seed['id']}")
    assert (refused.value.status, refused.value.problem["lease"]) == (409, lease["id"])
    await garden.passes(121)  # nobody booked yet that it ran out
    await garden.send("DELETE", f"/v2/seeds/{seed['id']}")

    with pytest.raises(Refused) as refused:
        await garden.get(seed)
    assert refused.value.problem["type"] == "/problems/seed-unknown"
    assert garden.home.database.rows("SELECT how FROM lease_end") == [("expired",)]


async def test_lists_are_narrowed_and_paged(garden: Garden) -> None:
    await garden.site()
    await garden.site("shop")
    (due, later, off) = await garden.seeds("/due", "/later", "/off", labels={"region": "de"})
    await garden.change(later, next_due_at="2199-01-01T00:00:00Z")
    await garden.change(off, enabled=False, kind="feed")
    (other,) = await garden.seeds("/other", site="shop")

    async def ids(query: str) -> list[str]:
        return [seed["id"] for seed in (await garden.send("GET", f"/v2/seeds?{query}"))["items"]]

    assert await ids("") == [due["id"], later["id"], off["id"], other["id"]]
    assert await ids("site=shop") == [other["id"]]
    assert await ids("due=true") == [due["id"], other["id"]]
    assert await ids("due=false&site=board") == [later["id"], off["id"]]
    assert await ids("enabled=false") == [off["id"]]
    assert await ids("kind=feed&label=region:de") == [off["id"]]
    assert await ids("label=region:fr") == []
    first = await garden.send("GET", "/v2/seeds?limit=3")
    assert await ids(f"limit=3&cursor={first['next_cursor']}") == [other["id"]]
    await garden.acquire(site="shop")
    assert await ids("due=true") == [due["id"]]


@pytest.mark.parametrize("query", ["cursor=nonsense", "cursor=WyJhIl0", "label=x", "due=maybe", "limit=0", "x=1"])
async def test_a_wrong_question_is_refused(garden: Garden, query: str) -> None:
    with pytest.raises(Refused) as refused:
        await garden.send("GET", f"/v2/seeds?{query}")

    assert refused.value.status == 422


async def test_the_histogram_counts_the_next_hours(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/due")
    (soon, later, off, far) = await garden.seeds("/soon", "/later", "/off", "/far")
    for seed, due in ((soon, "30 min"), (later, "90 min"), (far, "3 days")):
        garden.home.database.run(
            "UPDATE seed SET next_due_at = clock_timestamp() + %s::interval WHERE id = %s", due, seed["id"][5:]
        )
    await garden.change(off, enabled=False)

    told = await garden.send("GET", "/v2/seeds/histogram?site=board&hours=3")

    assert told == {"overdue": 1, "hours": [1, 1, 0], "minutes": [0] * 5 + [1] + [0] * 6}
    with pytest.raises(Refused) as refused:
        await garden.send("GET", "/v2/seeds/histogram?site=nowhere")
    assert refused.value.status == 404


async def test_a_site_with_seeds_is_not_deleted(garden: Garden) -> None:
    await garden.site()
    (seed,) = await garden.seeds("/a")

    with pytest.raises(Refused) as refused:
        await garden.send("DELETE", "/v2/sites/board")
    assert refused.value.problem["holds"] == {"seeds": 1}
    await garden.send("DELETE", f"/v2/seeds/{seed['id']}")

    await garden.send("DELETE", "/v2/sites/board")


async def test_explain_speaks_of_seeds(garden: Garden) -> None:
    await garden.site()
    await garden.seeds("/a", "/b")
    await garden.acquire(owner="bob")

    told = await garden.send("GET", "/v2/sites/board/explain")

    assert "board has seeds to give: 1 being visited, 1 due." in told["sentence"]
    assert (told["counts"]["seeds"], told["counts"]["seeds_due"], told["counts"]["seeds_leased"]) == (2, 1, 1)
    assert told["holders"] == ["bob"]
