"""Finds faces, and the five points that say how a face is turned: dlib's own detector, and its free predictor."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leasehold.faces.pictures import Points
from leasehold.faces.problems import ModelRefused

if TYPE_CHECKING:
    from PIL.Image import Image

NETWORK = "dlib_face_recognition_resnet_model_v1.dat"
# With five points. The one with 68 lies beside it and is not free for commercial use.
_PREDICTOR = "shape_predictor_5_face_landmarks.dat"
_PREDICTOR_SHA256 = "c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888"


@dataclass(frozen=True, slots=True)
class Found:
    """A face that was found."""

    box: tuple[int, int, int, int]
    points: Points  # the middle of the left eye, of the right one, and the foot of the nose, as one looks at it
    quality: float
    shape: Any  # dlib's own word for it

    @property
    def area(self) -> int:
        left, top, right, bottom = self.box
        return (right - left) * (bottom - top)


def weights(name: str) -> Path:
    """A file of the package that brings models. It is not imported: its import needs what newer Pythons lack."""
    spec = find_spec("face_recognition_models")
    if spec is None or not spec.submodule_search_locations:
        raise missing("face_recognition_models")
    return Path(next(iter(spec.submodule_search_locations))) / "models" / name


def checked(file: Path, sha256: str) -> str:
    """The path of a file that is what somebody said it is; raises ModelRefused."""
    try:
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise ModelRefused(f"{file} cannot be read ({error.strerror}).") from None
    if found != sha256:
        raise ModelRefused(f"{file} is another file than its manifest means: sha256 {found}, not {sha256}.")
    return str(file)


def package(name: str) -> Any:
    """A package of the extra `faces`; raises ModelRefused where it is not installed, or cannot be loaded."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise missing(name) from None
    except ImportError as error:
        raise ModelRefused(f"The package {name} cannot be loaded: {error}.") from None


def missing(name: str) -> ModelRefused:
    return ModelRefused(f"Faces need {name}, which is not installed: pip install 'leasehold[server,faces]'.")


class Detector:
    """The detector of one process; loading it takes half a second."""

    def __init__(self) -> None:
        dlib = package("dlib")
        self._find = dlib.get_frontal_face_detector()
        self._predict = dlib.shape_predictor(checked(weights(_PREDICTOR), _PREDICTOR_SHA256))

    def find(self, image: "Image") -> list[Found]:
        """Every face, the largest first."""
        pixels = np.asarray(image, dtype=np.uint8)
        boxes, scores, _ = self._find.run(pixels, 1, 0.0)
        found = [self._point(pixels, box, score) for box, score in zip(boxes, scores, strict=True)]
        return sorted(found, key=lambda one: (-one.area, one.box))

    def _point(self, pixels: Any, box: Any, score: float) -> Found:
        shape = self._predict(pixels, box)
        # Both corners of the one eye, both of the other, the foot of the nose.
        right_out, right_in, left_out, left_in, nose = ((point.x, point.y) for point in shape.parts())
        eyes = sorted(
            [np.mean([right_out, right_in], axis=0), np.mean([left_out, left_in], axis=0)], key=lambda eye: eye[0]
        )
        points = np.array([*eyes, nose], dtype=np.float64)
        return Found((box.left(), box.top(), box.right(), box.bottom()), points, float(score), shape)


@lru_cache(maxsize=1)
def detector() -> Detector:
    """One for all models of a process."""
    return Detector()
