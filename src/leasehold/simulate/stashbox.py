"""A stash-box over GraphQL, as far as sources ask: its schema is checked and executed by a real GraphQL library."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import orjson
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    build_schema,
    execute_sync,
    parse,
    validate,
)
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leasehold.simulate.box_control import BoxControl
from leasehold.simulate.boxes import SITES, Box, Row, site_id
from leasehold.simulate.control import answer

# What a request that says nothing sensible gets.
_PER_PAGE = 25
_KEYS = {
    "NAME": "name",
    "BIRTHDATE": "birth_date",
    "DEATHDATE": "death_date",
    "CAREER_START_YEAR": "career_start_year",
    "UPDATED_AT": "updated",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks which box, and how this server is called from there."""

    box: Box
    address: str
    has_key: bool
    most_per_page: int | None


class StashBoxApi:
    """All boxes, each at its own path."""

    def __init__(self, boxes: dict[str, Box], control: BoxControl) -> None:
        self._boxes = boxes
        self._control = control

    def routes(self) -> list[Route]:
        return [Route("/{box}/graphql", self._graphql, methods=["POST"])]

    async def _graphql(self, request: Request) -> Response:
        box = self._boxes.get(request.path_params["box"])
        if box is None:
            return answer({"detail": f"There is no such box; there are {', '.join(self._boxes)}."}, 404)
        body = await request.body()
        try:
            wish = orjson.loads(body)
            query, variables = str(wish["query"]), dict(wish.get("variables") or {})
        except (ValueError, LookupError, TypeError):
            return answer({"errors": [{"message": "json request body could not be decoded"}], "data": None}, 400)
        if refused := await self._control.met(box.name, _what(query, variables)):
            return refused
        most = self._control.manners[box.name].most_per_page
        asked = Asked(box, str(request.base_url).rstrip("/"), bool(request.headers.get("ApiKey")), most)
        return _answered(query, variables, asked)


def _answered(query: str, variables: dict[str, Any], asked: Asked) -> Response:
    found = _document(query)
    if isinstance(found, list):
        return answer({"errors": [fault.formatted for fault in found], "data": None}, 422)
    result = execute_sync(_schema(), found, variable_values=variables, context_value=asked)
    assert isinstance(result, ExecutionResult)  # noqa: S101 (what the library says of it)
    return answer(result.formatted)


@lru_cache(maxsize=64)
def _document(query: str) -> DocumentNode | list[GraphQLError]:
    try:
        document = parse(query)
    except GraphQLError as error:
        return [error]
    return validate(_schema(), document) or document


def _what(query: str, variables: dict[str, Any]) -> str:
    """A request as it is counted: the field it asks for, and which page or whom."""
    field = next(
        (name for name in ("queryPerformers", "findPerformer", "querySites", "searchPerformers") if name in query),
        "other",
    )
    wish = variables.get("input") or variables
    about = wish.get("page") or wish.get("id") if isinstance(wish, dict) else None
    return f"{field}:{about}" if about else field


@cache
def _schema() -> GraphQLSchema:
    text = resources.files("leasehold.simulate").joinpath("stashbox.graphql").read_text(encoding="utf-8")
    schema = build_schema(text)
    query, performer, image, url = (schema.type_map[name] for name in ("Query", "Performer", "Image", "URL"))
    fields: dict[str, Callable[..., Any]] = {
        "findPerformer": _find,
        "queryPerformers": _query,
        "searchPerformers": _search,
        "querySites": _sites,
    }
    for name, resolve in fields.items():
        query.fields[name].resolve = resolve  # type: ignore[attr-defined]
    for kind in ("tattoos", "piercings"):
        performer.fields[kind].resolve = lambda row, info: row[info.field_name]  # type: ignore[attr-defined]
    image.fields["url"].resolve = _image_url  # type: ignore[attr-defined]
    url.fields["type"].resolve = lambda row, _info: row["site"]["name"]  # type: ignore[attr-defined]
    return schema


def _box(info: Any) -> Box:
    if not info.context.has_key:
        raise GraphQLError("not authorized")
    box: Box = info.context.box
    return box


def _find(_root: None, info: Any, id: str) -> Row | None:  # noqa: A002 (the argument's name is theirs)
    return _box(info).rows.get(id)


def _query(_root: None, info: Any, input: Row) -> Row:  # noqa: A002
    box = _box(info)
    key = _KEYS.get(input["sort"], "created")
    page, per_page = max(input["page"], 1), input["per_page"] if input["per_page"] > 0 else _PER_PAGE
    per_page = min(per_page, info.context.most_per_page or per_page)  # of what may stand in front of it
    count, rows = box.page(key, input["direction"] == "DESC", _filter(input), page, per_page)
    return {"count": count, "performers": rows}


def _search(_root: None, info: Any, term: str, page: int = 1, per_page: int = _PER_PAGE, **_more: Any) -> Row:
    words = term.casefold()
    count, rows = _box(info).page(
        "name",
        False,
        lambda row: any(words in name.casefold() for name in (row["name"], *row["aliases"])),
        page,
        per_page,
    )
    return {"count": count, "performers": rows}


def _sites(_root: None, info: Any) -> Row:
    _box(info)
    category = {"id": site_id(1000), "name": "Profiles"}
    sites = [
        {
            "id": site_id(number),
            "name": name,
            "url": form.partition("{")[0],
            "regex": regex,
            "valid_types": ["PERFORMER"],
            "icon": "",
            "category": category,
        }
        for number, (name, form, regex) in enumerate(SITES)
    ]
    return {"count": len(sites), "sites": sites}


def _image_url(image: Row, info: Any) -> str:
    return f"{info.context.address}/images/{image['id']}.png"


def _filter(wish: Row) -> Callable[[Row], bool] | None:
    """What narrows a list. Everything else a client may ask for is taken and ignored, as there."""
    tests: list[Callable[[Row], bool]] = []
    if name := wish.get("name"):
        tests.append(lambda row: name.casefold() in row["name"].casefold())
    if names := wish.get("names"):
        tests.append(lambda row: any(names.casefold() in one.casefold() for one in (row["name"], *row["aliases"])))
    if url := wish.get("url"):
        tests.append(lambda row: any(one["url"] == url for one in row["urls"]))
    tests += [_is(field, wish[field]) for field in ("gender", "ethnicity") if wish.get(field)]
    equal = (("country", "country"), ("disambiguation", "disambiguation"), ("birthdate", "birth_date"))
    tests += [_is(of, wish[field]["value"]) for field, of in equal if wish.get(field)]
    if year := wish.get("birth_year"):
        tests.append(lambda row: str(row["birth_date"] or "")[:4] == str(year["value"]))
    return (lambda row: all(test(row) for test in tests)) if tests else None


def _is(field: str, value: str) -> Callable[[Row], bool]:
    return lambda row: (row[field] or "UNKNOWN") == value
