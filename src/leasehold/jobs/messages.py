"""What producers and crawlers send and get, the same over HTTP and RabbitMQ: plain JSON, unknown fields are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import any_schema

from leasehold.platforms import Slug

VERSION = 2
_MONTH_S = 30 * 86_400
# Nothing costs a million dollars; sums of what is said stay numbers that the database has.
_MOST_MICROS = 10**12
# What stands in the place of a job's id in an address.
_TAKEN = ("books", "dead-letters")


def _is_free(text: str) -> str:
    if text in _TAKEN:
        raise ValueError(f"must not be {' or '.join(_TAKEN)}")
    return text


JobId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,200}$"), AfterValidator(_is_free)]


class Open(BaseModel):
    """Nothing is coerced, and what is not known goes along."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, allow_inf_nan=False)

    @property
    def more(self) -> dict[str, Any]:
        """What came along that we do not know."""
        return self.model_extra or {}


class Message(Open):
    """Says which version it is written in; what comes in an older one was brought to this one (`versions.py`)."""

    # Whoever says nothing means the first.
    schema_version: Annotated[int, Field(ge=1, le=VERSION, json_schema_extra={"default": 1})] = VERSION


def _each_once(slugs: list[str]) -> list[str]:
    if len(set(slugs)) != len(slugs):
        raise ValueError("must name each platform once")
    return slugs


@dataclass(frozen=True, slots=True)
class Described:
    """For what is judged one by one and never refused as a whole: anything is let in; published is what should be."""

    model: type[BaseModel]

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return any_schema()

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self.model.__pydantic_core_schema__)


class CrawlRequest(Message):
    """What a producer wants to have crawled."""

    job_id: JobId | None = Field(None, description="Your own name for it: sent again, it is the same job.")
    platform: Slug | Annotated[list[Slug], Field(min_length=1, max_length=20), AfterValidator(_each_once)] = Field(
        description="One platform, or several: then the job has a part for each."
    )
    task_type: Slug
    payload: dict[str, JsonValue] = Field(description="As the platform's schema for this type says.")
    time_range: dict[str, JsonValue] | None = None
    priority: Annotated[int, Field(ge=0, le=9)] | None = Field(None, description="Higher goes first.")
    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    deadline_seconds: Annotated[int, Field(ge=1, le=_MONTH_S)] | None = None
    run_id: Annotated[str, Field(max_length=200)] | None = None
    trace_ctx: dict[str, JsonValue] | None = None
    metadata: dict[str, JsonValue] | None = None

    def traced(self, trace: Mapping[str, str] | None) -> "CrawlRequest":
        """As part of a trace, unless its producer has said of which."""
        if trace is None or self.trace_ctx is not None:
            return self
        return self.model_copy(update={"trace_ctx": dict(trace)})

    @property
    def platforms(self) -> list[str]:
        return [self.platform] if isinstance(self.platform, str) else list(self.platform)


class WriterSaid(BaseModel):
    """Where the results go, and whether the crawler still writes them itself."""

    target: str
    phase: str
    crawler_writes: bool
    space: str | None = Field(None, description="The collection a crawler that writes MongoDB itself writes to.")


class CollectorTask(BaseModel):
    """What a crawler is to do."""

    schema_version: int = 1
    job_id: str
    attempt: int
    fence: int
    platform: str
    task_type: str
    payload: dict[str, Any]
    time_range: dict[str, Any] | None
    cursor: Any = Field(description="Where the attempt before this one had come to.")
    idempotency_token: str
    deadline_at: datetime
    retry: bool
    trace_ctx: dict[str, Any] | None
    writer: WriterSaid


def _of_version_1(schema: dict[str, Any]) -> None:
    """What `versions.py` makes seconds of is taken as well, and so it is published."""
    text = "The same in milliseconds: what version 1 counts, which is meant where no `schema_version` is said."
    schema["properties"]["duration_ms"] = {
        "anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}],
        "default": None,
        "description": text,
        "title": "Duration Ms",
    }


class Metrics(Open):
    """What a chunk took."""

    model_config = ConfigDict(json_schema_extra=_of_version_1)

    documents: Annotated[int, Field(ge=0)] | None = None
    bytes: Annotated[int, Field(ge=0)] | None = None
    duration_seconds: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description="How long the crawler worked on it, by its own clock; counted by version 2. It is measured for the "
        "platform.",
    )
    cost_micros: Annotated[int, Field(ge=0, le=_MOST_MICROS)] | None = None


class CrawlerError(Open):
    """What went wrong."""

    code: Annotated[str, Field(min_length=1, max_length=100)]
    message: Annotated[str, Field(max_length=10_000)] = ""
    retryable: bool | None = None
    retry_after_seconds: Annotated[float, Field(ge=0, le=_MONTH_S)] | None = Field(
        None, description="What the platform said about when to come again; it stands over the backoff."
    )


class CrawlerResult(Message):
    """What a crawler brings: some documents, a sign of life, or its last word."""

    job_id: JobId
    attempt: Annotated[int, Field(ge=1)]
    fence: Annotated[int, Field(ge=1)]
    platform: Slug
    task_type: Slug
    status: Literal["success", "skipped", "failed", "progress"]
    seq: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    final: bool = False
    payload_chunk: list[dict[str, JsonValue]] = Field(default_factory=list, max_length=100_000)
    cursor: JsonValue = None
    metrics: Metrics | None = None
    errors: list[CrawlerError] = Field(default_factory=list, max_length=100)

    @property
    def took_s(self) -> float | None:
        """How long the crawler says it worked on what it brings."""
        return self.metrics.duration_seconds if self.metrics else None
