"""What must be said of a model before it may run: a file alone does not tell how pictures are prepared for it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

# Changes when our own preparation of pictures does: vectors made before and after must not be compared.
PREPARATION = "hog-5-point-1"

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Scaling(BaseModel):
    """A colour between 0 and 255 becomes `(x - subtract) / divide`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    # One number, or one for each colour in the order of `colour`.
    subtract: float | tuple[float, float, float]
    divide: float = Field(gt=0, le=255)


class Manifest(BaseModel):
    """One model, and everything about it that cannot be guessed. Its threshold is not here: the canary sets that."""

    model_config = _STRICT

    name: str = Field(min_length=1, max_length=100)
    # `dlib` is the one whose weights come inside a package.
    kind: Literal["dlib", "onnx"] = "onnx"
    # Where the weights are; empty for dlib, which finds those of its package.
    file: Path | None = None
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    layout: Literal["NCHW", "NHWC"]
    size: int = Field(ge=16, le=1024)
    scaling: Scaling
    colour: Literal["RGB", "BGR"]
    # `norm_crop` turns eyes and nose to where the model expects them, `pad` takes a square around the face, and `none`
    # takes the picture as it is, for pictures that are faces already.
    alignment: Literal["norm_crop", "pad", "none"]
    dimension: int = Field(ge=16, le=4000)
    metric: Literal["cosine", "l2"]
    # Whether the mirrored face is embedded, too, and the two averaged.
    flip: bool
    licence: str = Field(min_length=1, max_length=2000)
    # Whether it may be used for anything; otherwise somebody has to say that their use is allowed.
    free: bool = False
    licence_accepted: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.kind == "onnx" and self.file is None:
            raise ValueError(f"{self.name}: `file` must say where the weights are")
        if not (self.free or self.licence_accepted):
            raise ValueError(
                f"{self.name}: read its licence ({self.licence}); if it allows your use, set licence_accepted"
            )
        return self

    @property
    def digest(self) -> bytes:
        """What vectors are kept under: the weights, and how pictures were prepared for them."""
        said = self.model_dump(mode="json", exclude={"name", "file", "licence", "free", "licence_accepted"})
        return hashlib.sha256(json.dumps([PREPARATION, said], sort_keys=True).encode()).digest()


_INSIGHTFACE = "InsightFace's pretrained models are for non-commercial research alone."
_UNKNOWN = "The weights are exported from DeepFace; the terms of what they were trained on are theirs."
_ARCFACE = {"size": 112, "alignment": "norm_crop", "dimension": 512, "metric": "cosine", "flip": True}

# What is known of models people have. Where no checksum stands, whoever supplies the file says which one they mean.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "dlib": {
        "name": "dlib",
        "kind": "dlib",
        "sha256": "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30",
        "layout": "NHWC",
        "size": 150,
        "scaling": {"subtract": 0, "divide": 1},
        "colour": "RGB",
        "alignment": "norm_crop",
        "dimension": 128,
        "metric": "l2",
        "flip": False,
        "licence": "Public domain (davisking/dlib-models).",
        "free": True,
    },
    "insightface-w600k-r50": {
        **_ARCFACE,
        "name": "insightface-w600k-r50",
        "layout": "NCHW",
        "scaling": {"subtract": 127.5, "divide": 127.5},
        "colour": "RGB",
        "licence": _INSIGHTFACE,
    },
    "deepface-arcface": {
        **_ARCFACE,
        "name": "deepface-arcface",
        "layout": "NHWC",
        "scaling": {"subtract": 127.5, "divide": 128.0},
        "colour": "RGB",
        "licence": _UNKNOWN,
    },
    "deepface-facenet512": {
        "name": "deepface-facenet512",
        "layout": "NHWC",
        "size": 160,
        "scaling": {"subtract": 127.5, "divide": 127.5},
        "colour": "RGB",
        "alignment": "pad",
        "dimension": 512,
        "metric": "cosine",
        "flip": True,
        "licence": _UNKNOWN,
    },
    "opencv-sface": {
        "name": "opencv-sface",
        "layout": "NCHW",
        "size": 112,
        "scaling": {"subtract": 0, "divide": 1},
        "colour": "BGR",
        "alignment": "norm_crop",
        "dimension": 128,
        "metric": "cosine",
        "flip": False,
        "licence": "Apache-2.0 (OpenCV Zoo).",
        "free": True,
    },
}
