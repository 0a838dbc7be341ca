"""What sources say of people, as records: one spelling, one unit, one address; and files that say what sources are."""

from pathlib import Path
from typing import Any

import pytest

from leasehold.doctor import _sources
from leasehold.linking import PERFORMER, Record, Weights, compare, describe, prior
from leasehold.settings import Settings
from leasehold.sources.bucket import Bucket
from leasehold.sources.catalogue import SHIPPED, read
from leasehold.sources.countries import country_code
from leasehold.sources.declared import canonical
from leasehold.sources.performers import from_stashbox, from_theporndb
from leasehold.sources.urls import Addresses, safe_rule

JSON = dict[str, Any]
UUID = "3cd292bb-e55b-4c4e-8811-583ba6b50598"
KNOWN = Addresses(None)


def boxed(**fields: Any) -> JSON:
    return {"id": "p1", "name": "Liv Thorn", "aliases": [], "urls": [], "images": [], "merged_ids": [], **fields}


def test_a_performer_of_a_stash_box_becomes_a_record() -> None:
    raw = boxed(
        aliases=["Liv  T.", "Liv Thorn"],
        birth_date="1990-07",
        gender="TRANSGENDER_FEMALE",
        height=170,
        eye_color="HAZEL",
        country="US",
        career_start_year=2010,
        merged_ids=["p0"],
        tattoos=[{"location": "arm", "description": "rose"}],
        urls=[
            {"url": "http://www.iafd.com/person.rme/perfid=livt/gender=f/liv.htm", "site": {"id": "s", "name": "IAFD"}}
        ],
        images=[{"url": "https://cdn.example/1.jpg"}],
    )

    mapped = from_stashbox("stashdb", raw, KNOWN)

    assert mapped.faults == []
    assert mapped.item == {
        "source": "stashdb",
        "source_id": "p1",
        "kind": "performer",
        "name": "Liv Thorn",
        "aliases": ["Liv T."],
        "external_ids": {"stashdb": ["p1", "p0"], "iafd": ["livt"]},
        "urls": {"iafd": ["https://iafd.com/person.rme/perfid=livt"]},
        "attributes": {
            "birthdate": "1990-07",
            "gender": "transgender_female",
            "country": "US",
            "eye_color": "hazel",
            "height_cm": 170,
            "career_start": 2010,
            "tattoos": "arm rose",
        },
        "images": ["https://cdn.example/1.jpg"],
    }


def test_a_performer_of_theporndb_has_the_same_words_and_units() -> None:
    extras = {
        "gender": "Female",
        "birthday": "1978-01-01 00:00:00",
        "nationality": "United States",
        "hair_colour": "Brown",
        "eye_colour": "Green",
        "height": "170cm",
        "measurements": "34C-24-36",
        "links": {"StashDB": f"https://stashdb.org/performers/{UUID}", "X": "https://x.com/Liv"},
    }

    mapped = from_theporndb("theporndb", {"id": "t1", "name": "Liv Thorn", "aliases": [], "extras": extras}, KNOWN)

    assert mapped.item is not None
    assert mapped.item["external_ids"] == {"theporndb": ["t1"], "stashdb": [UUID]}
    assert mapped.item["urls"]["twitter"] == ["https://twitter.com/liv"]
    assert mapped.item["attributes"] == {
        "birthdate": "1978-01-01",
        "gender": "female",
        "country": "US",
        "hair_color": "brown",
        "eye_color": "green",
        "height_cm": 170,
        "cup_size": "C",
        "band_size": 34,
        "waist_size": 24,
        "hip_size": 36,
    }


@pytest.mark.parametrize(
    ("told", "known"),
    [("1990", "1990"), ("1990-00-00", "1990"), ("1990-07-00", "1990-07"), ("0000-00-00", None), ("", None)],
)
def test_as_much_of_a_date_is_taken_as_is_known(told: str, known: str | None) -> None:
    mapped = from_stashbox("stashdb", boxed(birth_date=told), KNOWN)

    assert mapped.item is not None
    assert mapped.item["attributes"].get("birthdate") == known
    assert mapped.faults == []


@pytest.mark.parametrize(
    ("fields", "faults", "is_taken"),
    [
        ({"birth_date": "1990-13-01"}, ["birth_date is no date"], True),
        ({"birth_date": 1990}, ["birth_date is no text"], True),
        ({"height": "tall"}, ["height is no number"], True),
        ({"aliases": "Liv"}, ["aliases is no list of texts"], True),
        ({"name": "a\x00b"}, ["it has no name", "name is no text"], False),
        ({"name": "  "}, ["it has no name"], False),
        ({"id": None}, ["it has no id"], False),
    ],
)
def test_what_cannot_be_read_is_said_and_the_rest_is_taken(fields: JSON, faults: list[str], is_taken: bool) -> None:
    mapped = from_stashbox("stashdb", boxed(**fields), KNOWN)

    assert sorted(mapped.faults) == sorted(faults)
    assert (mapped.item is not None) == is_taken


@pytest.mark.parametrize("junk", [None, [], "text", 7, {"id": "x", "name": "y", "extras": []}])
def test_junk_is_no_record_and_no_error(junk: Any) -> None:
    assert from_theporndb("theporndb", junk, KNOWN).item is None


@pytest.mark.parametrize(
    ("url", "namespace", "canonical_url"),
    [
        ("https://www.Twitter.com/Liv_T/", "twitter", "https://twitter.com/liv_t"),
        ("http://x.com/Liv_T?s=20#top", "twitter", "https://twitter.com/liv_t"),
        ("https://www.instagram.com/Liv.T/", "instagram", "https://instagram.com/liv.t"),
        (f"https://stashdb.org/performers/{UUID}/scenes", "stashdb", f"https://stashdb.org/performers/{UUID}"),
        (
            "https://www.babepedia.com/babe/青木_なお",
            "babepedia",
            "https://babepedia.com/babe/%E9%9D%92%E6%9C%A8_%E3%81%AA%E3%81%8A",
        ),
    ],
)
def test_an_address_has_one_spelling(url: str, namespace: str, canonical_url: str) -> None:
    found = KNOWN.read(url)

    assert found is not None
    assert (found.namespace, found.url) == (namespace, canonical_url)


@pytest.mark.parametrize(
    "url",
    [
        "https://liv-thorn.example/",
        "https://twitter.com/",
        "https://twitter.com/a/status/1",
        "ftp://x.com/a",
        "https://[",
        "",
        "x" * 600,
    ],
)
def test_what_is_no_profile_on_a_known_site_is_left_where_it_is(url: str) -> None:
    assert KNOWN.read(url) is None


def test_a_source_may_count_fewer_sites_and_ask_for_one_of_its_own() -> None:
    few = Addresses(["iafd", "clubhouse"])
    few.learn([{"id": "s1", "name": "Club House", "regex": r"(https://club\.example/u/[^/?]+)"}])

    assert few.read("https://twitter.com/liv") is None
    found = few.read("https://club.example/u/liv?tab=2", "s1")
    assert found is not None
    assert (found.namespace, found.url) == ("clubhouse", "https://club.example/u/liv")


@pytest.mark.parametrize("rule", ["(a+)+$", r"(x)\1", "(?=a)b", "(", "a*b*c*d*", "x" * 400, 7, None])
def test_a_rule_that_could_take_for_ever_is_not_followed(rule: Any) -> None:
    assert safe_rule(rule) is None


def test_a_usual_rule_is_followed() -> None:
    assert safe_rule(r"(https?:\/\/(?:www\.)?iafd\.com\/person\.rme\/perfid=[^\/]+).*") is not None


@pytest.mark.parametrize(
    ("text", "code"), [("us", "US"), ("Prague, Czech Republic", "CZ"), ("Atlantis", "Atlantis"), (None, None)]
)
def test_countries_have_one_spelling(text: str | None, code: str | None) -> None:
    assert country_code(text) == code


def test_variants_of_an_address_are_one_source() -> None:
    several = (
        "https://TheporNdb.net/graphql?type=Scene",
        "https://theporndb.net:443/graphql/",
        "https://theporndb.net/graphql#x",
    )

    assert {canonical(one) for one in several} == {"https://theporndb.net/graphql"}


def test_the_same_source_in_two_files_is_told(tmp_path: Path) -> None:
    for name, kind in (("one", "Scene"), ("two", "JAV")):
        text = f"source: {name}\nkind: stashbox\nurl: https://theporndb.net/graphql?type={kind}\nkey_env: KEY\n"
        (tmp_path / f"{name}.yaml").write_text(text)

    found, faults = read(tmp_path)

    assert list(found) == ["one"]
    assert [str(fault) for fault in faults] == ["two.yaml: url: this is the same source as one."]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("key: abc", "key: Extra inputs are not permitted"),
        ("url: http://stash.example/graphql", "url: must start with https://: the key would be sent for all to read"),
        ("url: https://me:secret@stash.example/", "url: must start with https:// and have no name or password in it"),
        ("rate_limit: 0", "rate_limit: Input should be greater than or equal to 1"),
        ("kind: runs", "kind: is stashbox or theporndb; what runs find is there by itself"),
    ],
)
def test_a_file_that_is_wrong_is_told_without_what_it_says(tmp_path: Path, line: str, why: str) -> None:
    name, _, _ = line.partition(":")
    good = {"source": "one", "kind": "stashbox", "url": "https://stash.example/graphql", "key_env": "KEY"}
    good.pop(name, None)
    (tmp_path / "one.yaml").write_text("".join(f"{key}: {value}\n" for key, value in good.items()) + line + "\n")

    found, faults = read(tmp_path)

    assert found == {}
    assert [str(fault) for fault in faults] == [f"one.yaml: {why}"]


def test_the_shipped_sources_are_switched_off_and_compare_no_faces() -> None:
    found, faults = read(SHIPPED)

    assert faults == []
    assert sorted(found) == ["fansdb", "javstash", "pmvstash", "stashdb", "theporndb"]
    assert not any(source.enabled or source.faces == "on" for source in found.values())


def test_a_bucket_gives_one_at_a_time_and_makes_up_for_no_pause() -> None:
    now = [0.0]
    bucket = Bucket(60, lambda: now[0])
    bucket.take()
    now[0] = 100.0

    bucket.take()

    assert bucket.wait_s() == 1.0


def test_a_bucket_is_half_as_fast_after_a_refusal_and_creeps_back() -> None:
    now = [0.0]
    bucket = Bucket(60, lambda: now[0])

    bucket.refused(5)
    refused = bucket.wait_s(), bucket.per_minute
    for _ in range(25):
        bucket.answered()

    assert refused == (5.0, 30.0)
    assert bucket.per_minute == pytest.approx(60.0)


def test_a_bucket_that_was_drained_is_empty() -> None:
    now = [0.0]
    bucket = Bucket(60, lambda: now[0])
    now[0] = 100.0

    bucket.drain()

    assert bucket.wait_s() == 1.0


def test_the_doctor_tells_a_bad_file_and_a_missing_key(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("source: one\nkind: stashbox\nurl: https://stash.example/graphql\nkey_file: key\n")
    chosen = Settings(sources_dir=tmp_path)

    without = _sources(chosen)
    (tmp_path / "key").write_text("k3y")
    well = _sources(chosen)
    file.write_text("source: two\n")
    bad = _sources(chosen)

    assert (without.is_well, well.is_well, bad.is_well) == (False, True, False)
    assert without.detail == f"There is no key for one: put it into {tmp_path}/key."
    assert well.detail == "one is on"
    assert "one.yaml: kind: Field required" in bad.detail


@pytest.mark.parametrize("years", [{"career_start_year": 2010}, {"career_start": 2010}])
def test_when_a_career_began_is_weighed_as_the_policy_says(years: JSON) -> None:
    epoch = prior(PERFORMER)
    mapped = from_stashbox("stashdb", boxed(career_start_year=2010), KNOWN)
    assert mapped.item is not None

    brought = Record("stashdb", "p1", "performer", "Liv Thorn", attributes=mapped.item["attributes"])
    other = Record("web", "w1", "performer", "Liv Thorn", attributes=years)
    evidence = compare(describe(brought, epoch), describe(other, epoch), epoch)

    (part,) = [part for part in evidence.parts if part.field == "career_start"]
    assert (part.outcome, part.bits) == ("equal", round(0.5 * Weights.believed("number").bits()[0], 2))


def test_every_attribute_of_the_policy_is_one_that_sources_bring() -> None:
    extras = {"nationality": "Canadian", "gender": "Female", "ethnicity": "Asian", "birthday": "1990-01-02"}
    raw = {"birth_date": "1990-01-02", "gender": "FEMALE", "ethnicity": "ASIAN", "country": "CA", "height": 170}
    more = {"eye_color": "BROWN", "hair_color": "BROWN", "career_start_year": 2010}
    told = {"height": "170cm", "eye_colour": "Brown", "hair_colour": "Brown", "career_start_year": 2010}
    box = from_stashbox("stashdb", boxed(**raw, **more), KNOWN)
    tpdb = from_theporndb("theporndb", {"id": UUID, "name": "Liv Thorn", "extras": extras | told}, KNOWN)
    weighed = {key for key, one in PERFORMER.attributes.items() if one.compare != "ignore"}

    for mapped in (box, tpdb):
        assert mapped.item is not None
        brought = set(mapped.item["attributes"])
        missing = {key for key in weighed if brought.isdisjoint({key, *PERFORMER.attributes[key].also})}
        assert missing == set()
