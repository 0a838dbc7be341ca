"""`leasehold entities evaluate`: a file of labelled records goes through the real writer, and figures come out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.entities.people import records

FIGURES = {
    *("records", "entities", "precision", "recall", "f1", "b3_f1", "largest_false_cluster"),
    "records_per_second",
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What three sources say of some people, and who they are."""
    file = tmp_path_factory.mktemp("evaluate") / "people.ndjson"
    labelled = [{**one, "truth": one["source_id"].partition("-")[2]} for one in records(60)]
    file.write_text("".join(json.dumps(one) + "\n" for one in labelled))
    return file


def evaluate(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "leasehold", "entities", "evaluate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def figures(*words: str | Path) -> dict[str, Any]:
    done = evaluate(*words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_records_are_linked_and_held_against_the_truth_in_any_order(people: Path, tmp_path: Path) -> None:
    plain = figures(people, "--json", tmp_path / "figures.json")
    other = figures(people, "--shuffle", "7")

    assert set(plain) == FIGURES
    assert plain["f1"] > 0.9
    assert json.loads((tmp_path / "figures.json").read_text()) == plain
    assert {name: plain[name] for name in FIGURES - {"records_per_second"}} == {
        name: other[name] for name in FIGURES - {"records_per_second"}
    }


def test_a_policy_of_ones_own_is_gone_by(people: Path, tmp_path: Path) -> None:
    strict = tmp_path / "policies.yaml"
    strict.write_text("performer: {join: 900, review: 100, keep: 50, ceiling: 1000}\n")

    found = figures(people, "--policy", strict)

    assert found["entities"] == found["records"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "Line 1 is no JSON object."),
        ('{"source": "a", "source_id": "1", "kind": "performer", "name": "Ada"}', "Line 1 has no `truth`"),
        ('{"source": "a", "truth": "1"}', "Line 1 is no record: "),
    ],
)
def test_what_cannot_be_evaluated_is_told_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "broken.ndjson"
    file.write_text(line + "\n")

    refused = evaluate(file)

    assert refused.returncode != 0
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
