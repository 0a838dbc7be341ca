"""What a platform's file says, and where its limits differ from it for a while, as it is answered."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from leasehold.jobs.standing import Override
from leasehold.platforms import Limits, Phase, Rate
from leasehold.strict import Answer


class TimeoutsOut(Answer):
    lease_seconds: int
    queue_seconds: int
    deadline_seconds: int


class BackoffOut(Answer):
    first_seconds: float
    factor: float
    most_seconds: float
    jitter: float


class RetryOut(Answer):
    attempts: int
    backoff: BackoffOut
    retryable: list[str]
    fatal: list[str]
    snooze: list[str] = Field(description="Codes that put a task off without counting as an attempt.")
    snoozes: int = Field(description="So often at the most.")


class BreakerRuleOut(Answer):
    percent: int
    at_least: int
    window_seconds: int
    probe_seconds: float


class CanaryOut(Answer):
    share: float
    patience_seconds: int


class PriceOut(Answer):
    since: date
    micros: int
    per: Literal["task", "document"]
    task_type: str | None


class ResultsOut(Answer):
    handler: str
    identity: list[str]


class WriterOut(Answer):
    target: str
    phase: Phase = Field(description="Where the move began; `writer.phase` of the platform is how far it has come.")
    shadow: str | None
    ignore: list[str]
    compare_at_least: int = Field(description="So many chunks must have been compared before a promotion.")


class PlatformPolicyOut(Answer):
    timeouts: TimeoutsOut
    retry: RetryOut
    breaker: BreakerRuleOut
    canary: CanaryOut
    prices: list[PriceOut]
    results: ResultsOut
    writer: WriterOut


class RateOut(Answer):
    tasks: int
    per_seconds: float
    burst: int


class LimitsOut(Answer):
    concurrency: int
    rate: RateOut | None


class OverrideOut(Answer):
    concurrency: int | None = Field(description="Instead of what the file says; null is as the file says.")
    rate: RateOut | None = Field(description="Likewise.")
    file: LimitsOut = Field(description="What its file says.")
    by: str | None = Field(description="Who changed it; null where another organisation did.")
    reason: str | None
    since: datetime
    until: datetime | None = Field(description="From then on the file counts again; null is until somebody says so.")


def rate_out(rate: Rate | None) -> RateOut | None:
    return RateOut(tasks=rate.tasks, per_seconds=rate.per_seconds, burst=rate.burst) if rate else None


def override_out(found: Override | None, said: Limits) -> OverrideOut | None:
    if found is None:
        return None
    return OverrideOut(
        concurrency=found.wish.concurrency,
        rate=rate_out(found.wish.rate),
        file=LimitsOut(concurrency=said.concurrency, rate=rate_out(said.rate)),
        by=found.by_name,
        reason=found.reason,
        since=found.since,
        until=found.until,
    )
