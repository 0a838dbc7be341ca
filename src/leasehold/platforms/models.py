"""A platform as its file says: what can be asked of it, within which limits, and what becomes of the answers."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

SLUG = r"^[a-z][a-z0-9_-]{0,62}$"
_CODE = r"^[a-z][a-z0-9_]{0,62}$"
_DAY_S = 86_400

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
        found = sorted(self.validator.iter_errors(payload), key=lambda error: [str(step) for step in error.path])
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


class Limits(Part):
    """What a platform bears, over all organisations."""

    concurrency: Annotated[int, Field(ge=1, le=100_000)] = 10


class Timeouts(Part):
    """How long things may take."""

    lease_seconds: Annotated[int, Field(ge=5, le=3600)] = 60
    """A worker that says nothing for so long is lost."""
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

    @model_validator(mode="after")
    def _is_of_one_mind(self) -> "Retry":
        if both := sorted(set(self.retryable) & set(self.fatal)):
            raise ValueError(f"{', '.join(both)} cannot be both retryable and fatal")
        return self

    def is_retryable(self, code: str, said: bool | None) -> bool:
        """The file decides; what the crawler says counts for codes that the file does not name."""
        if code in self.retryable or code in self.fatal:
            return code in self.retryable
        return bool(said)


class Writer(Part):
    """Where results go, and how far the move to there has come."""

    target: Literal["postgres"] = "postgres"
    phase: Literal["primary"] = "primary"

    @property
    def crawler_writes(self) -> bool:
        """Whether crawlers still write their results themselves."""
        return self.phase != "primary"


class Platform(Part):
    """A family of crawler workers with its limits."""

    platform: Slug
    title: str = ""
    transport: Literal["http"] = "http"
    task_types: Annotated[dict[Slug, TaskType], Field(min_length=1)]
    limits: Limits = Limits()
    timeouts: Timeouts = Timeouts()
    retry: Retry = Retry()
    writer: Writer = Writer()

    @property
    def slug(self) -> str:
        return self.platform
