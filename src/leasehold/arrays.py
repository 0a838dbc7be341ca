"""Lists on their way to PostgreSQL. Batches are arrays, so this is much of what a batch costs us."""

from typing import Any
from uuid import UUID

from psycopg import DataError, adapters
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, PyFormat
from psycopg.types.array import ListDumper

_PLAIN = frozenset({int, float, UUID})
_QUICK = _PLAIN | {str, bool, bytes, type(None)}


class QuickListDumper(ListDumper):
    """Writes lists of what most of ours are of in one go, and leaves the others to psycopg.

    What type it is of is left to the statement: every parameter is cast there.
    """

    def get_key(self, obj: list[Any], format: PyFormat) -> Any:  # noqa: A002 (psycopg's name)
        return self.cls if _QUICK.issuperset(map(type, obj)) else super().get_key(obj, format)

    def dump(self, obj: list[Any]) -> Buffer | None:
        if self.sub_dumper is not None:
            return super().dump(obj)
        kinds = set(map(type, obj))
        texts = map(str, obj) if kinds <= _PLAIN else map(_text, obj)
        written = ("{" + ",".join(texts) + "}").encode()
        if b"\0" in written:
            raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return written


ADAPTERS = AdaptersMap(adapters)
ADAPTERS.register_dumper(list, QuickListDumper)


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    return "t" if value is True else "f" if value is False else str(value)
