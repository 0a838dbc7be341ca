"""How the darkroom is spoken to: a length, then that many bytes, of which the first says what is wanted."""

import struct
from typing import BinaryIO

LENGTH = struct.Struct(">I")
CALIBRATE, EMBED = b"C", b"E"


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame; None when there are no more."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    return body if len(body) == length else None
