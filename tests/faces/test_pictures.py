"""Pictures of strangers are opened with care."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from leasehold.faces import ImageRefused, Manifest
from leasehold.faces.pictures import decode, form, prepared
from tests.parts.faces import png


def saved(image: Image.Image, kind: str, **more: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


def bomb(side: int) -> bytes:
    """A PNG of a few bytes that claims to be gigabytes of pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_three_kinds_of_pictures_are_taken(kind: str) -> None:
    content = saved(Image.new("RGB", (1600, 900), "red"), kind)

    picture = decode(content)

    assert form(content) == kind
    assert (picture.mode, picture.size) == ("RGB", (800, 450))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (bomb(50_000), "too-many-pixels"),
        (bomb(5_001), "too-many-pixels"),
        (bomb(4_000), "broken"),
        (png(Image.new("RGB", (16, 400))), "too-small"),
        (png(Image.effect_noise((400, 400), 90))[:5000], "broken"),
        (saved(Image.new("RGB", (100, 100)), "GIF"), "no-image"),
        (b"<svg/>", "no-image"),
        (b"RIFF1234WAVE", "no-image"),
        (b"", "no-image"),
    ],
)
def test_what_is_no_picture_or_a_trap_is_refused_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(ImageRefused) as refused:
        decode(content)

    assert refused.value.reason == reason


def test_a_picture_that_lies_on_its_side_is_set_upright() -> None:
    sideways = Image.new("RGB", (200, 100), "black")
    exif = Image.Exif()
    exif[0x0112] = 6

    assert decode(saved(sideways, "JPEG", exif=exif)).size == (100, 200)


def test_pixels_are_laid_out_as_the_manifest_says(small: dict[str, object], tmp_path: Path) -> None:
    pixels = np.zeros((112, 112, 3), dtype=np.uint8)
    pixels[:, :, 0] = 255  # red

    said = {**small, "colour": "BGR", "scaling": {"subtract": [1.0, 2.0, 3.0], "divide": 2}}
    planes = prepared(pixels, Manifest.model_validate(said))
    rows = prepared(pixels, Manifest.model_validate({**small, "layout": "NHWC"}))

    assert planes.shape == (1, 3, 112, 112)
    assert planes[0, :, 0, 0].tolist() == [-0.5, -1.0, 126.0]
    assert rows.shape == (1, 112, 112, 3)
    assert rows[0, 0, 0].tolist() == [127.5, -127.5, -127.5]
