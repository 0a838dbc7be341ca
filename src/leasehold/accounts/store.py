"""Accounts in PostgreSQL: rows in, dataclasses out.

A function that returns a cursor only sends its statement, so that several can travel together; its reader stands
beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncCursor
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from leasehold.accounts.batch import Ending, Held, Settled
from leasehold.accounts.machine import Breaker, Health, Rules, Standing, State, Tally
from leasehold.accounts.models import (
    Account,
    AccountFilter,
    Ask,
    Candidate,
    Grant,
    Ground,
    NewAccount,
    Outlook,
    SealedSecret,
    Wish,
)
from leasehold.db import Conn, queries
from leasehold.leases import Kind, Lease, first_of

SQL = queries("leasehold.accounts")
Rows = AsyncCursor[tuple[Any, ...]]


async def read_queue(cur: Rows) -> list[Wish]:
    """What those wish for who wait in other processes."""
    return [
        Wish(site, priority, count, labels, account, since, is_waiting=True)
        for site, priority, count, labels, account, since in await cur.fetchall()
    ]


async def guard(conn: Conn, organisation: UUID, sites: Sequence[str]) -> None:
    """Wait for the turn to grant at those of the sites that have a cap."""
    await conn.execute(SQL["guard"], {"organisation": organisation, "sites": sites})


async def grounds(conn: Conn, organisation: UUID, sites: Sequence[str]) -> Rows:
    return await conn.execute(SQL["grounds"], {"organisation": organisation, "sites": sites})


async def read_grounds(cur: Rows) -> dict[str, Ground]:
    return {row[0]: _ground(row) for row in await cur.fetchall()}


def _ground(row: Sequence[Any]) -> Ground:
    slug, is_paused, pause_reason, cap, *policy, live = row
    return Ground(slug, is_paused, pause_reason, cap, Rules(*policy[:4]), Breaker(*policy[4:]), live)


async def where(conn: Conn) -> tuple[str, str | None]:
    """Which store the pools are in, and where they are being moved to."""
    return await read_where(await asked_where(conn))


async def asked_where(conn: Conn) -> Rows:
    return await conn.execute(SQL["store"])


async def read_where(cur: Rows) -> tuple[str, str | None]:
    kept, moving_to = (await cur.fetchall())[0]
    return kept, moving_to


async def first_fence(conn: Conn) -> int:
    """What a new account's fence begins with; grants count up from it."""
    ((era,),) = await (await conn.execute(SQL["era"])).fetchall()
    return first_of(era)


async def hold_store(conn: Conn) -> tuple[str, str | None]:
    """As `where`, and it stays so until the transaction ends."""
    cur = await conn.execute(SQL["hold_store"])
    kept, moving_to = (await cur.fetchall())[0]
    return kept, moving_to


async def begin_move(conn: Conn, to: str) -> str | None:
    """Where they come from; None when they are there already."""
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["begin_move"], {"store": to})
    return await cur.fetchone()


async def end_move(conn: Conn, to: str) -> None:
    await conn.execute(SQL["end_move"], {"store": to})


async def adopt(conn: Conn, wanted: str) -> None:
    """Begin in the wanted store if there was never an account."""
    await conn.execute(SQL["adopt"], {"store": wanted})


async def sites(conn: Conn, organisation: UUID) -> list[str]:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["sites"], {"organisation": organisation})
    return await cur.fetchall()


async def hold_sites(conn: Conn, organisation: UUID, at: Sequence[str]) -> list[str]:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["hold_sites"], {"organisation": organisation, "sites": at})
    return await cur.fetchall()


async def held(conn: Conn, organisation: UUID, leases: Sequence[UUID]) -> Rows:
    return await conn.execute(SQL["held"], {"organisation": organisation, "leases": leases})


async def read_held(cur: Rows) -> dict[UUID, Held]:
    found = {}
    for lease, account, site, *health, ran_out in await cur.fetchall():
        found[lease] = Held(account, site, _health(health), lease, ran_out)
    return found


async def due(conn: Conn, organisation: UUID, at: Sequence[str], limit: int) -> Rows:
    return await conn.execute(SQL["due"], {"organisation": organisation, "sites": at, "limit": limit})


async def read_due(cur: Rows) -> list[Held]:
    return [
        Held(account, site, _health(health), lease, bool(ran_out))
        for account, site, *health, lease, ran_out in await cur.fetchall()
    ]


async def settle(conn: Conn, organisation: UUID, endings: Sequence[Ending]) -> Rows:
    health = [ending.verdict.health for ending in endings]
    return await conn.execute(
        SQL["settle"],
        {
            "organisation": organisation,
            "leases": [ending.lease for ending in endings],
            "hows": [ending.how for ending in endings],
            "outcomes": [ending.outcome for ending in endings],
            "reasons": [ending.reason for ending in endings],
            "rests": [ending.verdict.rest_s for ending in endings],
            **_columns(health),
        },
    )


async def read_settled(cur: Rows) -> dict[UUID, Settled]:
    return {row[0]: Settled(*row) for row in await cur.fetchall()}


async def mend(conn: Conn, organisation: UUID, healths: Mapping[UUID, Health]) -> None:
    """Leave accounts as said, rested, apart from their lease."""
    await conn.execute(
        SQL["mend"], {"organisation": organisation, "accounts": list(healths), **_columns(list(healths.values()))}
    )


async def defer(conn: Conn, organisation: UUID, accounts: Sequence[UUID]) -> None:
    await conn.execute(SQL["defer"], {"organisation": organisation, "accounts": accounts})


async def pick(conn: Conn, organisation: UUID, kinds: Sequence[tuple[Wish, int]]) -> Rows:
    if not any(wish.labels or wish.account for wish, _ in kinds):
        given = {"sites": [wish.site for wish, _ in kinds], "counts": [count for _, count in kinds]}
        return await conn.execute(SQL["pick_any"], {"organisation": organisation, **given})
    return await conn.execute(
        SQL["pick"],
        {
            "organisation": organisation,
            "sites": [wish.site for wish, _ in kinds],
            "labels": [_json(wish.labels) if wish.labels else None for wish, _ in kinds],
            "accounts": [wish.account for wish, _ in kinds],
            "counts": [count for _, count in kinds],
            "labelled": any(wish.labels for wish, _ in kinds),
        },
    )


async def read_picked(cur: Rows) -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = {}
    for site, account, labels in await cur.fetchall():
        found.setdefault(site, []).append(Candidate(account, site, labels or {}))
    return found


async def grant(conn: Conn, organisation: UUID, given: Sequence[tuple[Ask, UUID, UUID]]) -> Rows:
    """Give each account to its ask, under the lease id beside it."""
    return await conn.execute(
        SQL["grant"],
        {
            "organisation": organisation,
            "accounts": [account for _, account, _ in given],
            "leases": [lease for _, _, lease in given],
            "owners": [ask.owner for ask, _, _ in given],
            "tokens": [ask.caller.token for ask, _, _ in given],
            "jobs": [ask.job_id for ask, _, _ in given],
            "ttls": [ask.ttl_seconds for ask, _, _ in given],
        },
    )


async def granted(conn: Conn, organisation: UUID, leases: Iterable[UUID]) -> Rows:
    return await conn.execute(SQL["granted"], {"organisation": organisation, "leases": list(leases)})


async def read_grants(cur: Rows) -> dict[UUID, Grant]:
    found = {}
    for lease, owner, job_id, fence, acquired_at, expires_at, version, key_id, sealed, *row in await cur.fetchall():
        account = _account(row)
        found[lease] = Grant(
            Lease(lease, Kind.ACCOUNT, account.id, account.site, owner, job_id, fence, acquired_at, expires_at),
            account,
            SealedSecret(version, key_id, sealed),
        )
    return found


async def lease(conn: Conn, organisation: UUID, lease_id: UUID) -> Lease | None:
    cur = await conn.execute(SQL["lease"], {"organisation": organisation, "lease": lease_id})
    row = await cur.fetchone()
    return Lease(row[0], Kind(row[1]), *row[2:]) if row else None


async def next_back(conn: Conn, organisation: UUID, at: Sequence[str]) -> dict[str, float]:
    cur = await conn.execute(SQL["next_back"], {"organisation": organisation, "sites": at})
    return dict(await cur.fetchall())


async def tally(conn: Conn, organisation: UUID, ground: Ground) -> Tally:
    cur = await conn.execute(
        SQL["tally"], {"organisation": organisation, "site": ground.slug, "window": ground.breaker.window_seconds}
    )
    return Tally(*(await cur.fetchall())[0])


async def failing(conn: Conn, organisation: UUID, ground: Ground) -> dict[UUID, Health]:
    cur = await conn.execute(
        SQL["failing"], {"organisation": organisation, "site": ground.slug, "window": ground.breaker.window_seconds}
    )
    return {account: _health(health) for account, _, *health in await cur.fetchall()}


async def create(conn: Conn, organisation: UUID, account: UUID, new: NewAccount) -> None:
    row = {"id": account, "organisation": organisation, "site": new.site, "username": new.username}
    await conn.execute(SQL["create"], {**row, "labels": Jsonb(new.labels or {}), "priority": new.priority or 0})


async def put_secret(conn: Conn, organisation: UUID, account: UUID, secret: SealedSecret) -> None:
    row = {"version": secret.version, "key_id": secret.key_id, "sealed": secret.sealed}
    await conn.execute(SQL["put_secret"], {"organisation": organisation, "account": account, **row})


async def secret(conn: Conn, organisation: UUID, account: UUID) -> SealedSecret | None:
    cur = conn.cursor(row_factory=class_row(SealedSecret))
    await cur.execute(SQL["secret"], {"organisation": organisation, "account": account})
    return await cur.fetchone()


async def named(conn: Conn, organisation: UUID, site: str, usernames: Sequence[str]) -> dict[str, tuple[UUID, int]]:
    """Those of the names that are taken, with the account's id and the version of its secret."""
    cur = await conn.execute(SQL["named"], {"organisation": organisation, "site": site, "usernames": usernames})
    return {username: (account, version) for username, account, version in await cur.fetchall()}


async def import_turn(conn: Conn, organisation: UUID, site: str) -> None:
    """Wait for other imports of the site."""
    await conn.execute(SQL["import_turn"], {"organisation": organisation, "site": site})


async def describe(
    conn: Conn, organisation: UUID, account: UUID, labels: Mapping[str, str] | None, priority: int | None
) -> None:
    row = {"labels": None if labels is None else Jsonb(labels), "priority": priority}
    await conn.execute(SQL["describe"], {"organisation": organisation, "id": account, **row})


async def lock(conn: Conn, organisation: UUID, account: UUID) -> Health | None:
    """How it stands, with nobody else changing it until the transaction ends."""
    cur = await conn.execute(SQL["lock"], {"organisation": organisation, "id": account})
    row = await cur.fetchone()
    return _health(row[2:]) if row else None


async def by_ids(conn: Conn, organisation: UUID, ids: Iterable[UUID]) -> Rows:
    return await conn.execute(SQL["by_ids"], {"organisation": organisation, "ids": list(ids)})


async def read_accounts(cur: Rows) -> dict[UUID, Account]:
    return {row[0]: _account(row) for row in await cur.fetchall()}


async def page(
    conn: Conn, organisation: UUID, which: AccountFilter, after: tuple[str, str] | None, limit: int
) -> list[Account]:
    site, username = after or (None, None)
    cur = await conn.execute(
        SQL["page"],
        {
            "organisation": organisation,
            "site": which.site,
            "state": which.state,
            "labels": Jsonb(which.labels) if which.labels else None,
            "query": which.query,
            "after_site": site,
            "after_username": username,
            "limit": limit,
        },
    )
    return [_account(row) for row in await cur.fetchall()]


async def delete(conn: Conn, organisation: UUID, account: UUID) -> bool:
    cur = await conn.execute(SQL["delete"], {"organisation": organisation, "id": account})
    return cur.rowcount > 0


async def outlook(conn: Conn, organisation: UUID, wish: Wish) -> Rows:
    labels = Jsonb(wish.labels) if wish.labels else None
    which = {"site": wish.site, "account": wish.account, "labels": labels}
    return await conn.execute(SQL["outlook"], {"organisation": organisation, **which})


async def read_outlook(cur: Rows) -> Outlook:
    rows = await cur.fetchall()
    times = [row[2] for row in rows if row[2] is not None]
    return Outlook(
        counts={State(state): count for state, count, *_ in rows},
        next_at=min(times, default=None),
        now=rows[0][4] if rows else None,
        holders=sorted(holder for row in rows for holder in row[3] or ()),
    )


async def stats(conn: Conn, organisation: UUID, site: str | None) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    cur = await conn.execute(SQL["stats"], {"organisation": organisation, "site": site})
    for at, state, count in await cur.fetchall():
        found.setdefault(at, {})[state] = count
    return found


async def count(conn: Conn, organisation: UUID, site: str) -> int:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["count"], {"organisation": organisation, "site": site})
    return int(await cur.fetchone() or 0)


async def held_by(conn: Conn, organisation: UUID, owner: str) -> list[UUID]:
    cur = conn.cursor(row_factory=scalar_row)
    await cur.execute(SQL["held_by"], {"organisation": organisation, "owner": owner})
    return await cur.fetchall()


def _account(row: Sequence[Any]) -> Account:
    id_, site, username, state, standing, *rest = row
    return Account(id_, site, username, State(state), Standing(standing), *rest)


def _health(row: Sequence[Any]) -> Health:
    return Health(Standing(row[0]), *row[1:])


def _columns(healths: Sequence[Health]) -> dict[str, list[Any]]:
    penalties = [health.before_penalty for health in healths]
    return {
        "standings": [health.standing for health in healths],
        "blocked_reasons": [health.blocked_reason for health in healths],
        "failures": [health.consecutive_failures for health in healths],
        "unclean": [health.unclean_ends for health in healths],
        "probations": [health.on_probation for health in healths],
        "logins": [health.needs_login for health in healths],
        "penalties": [None if penalty is None else _json(penalty) for penalty in penalties],
    }


def _json(value: Mapping[str, Any]) -> str:
    return orjson.dumps(value).decode()
