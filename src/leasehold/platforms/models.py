"""A platform as its file says: what can be asked of it, within which limits, and what becomes of the answers."""

import hashlib
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from leasehold.platforms import handlers

SLUG = r"^[a-z][a-z0-9_-]{0,62}$"
_CODE = r"^[a-z][a-z0-9_]{0,62}$"
_DAY_S = 86_400
# RabbitMQ takes a task from a worker that has not acknowledged it for half an hour; five minutes are for the result.
LONGEST_OVER_AMQP_S = 25 * 60

Slug = Annotated[str, Field(pattern=SLUG)]
Code = Annotated[str, Field(pattern=_CODE)]


class Part(BaseModel):
    """A part of a platform's file: nothing unknown, nothing coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _is_schema(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"is no JSON Schema (2020-12): {error.message}") from None
    if schema.get("type") != "object":
        raise ValueError("must have `type: object`: a payload is an object")
    return schema


def _may_be_schema(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if schema is None else _is_schema(schema)


class TaskType(Part):
    """One kind of task. Its payloads pass `schema`, and `example` is one that does."""

    title: str = ""
    schema_: Annotated[dict[str, Any], AfterValidator(_is_schema), Field(alias="schema")]
    example: dict[str, Any]
    priority: Annotated[int, Field(ge=0, le=9)] = 4

    @cached_property
    def validator(self) -> Draft202012Validator:
        return Draft202012Validator(self.schema_)

    @model_validator(mode="after")
    def _passes_its_example(self) -> "TaskType":
        if faults := self.faults(self.example):
            where, why = faults[0]
            raise ValueError(f"the example does not pass the schema: {where or 'it'}: {why}")
        return self

    def faults(self, payload: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What is wrong with a payload: where, as a JSON pointer, and why."""
        return faults(self.validator, payload)


def faults(validator: Draft202012Validator, value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is wrong with a value: where, as a JSON pointer, and why."""
    found = sorted(validator.iter_errors(value), key=lambda error: [str(step) for step in error.path])
    return [("".join(f"/{step}" for step in error.path), _why(error)) for error in found]


def _why(error: Any) -> str:
    """Speaks of the rule and never of the value."""
    match error.validator:
        case "required":
            return error.message if len(error.message) < 200 else "Something is missing."
        case "additionalProperties" | "unevaluatedProperties":
            return "It has a property that is not known here."
        case "type":
            return f"It must be of type {error.validator_value}."
        case "enum":
            return f"It must be one of {error.validator_value}."
    return f"It breaks the rule {error.validator}: {error.validator_value}."[:300]


class Rate(Part):
    """So many tasks begin in so many seconds, and not more than `burst` at once."""

    tasks: Annotated[int, Field(ge=1, le=1_000_000)]
    per_seconds: Annotated[float, Field(gt=0, le=_DAY_S)] = 1.0
    burst: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def apart_s(self) -> float:
        return self.per_seconds / self.tasks


class Limits(Part):
    """What a platform bears, over all organisations."""

    concurrency: Annotated[int, Field(ge=1, le=100_000)] = 10
    rate: Rate | None = None


class Breaker(Part):
    """When nothing more is begun because nearly everything fails, and how it is found out that it works again.

    Only outages and failures that are worth another attempt count: the others speak of what was asked for, not of the
    platform.
    """

    percent: Annotated[int, Field(ge=1, le=100)] = 90
    at_least: Annotated[int, Field(ge=1)] = 100
    """So many attempts must have ended within the window."""
    window_seconds: Annotated[int, Field(ge=5, le=3600)] = 60
    probe_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """Then one task is begun to see; each time in vain the wait doubles, up to ten times."""

    def probe_in_s(self, probes: int) -> float:
        return self.probe_seconds * min(1 << min(probes, 10), 10)


class Canary(Part):
    """A share of the tasks is left to workers that try out something new."""

    share: Annotated[float, Field(ge=0, le=1)] = 0.0
    patience_seconds: Annotated[int, Field(ge=0, le=_DAY_S)] = 60
    """After that anybody may take them."""


class Price(Part):
    """What is paid, from a day on."""

    since: date
    micros: Annotated[int, Field(ge=0)]
    per: Literal["task", "document"] = "task"
    task_type: Slug | None = None


class Timeouts(Part):
    """How long things may take."""

    lease_seconds: Annotated[int, Field(ge=5, le=3600)] = 60
    """A worker that says nothing for so long is lost."""
    queue_seconds: Annotated[int, Field(ge=5, le=_DAY_S)] = 300
    """Over RabbitMQ: a worker that took a task and has not said a word of it for so long is lost."""
    deadline_seconds: Annotated[int, Field(ge=5, le=30 * _DAY_S)] = _DAY_S
    """A job whose request names no deadline has this one."""


class Backoff(Part):
    """The wait before the next attempt: it grows by `factor`, and up to `jitter` of it is left to chance."""

    first_seconds: Annotated[float, Field(ge=0)] = 1.0
    factor: Annotated[float, Field(ge=1, le=10)] = 2.0
    most_seconds: Annotated[float, Field(ge=0)] = 300.0
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.5

    def wait_s(self, attempt: int, chance: float) -> float:
        """Before the attempt after this one; `chance` is between 0 and 1."""
        longest = min(self.most_seconds, self.first_seconds * self.factor ** min(attempt - 1, 64))
        return longest * (1 - self.jitter * chance)


class Retry(Part):
    """What is tried again, how often, and when."""

    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    backoff: Backoff = Backoff()
    retryable: list[Code] = Field(default_factory=list)
    fatal: list[Code] = Field(default_factory=list)
    snooze: list[Code] = Field(default_factory=list)
    """Put off without counting as an attempt: something of ours was not to be had, such as an account."""
    outages: list[Code] = Field(default_factory=list)
    """Put off likewise: nothing can be had of the platform just now. The breaker counts them."""
    snoozes: Annotated[int, Field(ge=0, le=1000)] = 20
    """So often at the most."""

    @model_validator(mode="after")
    def _is_of_one_mind(self) -> "Retry":
        every = [*self.retryable, *self.fatal, *self.snooze, *self.outages]
        if both := sorted({code for code in every if every.count(code) > 1}):
            raise ValueError(f"{', '.join(both)} can be only one of retryable, fatal, snooze and outages")
        return self

    def is_retryable(self, code: str, said: bool | None) -> bool:
        """The file decides; what the crawler says counts for codes that the file does not name."""
        if code in self.retryable or code in self.fatal:
            return code in self.retryable
        return bool(said)


class Results(Part):
    """What becomes of documents before they are written."""

    handler: Code = "plain"
    """Who normalises, checks and enriches them: the name of an entry point in `leasehold.handlers`."""
    schema_: Annotated[dict[str, Any] | None, AfterValidator(_may_be_schema), Field(alias="schema")] = None
    """What each has to pass; what does not goes to the dead letters."""
    identity: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list)
    """The fields that make two documents of a job the same one; the second is left out."""

    @field_validator("handler")
    @classmethod
    def _is_there(cls, name: str) -> str:
        if name not in handlers.names():
            raise ValueError(f"there is no such handler, only {', '.join(handlers.names())}")
        return name

    @cached_property
    def validator(self) -> Draft202012Validator | None:
        return Draft202012Validator(self.schema_) if self.schema_ is not None else None


class Phase(StrEnum):
    """How far the move of results into our hands has come."""

    OBSERVE = "observe"  # crawlers write the target as they always did; we write the shadow alone
    DUAL = "dual"  # both write the target, we the shadow besides
    PRIMARY = "primary"  # we alone write the target
    STREAM = "stream"  # the same, by way of the Redis stream

    @property
    def crawler_writes(self) -> bool:
        """Whether crawlers still write their results themselves."""
        return self in (Phase.OBSERVE, Phase.DUAL)

    def is_after(self, other: "Phase") -> bool:
        order = list(Phase)
        return order.index(self) > order.index(other)


Target = Literal["postgres", "mongo"]


class Writer(Part):
    """Where results go, and how far the move to there has come."""

    target: Target = "postgres"
    phase: Annotated[Phase, Field(strict=False)] = Phase.PRIMARY
    """Where the move begins; from there on it is promoted, and that stands over this."""
    shadow: Target | None = None
    """Where results are written once more, apart from all others, to be compared."""
    ignore: list[str] = Field(default_factory=list)
    """Fields that may differ between the two, by dots."""
    compare_at_least: Annotated[int, Field(ge=1)] = 100
    """So many chunks must have been compared before a promotion."""

    @model_validator(mode="after")
    def _has_a_shadow(self) -> "Writer":
        if self.phase.crawler_writes and self.shadow is None:
            raise ValueError(f"the phase {self.phase} needs a shadow to be written")
        return self


class Platform(Part):
    """A family of crawler workers with its limits."""

    platform: Slug
    title: str = ""
    transport: Literal["http", "amqp"] = "http"
    task_types: Annotated[dict[Slug, TaskType], Field(min_length=1)]
    limits: Limits = Limits()
    timeouts: Timeouts = Timeouts()
    retry: Retry = Retry()
    breaker: Breaker = Breaker()
    canary: Canary = Canary()
    prices: list[Price] = Field(default_factory=list)
    results: Results = Results()
    writer: Writer = Writer()

    @model_validator(mode="after")
    def _fits_its_transport(self) -> "Platform":
        if self.transport == "amqp" and self.timeouts.lease_seconds > LONGEST_OVER_AMQP_S:
            raise ValueError(
                f"timeouts.lease_seconds is {self.timeouts.lease_seconds}: over RabbitMQ a worker has "
                f"{LONGEST_OVER_AMQP_S} seconds at the most, because the broker gives a task to another that was not "
                "acknowledged for half an hour; take less, or transport: http"
            )
        return self

    @property
    def slug(self) -> str:
        return self.platform

    def price(self, task_type: str, on: date) -> Price | None:
        """What is paid on a day: the newest price that is in force, one for the type before one for all."""
        ours = [one for one in self.prices if one.task_type in (None, task_type) and one.since <= on]
        return max(ours, key=lambda one: (one.task_type is not None, one.since), default=None)

    def is_canary(self, job: str) -> bool:
        """Whether a job is one of the share; the same job always is or never."""
        if not self.canary.share:
            return False
        digest = hashlib.blake2b(job.encode(), digest_size=8).digest()
        return int.from_bytes(digest) < self.canary.share * 2**64
