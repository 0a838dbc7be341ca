"""Learning: without labels, without an order, and open to what reviewers say."""

import json
import random
from itertools import combinations

import pytest

from leasehold.linking import DEFAULT, Epoch, Policy, Record, compare, describe, learn, learning, prior
from tests.linking.conftest import Town


def test_the_order_of_the_records_changes_nothing(town: Town, epoch: Epoch) -> None:
    records, _ = town

    again = learn(random.Random(5).sample(records, len(records)), DEFAULT)  # noqa: S311

    assert again.version == epoch.version
    assert again.to_json() == epoch.to_json()


def test_nor_does_it_where_only_a_sample_is_looked_at(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    records, _ = town
    monkeypatch.setattr(learning, "NEAR", 4000)
    monkeypatch.setattr(learning, "CHANCE", 4000)

    one, other = learn(records, DEFAULT), learn(records[::-1], DEFAULT)

    assert one.version == other.version


def test_an_epoch_is_read_back_as_it_was(epoch: Epoch) -> None:
    read = Epoch.from_json(json.loads(json.dumps(epoch.to_json())))

    assert read == epoch


def test_an_epoch_that_was_changed_is_not_read(epoch: Epoch) -> None:
    document = json.loads(json.dumps(epoch.to_json()))
    document["odds"] += 1

    with pytest.raises(ValueError, match="was changed"):
        Epoch.from_json(document)


def test_types_are_those_the_values_show(epoch: Epoch) -> None:
    shown = {key: weights.compare for key, weights in epoch.weights.items()}

    assert shown == {"name": "name", "born": "date", "height": "number", "town": "category", "trade": "category"}


def test_what_tells_people_apart_weighs_more(epoch: Epoch) -> None:
    equal = {key: weights.bits()[0] for key, weights in epoch.weights.items()}

    assert equal["born"] > equal["height"] > equal["trade"] > 0


def test_a_rare_name_says_more_than_a_common_one(town: Town) -> None:
    records, _ = town
    crowd = [Record("file", f"x{n}", "person", f"John Smith{n}") for n in range(200)]
    epoch = learn(records + crowd, DEFAULT)

    def shared(name: str) -> float:
        a, b = (describe(Record("file", at, "person", name), epoch) for at in ("a", "b"))
        return compare(a, b, epoch).bits

    assert shared("John Ravenscroft") < shared("Balthasar Ravenscroft")


def test_columns_that_repeat_the_name_are_not_counted_twice(town: Town, epoch: Epoch) -> None:
    records, _ = town
    repeated = [
        Record(
            r.source,
            r.source_id,
            r.kind,
            r.name,
            attributes={**r.attributes, "first": r.name.split()[0], "last": r.name.split()[-1]},
        )
        for r in records
    ]

    learned = learn(repeated, DEFAULT)

    assert {learned.weights[key].compare for key in ("first", "last")} == {"ignore"}
    assert learned.weights["born"] == epoch.weights["born"]


def test_reviewers_are_listened_to(town: Town, epoch: Epoch) -> None:
    records, _ = town
    by_name: dict[str, list[Record]] = {}
    for record in records:
        by_name.setdefault(record.name, []).append(record)
    doubted = [pair for same in by_name.values() for pair in combinations(same, 2)]
    assert doubted

    learned = learn(records, DEFAULT, [(a, b, False) for a, b in doubted])
    assert learned.version == learn(records, DEFAULT, [(b, a, False) for a, b in reversed(doubted)]).version

    assert learned.weights["name"].bits()[0] < epoch.weights["name"].bits()[0] - 0.5


def test_common_keys_are_hubs_and_left_out(town: Town) -> None:
    records, _ = town
    shared = {"home": ("https://everybody.example/",)}
    linked = [Record(r.source, r.source_id, r.kind, r.name, urls=shared, attributes=r.attributes) for r in records]

    epoch = learn(linked, DEFAULT)

    a, b = (describe(record, epoch) for record in linked[:2])
    assert "url|everybody.example" in epoch.hubs
    assert "url|everybody.example" not in a.keys
    assert "urls" not in {part.field for part in compare(a, b, epoch).parts}


def test_keys_may_be_called_anything(town: Town) -> None:
    records, _ = town
    odd = {"name": "x", "a:b": "1990-02-03", "prior": "p q r s"}
    named = [Record(r.source, r.source_id, r.kind, r.name, attributes={**r.attributes, **odd}) for r in records[:60]]
    named += [Record(r.source, r.source_id, r.kind, r.name, attributes={"a:b": "1991-02-03"}) for r in records[60:]]

    epoch = learn(named, DEFAULT)

    assert epoch.weights["name"].compare == "name"
    assert describe(named[0], epoch).keys


def test_few_records_teach_nothing() -> None:
    assert learn([], DEFAULT) == prior(DEFAULT)


def test_a_key_that_no_epoch_knows_is_compared_by_its_type(epoch: Epoch) -> None:
    a, b = (describe(Record("x", at, "person", "x y", attributes={"seen": "2020-02-02"}), epoch) for at in "ab")

    assert [part.outcome for part in compare(a, b, epoch).parts if part.field == "seen"] == ["equal"]


def test_another_policy_is_another_version() -> None:
    assert prior(DEFAULT).version != prior(Policy.parse({"join": 5})).version
