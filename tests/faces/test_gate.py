"""A model has to tell known people apart before it sees anybody else, and its threshold is what it showed."""

import hashlib
import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from leasehold.faces import PRESETS, ImageRefused, Manifest, ModelRefused, embedding
from leasehold.faces.detecting import detector
from leasehold.faces.embedding import load
from leasehold.faces.gate import calibrate, distances
from leasehold.faces.pictures import decode, squared, turned
from tests.parts.faces import pattern, small_model

DLIB = Manifest.model_validate(PRESETS["dlib"])


def judged(said: dict[str, Any], canary: Path, **changed: Any) -> Any:
    manifest = Manifest.model_validate({**said, **changed})
    return calibrate(load(manifest), manifest, canary)


def test_dlib_out_of_its_package_tells_people_apart(people: Path) -> None:
    found = calibrate(load(DLIB), DLIB, people)

    assert found.genuine_max < 0.5 < found.threshold < 0.8 < found.impostor_min
    assert found.pairs == 6


def test_dlib_finds_the_same_person_in_two_pictures_and_another_in_a_third(people: Path) -> None:
    embedder = load(DLIB)
    faces = [embedder.embed((people / name).read_bytes())[0] for name in ("obama-1.jpg", "obama-3.jpg", "biden-1.jpg")]
    vectors = np.array([face.vector for face in faces])

    found = distances(vectors, vectors, "l2")

    assert {len(face.vector) for face in faces} == {128}
    assert found[0, 1] < 0.5 < 0.8 < found[0, 2]


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_an_onnx_model_passes_with_the_scaling_it_was_made_for(tmp_path: Path, patterns: Path, layout: str) -> None:
    said = small_model(tmp_path / "model.onnx", layout)

    found = judged(said, patterns)

    assert found.genuine_max < found.threshold < found.impostor_min
    assert found.pairs == 36


def test_a_wrong_scaling_is_refused_and_told_what_to_check(small: dict[str, Any], patterns: Path) -> None:
    with pytest.raises(ModelRefused, match=r"everybody as the same.*`scaling`, `colour`, `alignment`"):
        judged(small, patterns, scaling={"subtract": 127.5, "divide": 255})


def test_people_that_are_mixed_up_leave_no_gap(tmp_path: Path, small: dict[str, Any], patterns: Path) -> None:
    mixed = shutil.copytree(patterns, tmp_path / "mixed")
    (mixed / "nobody0-0.png").rename(mixed / "nobody1-9.png")

    with pytest.raises(ModelRefused, match="no gap"):
        judged(small, mixed)


def test_another_file_than_the_manifest_means_is_refused(small: dict[str, Any]) -> None:
    Path(small["file"]).write_bytes(b"something else")

    with pytest.raises(ModelRefused, match="another file than its manifest means"):
        load(Manifest.model_validate(small))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"layout": "NHWC"}, "Set `layout` and `size`"),
        ({"size": 160}, "Set `layout` and `size`"),
        ({"dimension": 128}, "gives 64 numbers"),
        ({"file": "/nowhere.onnx"}, "cannot be read"),
    ],
)
def test_a_model_that_is_not_what_its_manifest_says_is_refused(
    small: dict[str, Any], changed: dict[str, Any], told: str
) -> None:
    with pytest.raises(ModelRefused, match=told):
        load(Manifest.model_validate({**small, **changed}))


def test_a_file_that_is_no_model_is_refused(tmp_path: Path, small: dict[str, Any]) -> None:
    Path(small["file"]).write_bytes(b"no model")

    with pytest.raises(ModelRefused, match="no model that can be loaded"):
        load(Manifest.model_validate({**small, "sha256": hashlib.sha256(b"no model").hexdigest()}))


def test_a_canary_with_one_person_says_what_it_lacks(tmp_path: Path, small: dict[str, Any]) -> None:
    for number in range(2):
        (tmp_path / f"ann-{number}.png").write_bytes(pattern(1, number))

    with pytest.raises(ModelRefused, match="at least two people"):
        judged(small, tmp_path)


def test_a_canary_picture_without_a_face_is_named(tmp_path: Path, people: Path) -> None:
    canary = shutil.copytree(people, tmp_path / "canary")
    (canary / "nobody-1.png").write_bytes(pattern(1, 1, 400))

    with pytest.raises(ModelRefused, match=r"nobody-1\.png shows 0 faces"):
        calibrate(load(DLIB), DLIB, canary)


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_vector_that_points_nowhere_is_no_face(small: dict[str, Any], numbers: list[float]) -> None:
    with pytest.raises(ImageRefused, match="no-vector"):
        embedding.kept(np.array(numbers), Manifest.model_validate(small))


def test_a_mirrored_picture_is_as_good_where_both_sides_are_averaged(small: dict[str, Any], tmp_path: Path) -> None:
    picture = pattern(1, 1)
    mirrored = Image.open(io.BytesIO(picture)).transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    mirrored.save(tmp_path / "m.png")
    other = (tmp_path / "m.png").read_bytes()
    one_side, both = (load(Manifest.model_validate({**small, "flip": flip})) for flip in (False, True))

    apart = [np.abs(np.subtract(e.embed(picture)[0].vector, e.embed(other)[0].vector)).max() for e in (one_side, both)]

    assert apart[0] > 0.01
    assert apart[1] < 1e-6


def test_a_face_is_turned_so_that_its_eyes_are_where_they_belong(people: Path) -> None:
    picture = decode((people / "obama-2.jpg").read_bytes()).rotate(20)
    (found, *_) = detector().find(picture)

    upright = Image.fromarray(turned(picture, found.points, 224))
    eyes = detector().find(upright)[0].points[:2]

    assert np.abs(eyes[0] - [76.6, 103.4]).max() < 12
    assert np.abs(eyes[1] - [147.1, 103.0]).max() < 12


def test_a_face_at_the_edge_is_padded_and_not_stretched() -> None:
    picture = Image.new("RGB", (100, 50), "white")

    cut = squared(picture, (0, 0, 100, 50), 40)

    assert cut.shape == (40, 40, 3)
    assert cut[0].max() == 0
    assert cut[20].min() == 255
