"""What leasehold is made of: pinned with hashes, above the versions that are known to be weak, and listed."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from scripts.audit import judged

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "requirements" / f"{name}.txt" for name in ("server", "dev", "faces", "rivals")]
# Below these, something that is used here is broken or can be broken.
FLOORS = {"starlette": "1.3.1", "python-multipart": "0.0.27", "aio-pika": "9.6.0", "psycopg-pool": "3.3.2"}


def pinned(file: Path) -> list[tuple[str, Version, int]]:
    """Packages of a requirements file: their version, and how many hashes it may have. Pythons may differ in theirs."""
    entries = re.split(r"\n(?=\S)", file.read_text())
    found = [re.match(r"([a-z0-9_.-]+)(?:\[[^]]*])?==([^\s;\\]+)", entry, re.IGNORECASE) for entry in entries]
    return [
        (match[1].lower(), Version(match[2]), match.string.count("--hash=sha256:"))
        for match in found
        if match is not None
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_package_is_pinned_with_hashes(file: Path) -> None:
    packages = pinned(file)
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith((" ", "#"))]

    assert len(packages) == len(lines) > 0
    assert all(hashes for _, _, hashes in packages)
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", file.read_text())


def test_nothing_is_older_than_what_is_known_to_be_sound() -> None:
    found = [(name, version) for name, version, _ in pinned(FILES[0]) if name in FLOORS]

    assert {name for name, _ in found} == set(FLOORS)
    for name, version in found:
        assert version >= Version(FLOORS[name]), name


def package(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0", **more}


@pytest.mark.parametrize(
    ("packages", "is_clean", "said"),
    [
        ([package("a", vulns=[])], True, "1 packages audited"),
        ([package("a", vulns=[]), package("b", skip_reason="unknown")], True, "1 could not be looked up"),
        ([package("a", skip_reason="unknown"), package("b", skip_reason="unknown")], False, "Nothing was audited"),
        ([], False, "Nothing was audited"),
        ([package("a", vulns=[{"id": "PYSEC-1"}])], False, "a 1.0 (PYSEC-1)"),
    ],
)
def test_an_audit_of_nothing_is_no_audit(packages: list[dict[str, Any]], is_clean: bool, said: str) -> None:
    verdict = judged([{"dependencies": packages}])

    assert verdict.is_clean is is_clean
    assert said in verdict.sentence


def test_one_file_that_was_audited_does_not_stand_for_another() -> None:
    verdict = judged([{"dependencies": []}, {"dependencies": [package("a", vulns=[])]}])

    assert not verdict.is_clean
    assert "Nothing of 1 files was audited" in verdict.sentence


def test_the_bill_of_materials_names_every_package(tmp_path: Path) -> None:
    target = tmp_path / "sbom.json"

    subprocess.run([sys.executable, "scripts/sbom.py", str(target)], cwd=ROOT, check=True)

    bill = json.loads(target.read_text())
    python = {(one["name"].lower(), Version(one["version"])) for one in bill["components"] if "pypi" in one["purl"]}
    script = [one for one in bill["components"] if "npm" in one["purl"]]
    assert bill["bomFormat"] == "CycloneDX"
    assert python == {(name, version) for name, version, _ in pinned(FILES[0])}
    assert {"react", "vite"} <= {one["name"] for one in script}
    assert all(one["hashes"] for one in bill["components"])
