"""What must be said before a face is looked at, and what is refused when it is not."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from leasehold.faces import PRESETS, FacesInvalid, Manifest, read
from leasehold.settings import Settings

SHA = "0" * 64
WHOLE: dict[str, Any] = {
    "embedders": [{"preset": "dlib"}],
    "canary": "canary",
    "sources": {"stashdb": {"legal_basis": "consent, collected by the source", "retention_days": 30}},
}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(**changed: Any) -> Path:
        file = tmp_path / "faces.yaml"
        file.write_text(yaml.safe_dump({**WHOLE, **changed}))
        return file

    return written


def test_faces_are_off_and_private_addresses_closed_unless_somebody_says_otherwise() -> None:
    settings = Settings()

    assert settings.faces_file is None
    assert settings.faces_allow_private is False


def test_paths_are_taken_from_the_files_own_folder(write: Any, tmp_path: Path) -> None:
    sface = {"preset": "opencv-sface", "file": "models/sface.onnx", "sha256": SHA}

    setup = read(write(embedders=[sface]))

    assert setup.canary == tmp_path / "canary"
    assert setup.embedders[0].file == tmp_path / "models/sface.onnx"
    assert setup.sources["stashdb"].keep_images is False


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_preset_is_whole_but_for_what_only_its_owner_knows(preset: str) -> None:
    known = {"file": "model", "sha256": SHA, "licence_accepted": True}

    manifest = Manifest.model_validate({**known, **PRESETS[preset]})

    assert manifest.name == preset


def test_a_model_that_is_not_free_waits_until_its_licence_is_accepted(write: Any) -> None:
    arcface = {"preset": "insightface-w600k-r50", "file": "r50.onnx", "sha256": SHA}

    with pytest.raises(FacesInvalid, match=r"non-commercial research alone.*licence_accepted"):
        read(write(embedders=[arcface]))

    assert read(write(embedders=[{**arcface, "licence_accepted": True}])).embedders[0].dimension == 512


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"sources": {}}, "sources"),
        ({"sources": {"stashdb": {"retention_days": 30}}}, "legal_basis"),
        ({"sources": {"stashdb": {"legal_basis": "consent, by contract"}}}, "retention_days"),
        ({"embedders": [{"preset": "nobody"}]}, "there is no preset 'nobody'; there are dlib"),
        ({"embedders": [{"preset": "dlib"}, {"preset": "dlib", "name": "again"}]}, "the same weights"),
        ({"images_per_record": 6}, "images_per_record"),
        ({"threshold": 0.35}, "threshold"),
    ],
)
def test_what_is_missing_or_wrong_is_named(write: Any, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(FacesInvalid, match=told):
        read(write(**changed))


@pytest.mark.parametrize("text", ["- [", "\x00", "a: b"])
def test_a_file_that_cannot_be_read_says_which(tmp_path: Path, text: str) -> None:
    (tmp_path / "faces.yaml").write_text(text)

    with pytest.raises(FacesInvalid, match=r"faces\.yaml"):
        read(tmp_path / "faces.yaml")


def test_vectors_are_kept_apart_by_everything_that_changes_them(small: dict[str, Any]) -> None:
    first = Manifest.model_validate(small)

    others = [
        Manifest.model_validate({**small, **changed})
        for changed in (
            {"scaling": {"subtract": 127.5, "divide": 128}},
            {"colour": "BGR"},
            {"alignment": "pad"},
            {"flip": True},
            {"sha256": SHA},
        )
    ]
    moved = Manifest.model_validate({**small, "name": "renamed", "file": "elsewhere"})

    assert len({first.digest, *(one.digest for one in others)}) == 6
    assert moved.digest == first.digest
