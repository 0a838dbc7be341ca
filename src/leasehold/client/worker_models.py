"""What a crawler gets and gives: tasks, chunks of documents, and the ways to end without any."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from leasehold.client.models import Lease, Model, Waiting
from leasehold.client.worker_words import plain

_LONGEST_CODE = 100
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)
# Documents that come without a cursor get one of ours: what they come after, and the how-manieth they are.
_AFTER, _CHUNK = "leasehold:after", "leasehold:chunk"


class WriterTold(Model):
    """Where results go, and whether the crawler still writes them itself."""

    target: str
    phase: str
    crawler_writes: bool


class Task(Model):
    """What a crawler is to do. `cursor` is where the one before it had come to; what we do not know goes along."""

    model_config = ConfigDict(extra="allow")

    job_id: str
    attempt: int
    fence: int
    platform: str
    task_type: str
    payload: dict[str, Any]
    time_range: dict[str, Any] | None = None
    cursor: Any = None
    idempotency_token: str = ""
    deadline_at: datetime
    retry: bool = False
    trace_ctx: dict[str, Any] | None = None
    writer: WriterTold = WriterTold(target="", phase="", crawler_writes=False)


class TaskGrant(Lease):
    """A lease with its task."""

    task: Task


class TaskOffer(Model):
    """What there was to do; when there was nothing, `waiting` says why."""

    leases: list[TaskGrant]
    waiting: Waiting | None = None


class Verdict(Model):
    """What became of one result."""

    verdict: str
    detail: str | None = None


class TaskFailed(Exception):
    """Raise it to fail the task. The platform's file says which codes are tried again; `retryable` is for others."""

    def __init__(
        self, code: str, message: str = "", *, retryable: bool | None = None, cost_micros: int | None = None
    ) -> None:
        super().__init__(message or code)
        self.code = str(code)[:_LONGEST_CODE] or "crawler_error"
        self.message = message
        self.retryable = retryable
        self.cost_micros = cost_micros


class Skipped(Exception):
    """Raise it when there is nothing to be had and nothing went wrong: the task completes."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some documents, and the cursor they are kept under: the same cursor again is the same chunk again."""

    documents: Iterable[Any]
    cursor: Any = None
    cost_micros: int | None = None


class ResultRefused(Exception):
    """What the crawler gave is no result: it is no JSON, or the server will not have it."""


@dataclass(slots=True)
class Place:
    """Where a crawl has come to, and what chunks that say nothing of it are called."""

    cursor: Any = None
    unnamed: int = 0

    @classmethod
    def of(cls, task: Task) -> "Place":
        """Where it begins. A cursor of ours means: after that one, and the chunks behind it are brought again."""
        known = task.cursor
        if isinstance(known, dict) and known.keys() == {_AFTER, _CHUNK}:
            return cls(known[_AFTER])
        return cls(known)

    def name(self, chunk: Chunk) -> Any:
        """The cursor that a chunk is sent under."""
        if chunk.cursor is not None:
            self.cursor, self.unnamed = chunk.cursor, 0
            return chunk.cursor
        self.unnamed += 1
        return {_AFTER: self.cursor, _CHUNK: self.unnamed}


@dataclass(frozen=True, slots=True)
class LastWord:
    """How a task ends."""

    status: str
    errors: Sequence[dict[str, Any]] = ()
    cost_micros: int | None = None

    @classmethod
    def failed(
        cls, code: str, message: str, *, retryable: bool | None = None, cost_micros: int | None = None
    ) -> "LastWord":
        error = {"code": code, "message": plain(message)} | ({} if retryable is None else {"retryable": retryable})
        return cls("failed", [error], cost_micros)


@dataclass(slots=True)
class Messages:
    """The results of one task as they are sent, numbered from 1."""

    task: Task
    seq: int = 0
    _place: Place = field(init=False)

    def __post_init__(self) -> None:
        self._place = Place.of(self.task)

    def chunk(self, chunk: Chunk, duration_ms: float) -> str:
        documents = [_document(one) for one in chunk.documents]
        cursor = self._place.name(chunk)
        metrics: dict[str, float] = {"documents": len(documents), "bytes": sum(len(one.encode()) for one in documents)}
        metrics |= {"duration_ms": round(duration_ms, 3)} | _cost(chunk.cost_micros)
        head = _json(self._head("success") | {"cursor": cursor, "metrics": metrics})
        return f'{head[:-1]},"payload_chunk":[{",".join(documents)}]}}'

    def last(self, word: LastWord) -> str:
        more = {"final": True, "errors": list(word.errors)}
        cost = _cost(word.cost_micros)
        return _json(self._head(word.status) | more | ({"metrics": cost} if cost else {}))

    def progress(self) -> str:
        """A sign of life. It has no number: nothing is missing without it."""
        return _json(self._names("progress"))

    def _head(self, status: str) -> dict[str, Any]:
        self.seq += 1
        return self._names(status) | {"seq": self.seq}

    def _names(self, status: str) -> dict[str, Any]:
        task = self.task
        names = {"job_id": task.job_id, "attempt": task.attempt, "fence": task.fence, "platform": task.platform}
        traced = {"trace_ctx": task.trace_ctx} if task.trace_ctx is not None else {}
        return names | {"task_type": task.task_type, "status": status} | traced


def _cost(cost_micros: int | None) -> dict[str, int]:
    return {} if cost_micros is None else {"cost_micros": cost_micros}


def _document(document: Any) -> str:
    text = _json(document)
    if not text.startswith("{"):
        raise ResultRefused(f"A document is an object with fields, not {type(document).__name__}.")
    return text


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_jsonable)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ResultRefused(f"This cannot be written as JSON: {plain(str(error), 200)}") from error
    return text


def _jsonable(value: Any) -> Any:
    """Times, ids, dataclasses and pydantic models are written as pydantic writes them."""
    return _ANYTHING.dump_python(value, mode="json")
