"""The simulated boxes answer as real ones do, refusals and oddities and all."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from leasehold.simulate import People, StashBoxes
from leasehold.sources.stashbox import LIST, ONE, SITES
from tests.parts.boxes import Served, served

JSON = dict[str, Any]


@pytest.fixture(scope="module")
def boxes() -> Iterator[Served]:
    with served(people=120) as made:
        yield made


def ask(boxes: Served, query: str, key: str = "any", box: str = "stashdb", **variables: Any) -> httpx.Response:
    headers = {"ApiKey": key} if key else {}
    body = {"query": query, "variables": variables}
    return httpx.post(f"{boxes.address}/{box}/graphql", json=body, headers=headers, trust_env=False)


def listed(boxes: Served, **wish: Any) -> JSON:
    found: JSON = ask(boxes, LIST, input=wish).json()["data"]["queryPerformers"]
    return found


def ids(found: JSON) -> list[str]:
    return [one["id"] for one in found["performers"]]


def test_what_we_ask_a_box_is_in_its_schema(boxes: Served) -> None:
    one = ids(listed(boxes, per_page=1))[0]

    answers = [ask(boxes, LIST, input={}), ask(boxes, ONE, id=one), ask(boxes, SITES)]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert all("errors" not in answer.json() for answer in answers)
    assert answers[1].json()["data"]["findPerformer"]["id"] == one


def test_who_has_no_key_is_refused_as_there(boxes: Served) -> None:
    answer = ask(boxes, LIST, key="", input={})

    assert answer.status_code == 200
    assert answer.json()["data"] is None
    assert answer.json()["errors"][0]["message"] == "not authorized"


def test_what_is_not_in_the_schema_is_refused(boxes: Served) -> None:
    answer = ask(boxes, "{ queryPerformers(input: {}) { count performers { id shoe_size } } }")

    assert answer.status_code == 422
    assert "shoe_size" in answer.json()["errors"][0]["message"]


def test_some_filters_work_and_others_are_silently_ignored(boxes: Served) -> None:
    whole = listed(boxes)["count"]

    narrowed = listed(boxes, gender="MALE")["count"]
    ignored = listed(boxes, alias="nobody", height={"value": 1, "modifier": "EQUALS"})["count"]

    assert 0 < narrowed < whole
    assert ignored == whole


def test_equal_rows_swap_between_requests_and_the_same_start_swaps_them_the_same_way() -> None:
    def pages() -> list[list[str]]:
        box = StashBoxes(People(120, 3)).boxes["stashdb"]
        return [[row["id"] for row in box.page("created", False, None, page, 10)[1]] for page in (1, 1, 2, 3)]

    first, again = pages(), pages()

    assert first == again
    assert first[0] != first[1]
    assert len({one for page in first[1:] for one in page}) < 30


def test_a_deleted_row_is_in_no_list_and_can_be_found(boxes: Served) -> None:
    gone, into, *_ = ids(listed(boxes, per_page=5))
    count = listed(boxes)["count"]

    done = httpx.put(
        f"{boxes.address}/control", json={"box": "stashdb", "merge": {"from": gone, "into": into}}, trust_env=False
    )

    assert done.status_code == 200
    assert listed(boxes)["count"] == count - 1
    found = ask(boxes, ONE, id=gone).json()["data"]["findPerformer"]
    assert (found["deleted"], found["merged_into_id"]) == (True, into)
    survivor = ask(boxes, ONE, id=into).json()["data"]["findPerformer"]
    assert gone in survivor["merged_ids"]
    assert ids(listed(boxes, per_page=1, sort="UPDATED_AT"))[0] == into


def test_a_box_is_told_how_to_behave_and_counts_what_it_is_asked(boxes: Served) -> None:
    control = f"{boxes.address}/control"
    httpx.delete(f"{control}/requests", trust_env=False)
    wish = {"box": "fansdb", "mode": "rate_limited", "times": 1, "retry_after_seconds": 7}

    told = httpx.put(control, json=wish, trust_env=False)
    refused = ask(boxes, SITES, box="fansdb")
    answered = ask(boxes, SITES, box="fansdb")
    wrong = httpx.put(control, json={"box": "nobody"}, trust_env=False)

    assert told.status_code == 200
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "7")
    assert answered.status_code == 200
    assert wrong.status_code == 422
    counts = httpx.get(f"{control}/requests", trust_env=False).json()
    assert (counts["total"], counts["fansdb"]) == (2, {"querySites": 2})


def test_the_rest_dialect_has_its_envelope_and_wants_a_token(boxes: Served) -> None:
    address = f"{boxes.address}/theporndb/performers"

    refused = httpx.get(address, trust_env=False)
    page = httpx.get(address, params={"per_page": 5}, headers={"Authorization": "Bearer any"}, trust_env=False).json()
    one = httpx.get(f"{address}/{page['data'][0]['id']}", headers={"Authorization": "Bearer any"}, trust_env=False)
    nobody = httpx.get(f"{address}/nobody", headers={"Authorization": "Bearer any"}, trust_env=False)

    assert (refused.status_code, nobody.status_code) == (401, 404)
    assert page["meta"]["total"] == len(boxes.live("theporndb"))
    assert page["meta"]["last_page"] == -(-page["meta"]["total"] // 5)
    assert page["links"]["next"].endswith("page=2")
    assert one.json()["data"] == page["data"][0]
    assert {"birthday", "hair_colour", "links"} <= page["data"][0]["extras"].keys()


def test_the_truth_names_every_row_once(boxes: Served) -> None:
    truth = httpx.get(f"{boxes.address}/truth", trust_env=False).json()

    places = [(place["source"], place["source_id"]) for several in truth.values() for place in several]
    assert len(places) == len(set(places))
    assert set(places) == {(name, one) for name in boxes.boxes.names for one in boxes.live(name)}


def test_pictures_can_be_fetched(boxes: Served) -> None:
    several = [image["url"] for one in listed(boxes)["performers"] for image in one["images"]]

    answer = httpx.get(several[0], trust_env=False)

    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")
