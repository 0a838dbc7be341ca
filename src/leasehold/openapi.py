"""The API's own description: OpenAPI 3.1 with every refusal in it."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from leasehold import __version__
from leasehold.door import PERMISSION_FIELD, PROBLEMS_FIELD, PUBLIC
from leasehold.problems import (
    SCHEMA,
    BodyTooLarge,
    IdempotencyMismatch,
    InvalidRequest,
    MalformedRequest,
    PermissionDenied,
    Problem,
    Unauthenticated,
    Unavailable,
    UnsupportedMediaType,
    declares,
)

_DESCRIPTION = (
    "The control plane for an organisation's web collectors. Every refusal is an RFC 9457 problem; match on its "
    "`type`. Lists are paged by cursor. `Idempotency-Key` makes a repeated POST harmless for 24 hours."
)


def install(app: FastAPI) -> None:
    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = describe_app(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def describe_app(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title="leasehold",
        version=__version__,
        description=_DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        routes=app.routes,
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = SCHEMA
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "lh_…"}}
    for path in document["paths"].values():
        for operation in path.values():
            _finish(operation)
    return document


def _finish(operation: dict[str, Any]) -> None:
    is_open = operation.get(PERMISSION_FIELD) == PUBLIC
    if not is_open:
        operation["security"] = [{"token": []}]
    answers = {status: what for status, what in operation["responses"].items() if status != "422"}
    own = [Problem.kinds[slug] for slug in operation.pop(PROBLEMS_FIELD)]
    kinds = dict.fromkeys([*own, *_usual(operation, is_open)])  # a dictionary keeps their order
    answers.update({str(status): what for status, what in declares(*kinds).items()})
    operation["responses"] = dict(sorted(answers.items()))


def _usual(operation: dict[str, Any], is_open: bool) -> Iterator[type[Problem]]:
    """What any operation of this kind can answer with."""
    yield MalformedRequest
    if not is_open:
        yield from (Unauthenticated, PermissionDenied, Unavailable)
    if "422" in operation["responses"]:  # FastAPI's own sign that something can be invalid
        yield InvalidRequest
    if "requestBody" in operation:
        yield from (BodyTooLarge, UnsupportedMediaType)
    if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", [])):
        yield IdempotencyMismatch
