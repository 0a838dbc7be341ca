"""The status page as this server shows it: read as a whole from where it was published, now and then.

No request's path ever gets near a disk: what is asked for is looked up among what was read. The database is not asked
either, so the page is there while it is not.
"""

import asyncio
import hashlib
import mimetypes
import time
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from leasehold import logs
from leasehold.artifacts.publishing import ENTRY, INDEX, PAGE, page
from leasehold.artifacts.shelf import Shelf

log = logs.get(__name__)

# How old what we have may be; the page asks once a minute.
_FRESH_S = 2.0
# Where the page is shown without a slash at its end, what it needs is one step further down.
BARE = ""


@dataclass(frozen=True, slots=True)
class File:
    content: bytes
    media_type: str
    etag: str
    is_for_ever: bool  # its name changes with its content


class ShelfFailed(Exception):
    """What was published cannot be read just now, and never was since the start."""


class Reader:
    """The page that is on the shelf, as one process last saw it."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._files: Mapping[str, File] | None = None
        self._read_at = float("-inf")
        self._lock = asyncio.Lock()

    async def files(self) -> Mapping[str, File]:
        """By name; none when nothing was ever published. Raises ShelfFailed."""
        if self._files is not None and (self._is_fresh() or self._lock.locked()):
            return self._files
        async with self._lock:
            if not self._is_fresh():
                await self._read()
        if self._files is None:
            raise ShelfFailed
        return self._files

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._read_at < _FRESH_S

    async def _read(self) -> None:
        try:
            self._files = await asyncio.to_thread(_read_page, self._shelf)
        except (OSError, ValueError, KeyError) as error:  # not there to be read, or not what we published
            log.warning("artifacts.not_read", error=getattr(error, "strerror", None) or type(error).__name__)
        self._read_at = time.monotonic()


def _read_page(shelf: Shelf) -> Mapping[str, File]:
    try:
        names: list[str] = orjson.loads(shelf.read(INDEX))["page"]
    except FileNotFoundError:
        return {}
    found = {name: _file(name, shelf.read(f"{PAGE}/{name}")) for name in names}
    entry = found[ENTRY].content.replace(b'"./', f'"{PAGE}/'.encode())
    return {**found, BARE: _file(ENTRY, entry)}


def _file(name: str, content: bytes) -> File:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return File(content, kind, f'"{hashlib.sha256(content).hexdigest()}"', name in page().rest)
