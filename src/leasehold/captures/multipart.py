"""Reads an upload as it arrives: each part goes straight into a draft of the blob store, hashed on the way.

Nothing of a file is kept in memory. All of this blocks and is called in a thread, one call at a time.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from leasehold.captures.blobs import Blobs, Draft
from leasehold.captures.meta import MetaIn, read_meta
from leasehold.captures.models import Limits, Part
from leasehold.problems import BodyTooLarge, InvalidRequest, UnsupportedMediaType, fault, invalid

MEDIA_TYPE = "multipart/form-data"
META = "meta"
OCTETS = "application/octet-stream"
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}\Z")
_WORD = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
CONTENT_TYPE = re.compile(rf'{_WORD}/{_WORD}(\s*;\s*{_WORD}=({_WORD}|"[^"\\\r\n]*"))*\Z')
_LONGEST_CONTENT_TYPE = 200
_PLAIN = frozenset({"", "7bit", "8bit", "binary"})
_BOUNDARY = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]\Z")


def boundary_of(content_type: str) -> bytes:
    """What parts are told apart by, or why this is no upload."""
    kind, options = parse_options_header(content_type.encode("latin-1", "replace"))
    if kind != MEDIA_TYPE.encode():
        raise UnsupportedMediaType("Send a capture as multipart/form-data.", accepts=[MEDIA_TYPE])
    boundary = options.get(b"boundary", b"")
    if not _BOUNDARY.match(boundary):
        raise wrong("The content type must name a boundary of 1 to 70 characters.")
    return boundary


def wrong(detail: str, pointer: str = "") -> InvalidRequest:
    return invalid(fault("body", pointer, detail))


class Reader:
    """An upload, from its first byte to its last. `discard` leaves nothing of it."""

    def __init__(self, boundary: bytes, blobs: Blobs, limits: Limits) -> None:
        self.meta: MetaIn | None = None
        self.parts: list[Part] = []
        self._blobs = blobs
        # One thread, made when there is something for it, so that what is hashed is hashed in its order.
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="captures-hashing")
        self._limits = limits
        self._parser = MultipartParser(boundary, self._callbacks(), max_header_count=10, max_header_size=4096)  # type: ignore[arg-type]
        self._is_whole = False
        self._is_discarded = False
        self._lock = Lock()
        self._headers: dict[str, str] = {}
        self._field, self._value = bytearray(), bytearray()
        self._meta: bytearray | None = None
        self._name = ""
        self._draft: Draft | None = None

    def feed(self, chunks: Sequence[bytes]) -> None:
        with self._lock:
            if self._is_discarded:
                return
            try:
                for chunk in chunks:
                    self._parser.write(chunk)
                if self._draft is not None:
                    self._draft.flush(self._helper)
            except FormParserError:
                raise wrong("This is not multipart/form-data (RFC 7578).") from None

    def end(self) -> MetaIn:
        """The body is over: it must have been a whole upload."""
        with self._lock:
            if not self._is_whole:
                raise wrong("The body ends before its last part does.")
            if self.meta is None:
                raise wrong("A capture needs a part named meta.", "/meta")
            if not self.parts:
                raise wrong("A capture needs at least one file.")
            return self.meta

    def discard(self) -> None:
        """Leave nothing behind; what was placed meanwhile stays where it is."""
        with self._lock:
            self._is_discarded = True
            self._helper.shutdown(wait=True)
            drafts = [part.draft for part in self.parts] + ([self._draft] if self._draft else [])
            for draft in drafts:
                self._blobs.discard(draft)

    def _callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin_part,
            "on_part_data": self._data,
            "on_part_end": self._end_part,
            "on_header_field": lambda data, start, end: self._field.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._open_part,
            "on_end": self._end,
        }

    def _begin_part(self) -> None:
        self._headers = {}

    def _end_header(self) -> None:
        name = self._field.decode("ascii").lower()
        if name in self._headers:
            raise wrong("A part has the same header twice.")
        self._headers[name] = self._value.decode("latin-1").strip()
        self._field.clear()
        self._value.clear()

    def _open_part(self) -> None:
        kind, options = parse_options_header(self._headers.get("content-disposition", "").encode("latin-1"))
        if kind != b"form-data":
            raise wrong("Every part needs the header Content-Disposition: form-data.")
        if self._headers.get("content-transfer-encoding", "").lower() not in _PLAIN:
            raise wrong("Send parts as they are, without a transfer encoding.")
        if options.get(b"name") == META.encode():
            self._open_meta()
        else:
            self._open_file(options.get(b"filename", b"").decode("latin-1"))

    def _open_meta(self) -> None:
        if self.meta is not None:
            raise wrong("A capture has one part named meta.", "/meta")
        self._meta = bytearray()

    def _open_file(self, name: str) -> None:
        if not NAME.match(name):
            detail = "must be 1 to 200 letters, digits, `.`, `_` and `-`, and not begin with a dot."
            raise wrong(f"The filename of every part but meta {detail}")
        if any(part.name == name for part in self.parts):
            raise wrong("Two parts have the same filename.")
        if len(self.parts) == self._limits.files:
            raise wrong(f"A capture has at most {self._limits.files} files.")
        self._name = name
        self._content_type()
        self._draft = self._blobs.begin()

    def _content_type(self) -> str:
        said = self._headers.get("content-type", OCTETS)
        if len(said) > _LONGEST_CONTENT_TYPE or not said.isascii() or not CONTENT_TYPE.match(said):
            raise wrong("The content type of a part is not one.")
        return said

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._meta is not None:
            self._meta += data[start:end]
            self._refuse_over(len(self._meta), self._limits.meta_bytes, "meta")
        elif self._draft is not None:
            self._refuse_over(self._draft.size + end - start, self._limits.file_bytes, "file")
            self._draft.write(memoryview(data)[start:end])

    def _refuse_over(self, size: int, limit: int, what: str) -> None:
        if size > limit:
            raise BodyTooLarge(f"A {what} of a capture has at most {limit} bytes.", limit_bytes=limit)

    def _end_part(self) -> None:
        size = len(self._meta) if self._meta is not None else self._draft.size if self._draft else 0
        if self._headers.get("content-length", str(size)) != str(size):
            raise wrong("A part is not as long as its Content-Length says.")
        if self._meta is not None:
            self.meta, self._meta = read_meta(bytes(self._meta)), None
        elif self._draft is not None:
            self._draft.flush(self._helper)
            self._blobs.finish(self._draft)
            self.parts.append(Part(self._name, self._content_type(), self._draft))
            self._draft = None

    def _end(self) -> None:
        self._is_whole = True
