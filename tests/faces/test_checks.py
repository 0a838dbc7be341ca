"""What `doctor` says of faces."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from leasehold import faces
from leasehold.doctor import Finding, examine
from leasehold.settings import Settings


@pytest.fixture
def file(tmp_path: Path, small: dict[str, Any], patterns: Path) -> Path:
    source = {"legal_basis": "consent, collected by the source", "retention_days": 30}
    said = {"embedders": [small], "canary": str(patterns), "sources": {"stashdb": source}}
    made = tmp_path / "faces.yaml"
    made.write_text(yaml.safe_dump(said))
    return made


async def test_models_that_pass_are_told_with_their_thresholds(file: Path) -> None:
    is_well, told = await faces.check(file, allow_private=False)

    assert is_well
    assert told.startswith("small up to 0.")
    assert told.endswith("for stashdb")


async def test_private_addresses_that_are_open_are_a_fault(file: Path) -> None:
    is_well, told = await faces.check(file, allow_private=True)

    assert not is_well
    assert "LEASEHOLD_FACES_ALLOW_PRIVATE is on" in told


def test_doctor_looks_at_faces_where_they_are_on(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, faces_file=tmp_path / "missing.yaml")

    found = _until(settings, "faces")

    assert not found[-1].is_well
    assert "missing.yaml cannot be read" in found[-1].detail


def test_doctor_is_silent_where_they_are_off(tmp_path: Path) -> None:
    found = _until(Settings(data_dir=tmp_path, database_url="postgresql://127.0.0.1:1/nowhere"), "database")

    assert "faces" not in [finding.what for finding in found]


def _until(settings: Settings, what: str) -> list[Finding]:
    found = []
    for finding in examine(settings):
        found.append(finding)
        if finding.what == what:
            break
    return found
