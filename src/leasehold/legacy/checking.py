"""Compares what was read out of an older system with what is here, made again from our rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args
from uuid import UUID

from leasehold import audit
from leasehold.accounts import Sum
from leasehold.captures import read_records
from leasehold.db import Conn, Database
from leasehold.legacy import store
from leasehold.legacy.bringing import told_again
from leasehold.legacy.models import Item, Kind
from leasehold.legacy.places import told
from leasehold.sites import past_addresses

_AT_ONCE = 500


@dataclass(slots=True)
class Compared:
    """So much was read, and so much is here."""

    kind: Kind
    read: Sum = field(default_factory=Sum)
    here: Sum = field(default_factory=Sum)

    @property
    def agree(self) -> bool:
        return self.read == self.here


async def compare(db: Database, organisation: UUID) -> list[Compared]:
    """Everything that was ever imported into an organisation and was not removed since."""
    compared = [Compared(kind) for kind in get_args(Kind)]
    for one in compared:
        after = ""
        while True:
            async with db.transaction(organisation) as conn:
                items = await store.items(conn, organisation, one.kind, after, _AT_ONCE)
                for record in await _here(conn, organisation, one.kind, items):
                    one.here.add(record)
            for item in items:
                one.read.add_digest(item.digest)
            if len(items) < _AT_ONCE:
                break
            after = items[-1].legacy_id
    return compared


async def _here(conn: Conn, organisation: UUID, kind: Kind, items: Sequence[Item]) -> list[dict[str, object]]:
    match kind:
        case "site":
            slugs = {item.site: item.addresses for item in items if item.site}
            found = await past_addresses(conn, organisation, list(slugs))
            # A site may have moved on since: what was brought along are its first addresses.
            return [told(slug, tuple(addresses[: slugs[slug]])) for slug, addresses in found.items()]
        case "capture":
            records = await read_records(conn, organisation, [item.capture for item in items if item.capture])
            return [record.told() for record in records.values()]
        case "event":
            events = await audit.by_ids(conn, organisation, [item.event for item in items if item.event])
            return [again for event in events.values() if (again := told_again(event)) is not None]
