"""Values of attributes: types they show, and levels of likeness."""

import pytest

from leasehold.linking import DEFAULT, Policy, Record, compare, describe, prior


def outcome(key: str, a: object, b: object, policy: Policy = DEFAULT) -> str:
    epoch = prior(policy)
    left, right = (
        describe(Record("file", name, "thing", "x", attributes={key: value}), epoch)
        for name, value in [("1", a), ("2", b)]
    )
    found = [part for part in compare(left, right, epoch).parts if part.field == key]
    return found[0].outcome if found else "missing"


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("1956-04-09", "19560409", "equal"),
        ("1978-01-31 00:00:00", "1978-01-31", "equal"),
        ("1978-03-31", "1978-03", "same month"),
        ("1978-03-31", "1978", "same year"),
        ("1978-03-11", "1978-11-03", "swapped"),
        ("1978-03-11", "1978-03-12", "one digit"),
        ("1978-03-11", "1978-07-25", "year alone"),
        ("1978-03-11", "1979-07-25", "close"),
        ("1978-03-11", "1934-07-25", "different"),
        ("1978-03-11", "", "missing"),
    ],
)
def test_dates_are_compared_at_the_precision_both_have(a: str, b: str, said: str) -> None:
    policy = Policy.parse({"attributes": {"born": "date"}})

    assert outcome("born", a, b, policy) == said
    assert outcome("born", b, a, policy) == said


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("170cm", 170, "equal"),
        ("$12.50", 12.5, "equal"),
        (4512, 4521, "one digit"),
        (170, 172, "close"),
        (170, 180, "near"),
        (170, 99, "different"),
        (None, 99, "missing"),
    ],
)
def test_numbers_may_have_units(a: object, b: object, said: str) -> None:
    assert outcome("height", a, b) == said


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("12 Ventura Blvd.", "12 ventura blvd", "equal"),
        ("rue de la paix", "rue de la paixx", "alike"),
        ("baker street east london", "baker street london", "alike"),
        ("baker street", "baker road", "some"),
        ("n/a", "baker road", "missing"),
        (["red", "green"], ["green", "blue"], "equal"),
    ],
)
def test_texts_are_compared_by_errors_and_by_words(a: object, b: object, said: str) -> None:
    assert outcome("street", a, b) == said


def test_what_the_policy_ignores_is_no_evidence() -> None:
    policy = Policy.parse({"attributes": {"home": "ignore"}})

    assert outcome("home", "baker street", "baker street", policy) == "missing"


def test_other_keys_can_mean_the_same() -> None:
    policy = Policy.parse({"attributes": {"eye_color": {"compare": "category", "also": ["eye_colour"]}}})
    epoch = prior(policy)
    a = describe(Record("us", "1", "person", "x", attributes={"eye_color": "Blue"}), epoch)
    b = describe(Record("uk", "1", "person", "x", attributes={"eye_colour": "blue"}), epoch)

    assert [part.outcome for part in compare(a, b, epoch).parts if part.field == "eye_color"] == ["equal"]
