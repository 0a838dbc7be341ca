"""Old documents as what we keep: one at a time, whatever their shape, or why one cannot be that."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson
from bson import json_util
from bson.binary import UuidRepresentation

from leasehold.captures import CONTENT_TYPE, FILE_NAME, OCTETS, RECORD_STATES, CaptureState, ExternalFile, Record
from leasehold.legacy.converting import CONVERTERS, Unfit, dig, identity, line, matching, moment, position, text, whole
from leasehold.legacy.mapping import Section
from leasehold.legacy.models import LegacyEvent, LegacySite, Origin
from leasehold.problems import InvalidRequest
from leasehold.sites import AddressUnfit, PastAddress, past_address
from leasehold.strict import check

_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_JOB: Final = re.compile(r"[A-Za-z0-9._:-]{1,200}")
_EVENT: Final = re.compile(r"[a-z][a-z0-9_]{0,49}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MOST_FILES: Final = 1000
_MOST_ELEMENTS: Final = 100_000
_LONGEST_DETAIL: Final = 16 * 1024
_EXACT: Final = 2**53
_RELAXED: Final = json_util.RELAXED_JSON_OPTIONS.with_options(uuid_representation=UuidRepresentation.STANDARD)

Document = Mapping[str, Any]


class Reading:
    """One document, or one element of a list in it, seen through the map."""

    def __init__(self, section: Section, document: Document, element: Any = None) -> None:
        self._section = section
        self._document = document
        self._element = document if section.each is None else element

    def has(self, name: str) -> bool:
        return name in self._section.fields

    def need(self, name: str, take: Callable[[Any], Any]) -> Any:
        found = self.may(name, take)
        if found is None:
            raise Unfit(f"{name}: is missing.")
        return found

    def may(self, name: str, take: Callable[[Any], Any]) -> Any:
        """The field as ours; None when it is not there."""
        try:
            value = self._value(name)
            return None if value is None else take(value)
        except Unfit as error:
            raise Unfit(f"{name}: {error}.") from None

    def _value(self, name: str) -> Any:
        field = self._section.fields.get(name)
        if field is None:
            return None
        value = field.value
        if field.path is not None:
            value = dig(self._document if field.of_document else self._element, field.path)
        if value is None:
            return field.default
        for converter in field.converters:
            value = CONVERTERS[converter](value)
        if field.values is None:
            return value
        key = str(value).lower() if isinstance(value, bool) else identity(value)
        if key not in field.values and field.default is None:
            raise Unfit("has a value that the map's table does not name")
        return field.values.get(key, field.default)


def origin(section: Section, document: Document, place: int | None = None) -> Origin:
    return Origin(section.collection, position(document.get("_id")), place)


def elements(section: Section, document: Document) -> Iterator[tuple[int | None, Any]]:
    """What a document holds of this kind, with its place; itself when it is one."""
    if section.each is None:
        yield None, document
        return
    found = dig(document, section.each)
    if found is None:
        return
    if not isinstance(found, list):
        raise Unfit(f"{'.'.join(section.each)}: must be a list.")
    if len(found) > _MOST_ELEMENTS:
        raise Unfit(f"{'.'.join(section.each)}: has more than {_MOST_ELEMENTS} elements.")
    yield from enumerate(found)


def _own_id(reading: Reading, document: Document, place: int | None) -> str:
    if reading.has("id"):
        return str(reading.need("id", identity))
    try:
        own = identity(document.get("_id"))
    except Unfit as error:
        raise Unfit(f"_id: {error}.") from None
    return own if place is None else f"{own}#{place}"


def site_of(section: Section, document: Document) -> LegacySite:
    reading = Reading(section, document)
    slug = reading.need("slug", lambda value: matching(value, _SLUG, "must be 1 to 63 of a-z, 0-9, - and _"))
    name = reading.may("name", lambda value: line(value, 500)) or slug
    return LegacySite(_own_id(reading, document, None), slug, name)


def domain_of(section: Section, document: Document, element: Any, *, allow_special: bool) -> PastAddress:
    reading = Reading(section, document, element)
    given = {
        "host": reading.need("host", lambda value: text(value, 1000)),
        "scheme": reading.may("scheme", lambda value: text(value, 10)),
        "port": reading.may("port", lambda value: whole(value, 1, 65535)),
        "prefix": reading.may("prefix", lambda value: text(value, 500)),
        "subdomains": reading.may("subdomains", lambda value: text(value, 10)),
        "trust": reading.may("trust", lambda value: text(value, 20)),
    }
    try:
        return past_address(reading.need("since", moment), given, allow_special=allow_special)
    except AddressUnfit as error:
        raise Unfit(f"{error}.") from None


def site_reference(section: Section, document: Document, element: Any) -> str:
    return str(Reading(section, document, element).need("site", identity))


def capture_of(section: Section, document: Document, slug_of: Callable[[str], str]) -> tuple[str, Record]:
    """A capture's old id, and the record of it."""
    reading = Reading(section, document)
    captured_at = reading.need("captured_at", moment)
    record = Record(
        site=slug_of(reading.need("site", identity)),
        url=reading.need("url", lambda value: text(value, 32_768)),
        captured_at=captured_at,
        received_at=reading.may("received_at", moment) or captured_at,
        job_id=reading.may("job_id", lambda v: matching(v, _JOB, "must be 1 to 200 letters, digits, . _ : and -")),
        state=reading.may("state", _state) or CaptureState.DELIVERED,
        reason=reading.may("reason", lambda value: line(value, 500)),
        labels=reading.may("labels", _labels) or {},
        files=tuple(_files(section.files, document)) if section.files else (),
    )
    return _own_id(reading, document, None), record


def _state(value: Any) -> CaptureState:
    if value not in RECORD_STATES:
        raise Unfit("must be delivered or rejected: nobody can claim bytes that are not here")
    return CaptureState(value)


def _labels(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > 50:
        raise Unfit("must be at most 50 pairs of text")
    return {line(name, 100): text(said, 200, shortest=0) for name, said in value.items()}


def _files(section: Section, document: Document) -> Iterator[ExternalFile]:
    names: set[str] = set()
    for place, element in elements(section, document):
        where = "files" if place is None else f"files.{place}"
        if len(names) == _MOST_FILES:
            raise Unfit(f"files: are more than {_MOST_FILES}.")
        try:
            file = _file(Reading(section, document, element))
        except Unfit as error:
            raise Unfit(f"{where}.{error}") from None
        if file.name in names:
            raise Unfit(f"{where}.name: another file of the capture has it.")
        names.add(file.name)
        yield file


def _file(reading: Reading) -> ExternalFile:
    rule = "must be 1 to 200 letters, digits, . _ and -, and not begin with a dot; `file_name` makes it so"
    return ExternalFile(
        name=reading.need("name", lambda value: matching(value, FILE_NAME, rule)),
        sha256=reading.need("sha256", _sha256),
        size=reading.need("size", lambda value: whole(value, 0, 2**53)),
        content_type=reading.may("content_type", lambda value: matching(value, CONTENT_TYPE, "is none")) or OCTETS,
        location=reading.may("location", _location),
    )


def _sha256(value: Any) -> bytes:
    if isinstance(value, bytes) and len(value) == 32:
        return bytes(value)
    return bytes.fromhex(matching(value.lower() if isinstance(value, str) else value, _SHA256, "must be a SHA-256"))


def _location(value: Any) -> str:
    found = line(identity(value), 2048) if not isinstance(value, str) else line(value, 2048)
    # What is shown to everybody who may see captures must not open anything.
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@", found):
        raise Unfit("must not carry a user name or a password")
    return found


def event_of(section: Section, document: Document, place: int | None, element: Any) -> LegacyEvent:
    reading = Reading(section, document, element)
    return LegacyEvent(
        id=_own_id(reading, document, place),
        capture=reading.need("capture", identity),
        event=reading.need("event", lambda v: matching(v, _EVENT, "must be 1 to 50 of a-z, 0-9 and _")),
        at=reading.need("at", moment),
        actor=reading.may("actor", lambda value: line(identity(value), 200)),
        detail=reading.may("detail", _detail) or {},
    )


def _detail(value: Any) -> dict[str, Any]:
    """As JSON that comes back from PostgreSQL as it went."""
    if not isinstance(value, Mapping):
        value = {"value": value}
    try:
        written = json_util.dumps(value, json_options=_RELAXED)
        tame: dict[str, Any] = _tame(orjson.loads(written)) if len(written) <= 4 * _LONGEST_DETAIL else {}
        if (not tame and value) or len(orjson.dumps(tame)) > _LONGEST_DETAIL:
            raise Unfit(f"must be at most {_LONGEST_DETAIL} bytes as JSON")
        check(tame)
    except InvalidRequest:
        raise Unfit("must not contain the NUL character, nor be nested deeply") from None
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise Unfit("cannot be written as JSON") from None
    return tame


def _tame(value: Any) -> Any:
    match value:
        case dict():
            return {name: _tame(inner) for name, inner in value.items()}
        case list():
            return [_tame(inner) for inner in value]
        case float() if abs(value) >= _EXACT:
            return str(value)
        case float():
            return value + 0.0  # minus zero is none in PostgreSQL
    return value
