"""Ids: a prefix, a UUID that sorts by time, and no other spelling."""

import pytest

from leasehold import ids


def test_an_id_comes_back_as_it_was_shown() -> None:
    value = ids.uuid7()

    assert ids.parse("tok", ids.show("tok", value)) == value


def test_ids_sort_by_the_time_they_were_made() -> None:
    made = [ids.uuid7() for _ in range(1000)]

    assert made == sorted(made)
    assert {value.version for value in made} == {7}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tok",
        "tok_",
        "tok_" + "0" * 31,
        "tok_" + "0" * 33,
        "acct_" + "0" * 32,
        "tok_" + "A" * 32,
        "tok_" + "g" * 32,
        "tok_" + "0" * 30 + "\u0660\u0660",
        "tok_00000000-0000-0000-0000-00000000",
        " tok_" + "0" * 32,
    ],
)
def test_another_spelling_names_nothing(text: str) -> None:
    assert ids.parse("tok", text) is None
