"""What a platform's file says of its limits, retries, prices and writers, as it is answered."""

from datetime import date
from typing import Literal

from pydantic import Field

from leasehold.platforms import Phase
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
