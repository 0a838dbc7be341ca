"""Records become entities over HTTP: linked by what they share, explained, and counted."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from leasehold import entities
from leasehold.collectors import normalised_name
from leasehold.runs import findings
from tests.entities.conftest import World, grouped

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = dict[str, Any]


def record(source: str, source_id: str, name: str = "Ada Lovelace", **more: Any) -> JSON:
    return {"source": source, "source_id": source_id, "kind": "performer", "name": name, **more}


ADA = {"birthdate": "1990-12-10", "country": "GB", "gender": "female", "height": "165cm"}


async def test_an_id_that_one_source_gives_for_another_links_them(world: World) -> None:
    await world.hand_over(record("stashdb", "s1", "Ada L."))

    outcomes = await world.hand_over(record("tpdb", "t1", "Countess", external_ids={"stashdb": ["s1"]}))

    assert outcomes == {"linked_explicit_id": 1}
    assert await world.groups() == grouped([["s1", "t1"]])


async def test_an_address_that_both_have_links_them(world: World) -> None:
    await world.hand_over(record("alpha", "a1", "Ada L.", urls={"iafd": ["https://www.iafd.example/person/7/"]}))

    outcomes = await world.hand_over(
        record("beta", "b1", "Ada Lovelace", urls={"web": ["http://iafd.example/person/7"]})
    )

    assert outcomes == {"linked_external_url": 1}


STUDIO = {"twitter": ["https://twitter.com/northlight_studio"]}
STRANGERS = ["Ada Lovelace", "Bela Brandt", "Cleo Castillo", "Dora Dvorak"]
STRANGERS += ["Edda Eriksen", "Finn Fontaine", "Gwen Grabowski", "Hugo Halloran"]


@pytest.mark.parametrize("kind", ["performer", "company"])
async def test_an_address_that_strangers_share_makes_nobody_one_of_them(world: World, kind: str) -> None:
    people = [{**record("web", name, name, urls=STUDIO), "kind": kind} for name in STRANGERS]

    await world.hand_over(*people[:3])
    await world.hand_over(*people[3:])

    assert await world.groups() == grouped([[name] for name in STRANGERS])


async def test_an_address_under_different_names_is_a_question(world: World) -> None:
    await world.hand_over(record("alpha", "a1", "Ada Lovelace", urls=STUDIO))

    outcomes = await world.hand_over(record("beta", "b1", "Bela Brandt", urls=STUDIO))

    assert outcomes == {"conflict": 1}
    (question,) = (await world.ask("GET", "/v2/entities/reviews"))["items"]
    assert {question["a"]["source_id"], question["b"]["source_id"]} == {"a1", "b1"}
    assert question["evidence"]["conflicts"] == ["name-differs"]


async def test_a_name_and_what_goes_with_it_link_them(world: World) -> None:
    await world.hand_over(record("alpha", "a1", attributes=ADA))

    outcomes = await world.hand_over(record("beta", "b1", "Ada Lovelase", attributes=ADA))

    assert outcomes == {"linked_name_metadata": 1}


async def test_a_name_alone_makes_two_of_two_who_were_born_apart(world: World) -> None:
    await world.hand_over(record("alpha", "a1", attributes=ADA))

    outcomes = await world.hand_over(
        record("beta", "b1", attributes={**ADA, "birthdate": "1961-03-02", "height": "180cm"})
    )

    assert sum(outcomes.values()) == 1
    assert await world.groups() == grouped([["a1"], ["b1"]])


async def test_what_comes_again_changes_nothing_and_is_counted(world: World) -> None:
    await world.hand_over(record("alpha", "a1", attributes=ADA))
    before = await world.home_of("a1")

    assert await world.hand_over(record("alpha", "a1", attributes=ADA)) == {"unchanged": 1}
    after = await world.home_of("a1")
    assert (after["times_seen"], before["times_seen"]) == (2, 1)
    assert after["updated_at"] == before["updated_at"]


async def test_what_is_said_anew_is_linked_anew(world: World) -> None:
    await world.hand_over(record("alpha", "a1", attributes=ADA), record("beta", "b1", attributes=ADA))
    assert await world.groups() == grouped([["a1", "b1"]])

    other = {"birthdate": "1961-03-02", "country": "JP", "gender": "male", "height": "185cm"}
    outcomes = await world.hand_over(record("beta", "b1", "Bela Brandt", attributes=other))

    assert outcomes == {"updated": 1}
    assert await world.groups() == grouped([["a1"], ["b1"]])
    assert (await world.home_of("a1"))["name"] == "Ada Lovelace"


async def test_what_its_source_deleted_stays_where_it_was(world: World) -> None:
    await world.hand_over(record("alpha", "a1", attributes=ADA), record("beta", "b1", attributes=ADA))
    gone = {**record("beta", "b1", attributes=ADA), "state": "deleted"}
    db = world.home.app.state.db
    organisation = await organisation_of(world)
    async with db.transaction(organisation) as conn:
        batch = await entities.offer(conn, organisation, "beta", [gone])

    assert await world.written(f"batch_{batch.hex}") == {"tombstoned": 1}
    assert (await world.record("b1"))["state"] == "deleted"
    assert await world.groups() == grouped([["a1", "b1"]])


async def organisation_of(world: World) -> Any:
    ((organisation,),) = world.home.database.rows("SELECT id FROM organisation WHERE slug = %s", world.organisation)
    return organisation


async def test_an_unreadable_record_is_set_aside_and_the_others_are_written(world: World) -> None:
    organisation = await organisation_of(world)
    good, bad = record("alpha", "a1", attributes=ADA), record("alpha", "a2", name="")
    async with world.home.app.state.db.transaction(organisation) as conn:
        batch = await entities.offer(conn, organisation, "alpha", [good, bad, "no object"])  # type: ignore[list-item]

    assert await world.written(f"batch_{batch.hex}") == {"created": 1, "failed": 2}
    letters = (await world.ask("GET", "/v2/entities/dead-letters"))["items"]
    assert {letter["reason"] for letter in letters} == {"name must be text that is not empty", "this is no object"}
    assert (await world.ask("GET", "/v2/entities/stats"))["errors"] == 2


async def test_evidence_says_by_which_step_with_which_score_and_what_matched(world: World) -> None:
    await world.hand_over(record("alpha", "a1", attributes=ADA), record("beta", "b1", attributes=ADA))
    entity = await world.home_of("a1")

    told = await world.ask("GET", f"/v2/entities/{entity['id']}/evidence")

    for belonging in told["records"]:
        assert belonging["step"] == "name_metadata"
        assert belonging["score"] == pytest.approx(sum(part["bits"] for part in belonging["best"]["parts"]), abs=0.02)
        assert "name" in belonging["matched"]
        assert "birthdate" in belonging["matched"]


async def test_why_and_why_not(world: World) -> None:
    other = {"birthdate": "1961-03-02", "gender": "male", "height": "185cm"}
    await world.hand_over(
        record("alpha", "a1", attributes=ADA),
        record("beta", "b1", attributes=ADA),
        record("gamma", "c1", "Bela Brandt", attributes=other),
    )
    a, b, c = [(await world.record(one))["id"] for one in ("a1", "b1", "c1")]

    why = await world.ask("GET", f"/v2/entities/why?a={a}&b={b}")
    why_not = await world.ask("GET", f"/v2/entities/why?a={a}&b={c}")

    assert why["same_entity"] is True
    assert why["sentence"].startswith("They are one: ")
    assert why_not["same_entity"] is False
    assert why_not["sentence"].startswith("They are apart")
    assert any(part["bits"] < 0 for part in why_not["evidence"]["parts"] if part["field"] == "name")


async def test_the_numbers_agree(world: World) -> None:
    await world.hand_over(
        record("alpha", "a1", attributes=ADA, urls={"iafd": ["https://iafd.example/1"]}),
        record("beta", "b1", "Ada L.", external_ids={"alpha": ["a1"]}),
    )
    await world.hand_over(record("alpha", "a1", attributes=ADA, urls={"iafd": ["https://iafd.example/1"]}))

    stats = await world.ask("GET", "/v2/entities/stats")

    assert stats["records_seen"] == sum(stats["outcomes"].values()) == 3
    assert (stats["entities_created"], stats["linked_by_explicit_id"], stats["urls_added"]) == (1, 1, 1)
    assert stats["aliases_added"] == 1
    assert sum(_outcomes(one) for one in stats["by_source"].values()) == 3


def _outcomes(counts: Mapping[str, int]) -> int:
    return sum(count for name, count in counts.items() if not name.endswith(("_added", "_created", "_merged")))


async def test_a_key_hands_over_once(world: World) -> None:
    body = {"items": [record("alpha", "a1", attributes=ADA)]}
    first, second = [
        await world.client.post("/v2/entities/records", json=body, headers={"Idempotency-Key": "k1"}) for _ in range(2)
    ]

    assert first.json() == second.json()
    assert await world.written(first.json()["batch"]) == {"created": 1}


async def test_kinds_are_worlds_apart(world: World) -> None:
    await world.hand_over(
        {**record("alpha", "a1", attributes=ADA), "kind": "performer"},
        {**record("beta", "b1", attributes=ADA), "kind": "writer"},
    )

    assert await world.groups() == grouped([["a1"], ["b1"]])


async def test_a_seller_is_who_it_says_it_is(world: World) -> None:
    seller = {"kind": "seller", "attributes": {"item_count": 3}}
    outcomes = await world.hand_over(
        {**record("ebay", "best-shop", "Best Shop"), **seller}, {**record("amazon", "best-shop", "Best Shop"), **seller}
    )

    assert outcomes == {"created": 2}


def seller(source_id: str, name: str, source: str = "ebay", **more: Any) -> JSON:
    return {**record(source, source_id, name, **more), "kind": "seller"}


async def test_a_seller_is_one_however_its_name_is_spelled_and_whatever_its_id(world: World) -> None:
    await world.hand_over(seller("123", "Best Deals", attributes={"item_count": 3}))

    outcomes = await world.hand_over(
        seller("456", "BEST-DEALS"), seller("789", "Best Dealz"), seller("123", "Best Deals", "amazon")
    )

    assert outcomes == {"linked_name_metadata": 1, "created": 2}
    assert await world.groups() == grouped([["123", "456"], ["789"], ["123"]])
    assert (await world.ask("GET", "/v2/entities/reviews"))["items"] == []


async def test_a_seller_is_known_by_nothing_but_its_name(world: World) -> None:
    same: JSON = {"external_ids": {"vat": ["1"]}, "urls": {"web": ["https://shop.example/x"]}, "attributes": ADA}

    await world.hand_over(seller("1", "Best Deals", **same), seller("2", "Worst Deals", **same))

    assert await world.groups() == grouped([["1"], ["2"]])


async def test_what_a_run_finds_of_a_seller_is_what_was_handed_over_of_it(world: World) -> None:
    await world.hand_over(seller("123", "Best Deals"))
    organisation = await organisation_of(world)
    met = findings.seller("ebay", {"username": "best_deals", "normalised_name": normalised_name("best_deals")})
    async with world.home.app.state.db.transaction(organisation) as conn:
        batch = await entities.offer(conn, organisation, "ebay", [met])

    assert await world.written(f"batch_{batch.hex}") == {"linked_name_metadata": 1}
    assert await world.groups() == grouped([["123", "bestdeals"]])


async def test_a_seller_who_takes_another_name_is_who_has_that_name(world: World) -> None:
    await world.hand_over(seller("1", "Best Deals"), seller("2", "BestDeals"), seller("3", "Old Shop"))

    await world.hand_over(seller("2", "old-shop"))

    assert await world.groups() == grouped([["1"], ["2", "3"]])


async def test_an_erased_seller_does_not_come_back_by_another_id(world: World) -> None:
    await world.hand_over(seller("123", "Best Deals"))
    await world.ask("DELETE", f"/v2/entities/{(await world.home_of('123'))['id']}")

    assert await world.hand_over(seller("bestdeals", "BEST DEALS")) == {"suppressed": 1}


async def test_sellers_are_who_they_are_in_every_epoch(world: World) -> None:
    await world.hand_over(*(seller(f"{at}", f"Shop {at // 2}") for at in range(44)))
    before = await world.groups()

    proposed = await world.ask("POST", "/v2/entities/epochs", {"kind": "seller"}, 201)

    assert (proposed["difference"]["pairs_joined"], proposed["difference"]["pairs_parted"]) == (0, 0)
    await world.ask("POST", "/v2/entities/epochs/seller/2/current", None, 202)
    await world.hand_over(seller("99", "SHOP-0"))
    assert await world.groups() == (before - grouped([["0", "1"]])) | grouped([["0", "1", "99"]])


async def test_more_than_may_wait_is_refused_until_some_is_written(world: World) -> None:
    await world.hand_over(record("alpha", "a1"))
    database = world.home.database
    mine = f"(SELECT id FROM organisation WHERE slug = '{world.organisation}')"
    # Beside the loop: the writer is in it, and may have its row in hand just now.
    await asyncio.to_thread(
        database.run,
        f"UPDATE graph_writer SET holder = gen_random_uuid(), until = 'infinity' WHERE organisation = {mine}",
    )
    database.run(
        "INSERT INTO record_queue (organisation, batch, priority, items, bytes, content)"
        f" SELECT {mine}, gen_random_uuid(), 0, 1, {entities.HIGH_WATER + 1}, ''",
    )

    refused = await world.client.post("/v2/entities/records", json={"items": [record("alpha", "a2")]})

    assert (refused.status_code, refused.json()["type"]) == (429, "/problems/queue-full")
    assert int(refused.headers["retry-after"]) > 0
    database.run(f"DELETE FROM record_queue WHERE organisation = {mine}")
    await world.ask("POST", "/v2/entities/records", {"items": [record("alpha", "a2")]}, 202)
