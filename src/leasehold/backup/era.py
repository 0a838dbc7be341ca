"""The era of a restored database: what tells everything in it from what clients remember of the days after the backup.

A restore raises it, and so every fence there is, every one there will be, and the numbers of feeds. The new era is more
than that of the backup, and no less than the minutes since 2026 by PostgreSQL's clock: who restores one backup twice
gets another each time, and nothing has to be remembered outside it.
"""

from typing import Any, LiteralString

import bson
import psycopg
from psycopg import sql
from pymongo import WriteConcern

from leasehold.accounts import connect
from leasehold.leases import COUNTER_BITS, first_of

# Where the numbers of grants are kept. What only tells of a grant (a lease, its end, a receipt) stays as it was.
FENCES = (
    ("account", "fence"),
    ("capture", "fence"),
    ("graph_writer", "fence"),
    ("run", "driver_fence"),
    ("seed", "fence"),
    ("source", "driver_fence"),
    ("task", "fence"),
)
# A version of a session has 31 bits: more than this many within a minute are not made.
_VERSION_BITS = 6
_MASK = (1 << COUNTER_BITS) - 1
# How long leases of the backup are kept from running out by themselves, so that they can be ended in their own way.
_TERM_MS = 24 * 3600 * 1000

_NEXT = """
SELECT greatest(
           %(era)s::int + 1,
           ceil(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00Z') / 60)::int)
"""
_LENGTHEN = "UPDATE lease SET expires_at = clock_timestamp() + interval '1 day' WHERE NOT moved"
_REVOKE_TOKENS = "UPDATE token SET revoked_at = clock_timestamp() WHERE revoked_at IS NULL"
_SESSIONS = """
WITH raised AS (
    UPDATE account a
       SET session_version = greatest(a.session_version + 1, %(first)s::int)
      FROM account before
     WHERE NOT a.moved AND before.id = a.id
    RETURNING a.id, a.organisation, before.session_version AS was, a.session_version AS now
)
UPDATE session_version v
   SET version = raised.now
  FROM raised
 WHERE v.account = raised.id AND v.version = raised.was
"""
_SEQUENCES = """
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_depend d ON d.objid = c.oid AND d.deptype = 'i'
 WHERE c.relkind = 'S'
"""
_ADVANCE = """
SELECT setval(%(name)s::regclass, greatest(%(first)s::bigint, pg_sequence_last_value(%(name)s::regclass)))
"""
_DURABLE = WriteConcern(w="majority", j=True)

Owner = psycopg.Connection[Any]


def begin(conn: Owner, before: int, *, keep_tokens: bool) -> int:
    """The new era, and nobody from before may do anything: to be done before anything else is written."""
    with conn.transaction():
        era = int(_one(conn, _NEXT, {"era": before}))
        conn.execute(sql.SQL("ALTER TABLE audit_event ALTER COLUMN era SET DEFAULT {}").format(sql.Literal(era)))
        conn.execute(_LENGTHEN)
        if not keep_tokens:
            conn.execute(_REVOKE_TOKENS)
        conn.execute("DELETE FROM live_ticket")
    return era


def raise_fences(conn: Owner, era: int) -> None:
    """Every fence to where no client has been, and what is made from now on begins there, too."""
    first = first_of(era)
    with conn.transaction():
        for table, column in FENCES:
            raised = sql.SQL("UPDATE {} SET {} = ({} & {}) | {}").format(
                sql.Identifier(table),
                sql.Identifier(column),
                sql.Identifier(column),
                sql.Literal(_MASK),
                sql.Literal(first),
            )
            conn.execute(raised)
            default = sql.SQL("ALTER TABLE {} ALTER COLUMN {} SET DEFAULT {}").format(
                sql.Identifier(table), sql.Identifier(column), sql.Literal(first)
            )
            conn.execute(default)
        conn.execute(_SESSIONS, {"first": era << _VERSION_BITS})
        for (name,) in conn.execute(_SEQUENCES).fetchall():
            conn.execute(_ADVANCE, {"name": name, "first": max(first, 1)})


async def begin_documents(url: str) -> None:
    """As in PostgreSQL: no lease runs out by itself before it is ended."""
    client, name = connect(url)
    async with client:
        accounts = client[name].get_collection("accounts", write_concern=_DURABLE)
        until = {"$add": ["$$NOW", _TERM_MS]}
        where = {"lease.id": {"$exists": True}, "moved": False}
        await accounts.update_many(where, [{"$set": {"lease.expires_at": until}}])


async def raise_document_fences(url: str, era: int) -> None:
    client, name = connect(url)
    async with client:
        accounts = client[name].get_collection("accounts", write_concern=_DURABLE)
        counted = {"$mod": ["$fence", bson.Int64(_MASK + 1)]}
        version = {"$max": [{"$add": [{"$ifNull": ["$session.version", 0]}, 1]}, era << _VERSION_BITS]}
        pointer = {"$mergeObjects": [{"rev": 0, "version": 0, "kept": None}, "$session", {"version": version}]}
        raised = {"fence": {"$add": [counted, bson.Int64(first_of(era))]}, "session": pointer}
        await accounts.update_many({"moved": False}, [{"$set": raised}])
        # The version that an account points at is called as the account says.
        same = {"into": "session_versions", "on": "_id", "whenMatched": "merge", "whenNotMatched": "discard"}
        pointed = {"$match": {"moved": False, "session.kept": {"$ne": None}}}
        shown = {"$project": {"_id": "$session.kept", "version": "$session.version"}}
        await accounts.aggregate([pointed, shown, {"$merge": same}])


def _one(conn: Owner, statement: LiteralString, given: dict[str, Any]) -> Any:
    ((value,),) = conn.execute(statement, given).fetchall()
    return value
