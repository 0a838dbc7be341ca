"""The overview over HTTP."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Query, Request
from pydantic import Field

from leasehold.door import ANY_CALLER, CallerDep, allows, router
from leasehold.overview.models import Matter, Weight
from leasehold.overview.service import Overview
from leasehold.strict import Answer

routes = router("overview")


async def _overview(request: Request) -> Overview:
    overview: Overview = request.app.state.overview
    return overview


OverviewDep = Annotated[Overview, Depends(_overview)]


class ConcernOut(Answer):
    matter: Matter
    weight: Weight = Field(
        description="`bad`: something stands still that should not. `warn`: it will, or is meant to."
    )
    subject: str = Field(description="The slug or id of the platform, site, run or source it is about.")
    name: str = Field(description="What people call that.")
    count: int | None
    since: datetime | None
    detail: str = Field(description="A sentence for people.")


class MomentOut(Answer):
    at: datetime = Field(description="When the step begins.")
    accepted: int
    completed: int
    failed: int = Field(description="With those that timed out or failed in part.")
    cancelled: int
    live: int = Field(description="At its end.")


class StripOut(Answer):
    platform: str
    succeeded: list[int] = Field(description="Attempts in each five minutes of the last hour, the oldest first.")
    failed: list[int]


class BacklogOut(Answer):
    platform: str
    pending: int
    oldest_s: float | None = Field(serialization_alias="oldest_pending_seconds")
    in_flight: int


class FlowOut(Answer):
    accepted_per_minute: float = Field(description="Over the last five minutes.")
    ended_per_minute: float
    ended: int = Field(description="Within the last 15 minutes.")
    failed: int = Field(description="Of those.")
    live: int
    pending: int
    worst: BacklogOut | None = Field(description="The platform whose oldest task has waited longest.")
    step_s: int = Field(serialization_alias="step_seconds")
    moments: list[MomentOut]
    strips: list[StripOut]


class SpendOut(Answer):
    spent_micros: int = Field(description="Since midnight UTC.")
    reserved_micros: int
    cap_micros: int = Field(description="Of the runs that spent today or still may, together.")
    running: int
    paused: int
    waiting: int = Field(description="For a slot.")


class DueOut(Answer):
    overdue: int
    minutes: list[int] = Field(description="How many fall due in each five minutes of the next hour.")


class OverviewOut(Answer):
    at: datetime
    flow: FlowOut | None = Field(description="Null, as all of these, where the token may not see it.")
    spend: SpendOut | None
    accounts: dict[str, int] | None = Field(description="By state. Null also while they move to another store.")
    leases: dict[str, int] | None = Field(description="By kind.")
    seeds: DueOut | None
    concerns: list[ConcernOut] = Field(description="What needs somebody, the worst first.")


@routes.get("/v2/overview", **allows(ANY_CALLER))
async def show_overview(
    caller: CallerDep,
    overview: OverviewDep,
    hours: Annotated[int, Query(ge=1, le=24, description="How far back `flow.moments` goes.")] = 1,
) -> OverviewOut:
    """How everything stands and what needs somebody, as far as the token may see it."""
    return OverviewOut.model_validate(await overview.look(caller, hours))
