"""The table of mutants fits the code: each changes something, and the tests that should notice are there."""

from pathlib import Path

import pytest

from scripts.mutant_table import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]


def is_there(root: Path, test: str) -> bool:
    """Whether there is such a folder or file, with such a test in it."""
    file, _, name = test.partition("::")
    return (root / file).exists() and (not name or f"def {name}(" in (root / file).read_text())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.promise)
def test_a_mutant_finds_its_words(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text()

    assert mutant.words in text
    assert mutant.words != mutant.instead
    assert [test for test in mutant.tests.split() if not is_there(ROOT, test)] == []


def test_no_promise_is_named_twice() -> None:
    assert len({mutant.promise for mutant in MUTANTS}) == len(MUTANTS)
