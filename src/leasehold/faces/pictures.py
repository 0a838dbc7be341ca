"""Bytes of strangers to pixels, carefully, and pixels to what a model wants to see."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leasehold.faces.manifest import Manifest
from leasehold.faces.problems import ImageRefused

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]
Points = NDArray[np.float64]

# What begins so is what it says it is, as far as it goes; the decoder has the last word.
_MAGIC = {"JPEG": (b"\xff\xd8\xff",), "PNG": (b"\x89PNG\r\n\x1a\n",), "WEBP": (b"RIFF",)}
CONTENT_TYPES = {"image/jpeg": "JPEG", "image/jpg": "JPEG", "image/png": "PNG", "image/webp": "WEBP"}
# A file of a few kilobytes can claim to be gigabytes of pixels. Three bytes each: 75 MB.
MOST_PIXELS = 25_000_000
_LEAST_SIDE = 32
# Faces are found no better in larger pictures, only later.
_LONGEST_SIDE = 800

# Where a model with 112 x 112 pixels expects the middles of the eyes, and the foot of the nose.
_EXPECTED = np.array([[38.29, 51.70], [73.53, 51.50], [56.02, 79.0]])


def form(content: bytes) -> str | None:
    """JPEG, PNG or WEBP by its first bytes; None for anything else."""
    for name, beginnings in _MAGIC.items():
        if content.startswith(beginnings) and (name != "WEBP" or content[8:12] == b"WEBP"):
            return name
    return None


def decode(content: bytes) -> "Image":
    """A picture in RGB, upright and no larger than is of use; raises ImageRefused."""
    from PIL import Image, ImageOps

    name = form(content)
    if name is None:
        raise ImageRefused("no-image")
    try:
        with Image.open(io.BytesIO(content), formats=(name,)) as opened:
            _bounded(*opened.size)  # known from the header: nothing is decoded yet
            opened.draft("RGB", (_LONGEST_SIDE, _LONGEST_SIDE))
            upright = ImageOps.exif_transpose(opened).convert("RGB")
    except ImageRefused:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning, MemoryError):
        raise ImageRefused("too-many-pixels") from None
    except Exception as error:  # a decoder may raise anything at bytes that were made to hurt it
        raise ImageRefused("broken") from error
    upright.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    return upright


def _bounded(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise ImageRefused("too-many-pixels")
    if min(width, height) < _LEAST_SIDE:
        raise ImageRefused("too-small")


def turned(image: "Image", points: Points, size: int) -> Pixels:
    """The face with eyes and nose where they are expected: moved, turned and scaled, never sheared."""
    from PIL import Image

    wanted = _EXPECTED * (size / 112.0)
    # What PIL wants is the way back: from a pixel of the result to one of the picture.
    a, b, x, y = _similarity(wanted, points)
    made = image.transform(
        (size, size), Image.Transform.AFFINE, (a, -b, x, b, a, y), resample=Image.Resampling.BILINEAR
    )
    return np.asarray(made, dtype=np.uint8)


def _similarity(source: Points, target: Points) -> tuple[float, float, float, float]:
    """The move, turn and scale that takes the one set of points closest to the other."""
    rows, values = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, -y, 1, 0], [y, x, 0, 1]]
        values += [u, v]
    a, b, shift_x, shift_y = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    return float(a), float(b), float(shift_x), float(shift_y)


def squared(image: "Image", box: tuple[int, int, int, int], size: int) -> Pixels:
    """A square around a face; what lies outside of the picture is black. It is never stretched."""
    from PIL import Image

    left, top, right, bottom = box
    half = max(right - left, bottom - top) / 2
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    cut = (middle_x - half, middle_y - half, middle_x + half, middle_y + half)
    made = image.crop(cut).resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(made, dtype=np.uint8)


def whole(image: "Image", size: int) -> Pixels:
    """The picture as it is."""
    from PIL import Image

    return np.asarray(image.resize((size, size), Image.Resampling.BILINEAR), dtype=np.uint8)


def prepared(pixels: Pixels, manifest: Manifest) -> NDArray[np.float32]:
    """Pixels as the model wants them, as a batch of one."""
    ordered = pixels[:, :, ::-1] if manifest.colour == "BGR" else pixels
    subtract = np.array(manifest.scaling.subtract, dtype=np.float32)
    scaled = (ordered.astype(np.float32) - subtract) / manifest.scaling.divide
    laid: NDArray[Any] = scaled.transpose(2, 0, 1) if manifest.layout == "NCHW" else scaled
    return np.ascontiguousarray(laid[np.newaxis], dtype=np.float32)
