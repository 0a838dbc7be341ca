"""The published URL vectors pass, and a vector that does not hold is reported as such."""

import json
from pathlib import Path
from typing import Any

import pytest

from leasehold.sites.conformance import Outcome, VectorsMalformed, run_vectors

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data/urls/vectors.json").read_text("utf-8"))
OUTCOMES = list(run_vectors(DOCUMENT))


def run(**vector: Any) -> Outcome:
    """One vector against the published registries."""
    return next(run_vectors({"registries": DOCUMENT["registries"], "vectors": [vector]}))


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: ascii(outcome.name))
def test_a_published_vector_holds(outcome: Outcome) -> None:
    assert outcome.passed, outcome.difference


def test_every_vector_has_an_outcome_in_the_order_of_the_file() -> None:
    names = [vector.get("id") or vector.get("host") for vector in DOCUMENT["vectors"]]

    assert len(OUTCOMES) == len(names) == 56
    assert all(name in ("", outcome.name) for name, outcome in zip(names, OUTCOMES, strict=True))


def test_a_wrong_url_fails_with_the_difference() -> None:
    outcome = run(
        kind="url", id="W1", registry="basic", url="https://board1.example/x", expect="https://x/", verdict="unchanged"
    )

    assert outcome == Outcome(
        "W1", False, "W1: expected 'https://x/' (unchanged), got 'https://board2.example/x' (rewritten)"
    )


def test_a_right_url_with_the_wrong_verdict_fails() -> None:
    url = "https://board2.example/"

    outcome = run(kind="url", id="W2", registry="basic", url=url, expect=url, verdict="rewritten")

    assert not outcome.passed


def test_a_wrong_host_fails_with_the_difference() -> None:
    outcome = run(kind="host", host="com", expect="public-suffix")

    assert outcome == Outcome("com", False, "com: expected 'public-suffix', got 'single-label'")


def test_a_vector_may_ask_about_the_past() -> None:
    url = "https://board1.example/x"

    assert run(kind="url", registry="basic", url=url, at=50, expect=url, verdict="unchanged").passed


@pytest.mark.parametrize("kind", ["resolve", "time"])
@pytest.mark.parametrize(("at", "site"), [(5, "x"), (30, "x"), (60, "y")])
@pytest.mark.parametrize(
    "question", [{"url": "https://old.example/p"}, {"url": "old.example"}, {"host": "old.example"}]
)
def test_a_vector_may_ask_whose_a_url_was(kind: str, at: int, site: str, question: dict[str, str]) -> None:
    assert run(kind=kind, registry="reuse", at=at, expect=site, **question).passed
    assert run(kind=kind, registry="reuse", at=at, site=site, **question).passed
    assert not run(kind=kind, registry="reuse", at=at, expect="z", **question).passed


@pytest.mark.parametrize("expect", [None, "unmanaged"])
def test_a_vector_may_expect_that_a_url_is_nobodys(expect: str | None) -> None:
    assert run(kind="resolve", registry="reuse", url="https://nobody.example/", expect=expect).passed


def test_a_vector_may_expect_a_whole_reference() -> None:
    asked = {"kind": "resolve", "registry": "basic", "url": "https://img.board1.example/p?q"}

    assert run(**asked, expect={"site": "board", "sub": "img", "rest": "/p?q"}).passed
    assert not run(**asked, expect={"site": "board", "sub": "", "rest": "/p?q"}).passed


@pytest.mark.parametrize("kind", ["render", "time"])
@pytest.mark.parametrize("field", ["rest", "path"])
def test_a_vector_may_ask_how_a_path_was_rendered(kind: str, field: str) -> None:
    asked = {"kind": kind, "registry": "reuse", "site": "x", field: "/p", "at": 5}

    assert run(**asked, expect="https://old.example/p").passed
    assert not run(**asked, expect="https://x.example/p").passed


def test_a_vector_may_expect_that_rendering_is_refused() -> None:
    asked = {"kind": "render", "registry": "nosub", "site": "n", "sub": "img", "rest": "/"}

    assert run(**asked, expect="refused:subdomain-not-mapped").passed


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        ({"kind": "cookie"}, "no vector is of kind 'cookie'"),
        ({}, "no vector is of kind None"),
        ({"kind": ["url"]}, "no vector is of kind ['url']"),
        ({"kind": "host", "expect": "x"}, "the vector has no text in 'host'"),
        ({"kind": "host", "host": "a.example"}, "the vector has no text in 'expect'"),
        ({"kind": "url", "url": "x", "expect": "x", "registry": "none"}, "the document has no registry 'none'"),
        ({"kind": "url", "url": "x", "expect": "x", "registry": []}, "the document has no registry []"),
        ({"kind": "url", "url": "x", "expect": "x", "registry": "basic"}, "the vector has no text in 'verdict'"),
        ({"kind": "resolve", "url": "x", "registry": "basic", "at": "5"}, "its time '5' is not a number"),
        ({"kind": "render", "site": "x", "registry": "reuse"}, "the vector has no text in 'rest' or 'path'"),
    ],
)
def test_a_vector_that_cannot_be_run_fails_and_says_why(vector: dict[str, Any], why: str) -> None:
    outcome = run(id="V", **vector)

    assert outcome == Outcome("V", False, f"V: {why}")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], "not a JSON object"),
        ({}, "`vectors` is missing"),
        ({"vectors": {}}, "not a list of objects"),
        ({"vectors": ["D02"]}, "not a list of objects"),
        ({"vectors": [], "registries": []}, "`registries` is not an object"),
        ({"vectors": [], "registries": {"r": []}}, "cannot be built"),
        ({"vectors": [], "registries": {"r": {"s": {}, "t": None}}}, "cannot be built"),
        ({"vectors": [], "registries": {"r": {"s": [{}]}}}, "KeyError: 'host'"),
        ({"vectors": [], "registries": {"r": {"s": ["a.example"]}}}, "cannot be built"),
        ({"vectors": [], "registries": {"r": {"s": [{"host": 1}]}}}, "cannot be built"),
        ({"vectors": [], "registries": {"r": {"s": [{"host": "a.example", "trust": "much"}]}}}, "'much'"),
        ({"vectors": [], "registries": {"r": {"s": [{"host": "a.example", "port": "x"}]}}}, "'x'"),
        ({"vectors": [], "registries": {"r": {"s": [{"host": "a.example", "fold": "www"}]}}}, "list of labels"),
        ({"vectors": [], "registries": {"r": {"s": [{"host": "a.b"}], "t": [{"host": "a.b"}]}}}, "both claim"),
    ],
)
def test_a_document_that_cannot_be_run_is_refused_with_a_sentence(document: Any, why: str) -> None:
    with pytest.raises(VectorsMalformed) as refused:
        run_vectors(document)

    assert why in str(refused.value)
