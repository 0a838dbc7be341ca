"""What producers and crawlers send and get, the same over HTTP and RabbitMQ: plain JSON, unknown fields are kept."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from leasehold.platforms import Slug

VERSION = 1
_MONTH_S = 30 * 86_400


def _is_name(text: str) -> str:
    if any(ord(character) <= 32 or ord(character) == 127 for character in text):
        raise ValueError("must not contain spaces or control characters")
    return text


JobId = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_is_name)]


class Message(BaseModel):
    """Nothing is coerced, and what is not known goes along."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, allow_inf_nan=False)

    schema_version: Annotated[int, Field(ge=1, le=VERSION)] = 1

    @property
    def more(self) -> dict[str, Any]:
        """What came along that we do not know."""
        return self.model_extra or {}


def _each_once(slugs: list[str]) -> list[str]:
    if len(set(slugs)) != len(slugs):
        raise ValueError("must name each platform once")
    return slugs


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

    @property
    def platforms(self) -> list[str]:
        return [self.platform] if isinstance(self.platform, str) else list(self.platform)


class WriterSaid(BaseModel):
    """Where the results go, and whether the crawler still writes them itself."""

    target: str
    phase: str
    crawler_writes: bool


class CollectorTask(BaseModel):
    """What a crawler is to do."""

    schema_version: int = VERSION
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


class Metrics(Message):
    """What a chunk took."""

    documents: Annotated[int, Field(ge=0)] | None = None
    bytes: Annotated[int, Field(ge=0)] | None = None
    duration_ms: Annotated[float, Field(ge=0)] | None = None
    cost_micros: Annotated[int, Field(ge=0)] | None = None


class CrawlerError(Message):
    """What went wrong."""

    code: Annotated[str, Field(min_length=1, max_length=100)]
    message: Annotated[str, Field(max_length=10_000)] = ""
    retryable: bool | None = None


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
