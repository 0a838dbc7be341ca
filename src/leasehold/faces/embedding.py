"""The models: dlib's network out of its package, and ONNX files that somebody supplied; held to their manifests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leasehold.faces import pictures
from leasehold.faces.detecting import NETWORK, Found, checked, detector, package, weights
from leasehold.faces.manifest import Manifest
from leasehold.faces.models import Embedder, Face
from leasehold.faces.pictures import Pixels
from leasehold.faces.problems import ImageRefused, ModelRefused


def load(manifest: Manifest) -> Embedder:
    """The model of a manifest, if it is what that says; raises ModelRefused."""
    return DlibEmbedder(manifest) if manifest.kind == "dlib" else OnnxEmbedder(manifest)


class DlibEmbedder:
    """dlib's ResNet with 128 numbers, which turns and cuts faces itself, by the same five points."""

    def __init__(self, manifest: Manifest) -> None:
        file = checked(manifest.file or weights(NETWORK), manifest.sha256)
        self._manifest = manifest
        self._net = package("dlib").face_recognition_model_v1(file)
        detector()

    def embed(self, image: bytes) -> list[Face]:
        picture = pictures.decode(image)
        pixels = np.asarray(picture, dtype=np.uint8)
        return [self._face(pixels, found) for found in detector().find(picture)]

    def _face(self, pixels: Pixels, found: Found) -> Face:
        vector = np.array(self._net.compute_face_descriptor(pixels, found.shape, 0, 0.25), dtype=np.float64)
        return Face(kept(vector, self._manifest), found.box, found.quality)


class OnnxEmbedder:
    """A network in an ONNX file."""

    def __init__(self, manifest: Manifest) -> None:
        onnxruntime = package("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        file = checked(manifest.file or Path(), manifest.sha256)
        try:
            self._session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library has a class of its own for each kind of fault
            raise ModelRefused(
                f"{manifest.name}: {file} is no model that can be loaded ({type(error).__name__})."
            ) from None
        self._manifest = manifest
        self._check_input(self._session.get_inputs())
        self._input = self._session.get_inputs()[0].name
        self._check_output()
        if manifest.alignment != "none":
            detector()

    def embed(self, image: bytes) -> list[Face]:
        picture, size = pictures.decode(image), self._manifest.size
        if self._manifest.alignment == "none":
            face = Face(self._vector(pictures.whole(picture, size)), (0, 0, *picture.size), 1.0)
            return [face]
        found = detector().find(picture)
        if self._manifest.alignment == "pad":
            cut = [pictures.squared(picture, one.box, size) for one in found]
        else:
            cut = [pictures.turned(picture, one.points, size) for one in found]
        return [Face(self._vector(pixels), one.box, one.quality) for pixels, one in zip(cut, found, strict=True)]

    def _vector(self, pixels: Pixels) -> tuple[float, ...]:
        vector = self._run(pixels)
        if self._manifest.flip:
            mirrored = self._run(np.ascontiguousarray(pixels[:, ::-1]))
            vector = _unit(vector) + _unit(mirrored)
        return kept(vector, self._manifest)

    def _run(self, pixels: Pixels) -> NDArray[np.float64]:
        (output, *_) = self._session.run(None, {self._input: pictures.prepared(pixels, self._manifest)})
        return np.asarray(output, dtype=np.float64).reshape(-1)

    def _check_input(self, inputs: Sequence[Any]) -> None:
        manifest, size = self._manifest, self._manifest.size
        wanted = [3, size, size] if manifest.layout == "NCHW" else [size, size, 3]
        found = list(inputs[0].shape) if len(inputs) == 1 else []
        # What is no number is left open by the model.
        fits = len(found) == 4 and all(
            not isinstance(is_, int) or is_ == want for is_, want in zip(found[1:], wanted, strict=True)
        )
        if not fits:
            raise ModelRefused(
                f"{manifest.name} takes {found}, and its manifest says {manifest.layout} with {size} pixels: N, "
                f"{', '.join(map(str, wanted))}. Set `layout` and `size` to what it takes."
            )

    def _check_output(self) -> None:
        manifest = self._manifest
        blank = np.zeros((manifest.size, manifest.size, 3), dtype=np.uint8)
        try:
            found = self._run(blank).size
        except Exception as error:
            raise ModelRefused(f"{manifest.name} does not run on a blank picture ({type(error).__name__}).") from None
        if found != manifest.dimension:
            raise ModelRefused(f"{manifest.name} gives {found} numbers, and its manifest says {manifest.dimension}.")


def kept(vector: NDArray[np.float64], manifest: Manifest) -> tuple[float, ...]:
    """As it is kept: where only the direction counts, of length one. Raises ImageRefused for what points nowhere."""
    if not np.isfinite(vector).all() or not vector.any():
        raise ImageRefused("no-vector")
    whole = _unit(vector) if manifest.metric == "cosine" else vector
    return tuple(float(number) for number in whole.astype(np.float32))


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
