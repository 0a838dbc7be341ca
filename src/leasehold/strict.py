"""What may come in: strict JSON and strict models, so that no odd byte gets past the door."""

from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import Request, Response
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from leasehold.ids import show
from leasehold.problems import InvalidRequest, UnsupportedMediaType, fault, invalid

MAX_DEPTH = 64


class Strict(BaseModel):
    """A request body: nothing coerced, nothing unknown, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Answer(BaseModel):
    """A response body, made from our own dataclasses."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


def answered(model: BaseModel) -> Response:
    """An answer as it is sent. For the routes that are called most: returned as it is, a model is made twice."""
    return Response(model.__pydantic_serializer__.to_json(model), media_type="application/json")


# Ids in answers: a UUID inside the house, prefixed text outside.
TokenId = Annotated[UUID, PlainSerializer(lambda value: show("tok", value), return_type=str)]
MoveId = Annotated[UUID, PlainSerializer(lambda value: show("move", value), return_type=str)]
EventId = Annotated[UUID, PlainSerializer(lambda value: show("evt", value), return_type=str)]


def _no_controls(text: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ValueError("must not contain control characters")
    return text


def _is_text(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be an RFC 3339 time, such as 2026-01-31T12:00:00Z")  # noqa: TRY004 (pydantic wants it)
    return value


# A moment in a request: RFC 3339 text with its zone.
Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_is_text)]

# A name or a reason, as people type it: one line.
Line = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_no_controls)]


async def read_json(request: Request) -> Any:
    """The body as JSON, or a problem; never something PostgreSQL could choke on later."""
    raw = await request.body()
    if not raw:
        return None
    _check_content_type(request.headers.get("content-type", ""))
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None
    check(value)
    return value


def _check_content_type(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType("Send this as application/json.", accepts=["application/json"])


def _not_json(error: orjson.JSONDecodeError) -> InvalidRequest:
    # orjson's message speaks of the place and the rule, never of the content.
    return invalid(fault("body", "", f"This is not JSON (RFC 8259, UTF-8): {error.msg} at byte {error.pos}."))


def check(value: Any) -> None:
    """Refuse NUL anywhere (PostgreSQL has no text for it) and nesting no request of ours needs."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise invalid(fault("body", "", f"This is nested more than {MAX_DEPTH} levels deep."))


def _inside(value: Any) -> list[Any]:
    match value:
        case dict():
            return [*value.keys(), *value.values()]
        case list():
            return value
        case str() if "\x00" in value:
            raise invalid(fault("body", "", "Text must not contain the NUL character."))
    return []
