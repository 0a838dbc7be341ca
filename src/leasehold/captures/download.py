"""A file of a capture on its way out: whole or a range of it, a piece at a time, and never as something to be shown.

Captured pages are hostile. They leave as attachments without a type a browser would run, and with a policy that would
forbid everything if one did.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import IO

from fastapi import Response
from fastapi.responses import StreamingResponse

from leasehold.captures.blobs import Blobs, Key
from leasehold.captures.intake import Intake
from leasehold.captures.models import File
from leasehold.captures.multipart import OCTETS
from leasehold.captures.problems import RangeRefused

_PIECE_BYTES = 256 * 1024
# What no browser runs or draws scripts from. Everything else is just bytes.
_HARMLESS = frozenset(
    {"text/plain", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp", "application/gzip"}
)
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")


async def serve(
    intake: Intake, blobs: Blobs, key: Key, file: File, asked: Mapping[str, str], *, is_head: bool
) -> Response:
    headers = _headers(file)
    if _names(asked.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    start, stop = 0, file.size
    status = 200
    if (wanted := _range(asked, headers["ETag"], file.size)) is not None:
        start, stop = wanted
        status = 206
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{file.size}"
    headers["Content-Length"] = str(stop - start)
    media_type = _type(file.content_type)
    if is_head:
        return Response(status_code=status, headers=headers, media_type=media_type)
    # Opened before the first word of the answer: bytes that are missing are an error, not half a file.
    opened = await intake.run(blobs.open, key)
    return StreamingResponse(_pieces(intake, opened, start, stop), status, headers, media_type)


async def _pieces(intake: Intake, opened: IO[bytes], start: int, stop: int) -> AsyncIterator[bytes]:
    try:
        await intake.run(opened.seek, start)
        left = stop - start
        while left:
            piece: bytes = await intake.run(opened.read, min(left, _PIECE_BYTES))
            if not piece:
                raise EOFError("a blob is shorter than its row says; `leasehold verify --captures` names it")
            left -= len(piece)
            yield piece
    finally:
        with suppress(OSError):
            opened.close()


def _headers(file: File) -> dict[str, str]:
    return {
        "ETag": f'"{file.sha256.hex()}"',
        "Accept-Ranges": "bytes",
        "Content-Disposition": f'attachment; filename="{file.name}"',
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def _type(said: str) -> str:
    kind = said.partition(";")[0].strip().lower()
    return kind if kind in _HARMLESS else OCTETS


def _names(header: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",", 100)]
    return etag in tags or header.strip() == "*"


def _range(asked: Mapping[str, str], etag: str, size: int) -> tuple[int, int] | None:
    """The one range that was asked for, as start and stop; None for the whole. What cannot be read is no range, and
    neither are several."""
    if asked.get("if-range", etag).strip() != etag:
        return None
    found = _RANGE.match(asked.get("range", "").strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        start, stop = max(0, size - int(found[2])), size
    else:
        start, stop = int(found[1]), min(size, int(found[2]) + 1 if found[2] else size)
        if found[2] and int(found[2]) < start:
            return None
    if start >= stop:
        raise RangeRefused(f"The file has {size} bytes.", size=size, headers={"Content-Range": f"bytes */{size}"})
    return start, stop
