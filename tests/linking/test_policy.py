"""Policies: read from YAML, with errors that say what to change, and the example of the docs."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import leasehold
from leasehold.linking import PERFORMER, Attribute, Policy, PolicyFault, Record, describe, prior

DOCS = Path(leasehold.__file__).parents[2] / "docs" / "linking.md"


def test_the_example_of_the_docs_can_be_used() -> None:
    found = re.search(r"```yaml\n(.+?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found

    policies = {kind: Policy.parse(document) for kind, document in yaml.safe_load(found[1])["kinds"].items()}

    performer = policies["performer"]
    assert performer.exclusive == {"iafd", "stashdb", "wikidata"}
    assert performer.curated == {"stashdb", "theporndb"}
    assert performer.attributes["birthdate"] == Attribute("date", ("birth_date", "birthday", "dob"), 1.0, conflict=True)
    assert policies["paper"].join == 3.0


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"jion": 3}, "jion: no such setting"),
        ({"join": "3"}, "join: '3' is no number"),
        ({"join": True}, "join: True is no number"),
        ({"hub": 2.5}, "hub: 2.5 is no whole number"),
        ({"hub": 1}, "hub: must be at least 2"),
        ({"nicknames": "yes"}, "nicknames: 'yes' is neither true nor false"),
        ({"curated": "stashdb"}, "curated: 'stashdb' is no list"),
        ({"exclusive": [1]}, "exclusive: every entry must be text"),
        ({"attributes": ["born"]}, "attributes: \\['born'\\] is no mapping"),
        ({"attributes": {"name": "text"}}, "attributes.name: the name of a record is no attribute"),
        ({"attributes": {"born": 1}}, "attributes.born: must name a comparison"),
        ({"attributes": {"born": "day"}}, "attributes.born.compare: 'day' is none of date, number"),
        ({"attributes": {"born": {"compares": "date"}}}, "attributes.born.compares: no such setting"),
        ({"join": -9}, "keep, review, join and ceiling must not fall"),
    ],
)
def test_a_policy_that_cannot_be_says_why(document: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyFault, match=said):
        Policy.parse(document)


def test_a_policy_is_read_back_as_it_was_written() -> None:
    policy = PERFORMER.curating(["stashdb"])

    assert Policy.parse(policy.to_json()) == policy


def test_what_a_performer_is_called_in_law_is_no_evidence() -> None:
    epoch = prior(PERFORMER)
    plain = describe(Record("a", "1", "performer", "Ada"), epoch)

    told = describe(Record("a", "1", "performer", "Ada", attributes={"legal_name": "A. Byron", "address": "x"}), epoch)

    assert (told.values, told.extra, told.keys) == (plain.values, plain.extra, plain.keys)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.site.example/ada/",
        "http://site.example/ada",
        "SITE.example/ada?utm_source=x&fbclid=y#top",
        "//site.example/ada",
    ],
)
def test_addresses_are_one_whatever_surrounds_them(url: str) -> None:
    features = describe(Record("a", "1", "performer", "Ada", urls={"site": (url,)}), prior(PERFORMER))

    assert features.urls == {"site.example/ada"}
    assert "url|site.example/ada" in features.keys


@pytest.mark.parametrize("url", ["", "none", "http://[broken", "localhost/x"])
def test_what_is_no_address_is_no_key(url: str) -> None:
    assert describe(Record("a", "1", "performer", "Ada", urls={"site": (url,)}), prior(PERFORMER)).urls == frozenset()
