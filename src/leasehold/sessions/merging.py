"""One upload, or one decision of an operator: from what is kept to what is kept next. No I/O; runs in a thread."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from leasehold.sessions import slots
from leasehold.sessions.canonical import Canonical
from leasehold.sessions.handout import HandOut, StorageFull, Wish, hand_out, handed_out
from leasehold.sessions.history import History, Writer, drop_aside, prune, take_in
from leasehold.sessions.history import undo as without
from leasehold.sessions.merge import Base, Health, Source, Start, capture_time
from leasehold.sessions.models import Facts, Look, Note, Stored
from leasehold.sessions.packing import Contents
from leasehold.sessions.placing import Ground
from leasehold.sessions.receiving import Envelope, Policy, Received, receive, replace
from leasehold.sessions.receiving import roll_back as back_to
from leasehold.sessions.report import Report

UNKNOWN: Final = Start.UNKNOWN
INCLUDES: Final = ("indexeddb", "opfs", "credentials")
# Every so many changes what nobody can need any more is forgotten.
_PRUNE_EVERY: Final = 20
_REMEMBERED_S: Final = 35 * 86400
_MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class Offered:
    """An uploaded state and what came with it."""

    state: object = field(repr=False)
    upload: str
    base: Start | int = UNKNOWN
    source: Source = Source.CONTEXT
    health: Health = Health.UNKNOWN
    captured_at: float | None = None  # epoch seconds by the collector's clock, like `sent_at`
    sent_at: float | None = None
    is_replacement: bool = False
    is_dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """What is kept next, and what that changed."""

    contents: Contents
    report: Report
    facts: Facts
    is_changed: bool
    is_visible: bool  # to who is handed the session
    held: Canonical | None = None  # what the uploading context holds


def wish(include: Collection[str], ground: Ground) -> Wish:
    return Wish(
        databases="indexeddb" in include,
        files="opfs" in include,
        credentials="credentials" in include,
        markers=ground.markers,
    )


def base_of(history: History, stored: Stored, note: Note | None, ground: Ground) -> Canonical:
    """What was handed out of a version: as it was noted, or as it would have been when the version was made."""
    if note is None:
        return handed_out(history, stored.at.timestamp(), wish(INCLUDES, ground))
    place = ground.place(note.at) if note.is_placed else None
    return handed_out(history, note.at, wish(note.include, ground), place)


def merge(contents: Contents, look: Look, ground: Ground, base: Base, offered: Offered) -> Merged:
    """Raises StateMalformed, StateTooLarge."""
    now = look.now.timestamp()
    since = look.tenancy.since.timestamp() if look.tenancy else None
    envelope = Envelope(
        offered.upload,
        capture_time(now, offered.sent_at, offered.captured_at, since),
        offered.source,
        offered.health,
        look.tenancy.lease.hex if look.tenancy else None,
    )
    if offered.is_replacement:
        done = replace(contents.history, offered.state, envelope, contents.key)
    else:
        policy = Policy(markers=ground.markers)
        done = receive(contents.history, offered.state, envelope, base, contents.key, policy)
    native = _native_since(look, ground, base, offered)
    # Who does not know what it started from does not know what it holds either.
    held = None if base is Start.UNKNOWN else _holds(done.found, base)
    return _merged(contents, done, look, ground, native, held)


def roll_back(contents: Contents, look: Look, ground: Ground, name: str, to: History) -> Merged:
    envelope = Envelope(name, round(look.now.timestamp() * 1000))
    return _merged(contents, back_to(contents.history, to, envelope, contents.key), look, ground, _native(look))


class UploadUnknown(Exception):
    """No upload of this name is in the history, or aside."""


def undo(contents: Contents, look: Look, ground: Ground, _name: str, upload: str) -> Merged:
    """Raises UploadUnknown."""
    history = contents.history
    if history.number(upload) is None and upload not in history.aside:
        raise UploadUnknown
    return _decided(contents, without(contents.history, upload), look, ground)


def decide(contents: Contents, look: Look, ground: Ground, _name: str, upload: str, *, take: bool) -> Merged:
    history = contents.history
    if upload not in history.aside:
        raise UploadUnknown
    after = take_in(history, upload, contents.key) if take else drop_aside(history, upload)
    return _decided(contents, after, look, ground)


def entries(contents: Contents, ground: Ground, who: Callable[[History], Mapping[str, Writer]]) -> list[dict[str, Any]]:
    """Every entry by name, and the upload it is from."""
    return [
        {
            "slot": slots.show(slot),
            "kind": slots.NOUNS[slot[0]],
            "is_marker": slot[0] == slots.COOKIE and slots.cookie_of(slot).name in ground.markers,
            "upload_id": writer.id,
            "lease_id": writer.lease,
            "written_at": writer.t / 1000,
            "source": writer.source,
        }
        for slot, writer in sorted(who(contents.history).items())
    ]


def _decided(contents: Contents, after: History, look: Look, ground: Ground) -> Merged:
    before, now = contents.history.entries(), after.entries()
    report = Report(
        set=[slot for slot, entry in now.items() if before.get(slot) != entry],
        deleted=[slot for slot in before if slot not in now],
        unchanged=[slot for slot, entry in now.items() if before.get(slot) == entry],
    )
    return _after(contents, after, report, look, ground, _native(look))


def _merged(
    contents: Contents,
    done: Received,
    look: Look,
    ground: Ground,
    native: int | None,
    held: Canonical | None = None,
) -> Merged:
    merged = _after(contents, done.history, done.report, look, ground, native)
    return Merged(merged.contents, merged.report, merged.facts, merged.is_changed, merged.is_visible, held)


def _after(
    contents: Contents, after: History, report: Report, look: Look, ground: Ground, native: int | None
) -> Merged:
    is_visible = after.entries() != contents.history.entries() or look.stored is None
    is_changed = is_visible or after != contents.history or native != _native(look)
    now = look.now.timestamp()
    if look.rev % _PRUNE_EVERY == 0:
        after = prune(after, contents.key, round((now - _REMEMBERED_S) * 1000))
    facts = _facts(after, now, ground, report, look, native)
    return Merged(Contents(after, contents.key), report, facts, is_changed, is_visible)


def _holds(found: Canonical, base: Base) -> Canonical:
    """What a context holds after its upload: what it listed, and what it was given of kinds that it did not list."""
    given = base.entries if isinstance(base, Canonical) else {}
    unlisted = {
        slot: entry
        for slot, entry in given.items()
        if slot not in found.entries
        and slot[0] in (slots.DATABASE, slots.FILE, slots.CREDENTIAL)
        and _area(slot) not in found.covered
    }
    return Canonical({**unlisted, **found.entries})


def _area(slot: str) -> str:
    return slot[0] if slot[0] == slots.CREDENTIAL else f"{slot[0]}\t{slots.stored_of(slot)[0]}"


def _native(look: Look) -> int | None:
    return look.stored.facts.native_since if look.stored else None


def _native_since(look: Look, ground: Ground, base: Base, offered: Offered) -> int | None:
    """Placing former entries ends when a sign-in at the present address succeeds, or when what was placed fails."""
    was_placed = isinstance(base, Canonical) and ground.place() is not None and _native(look) != ground.epoch
    failed = offered.health is Health.LOGGED_OUT and was_placed
    succeeded = offered.health is Health.OK and base is Start.FRESH and len(ground.mounts) > 1
    return ground.epoch if failed or succeeded else _native(look)


def _facts(history: History, now: float, ground: Ground, report: Report, look: Look, native: int | None) -> Facts:
    given = _handed(history, now, ground)
    kinds = [slot[0] for slot in history.entries()]
    known = look.stored.facts.forked if look.stored else []
    forked = sorted({*known, *(slots.show(slot) for slot in report.forked)})[:_MOST_NAMED]
    asides = sorted(history.aside.items())
    return Facts(
        cookies=given.cookies if given else kinds.count(slots.COOKIE),
        origins=given.origins if given else 0,
        local_storage=kinds.count(slots.LOCAL),
        databases=kinds.count(slots.DATABASE),
        files=kinds.count(slots.FILE),
        bytes=len(orjson.dumps(given.state)) if given else 0,
        has_auth=given.has_auth if given else False,
        auth_expires_at=given.auth_expires if given else None,
        held=[name for name, one in asides if one.kind == "held"],
        branches=[name for name, one in asides if one.kind == "branch"],
        forked=forked,
        heavy_hosts=given.heavy_hosts[:_MOST_NAMED] if given else [],
        native_since=native,
    )


def _handed(history: History, now: float, ground: Ground) -> HandOut | None:
    try:
        return hand_out(history, now, wish((), ground))
    except StorageFull:
        return None  # whoever asks for it is told
