"""Moving a platform's results into our hands, phase by phase: compared first, promoted when nothing differs."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from leasehold import audit
from leasehold.caller import Caller
from leasehold.db import Database
from leasehold.jobs import receipts
from leasehold.jobs.parity import Report
from leasehold.jobs.problems import PlatformUnknown, ShadowMissing, WritersDiffer
from leasehold.jobs.writing import Writers
from leasehold.platforms import Catalogue, Phase, Platform
from leasehold.writers import Place, Space

_BATCH = 200


class Moving:
    """Compares where results are written, and promotes a platform from phase to phase."""

    def __init__(self, db: Database, catalogue: Catalogue, writers: Writers) -> None:
        self._db = db
        self._catalogue = catalogue
        self._writers = writers

    async def compare(self, caller: Caller, slug: str, since: datetime | None = None) -> tuple[Phase, Report]:
        """Read both places, chunk by chunk, and say what differs."""
        platform = self._platform(slug)
        organisation = caller.organisation
        shadow = platform.writer.shadow
        if shadow is None:
            raise ShadowMissing(f"The file of {slug} names no shadow under `writer`, so there is nothing to compare.")
        phase = await self.phase(organisation, platform)
        report, after = Report(), 0
        while True:
            async with self._db.transaction(organisation) as conn:
                page = await receipts.to_compare(conn, organisation, slug, since, after, _BATCH)
            report.late += sum(1 for one in page if not one.is_settled)
            await self._add(report, organisation, platform, [one for one in page if one.is_settled])
            if len(page) < _BATCH:
                return phase, report
            after = page[-1].number

    async def replay(self, caller: Caller, slug: str, since: datetime | None) -> int:
        """Have what was written before written to the shadow, too; how many chunks that are."""
        platform = self._platform(slug)
        if platform.writer.shadow is None:
            raise ShadowMissing(f"The file of {slug} names no shadow under `writer`.")
        organisation, after, replayed = caller.organisation, 0, 0
        target = self._writers.target(platform.writer.target)
        while True:
            async with self._db.transaction(organisation) as conn:
                page = await receipts.to_compare(conn, organisation, slug, since, after, _BATCH)
                settled = [one for one in page if one.is_settled]
                names = [(Place(one.task, one.job, slug), one.key) for one in settled]
                found = await target.chunks(organisation, Space.MAIN, names) if names else {}
                await receipts.shadow_again(conn, organisation, found)
                replayed += len(found)
            if len(page) < _BATCH:
                return replayed
            after = page[-1].number

    async def promote(self, caller: Caller, slug: str, to: Phase, override: str | None) -> Phase:
        """Go on to a phase, or back to one. Going on takes proof, or somebody who answers for it."""
        platform = self._platform(slug)
        now, report = await self.compare(caller, slug)
        wanted = platform.writer.compare_at_least
        if to.is_after(now) and override is None and (report.chunks < wanted or report.equal < report.chunks):
            raise WritersDiffer(
                f"{report.equal} of {report.chunks} chunks are the same in both places, and {wanted} must be, without "
                "exception. Look at the comparison, or say in `override` why it may go on all the same.",
                compared=report.chunks,
                equal=report.equal,
                differences=dict(report.kinds),
            )
        async with self._db.transaction(caller.organisation) as conn:
            await receipts.set_phase(conn, caller.organisation, slug, to, caller.name, override)
            told = {"from": str(now), "to": str(to), "equal": report.equal, "compared": report.chunks}
            told |= {"override": override} if override else {}
            await audit.record(conn, caller, "platform.promoted", slug, told)
        return to

    async def phase(self, organisation: UUID, platform: Platform) -> Phase:
        async with self._db.transaction(organisation) as conn:
            return (await receipts.phases(conn, organisation)).get(platform.slug, platform.writer.phase)

    async def _add(
        self, report: Report, organisation: UUID, platform: Platform, page: Sequence[receipts.Compared]
    ) -> None:
        if not page:
            return
        writer = platform.writer
        names = [(Place(one.task, one.job, platform.slug), one.key) for one in page]
        ours = await self._writers.target(writer.target).chunks(organisation, Space.MAIN, names)
        theirs = await self._writers.target(writer.shadow or writer.target).chunks(organisation, Space.SHADOW, names)
        for one in page:
            name = (one.task, one.key)
            both = ours.get(name, []), theirs.get(name, [])
            report.add(one.job, one.cursor, *both, writer.ignore, one.received_at)

    def _platform(self, slug: str) -> Platform:
        found = self._catalogue.get(slug)
        if found is None:
            raise PlatformUnknown("No platform has this name.")
        return found
