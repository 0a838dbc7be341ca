"""Evidence: symmetric, adding up, and naming what speaks against."""

from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leasehold.linking import DEFAULT, PERFORMER, Epoch, Evidence, Policy, Record, compare, describe, prior, weigher
from tests.linking.conftest import Town

CURATED = PERFORMER.curating(["box"])


def performer(source_id: str, *, source: str = "box", name: str = "Ada Lovelace", **more: object) -> Record:
    ids = more.pop("ids", {})
    urls = more.pop("urls", {})
    assert isinstance(ids, dict)
    assert isinstance(urls, dict)
    return Record(source, source_id, "performer", name, external_ids=ids, urls=urls, attributes=more)


def compared(a: Record, b: Record, policy: Policy = PERFORMER) -> Evidence:
    epoch = prior(policy)
    return compare(describe(a, epoch), describe(b, epoch), epoch)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_evidence_is_symmetric_and_adds_up(data: st.DataObject, town: Town, epoch: Epoch) -> None:
    records, _ = town
    a, b = (describe(data.draw(st.sampled_from(records)), epoch) for _ in range(2))

    there, back = compare(a, b, epoch), compare(b, a, epoch)

    assert there.bits == back.bits == round(sum(part.bits for part in there.parts), 2)
    assert [(p.field, p.outcome, p.bits) for p in there.parts] == [(p.field, p.outcome, p.bits) for p in back.parts]
    assert there.conflicts == back.conflicts


def test_weighing_is_comparing_without_the_parts(town: Town, epoch: Epoch) -> None:
    records, truth = town
    likely = [(a, b) for a, b in combinations(records, 2) if truth[a.place] == truth[b.place]]
    strangers = list(combinations(records[:40], 2))

    for one, other in likely + strangers:
        a, b = describe(one, epoch), describe(other, epoch)
        bits = compare(a, b, epoch).bits

        assert weigher(epoch)(a, b) == (bits if bits >= epoch.policy.keep else None)


def test_weighing_knows_ids_addresses_and_curated_sources_too() -> None:
    everything = replace(CURATED, keep=-99.0)
    epoch = prior(everything)
    url = {"site": ("https://site.example/ada",)}
    records = [
        performer(f"{n}", source=source, name=name, ids=ids, urls=urls, gender="female", seen="2020-02-02")
        for n, (source, name, ids, urls) in enumerate(
            product(("box", "web"), ("Ada Lovelace", "Bela B."), ({}, {"iafd": ("7",)}, {"iafd": ("8",)}), ({}, url))
        )
    ]

    for one, other in combinations(records, 2):
        a, b = describe(one, epoch), describe(other, epoch)

        assert weigher(epoch)(a, b) == compare(a, b, epoch).bits


def test_the_step_is_the_strongest_reason() -> None:
    known = performer("1", ids={"iafd": ("7",)}, urls={"site": ("https://www.site.example/ada/",)})

    by_id = compared(known, performer("2", source="other", name="A. L.", ids={"iafd": ("7",)}))
    by_url = compared(known, performer("2", source="other", urls={"web": ("http://site.example/ada?utm_source=x",)}))
    by_name = compared(known, performer("2", source="other"))

    assert [one.step for one in (by_id, by_url, by_name)] == ["explicit_id", "external_url", "name_metadata"]
    assert by_id.bits >= PERFORMER.join
    assert by_url.bits >= PERFORMER.join


def test_conflicts_are_named_and_cost_bits() -> None:
    a = performer("1", ids={"iafd": ("7",)}, birthdate="1990-01-02", gender="female")
    b = performer("2", ids={"iafd": ("8",)}, birthdate="1934-05-06", gender="male")

    evidence = compared(a, b, CURATED)

    assert evidence.conflicts == ("birthdate-differs", "gender-differs", "ids-differ", "same-curated-source")
    assert all(part.bits < 0 for part in evidence.parts if part.field in ("birthdate", "gender", "ids", "curated"))


@pytest.mark.parametrize("policy", [PERFORMER, DEFAULT])
@pytest.mark.parametrize("name", ["Bela Brandt", "Ada Brandt", "Anna Lovelace"])
def test_an_address_under_different_names_is_no_reason_by_itself(name: str, policy: Policy) -> None:
    page = {"twitter": ("https://twitter.com/northlight_studio",)}
    like = {"gender": "female", "country": "gb", "ethnicity": "caucasian"}
    ada, other = (
        performer("1", source=source, name=name, urls=page, **like)
        for source, name in (("a", "Ada Lovelace"), ("b", name))
    )

    evidence = compared(ada, other, policy)

    assert evidence.bits < policy.join
    assert evidence.conflicts == ("name-differs",)
    assert [part.bits for part in evidence.parts if part.field == "urls"] == [26.0, -16.0]


def test_an_address_under_different_names_counts_with_what_goes_with_it() -> None:
    page = {"site": ("https://site.example/ada",)}
    like = {"birthdate": "1990-12-10", "gender": "female", "country": "gb", "height": "165cm"}

    evidence = compared(
        performer("1", source="a", urls=page, **like), performer("2", source="b", name="Countess", urls=page, **like)
    )

    assert evidence.bits >= PERFORMER.join


@pytest.mark.parametrize("name", ["Ada L.", "Ada", "Lovelase, Ada", "エイダ"])
def test_names_that_do_not_contradict_leave_an_address_its_worth(name: str) -> None:
    page = {"site": ("https://site.example/ada",)}

    evidence = compared(performer("1", source="a", urls=page), performer("2", source="b", name=name, urls=page))

    assert evidence.bits >= PERFORMER.join
    assert evidence.conflicts == ()


def test_an_epoch_frozen_before_there_was_such_evidence_has_none_of_it() -> None:
    frozen = prior(replace(PERFORMER, url_conflict_bits=0.0))

    assert "url_conflict_bits" not in frozen.to_json()["policy"]
    assert Epoch.from_json(frozen.to_json()) == frozen


def test_ids_differ_only_where_none_is_shared() -> None:
    a = performer("1", source="a", ids={"iafd": ("7", "8")})
    b = performer("2", source="b", ids={"iafd": ("8", "9")})

    assert compared(a, b).conflicts == ()


def test_what_is_missing_says_nothing() -> None:
    a, b = performer("1", source="a", birthdate="1990-01-02"), performer("2", source="b")

    assert {part.field for part in compared(a, b).parts} == {"prior", "name"}


def test_evidence_can_be_kept_as_json() -> None:
    document = compared(performer("1", source="a"), performer("2", source="b")).to_json()

    assert set(document) == {"bits", "step", "parts", "conflicts"}
    assert document["parts"][1] == {
        "field": "name",
        "outcome": "same",
        "bits": document["parts"][1]["bits"],
        "left": "ada lovelace",
        "right": "ada lovelace",
    }
