"""Lists reach PostgreSQL as what they are, whichever way they are written."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import DataError
from psycopg.adapt import PyFormat

from leasehold.arrays import QuickListDumper
from leasehold.db import Database
from leasehold.ids import uuid7
from tests.parts.postgres import TestDatabase


class Colour(StrEnum):
    RED = "red"


HOSTILE = ["", " ", "NULL", "null", '"', "\\", '\\"', "{a,b}", ",", "a'b", "\n\t\r\v\x7f", "é€𐍈", "$1 %s", "{}", None]
LISTS: list[tuple[str, list[Any]]] = [
    ("text", []),
    ("text", [None]),
    ("text", HOSTILE),
    ("text", [Colour.RED, None]),
    ("uuid", [uuid7(), None, UUID(int=0), uuid4()]),
    ("uuid", [uuid4(), uuid4()]),
    ("bigint", [0, -1, 2**63 - 1, -(2**63), None]),
    ("smallint", [0, -1, 32767]),
    ("float8", [0.1, 1e300, -2.5e-9, 3, float("inf"), None]),
    ("boolean", [True, False, None]),
    ("bytea", [b"", b"\x00\xff\\\"',{}", None, bytes(range(256))]),
    ("timestamptz", [datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC), None]),
]


@pytest.mark.parametrize(("kind", "values"), LISTS, ids=lambda given: given if isinstance(given, str) else "")
async def test_a_list_comes_back_as_it_went(database: TestDatabase, kind: str, values: list[Any]) -> None:
    async with Database(database.url, pool_size=2) as db, db.transaction(UUID(int=1)) as conn:
        row = await (await conn.execute(f"SELECT %s::{kind}[]".encode(), [values])).fetchone()

    assert row == (values,)


async def test_what_cannot_be_kept_is_refused_before_it_is_sent(database: TestDatabase) -> None:
    async with Database(database.url, pool_size=2) as db:
        with pytest.raises(DataError, match="NUL"):
            async with db.transaction(UUID(int=1)) as conn:
                await conn.execute("SELECT %s::text[]", [["a", "b\0"]])


async def test_statements_are_given_lists_in_the_quick_way(database: TestDatabase) -> None:
    async with Database(database.url, pool_size=2) as db, db.transaction(UUID(int=1)) as conn:
        assert conn.adapters.get_dumper(list, PyFormat.AUTO) is QuickListDumper
