"""The published session vectors pass in every order, and one that does not hold is reported as such."""

import copy
import json
from typing import Any

import pytest

from leasehold.sessions.conformance import run_vectors
from leasehold.sites import Outcome, VectorsMalformed
from tests.sessions.states import DATA, cookie, state

VECTORS: list[dict[str, Any]] = json.loads((DATA / "merge_vectors.json").read_text("utf-8"))
OUTCOMES = list(run_vectors(VECTORS))


def run(**vector: Any) -> Outcome:
    return next(run_vectors([vector]))


def upload(uid: str, t: float, held: dict[str, Any], base: Any = "fresh", **other: Any) -> dict[str, Any]:
    return {"uid": uid, "t": t, "state": held, "base": base, **other}


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.name)
def test_a_published_vector_holds(outcome: Outcome) -> None:
    assert outcome.passed, outcome.difference


def test_every_vector_has_an_outcome() -> None:
    assert [outcome.name for outcome in OUTCOMES] == [vector["id"] for vector in VECTORS]
    assert len(OUTCOMES) == 35


def test_a_vector_that_does_not_hold_is_one_line_with_the_difference() -> None:
    vector = copy.deepcopy(next(vector for vector in VECTORS if vector["id"] == "M05"))
    vector["expect"]["cookies"][0]["value"] = "A"

    outcome = next(run_vectors([vector]))

    assert not outcome.passed
    assert outcome.difference == (
        "M05: cookie a.example/ sid: expected ['A', -1, False, True, 'Lax'], got ['B', -1, False, True, 'Lax']"
        " (arrived: ua, ub)"
    )


def test_what_was_rejected_is_counted() -> None:
    outcome = run(uploads=[upload("u", 1, state(cookie("a", ";")))], expect=state(), rejected=0)

    assert outcome.difference.startswith("vector 1: expected 0 rejected, got 1")


def test_a_vector_that_cannot_be_run_fails_alone() -> None:
    outcomes = list(run_vectors([{"id": "X"}, VECTORS[0]]))

    assert [outcome.passed for outcome in outcomes] == [False, True]
    assert outcomes[0].difference == "X: the vector cannot be run: KeyError: 'uploads'"


@pytest.mark.parametrize("document", [{}, "x", [1], None])
def test_a_document_that_is_no_list_of_vectors_is_refused(document: Any) -> None:
    with pytest.raises(VectorsMalformed):
        run_vectors(document)


def test_a_base_may_be_named_by_its_upload() -> None:
    uploads = [upload("u0", 1, state(cookie("a"), cookie("b"))), upload("u1", 2, state(cookie("a")), "=u0")]

    assert run(uploads=uploads, expect=state(cookie("a"))).passed


def test_a_vector_may_have_a_scope() -> None:
    held = state(cookie("a"), cookie("b", domain="b.example"))

    assert run(uploads=[upload("u", 1, held)], scope=["a.example"], expect=state(cookie("a")), rejected=0).passed


def test_a_vector_may_expect_a_refusal() -> None:
    assert run(uploads=[upload("u", 1, {"cookies": 1})], refused=True, expect=state()).passed
    assert not run(uploads=[upload("u", 1, {"cookies": 1})], expect=state()).passed


def test_times_may_come_from_three_clocks() -> None:
    early = {"uid": "u2", "received_at": 1000, "sent_at": 500, "captured_at": 400, "state": state(cookie("a", "old"))}
    late = upload("u1", 950, state(cookie("a", "new")))

    assert run(uploads=[early, late], expect=state(cookie("a", "new"))).passed
