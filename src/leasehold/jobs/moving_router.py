"""Moving a platform's results over HTTP: compare, write the shadow again, promote or go back."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from leasehold.auth import Permission
from leasehold.door import CallerDep, allows
from leasehold.jobs.problems import PlatformUnknown, ShadowMissing, WritersDiffer
from leasehold.jobs.router import JobsDep, SlugInPath, routes
from leasehold.platforms import Phase
from leasehold.strict import Answer, Line, Strict

Since = Annotated[datetime | None, Query(description="Only what was received from then on.")]


class DifferenceOut(Answer):
    job_id: str
    cursor: Any
    kind: str
    paths: list[str] = Field(description="Where the documents differ.")
    target: Any = Field(
        description="The first document that differs as it is there: null where there is none, and text "
        "where it is long."
    )
    shadow: Any = Field(description="The same in the shadow.")


class StretchOut(Answer):
    from_at: datetime
    seconds: int = Field(description="An hour, or a day where there is much.")
    compared: int = Field(description="Chunks that came then.")
    equal: int


class ParityOut(Answer):
    platform: str
    phase: Phase
    target: str
    shadow: str
    compared: int = Field(description="Chunks.")
    equal: int
    share: float | None = Field(description="Of those compared that are equal; null when nothing was.")
    late: int = Field(description="Chunks that a writer is not done with yet: not compared.")
    documents: dict[str, int]
    checksums: dict[str, str] = Field(description="Of all documents of each side, whatever their order.")
    differences: dict[str, int] = Field(description="`missing_in_shadow`, `missing_in_target`, `fields`, `order`.")
    samples: list[DifferenceOut]
    over_time: list[StretchOut] = Field(
        description="By when the chunks came, the oldest first; empty times are left out."
    )


class PhaseIn(Strict):
    phase: Annotated[Phase, Field(strict=False)]
    override: Line | None = Field(None, description="Why it may go on although the places differ.")


class PhaseOut(Answer):
    platform: str
    phase: Phase
    crawler_writes: bool


class ReplayShadowIn(Strict):
    since: datetime | None = Field(None, description="Only what was received from then on.")


class ReplayShadowOut(Answer):
    chunks: int


@routes.get("/v2/platforms/{platform_slug}/parity", **allows(Permission.JOBS_VIEW, PlatformUnknown, ShadowMissing))
async def compare_writers(
    platform_slug: SlugInPath, caller: CallerDep, jobs: JobsDep, since: Since = None
) -> ParityOut:
    """Whether the target and the shadow hold the same results: counts, checksums, what differs, and samples."""
    phase, report = await jobs.moving.compare(caller, platform_slug, since)
    writer = jobs.catalogue.platforms[platform_slug].writer
    return ParityOut(
        platform=platform_slug,
        phase=phase,
        target=writer.target,
        shadow=str(writer.shadow),
        compared=report.chunks,
        equal=report.equal,
        share=report.share,
        late=report.late,
        documents={place: report.documents[place] for place in ("target", "shadow")},
        checksums=report.checksums,
        differences=dict(report.kinds),
        samples=[
            DifferenceOut(
                job_id=one.job,
                cursor=one.cursor,
                kind=one.kind,
                paths=list(one.paths),
                target=one.target,
                shadow=one.shadow,
            )
            for one in report.samples
        ],
        over_time=[
            StretchOut(
                from_at=one.from_at, seconds=int(one.lasts.total_seconds()), compared=one.chunks, equal=one.equal
            )
            for one in report.over_time
        ],
    )


@routes.post(
    "/v2/platforms/{platform_slug}/phase",
    **allows(Permission.JOBS_MANAGE, PlatformUnknown, ShadowMissing, WritersDiffer),
)
async def promote_platform(platform_slug: SlugInPath, move: PhaseIn, caller: CallerDep, jobs: JobsDep) -> PhaseOut:
    """Go on to a phase when both places hold the same, or back to one at any time."""
    phase = await jobs.moving.promote(caller, platform_slug, move.phase, move.override)
    return PhaseOut(platform=platform_slug, phase=phase, crawler_writes=phase.crawler_writes)


@routes.post(
    "/v2/platforms/{platform_slug}/shadow/replay",
    **allows(Permission.JOBS_MANAGE, PlatformUnknown, ShadowMissing),
)
async def replay_shadow(
    platform_slug: SlugInPath, caller: CallerDep, jobs: JobsDep, replay: ReplayShadowIn | None = None
) -> ReplayShadowOut:
    """Have results that were written before the shadow was named written there, too."""
    return ReplayShadowOut(chunks=await jobs.moving.replay(caller, platform_slug, replay.since if replay else None))
