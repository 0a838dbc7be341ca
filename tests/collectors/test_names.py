"""When two sellers' names are the same."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leasehold.collectors import normalised_name


@pytest.mark.parametrize(
    "spelt",
    [
        "best deals 99",
        "BEST DEALS 99",
        "  Best\t Deals\u00a099 ",
        "BestDeals99",
        "best-deals_99",
        "Best.Deals (99)!",
        "\uff22\uff25\uff33\uff34\u3000deals\uff19\uff19",
        "be\u200bst deals 99",
        "best deals \u2079\u2079",
    ],
)
def test_case_width_spaces_and_punctuation_tell_no_names_apart(spelt: str) -> None:
    assert normalised_name(spelt) == "bestdeals99"


@pytest.mark.parametrize(
    ("one", "other"),
    [("best deals 9", "best deals 99"), ("müller", "muller"), ("save", "$ave"), ("***", "!!!"), ("a", "\u0430")],
)
def test_everything_else_does(one: str, other: str) -> None:
    assert normalised_name(one) != normalised_name(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("STRASSE", "straße"), ("Cafe\u0301", "CAFÉ"), ("e-\u0301", "é"), ("ﬁne", "FINE"), ("ΣΊΣΥΦΟΣ", "σίσυφος")],
)
def test_letters_are_folded_as_their_scripts_do(one: str, other: str) -> None:
    assert normalised_name(one) == normalised_name(other)


@given(st.text(max_size=12))
@example("\u0345-a")
def test_a_name_that_is_normalised_stays_as_it_is(name: str) -> None:
    once = normalised_name(name)

    assert normalised_name(once) == once


@given(st.text(max_size=12))
def test_capitals_make_no_other_name(name: str) -> None:
    assert normalised_name(name.casefold()) == normalised_name(name)
