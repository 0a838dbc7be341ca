"""Values of old documents as ours: found by their path, converted, and never trusted to be of any type."""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from bson import Decimal128, Int64, ObjectId, json_util
from bson.binary import UuidRepresentation
from bson.codec_options import DatetimeConversion

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
LONGEST_ID: Final = 500
EXTENDED: Final = json_util.JSONOptions(
    json_mode=json_util.JSONMode.CANONICAL,
    tz_aware=True,
    uuid_representation=UuidRepresentation.STANDARD,
    datetime_conversion=DatetimeConversion.DATETIME_AUTO,
)


class Unfit(Exception):
    """A value that cannot be ours; the message says why, and nothing of the value."""


def _number(value: Any) -> float | int:
    if isinstance(value, Decimal128):
        value = value.to_decimal()
        value = int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unfit("must be a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise Unfit("must be a finite number")
    return value


def _after_epoch(value: Any, unit: timedelta) -> datetime:
    try:
        return _EPOCH + _number(value) * unit
    except OverflowError:
        raise Unfit("is no time we can keep") from None


def _iso(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(_text(value).strip())
    except ValueError:
        raise Unfit("must be an ISO 8601 time") from None
    # Old systems seldom wrote the zone; MongoDB itself keeps UTC.
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _object_id_time(value: Any) -> datetime:
    if isinstance(value, str) and ObjectId.is_valid(value):
        value = ObjectId(value)
    if not isinstance(value, ObjectId):
        raise Unfit("must be an ObjectId")
    return value.generation_time


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit("must be text")
    return value


def _slugify(value: Any) -> str:
    plain = unicodedata.normalize("NFKD", _text(value)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", plain).strip("-_")[:63]


def identity_text(value: Any) -> str:
    return identity(value)


def _file_name(value: Any) -> str:
    """The last part of a path, with what no name of ours may have replaced."""
    last = re.split(r"[/\\\\]", _text(value))[-1]
    return re.sub(r"[^A-Za-z0-9._-]", "_", last).lstrip(".")[-200:]


CONVERTERS: Final[dict[str, Callable[[Any], Any]]] = {
    "epoch_s": lambda value: _after_epoch(value, timedelta(seconds=1)),
    "epoch_ms": lambda value: _after_epoch(value, timedelta(milliseconds=1)),
    "iso": _iso,
    "object_id_time": _object_id_time,
    "lower": lambda value: _text(value).lower(),
    "slugify": _slugify,
    "text": identity_text,
    "file_name": _file_name,
}


def dig(document: Any, path: Sequence[str]) -> Any:
    """What is there, or None."""
    for step in path:
        if isinstance(document, Mapping):
            document = document.get(step)
        elif isinstance(document, list) and re.fullmatch(r"-?[0-9]{1,6}", step):
            place = int(step)
            document = document[place] if -len(document) <= place < len(document) else None
        else:
            return None
    return document


def identity(value: Any) -> str:
    """An id as text: the same for an ObjectId and its digits, so that references in either spelling meet."""
    match value:
        case str():
            return text(value, LONGEST_ID)
        case bool() | None:
            raise Unfit("is no id")
        case int():
            return str(int(value))
        case ObjectId() | UUID():
            return str(value)
    return text(position(value), LONGEST_ID)


def position(value: Any) -> str:
    """An _id as extended JSON, from which it can be made again exactly."""
    return json_util.dumps(value, json_options=EXTENDED)


def from_position(written: str) -> Any:
    return json_util.loads(written, json_options=EXTENDED)


def text(value: Any, longest: int, shortest: int = 1) -> str:
    """Text that PostgreSQL can keep."""
    found = _text(value)
    if not shortest <= len(found) <= longest:
        raise Unfit(f"must be of {shortest} to {longest} characters")
    if "\x00" in found:
        raise Unfit("must not contain the NUL character")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise Unfit("must be Unicode text") from None
    return found


def line(value: Any, longest: int) -> str:
    found = text(value, longest)
    if any(ord(character) < 32 or ord(character) == 127 for character in found):
        raise Unfit("must not contain control characters")
    return found


def matching(value: Any, pattern: re.Pattern[str], rule: str) -> str:
    found = text(value, 500)
    if not pattern.fullmatch(found):
        raise Unfit(rule)
    return found


def whole(value: Any, least: int, most: int) -> int:
    number = _number(int(value) if isinstance(value, Int64) else value)
    if number != int(number) or not least <= number <= most:
        raise Unfit(f"must be a whole number from {least} to {most}")
    return int(number)


def moment(value: Any) -> datetime:
    """To the microsecond PostgreSQL keeps; MongoDB's own are to the millisecond."""
    if not isinstance(value, datetime):
        raise Unfit("must be a time; `as` converts numbers and text")
    try:
        found = (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise Unfit("is no time we can keep") from None
    if not _EPOCH <= found < _LATEST:
        raise Unfit("must be a time between the years 1970 and 2200")
    return found
