"""Pictures of people who do not exist: a coloured square for each, or files of a folder."""

import struct
import zlib
from pathlib import Path

_SIDE = 16
_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


def square(number: int) -> bytes:
    """A small PNG of one colour."""
    colour = bytes([number * 37 % 256, number * 101 % 256, number * 197 % 256])
    lines = (b"\x00" + colour * _SIDE) * _SIDE
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    pieces = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_piece(kind, content) for kind, content in pieces)


def _piece(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def picture(folder: Path | None, person: int, place: int) -> tuple[bytes, str]:
    """What a box has of a person: a file `<person>.*` or one of `<person>/` in the folder, another for each box."""
    several = _files(folder, person) if folder else []
    if not several:
        return square(person), "image/png"
    chosen = several[place % len(several)]
    return chosen.read_bytes(), _TYPES[chosen.suffix.lower()]


def _files(folder: Path, person: int) -> list[Path]:
    found = [*folder.glob(f"{person}.*"), *(folder / str(person)).glob("*")]
    return sorted(file for file in found if file.suffix.lower() in _TYPES and file.is_file())
