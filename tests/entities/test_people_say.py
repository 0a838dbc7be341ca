"""What people say of entities: merged, split, reviewed, erased; it lasts, and it can be taken back."""

from typing import Any

import pytest

from leasehold.ids import parse
from tests.entities.conftest import World, grouped
from tests.entities.test_linking import ADA, record

pytestmark = pytest.mark.asyncio(loop_scope="module")

BELA = {"birthdate": "1961-03-02", "country": "JP", "gender": "male", "height": "185cm"}


async def two(world: World) -> tuple[Any, Any]:
    """Two entities of two records each."""
    await world.hand_over(
        record("alpha", "a1", attributes=ADA),
        record("beta", "a2", attributes=ADA),
        record("alpha", "b1", "Bela Brandt", attributes=BELA),
        record("beta", "b2", "Bela Brandt", attributes=BELA),
    )
    return await world.home_of("a1"), await world.home_of("b1")


async def split_off(world: World, entity: Any, *source_ids: str, status: int = 200) -> Any:
    whole = await world.entity(entity["id"])
    records = [one["id"] for one in whole["records"] if one["source_id"] in source_ids]
    return await world.ask("POST", f"/v2/entities/{entity['id']}/split", {"record_ids": records}, status)


async def test_two_are_made_one_and_the_other_leads_to_it(world: World) -> None:
    ada, bela = await two(world)

    merged = await world.ask("POST", "/v2/entities/merge", {"keep": ada["id"], "merge": bela["id"]})

    assert merged["id"] == ada["id"]
    assert {one["source_id"] for one in merged["records"]} == {"a1", "a2", "b1", "b2"}
    assert (await world.entity(bela["id"]))["id"] == ada["id"]
    assert bela["id"] not in {one["id"] for one in await world.entities()}


async def test_what_was_made_one_stays_one_as_more_comes_in(world: World) -> None:
    ada, bela = await two(world)
    await world.ask("POST", "/v2/entities/merge", {"keep": ada["id"], "merge": bela["id"]})

    await world.hand_over(record("gamma", "b3", "Bela Brandt", attributes=BELA))

    (entity,) = await world.entities()
    assert entity["id"] == ada["id"]
    assert await world.groups() == grouped([["a1", "a2", "b1", "b2", "b3"]])


@pytest.mark.parametrize("taken_out", [("b1", "b2"), ("a1", "a2")])
async def test_a_merge_and_a_split_leave_everything_as_it_was(world: World, taken_out: tuple[str, str]) -> None:
    ada, bela = await two(world)
    await world.ask("POST", "/v2/entities/merge", {"keep": ada["id"], "merge": bela["id"]})

    await split_off(world, ada, *taken_out)

    for before in (ada, bela):
        after = await world.entity(before["id"])
        assert after["id"] == before["id"]
        for name in ("name", "aliases", "external_ids", "urls", "attributes", "size", "kind"):
            assert after[name] == before[name]
        assert [one["id"] for one in after["records"]] == [one["id"] for one in before["records"]]


async def test_what_was_split_is_never_linked_again(world: World) -> None:
    ada, _ = await two(world)
    await split_off(world, ada, "a2")
    assert grouped([["a1"], ["a2"]]) <= await world.groups()

    changed = {**ADA, "country": "FR"}
    await world.hand_over(record("alpha", "a1", attributes=changed), record("beta", "a2", attributes=changed))
    await world.hand_over(record("gamma", "a3", attributes=ADA))

    assert not any({"a1", "a2"} <= group for group in await world.groups())


async def test_a_merge_after_a_split_is_heard(world: World) -> None:
    ada, _ = await two(world)
    kept, other = (await split_off(world, ada, "a2"))["items"]

    await world.ask("POST", "/v2/entities/merge", {"keep": kept["id"], "merge": other["id"]})

    assert frozenset(["a1", "a2"]) in await world.groups()


async def test_the_feed_tells_of_every_change_once_and_in_order(world: World) -> None:
    ada, bela = await two(world)
    created = await world.changes()
    await world.ask("POST", "/v2/entities/merge", {"keep": ada["id"], "merge": bela["id"]})
    await split_off(world, ada, "b1", "b2")

    told = await world.changes(created[-1]["seq"])

    assert [(one["change"], one["entity_id"]) for one in created] == [
        ("created", one) for one in sorted((ada["id"], bela["id"]))
    ]
    assert ("merged", bela["id"]) in [(one["change"], one["entity_id"]) for one in told]
    assert ("split", ada["id"]) in [(one["change"], one["entity_id"]) for one in told]
    assert [one["seq"] for one in told] == sorted({one["seq"] for one in told})
    assert all(one["actor"] != "writer" for one in told)


@pytest.mark.parametrize(("keep", "merge", "problem"), [("a", "a", "cannot-merge"), ("a", "nobody", "entity-unknown")])
async def test_what_cannot_be_merged_is_refused(world: World, keep: str, merge: str, problem: str) -> None:
    ada, _ = await two(world)
    names = {"a": ada["id"], "nobody": "ent_" + "0" * 32}

    answer = await world.client.post("/v2/entities/merge", json={"keep": names[keep], "merge": names[merge]})

    assert answer.json()["type"] == f"/problems/{problem}"


async def test_not_everything_can_be_split_off(world: World) -> None:
    ada, bela = await two(world)

    await split_off(world, ada, "a1", "a2", status=409)
    strangers = {"record_ids": [bela["records"][0]["id"]]}
    await world.ask("POST", f"/v2/entities/{ada['id']}/split", strangers, 409)


async def merged_away(world: World) -> tuple[Any, Any]:
    """An entity, and one that was made a part of it."""
    ada, bela = await two(world)
    await world.ask("POST", "/v2/entities/merge", {"keep": ada["id"], "merge": bela["id"]})
    return ada, bela


async def test_the_old_name_of_an_entity_is_good_for_erasing_it(world: World) -> None:
    ada, bela = await merged_away(world)

    receipt = await world.ask("DELETE", f"/v2/entities/{bela['id']}")

    assert (receipt["entity_id"], receipt["records"]) == (ada["id"], 4)
    for old in (ada, bela):
        assert (await world.client.get(f"/v2/entities/{old['id']}")).status_code == 404
    # Not even a pointer is left that says what it was called.
    assert not world.home.database.rows("SELECT FROM entity WHERE id::text = ANY(%s)", _ids(ada, bela))


def _ids(*several: Any) -> list[str]:
    found = [parse("ent", one["id"]) for one in several]
    return [str(one) for one in found]


async def test_the_old_name_of_an_entity_is_good_for_merging_it(world: World) -> None:
    ada, bela = await merged_away(world)
    await world.hand_over(record("alpha", "c1", "Cleo Castillo"))
    cleo = await world.home_of("c1")

    merged = await world.ask("POST", "/v2/entities/merge", {"keep": bela["id"], "merge": cleo["id"]})

    assert (merged["id"], merged["size"]) == (ada["id"], 5)
    answer = await world.client.post("/v2/entities/merge", json={"keep": ada["id"], "merge": bela["id"]})
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/cannot-merge")


async def test_the_old_name_of_an_entity_is_good_for_splitting_it(world: World) -> None:
    ada, bela = await merged_away(world)

    items = (await split_off(world, bela, "b1", "b2"))["items"]

    assert {one["id"] for one in items} == {ada["id"], bela["id"]}
    assert await world.groups() == grouped([["a1", "a2"], ["b1", "b2"]])


async def doubtful(world: World) -> Any:
    """Two that could be one."""
    await world.hand_over(
        record("alpha", "a1", attributes={"birthdate": "1990"}),
        record("beta", "a2", attributes={"birthdate": "1990"}),
    )
    (question,) = (await world.ask("GET", "/v2/entities/reviews"))["items"]
    return question


async def test_a_doubt_is_asked_about_and_yes_makes_them_one(world: World) -> None:
    question = await doubtful(world)
    assert {question["a"]["source_id"], question["b"]["source_id"]} == {"a1", "a2"}

    decided = await world.ask("POST", f"/v2/entities/reviews/{question['id']}", {"decision": "same"})

    assert len(set(decided["entities"])) == 1
    assert await world.groups() == grouped([["a1", "a2"]])
    assert (await world.ask("GET", "/v2/entities/reviews"))["items"] == []


async def test_nobody_is_asked_about_what_came_together_until_it_parts(world: World) -> None:
    await doubtful(world)
    page = {"profiles": ["https://profiles.example/ada"]}
    for source, source_id in (("alpha", "a1"), ("beta", "a2")):
        born, names = {"birthdate": "1990"}, {source: [source_id]}
        await world.hand_over(record("gamma", f"about-{source_id}", attributes=born, external_ids=names, urls=page))

    assert len(await world.groups()) == 1
    assert (await world.ask("GET", "/v2/entities/reviews"))["items"] == []

    for source_id in ("about-a1", "about-a2"):
        await world.hand_over(record("gamma", source_id, "Somebody Else"))

    (question,) = (await world.ask("GET", "/v2/entities/reviews"))["items"]
    assert {question["a"]["source_id"], question["b"]["source_id"]} == {"a1", "a2"}


async def test_no_keeps_them_apart_for_good(world: World) -> None:
    question = await doubtful(world)

    await world.ask("POST", f"/v2/entities/reviews/{question['id']}", {"decision": "different"})
    await world.hand_over(record("alpha", "a1", attributes=ADA), record("beta", "a2", attributes=ADA))

    assert await world.groups() == grouped([["a1"], ["a2"]])
    assert (await world.ask("GET", "/v2/entities/reviews"))["items"] == []


async def test_unsure_puts_the_question_away(world: World) -> None:
    question = await doubtful(world)

    await world.ask("POST", f"/v2/entities/reviews/{question['id']}", {"decision": "unsure"})

    assert (await world.ask("GET", "/v2/entities/reviews"))["items"] == []
    assert await world.groups() == grouped([["a1"], ["a2"]])


@pytest.mark.parametrize("decision", ["same", "different", "unsure"])
async def test_an_answer_taken_back_is_a_question_again(world: World, decision: str) -> None:
    question = await doubtful(world)
    await world.ask("POST", f"/v2/entities/reviews/{question['id']}", {"decision": decision})

    taken_back = await world.ask("DELETE", f"/v2/entities/reviews/{question['id']}")

    assert set(taken_back["entities"]) == set(question["entities"])
    assert (await world.ask("GET", "/v2/entities/reviews"))["items"] == [question]
    assert await world.groups() == grouped([["a1"], ["a2"]])


async def test_only_what_was_asked_can_be_taken_back(world: World) -> None:
    await world.ask("DELETE", "/v2/entities/reviews/rev_" + "0" * 32, status=404)


async def test_a_question_and_evidence_say_what_makes_two_one(world: World) -> None:
    question = await doubtful(world)
    ada = await world.home_of("a1")

    evidence = await world.ask("GET", f"/v2/entities/{ada['id']}/evidence")

    assert question["join"] == evidence["join"] > question["evidence"]["score"]


async def test_an_entity_says_where_its_records_come_from(world: World) -> None:
    ada, _ = await two(world)

    (listed,) = [one for one in await world.entities() if one["id"] == ada["id"]]

    assert listed["sources"] == ada["sources"] == ["alpha", "beta"]


async def test_who_is_erased_is_gone_and_does_not_come_back(world: World) -> None:
    ada, _ = await two(world)

    receipt = await world.ask("DELETE", f"/v2/entities/{ada['id']}")

    assert (receipt["records"], receipt["edges"], receipt["vacuumed"]) == (2, 1, True)
    assert (await world.client.get(f"/v2/entities/{ada['id']}")).status_code == 404
    again = await world.hand_over(record("alpha", "a1", attributes=ADA), record("gamma", "a9", "Cleo Castillo"))
    assert again == {"suppressed": 1, "created": 1}
    assert await world.groups() == grouped([["b1", "b2"], ["a9"]])


async def test_nothing_of_who_is_erased_is_left_in_the_database(world: World) -> None:
    secret = "Zenobia Unforgettable"
    await world.hand_over(record("alpha", "zz-top-1", secret, attributes={**ADA, "note": "zz-top-note"}))
    await world.hand_over(record("beta", "zz-top-2", secret, attributes=ADA))
    entity = await world.home_of("zz-top-1")

    await world.ask("DELETE", f"/v2/entities/{entity['id']}")

    database = world.home.database
    tables = [name for (name,) in database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    for table in tables:
        left = [str(row) for row in database.rows(f"SELECT t::text FROM {table} AS t")]
        assert not [row for row in left if "Unforgettable" in row or "zz-top" in row], table


async def test_who_was_split_off_is_not_quoted_once_erased(world: World) -> None:
    await world.hand_over(record("alpha", "q1", "Zora Quotedine", attributes=ADA))
    await world.hand_over(record("beta", "q2", "Zora Quotedene", attributes=ADA))
    await split_off(world, await world.home_of("q1"), "q1")
    quoting = "SELECT source_id FROM source_record AS r WHERE r::text ~* 'quotedine'"
    assert {source_id for (source_id,) in world.home.database.rows(quoting)} == {"q1", "q2"}

    await world.ask("DELETE", f"/v2/entities/{(await world.home_of('q1'))['id']}")

    assert world.home.database.rows(quoting) == []
    assert await world.record("q2")


async def test_examples_of_what_would_change_have_names_until_they_are_erased(world: World) -> None:
    await world.hand_over(
        record("alpha", "e1", "Edda Eriksen", attributes=ADA), record("beta", "e2", "Edda Eriksen", attributes=ADA)
    )
    edda = await world.home_of("e1")
    database = world.home.database
    said = f'{{"examples": [{{"change": "split", "entities": ["{edda["id"]}"]}}]}}'
    database.run(
        f"UPDATE link_epoch SET difference = '{said}' FROM organisation AS o"
        f" WHERE o.id = link_epoch.organisation AND o.slug = '{world.organisation}'"
    )

    (before,) = (await world.ask("GET", "/v2/entities/epochs"))["items"]
    await world.ask("DELETE", f"/v2/entities/{edda['id']}")
    (after,) = (await world.ask("GET", "/v2/entities/epochs"))["items"]

    assert before["names"] == {edda["id"]: "Edda Eriksen"}
    assert after["names"] == {}


async def test_new_weights_show_what_they_change_before_they_do(world: World) -> None:
    ada, bela = await two(world)

    proposed = await world.ask("POST", "/v2/entities/epochs", {"kind": "performer", "learned": False}, 201)

    assert (proposed["state"], proposed["number"]) == ("proposed", 2)
    assert (proposed["difference"]["entities_before"], proposed["difference"]["entities_after"]) == (2, 2)
    assert (proposed["difference"]["pairs_joined"], proposed["difference"]["pairs_parted"]) == (0, 0)
    moving = await world.ask("POST", "/v2/entities/epochs/performer/2/current", None, 202)
    assert proposed["progress"] is None
    assert moving["state"] == "current" or 0 <= moving["progress"] <= 1
    await world.hand_over(record("gamma", "c1", "Cleo Castillo"))
    (current,) = [one for one in (await world.ask("GET", "/v2/entities/epochs"))["items"] if one["state"] == "current"]
    assert current["number"] == 2
    assert await world.groups() == grouped([["a1", "a2"], ["b1", "b2"], ["c1"]])
    assert (await world.home_of("a1"))["id"] == ada["id"]
    evidence = await world.ask("GET", f"/v2/entities/{bela['id']}/evidence")
    assert {tie["epoch"] for tie in evidence["ties"]} == {2}


async def test_weights_that_are_asked_for_again_under_their_key_are_the_same(world: World) -> None:
    await two(world)
    ask = {"kind": "performer", "learned": False}
    headers = {"Idempotency-Key": "k"}

    answers = [await world.client.post("/v2/entities/epochs", json=ask, headers=headers) for _ in range(2)]
    other = await world.client.post("/v2/entities/epochs", json={**ask, "learned": True}, headers=headers)

    assert [(one.status_code, one.json()["number"]) for one in answers] == [(201, 2), (201, 2)]
    assert (other.status_code, other.json()["type"]) == (422, "/problems/idempotency-mismatch")
    assert len((await world.ask("GET", "/v2/entities/epochs"))["items"]) == 2
