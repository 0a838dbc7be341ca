"""`leasehold bench identity` measures wherever it is started: on made-up records where there is no labelled set."""

import json
import subprocess
import sys
from pathlib import Path


def test_without_a_folder_made_up_records_are_linked_and_it_says_so(tmp_path: Path) -> None:
    measured = tmp_path / "identity.json"
    command = [sys.executable, "-m", "leasehold", "bench", "identity", "--shuffles", "2", "--json", str(measured)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "made-up records" in done.stdout
    (one,) = json.loads(measured.read_text())["sets"]
    assert (one["set"], one["records"], one["order_agreement"]) == ("made_up", 2000, 1.0)
    assert one["f1"] > 0.95
