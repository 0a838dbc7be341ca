"""Captures: taken in whole or not at all, read again, put back and removed."""

import asyncio
import errno
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from psycopg.errors import ForeignKeyViolation

from leasehold import audit, idempotency, leases, logs
from leasehold.caller import Caller
from leasehold.captures import store
from leasehold.captures.blobs import Blobs, Key
from leasehold.captures.handoff import Handoff
from leasehold.captures.intake import Intake
from leasehold.captures.machine import ASIDE, CaptureState
from leasehold.captures.meta import MetaIn
from leasehold.captures.models import PREFIX, Capture, CaptureFilter, File, Limits, Mark, Meta, NewCapture, Part
from leasehold.captures.multipart import Reader
from leasehold.captures.problems import CaptureInUse, CaptureNotAside, CaptureUnknown, FileElsewhere, StorageFull
from leasehold.db import Conn, Database
from leasehold.idempotency import Once
from leasehold.ids import show, uuid7
from leasehold.metrics import Metrics
from leasehold.problems import Problem, Unavailable
from leasehold.sites import Reference, Registry, SiteUnknown

log = logs.get(__name__)

# Finds the addresses of an organisation's sites.
Addresses = Callable[[UUID], Awaitable[Registry]]
# Whether a lease that PostgreSQL does not keep is live; raises LeaseUnknown.
Elsewhere = Callable[[Caller, UUID], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Sources:
    """What is asked of others about where a capture comes from."""

    addresses: Addresses
    is_live: Elsewhere


# What an upload's Idempotency-Key asks for, once it is known what the upload is.
OnceOf = Callable[[MetaIn, Sequence[Part]], Once | None]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Captures:
    """The use cases of captures, but for their hand-off."""

    def __init__(
        self, db: Database, blobs: Blobs, limits: Limits, metrics: Metrics, handoff: Handoff, sources: Sources
    ) -> None:
        self.handoff = handoff
        self.blobs = blobs
        self.limits = limits
        self.intake = Intake()
        self._db = db
        self._metrics = metrics
        self._sources = sources

    async def receive(self, caller: Caller, body: AsyncIterable[bytes], boundary: bytes, once: OnceOf) -> Capture:
        """Read an upload and keep it: durable when this returns.

        Whatever goes wrong, nothing of it is found again.
        """

        async def admit(meta: MetaIn) -> None:
            await self._insist(caller, meta.meta(), [])

        reader = Reader(boundary, self.blobs, self.limits)
        try:
            told = await self.intake.read(body, reader, admit)
            return await self._keep(caller, told.meta(), reader.parts, once(told, reader.parts))
        except OSError as error:
            raise _refusal(error) from error
        finally:
            await asyncio.shield(self.intake.run(reader.discard))

    async def _keep(self, caller: Caller, meta: Meta, parts: Sequence[Part], once: Once | None) -> Capture:
        organisation = caller.organisation
        was_live = await self._insist(caller, meta, parts)
        files = [await self._place(organisation, part) for part in parts]
        reference = await self._resolve(organisation, meta)

        async def keep(conn: Conn) -> tuple[Capture, bool]:
            if once and (made := await idempotency.claim(conn, once)):
                return await _found(conn, organisation, UUID(hex=made)), False
            is_live = await store.is_live(conn, organisation, meta.lease) if meta.lease else True
            if is_live is False:
                await self.handoff.leases.look(conn)  # a clock that jumped makes nobody late
            late = not (was_live if is_live is None else is_live)
            new = NewCapture(uuid7(), meta, reference, late, files)
            await self._insert(conn, caller, new)
            if once:
                await idempotency.keep(conn, once, new.id.hex)
            return await _found(conn, organisation, new.id), True

        try:
            kept, is_new = await self.handoff.leases.steadily(organisation, keep)
        except ForeignKeyViolation as error:
            raise _no_site() from error
        if is_new:
            self._metrics.capture_bytes.inc(kept.size)
            self._metrics.captures.labels("late" if kept.late else "received").inc()
            self.handoff.arrived(organisation, meta.site)
        return kept

    async def _insert(self, conn: Conn, caller: Caller, new: NewCapture) -> None:
        if not await store.use_blobs(conn, caller.organisation, [file.sha256 for file in new.files]):
            # It took more than an hour to put them in place, and they were swept.
            raise Unavailable("The upload took too long to be stored. Send it again.", headers={"Retry-After": "2"})
        await store.insert(conn, caller.organisation, new)
        subject = show(PREFIX, new.id)
        files = [{"name": file.name, "sha256": file.sha256.hex(), "size": file.size} for file in new.files]
        await audit.record(conn, caller, "capture.received", subject, {"site": new.meta.site, "files": files})
        if new.late:
            lease = show(leases.PREFIX, new.meta.lease) if new.meta.lease else None
            await audit.record(conn, caller, "capture.late", subject, {"lease": lease})

    async def _insist(self, caller: Caller, meta: Meta, parts: Sequence[Part]) -> bool:
        """Whether the lease it came from is live. Refuses what speaks of a site or a lease that never was.

        The bytes of the parts are claimed: they are about to be put in place.
        """
        async with self._db.transaction(caller.organisation) as conn:
            if not await store.has_site(conn, caller.organisation, meta.site):
                raise _no_site()
            is_live = await store.is_live(conn, caller.organisation, meta.lease) if meta.lease else True
            if parts and is_live is not None:
                await _claim(conn, caller, parts)
        if is_live is not None or meta.lease is None:
            return bool(is_live)
        is_live = await self._sources.is_live(caller, meta.lease)
        if parts:
            async with self._db.transaction(caller.organisation) as conn:
                await _claim(conn, caller, parts)
        return is_live

    async def _place(self, organisation: UUID, part: Part) -> File:
        was_there = await self.intake.run(self.blobs.place, Key(organisation, part.sha256), part.draft)
        return File(part.name, part.sha256, part.draft.size, part.content_type, was_there)

    async def _resolve(self, organisation: UUID, meta: Meta) -> Reference | None:
        """What the site called this URL when it was captured; None when it was not a URL of this site then."""
        registry = await self._sources.addresses(organisation)
        found = registry.resolve(meta.url, meta.captured_at.timestamp() if meta.captured_at else None)
        return found if isinstance(found, Reference) and found.site == meta.site else None

    async def get(self, caller: Caller, capture: UUID) -> Capture:
        organisation = caller.organisation
        return await self.handoff.leases.surely(organisation, lambda conn: _found(conn, organisation, capture))

    async def page(self, caller: Caller, which: CaptureFilter, before: Mark | None, limit: int) -> list[Capture]:
        if which.url is not None:
            registry = await self._sources.addresses(caller.organisation)
            found = registry.resolve(which.url)
            if isinstance(found, Reference) and which.site in (None, found.site):
                which = replace(which, reference=found)
        return await self.handoff.leases.surely(
            caller.organisation, lambda conn: store.page(conn, caller.organisation, which, before, limit)
        )

    async def life(self, caller: Caller, capture: UUID, after: UUID | None, limit: int) -> list[audit.Event]:
        """Every event of a capture, oldest first; also of one that was removed."""
        async with self._db.transaction(caller.organisation) as conn:
            found = await audit.life(conn, caller.organisation, show(PREFIX, capture), after, limit)
        if not found and after is None:
            raise unknown_capture()
        return found

    async def file(self, caller: Caller, capture: UUID, name: str) -> tuple[Key, File]:
        found = await self.get(caller, capture)
        for file in found.files:
            if file.name == name and file.external:
                raise _elsewhere(file.location)
            if file.name == name:
                return Key(caller.organisation, file.sha256), file
        raise CaptureUnknown("This capture has no file of that name.")

    async def requeue(self, caller: Caller, capture: UUID, reason: str | None) -> Capture:
        """Put one that was set aside back among those that wait; it may fail as often as a new one."""

        async def requeue(conn: Conn) -> Capture:
            await self.handoff.settle(conn, caller.organisation)
            found = await _locked(conn, caller.organisation, capture)
            if found.state not in ASIDE:
                raise CaptureNotAside(f"This capture is {found.state}.", state=str(found.state))
            if all(file.external for file in found.files):
                # A consumer would claim it again and again, and never get its bytes.
                raise _elsewhere(next((file.location for file in found.files), None))
            await store.requeue(conn, caller.organisation, capture)
            detail = {"from": str(found.state), "reason": reason}
            await audit.record(conn, caller, "capture.requeued", show(PREFIX, capture), detail)
            return await _found(conn, caller.organisation, capture)

        put_back = await self.handoff.leases.steadily(caller.organisation, requeue)
        self.handoff.arrived(caller.organisation, put_back.site)
        return put_back

    async def delete(self, caller: Caller, capture: UUID) -> None:
        """Remove a capture. Its bytes go with the next sweep, unless another capture has them, too."""

        async def delete(conn: Conn) -> None:
            await self.handoff.settle(conn, caller.organisation)
            found = await _locked(conn, caller.organisation, capture)
            if found.state is CaptureState.CLAIMED:
                raise CaptureInUse(f"{found.holder} has claimed this capture.", state=str(found.state))
            await store.delete(conn, caller.organisation, capture)
            files = [{"name": file.name, "sha256": file.sha256.hex()} for file in found.files]
            detail = {"site": found.site, "state": str(found.state), "files": files}
            await audit.record(conn, caller, "capture.deleted", show(PREFIX, capture), detail)

        await self.handoff.leases.steadily(caller.organisation, delete)

    async def measure(self, organisations: Sequence[UUID]) -> None:
        """Count captures by state, for the metrics."""
        counts = dict.fromkeys(CaptureState, 0)
        for organisation in organisations:
            async with self._db.transaction(organisation) as conn:
                for state, number in (await store.states(conn, organisation)).items():
                    counts[CaptureState(state)] += number
        for state, number in counts.items():
            self._metrics.captures_by_state.labels(str(state)).set(number)

    def close(self) -> None:
        self.intake.close()
        self.blobs.close()


async def _claim(conn: Conn, caller: Caller, parts: Sequence[Part]) -> None:
    await store.claim_blobs(conn, caller.organisation, {part.sha256: part.draft.size for part in parts})


async def _found(conn: Conn, organisation: UUID, capture: UUID) -> Capture:
    found = await store.get(conn, organisation, [capture])
    if capture not in found:
        raise unknown_capture()
    return found[capture]


async def _locked(conn: Conn, organisation: UUID, capture: UUID) -> Capture:
    if not await store.lock(conn, organisation, capture):
        raise unknown_capture()
    return await _found(conn, organisation, capture)


def unknown_capture() -> CaptureUnknown:
    return CaptureUnknown("No capture of your organisation has this id.")


def _elsewhere(location: str | None) -> FileElsewhere:
    where = "" if location is None else f" They were at {location}."
    return FileElsewhere(f"The bytes are not here: this is a record of an older system.{where}", location=location)


def _no_site() -> SiteUnknown:
    return SiteUnknown("No site of your organisation has this slug.")


def _refusal(error: OSError) -> Problem:
    if error.errno in _FULL:
        log.error("captures.storage_full", error=str(error))
        return StorageFull("There is no room for these bytes. Nothing of the upload was kept.")
    log.error("captures.storage_failed", exc_info=error)
    return Unavailable("The blob store cannot be used just now. Try again.", headers={"Retry-After": "5"})
