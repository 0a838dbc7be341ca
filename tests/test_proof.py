"""The page of proofs fits the tests and the mutants: whatever it names is there, and no mutant is left out of it."""

import re
from pathlib import Path

from scripts.mutant_table import MUTANTS
from tests.test_mutants import is_there

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/proof.md").read_text(encoding="utf-8")
COUNTS = {"L": 13, "C": 8, "J": 7, "R": 7, "I": 6, "A": 3, "W": 3, "O": 5}
FAULTS = 34


def rows(section: str) -> dict[str, str]:
    """The rows of the tables below a heading, by what stands in their first column."""
    found = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return {row[1]: row[0] for row in re.finditer(r"^\| (\w+) \|.*$", found, re.MULTILINE)}


def shown_by(text: str) -> list[str]:
    return re.findall(r"`(tests/[^`]+)`", text)


def test_every_promise_has_a_test_and_a_mutant() -> None:
    promises = rows("Promises")

    assert set(promises) >= {f"{letter}{n}" for letter, most in COUNTS.items() for n in range(1, most + 1)}
    for name, row in promises.items():
        assert shown_by(row), f"{name} is shown by nothing"
        assert re.search(r"\*[^*]+\* \|$|\*[^*]+\*<br>", row), f"{name} has no mutant"


def test_every_fault_has_a_test_or_is_said_to_have_none() -> None:
    faults = rows("Faults")

    assert set(faults) == {str(n) for n in range(1, FAULTS + 1)}
    left_out = PAGE.partition("\n## What is not shown\n")[2]
    for name, row in faults.items():
        assert shown_by(row) or re.search(rf"\({name}\)", left_out), f"nothing is said of {name}"


def test_whatever_it_names_is_there() -> None:
    assert [test for test in shown_by(PAGE) if not is_there(ROOT, test)] == []


def test_it_names_the_mutants_there_are() -> None:
    named = set(re.findall(r"\*([^*]+)\*(?= \||<br>)", PAGE.partition("\n## Promises\n")[2]))

    assert named == {mutant.promise for mutant in MUTANTS}
