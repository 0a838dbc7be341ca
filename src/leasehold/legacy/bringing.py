"""Captures and what happened to them, out of an older system: a batch of each, in one transaction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID, uuid5

from leasehold import audit
from leasehold.accounts import digest
from leasehold.caller import Caller
from leasehold.captures import PREFIX, Record, keep_records
from leasehold.db import Conn
from leasehold.ids import parse, show
from leasehold.legacy import store
from leasehold.legacy.models import Item, LegacyEvent, Origin, Tally
from leasehold.sites import Reference, Registry, known_slugs

T = TypeVar("T")

# What the audit calls an event of the older system; it is no event of ours, and never counts as one.
HISTORY = "capture.history"

# Told of each bad document.
Refuse = Callable[[Origin, str], None]


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """Something read from a document."""

    origin: Origin
    id: str
    what: T


def capture_id(organisation: UUID, legacy_id: str) -> UUID:
    """The same however often it is imported: its events find it again even after it was removed."""
    return uuid5(organisation, f"legacy capture {legacy_id}")


async def bring_captures(
    conn: Conn, caller: Caller, batch: Sequence[Found[Record]], registry: Registry, planned: set[str], refuse: Refuse
) -> Tally:
    """Keep those that are new. `planned` are sites that are not here yet, but would be after a dry run."""
    organisation = caller.organisation
    known = await store.known(conn, organisation, "capture", [found.id for found in batch])
    sites = planned | await known_slugs(conn, organisation, sorted({found.what.site for found in batch}))
    tally = Tally()
    new: dict[UUID, Found[Record]] = {}
    for found in _fresh(batch, known, lambda found: digest(found.what.told()), tally, refuse):
        if found.what.site in sites:
            new[capture_id(organisation, found.id)] = found
        else:
            tally.bad += 1
            refuse(found.origin, "site: no site of your organisation has this id or slug.")
    if new and not planned:
        records = {id_: found.what for id_, found in new.items()}
        await keep_records(conn, organisation, records, _references(registry, records))
        await audit.record_many(conn, [_imported(caller, id_, found) for id_, found in new.items()])
        items = [
            Item(found.id, str(found.origin), None, id_, None, 0, digest(found.what.told()))
            for id_, found in new.items()
        ]
        await store.keep(conn, organisation, "capture", items)
    tally.imported = len(new)
    return tally


async def bring_events(
    conn: Conn, caller: Caller, batch: Sequence[Found[LegacyEvent]], planned: set[UUID], refuse: Refuse
) -> Tally:
    """Append those that are new to the audit. `planned` are captures that would be here after a dry run."""
    organisation = caller.organisation
    known = await store.known(conn, organisation, "event", [found.id for found in batch])
    names = sorted({found.what.capture for found in batch})
    items = await store.known(conn, organisation, "capture", names)
    captures = {name: item.capture for name, item in items.items() if item.capture}
    captures |= {name: id_ for name in names if (id_ := capture_id(organisation, name)) in planned}
    tally = Tally()
    good = []
    for found in batch:
        if found.what.capture in captures:
            good.append(found)
        else:
            tally.bad += 1
            refuse(found.origin, "capture: none was imported under this id.")

    def read(found: Found[LegacyEvent]) -> bytes:
        return digest(found.what.told(captures[found.what.capture]))

    new = sorted(_fresh(good, known, read, tally, refuse), key=lambda found: found.what.at)
    notes = [_past_event(caller, captures[found.what.capture], found) for found in new]
    ids = await audit.record_many(conn, notes)
    rows = [
        Item(found.id, str(found.origin), None, None, id_, 0, read(found)) for found, id_ in zip(new, ids, strict=True)
    ]
    await store.keep(conn, organisation, "event", rows)
    tally.imported = len(new)
    return tally


def _fresh(
    batch: Sequence[Found[T]],
    known: Mapping[str, Item],
    read: Callable[[Found[T]], bytes],
    tally: Tally,
    refuse: Refuse,
) -> Iterator[Found[T]]:
    """Those that nobody has imported; of the others it is told what they are."""
    seen: dict[str, Origin] = {}
    for found in batch:
        item, twin = known.get(found.id), seen.setdefault(found.id, found.origin)
        if item is None and twin is found.origin:
            yield found
        elif item is not None and item.document == str(found.origin) and item.digest == read(found):
            tally.there += 1
        else:
            tally.bad += 1
            refuse(found.origin, _contradiction(item, found.origin, twin))


def _contradiction(item: Item | None, origin: Origin, twin: Origin) -> str:
    if item is not None and item.document == str(origin):
        return "it was imported before, and says something else now."
    return f"the document {item.document if item else twin} was imported under this id."


def _references(registry: Registry, records: Mapping[UUID, Record]) -> dict[UUID, Reference]:
    """What the sites called these URLs when they were captured; nothing for those that were not theirs then."""
    found = {id_: registry.resolve(one.url, one.captured_at.timestamp()) for id_, one in records.items()}
    return {
        id_: reference
        for id_, reference in found.items()
        if isinstance(reference, Reference) and reference.site == records[id_].site
    }


def _imported(caller: Caller, id_: UUID, found: Found[Record]) -> audit.Note:
    record = found.what
    detail = {
        "legacy_id": found.id,
        "collection": found.origin.collection,
        "site": record.site,
        "files": [{"name": file.name, "sha256": file.sha256.hex(), "size": file.size} for file in record.files],
    }
    return audit.Note(caller, "capture.imported", show(PREFIX, id_), detail)


def _past_event(caller: Caller, capture: UUID, found: Found[LegacyEvent]) -> audit.Note:
    event = found.what
    detail: dict[str, Any] = {
        "imported": True,
        "event": event.event,
        "original_at": event.at.isoformat(),
        "original_actor": event.actor,
        "legacy_id": found.id,
        "detail": event.detail,
    }
    return audit.Note(caller, HISTORY, show(PREFIX, capture), detail)


def told_again(event: audit.Event) -> dict[str, Any] | None:
    """What an event in the audit says, as it was compared when it was read; None when it says something else."""
    detail = event.detail
    capture = parse(PREFIX, event.subject)
    if event.action != HISTORY or capture is None:
        return None
    at = datetime.fromisoformat(str(detail.get("original_at")))
    return {
        "capture": capture,
        "event": detail.get("event"),
        "at": at,
        "actor": detail.get("original_actor"),
        "detail": detail.get("detail"),
    }
