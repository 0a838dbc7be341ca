"""Epochs: the weights in force for a kind. They change all at once, never by what comes in."""

from uuid import UUID

import orjson

from leasehold.db import Conn
from leasehold.entities.memory import Current, Memory
from leasehold.entities.store import SQL
from leasehold.linking import Epoch, prior


async def current(conn: Conn, organisation: UUID, kind: str, memory: Memory) -> Current:
    """The epoch in force; the first of a kind is what configuration says of it."""
    given = {"organisation": organisation, "kind": kind}
    known = memory.epochs.get(kind)
    if known is not None:
        row = await (await conn.execute(SQL["epoch_number"], given)).fetchone()
        if row == (known.number, known.epoch.version):
            return known
    found = await (await conn.execute(SQL["epoch_current"], given)).fetchone()
    if found is None:
        return remembered(memory, kind, await open_epoch(conn, organisation, kind, prior(memory.policy(kind))))
    number, parameters = found
    return remembered(memory, kind, Current(kind, number, Epoch.from_json(parameters)))


def remembered(memory: Memory, kind: str, now: Current) -> Current:
    """Features of another epoch are none of this one."""
    if kind in memory.epochs:
        memory.clear()
    memory.epochs[kind] = now
    return now


async def open_epoch(
    conn: Conn, organisation: UUID, kind: str, epoch: Epoch, *, origin: str = "configured", state: str = "current"
) -> Current:
    given = {
        "organisation": organisation,
        "kind": kind,
        "version": epoch.version,
        "origin": origin,
        "state": state,
        "parameters": orjson.dumps(epoch.to_json()).decode(),
        "records": epoch.records,
    }
    ((number,),) = await (await conn.execute(SQL["epoch_open"], given)).fetchall()
    return Current(kind, number, epoch)
