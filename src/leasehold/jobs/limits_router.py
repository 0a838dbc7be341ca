"""Limits of platforms changed for a while over HTTP: look what it would do, set it, take it back."""

from typing import Annotated

from pydantic import Field, model_validator

from leasehold.auth import Permission
from leasehold.door import CallerDep, allows
from leasehold.jobs.answers import OnePlatformOut, platform_out
from leasehold.jobs.policies import LimitsOut, rate_out
from leasehold.jobs.problems import LimitsNotYours, PlatformUnknown
from leasehold.jobs.router import JobsDep, SlugInPath, routes
from leasehold.jobs.standing import LimitsWish
from leasehold.platforms import Rate
from leasehold.strict import Answer, Line, Moment, Strict


class RateIn(Strict):
    tasks: int = Field(ge=1, le=1_000_000, description="So many begin")
    per_seconds: Annotated[float, Field(gt=0, le=86_400, description="in so many seconds.")] = 1.0
    burst: int = Field(1, ge=1, le=1_000_000, description="Not more than that at once.")


class PreviewIn(Strict):
    concurrency: int | None = Field(None, ge=1, le=100_000, description="In hand at once; null is as the file says.")
    rate: RateIn | None = Field(None, description="Null is as the file says.")

    @property
    def wish(self) -> LimitsWish:
        rate = self.rate
        said = Rate(tasks=rate.tasks, per_seconds=rate.per_seconds, burst=rate.burst) if rate else None
        return LimitsWish(self.concurrency, said)


class LimitsIn(PreviewIn):
    reason: Line = Field(description="Why; shown beside it, and in the audit.")
    until: Moment | None = Field(None, description="From then on the file counts again; within thirty days.")

    @model_validator(mode="after")
    def _says_something(self) -> "LimitsIn":
        if self.concurrency is None and self.rate is None:
            raise ValueError("Say a concurrency or a rate. To go by the file again, DELETE.")
        return self


class PreviewOut(Answer):
    limits: LimitsOut = Field(description="In force then.")
    in_flight: int = Field(description="Over all organisations.")
    waiting: int = Field(description="Tasks of your organisation that could begin but for limits and workers.")
    would_start: int = Field(description="So many of those the present limits keep back, and these would not.")
    over_by: int = Field(description="In hand beyond these limits: they go on, and nothing begins until they ended.")


@routes.put("/v2/platforms/{platform_slug}/limits", **allows(Permission.JOBS_MANAGE, PlatformUnknown, LimitsNotYours))
async def change_limits(
    platform_slug: SlugInPath, limits: LimitsIn, caller: CallerDep, jobs: JobsDep
) -> OnePlatformOut:
    """Let a platform bear more or less for a while, over all organisations. Replaces what was set before."""
    await jobs.change_limits(caller, platform_slug, limits.wish, limits.reason, limits.until)
    return platform_out((await jobs.platforms(caller, platform_slug))[0])


@routes.delete(
    "/v2/platforms/{platform_slug}/limits", **allows(Permission.JOBS_MANAGE, PlatformUnknown, LimitsNotYours)
)
async def restore_limits(platform_slug: SlugInPath, caller: CallerDep, jobs: JobsDep) -> OnePlatformOut:
    """Let a platform bear what its file says; where it does, nothing changes."""
    await jobs.restore_limits(caller, platform_slug)
    return platform_out((await jobs.platforms(caller, platform_slug))[0])


@routes.post("/v2/platforms/{platform_slug}/limits/preview", **allows(Permission.JOBS_VIEW, PlatformUnknown))
async def preview_limits(platform_slug: SlugInPath, limits: PreviewIn, caller: CallerDep, jobs: JobsDep) -> PreviewOut:
    """What other limits would do at once, without setting them; `{}` asks for those of the file."""
    found = await jobs.preview_limits(caller, platform_slug, limits.wish)
    return PreviewOut(
        limits=LimitsOut(concurrency=found.limits.concurrency, rate=rate_out(found.limits.rate)),
        in_flight=found.in_flight,
        waiting=found.waiting,
        would_start=found.would_start,
        over_by=found.over_by,
    )
