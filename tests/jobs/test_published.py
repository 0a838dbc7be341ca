"""What is published about messages is what the server takes: old and new ones, with nothing said and with all."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from leasehold.jobs.messages import CrawlerResult
from leasehold.jobs.versions import upgraded

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["openapi.json", "asyncapi.json"]
RESULT = {"job_id": "j", "attempt": 1, "fence": 1, "platform": "alpha", "task_type": "page", "status": "success"}


def published(name: str) -> Any:
    return json.loads((ROOT / name).read_text())


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize(
    ("message", "took_s"),
    [
        ({"metrics": {"duration_ms": 1500}}, 1.5),
        ({"schema_version": 1, "metrics": {"duration_ms": 500}}, 0.5),
        ({"schema_version": 2, "metrics": {"duration_seconds": 2.5}}, 2.5),
    ],
)
def test_messages_of_both_versions_are_published_as_they_are_taken(
    name: str, message: dict[str, Any], took_s: float
) -> None:
    schemas = published(name)["components"]["schemas"]
    judge = Draft202012Validator({"$ref": "#/components/schemas/CrawlerResult", "components": {"schemas": schemas}})

    assert CrawlerResult.model_validate(upgraded({**RESULT, **message})).took_s == took_s
    assert judge.is_valid({**RESULT, **message})
    assert not judge.is_valid({**RESULT, **message, "attempt": 0})
    assert not judge.is_valid({**RESULT, "metrics": {"duration_ms": "long"}})


@pytest.mark.parametrize("name", DOCUMENTS)
def test_who_names_no_version_means_the_first(name: str) -> None:
    schemas = published(name)["components"]["schemas"]

    assert {schemas[one]["properties"]["schema_version"]["default"] for one in ("CrawlerResult", "CrawlRequest")} == {1}
    assert {"duration_ms", "duration_seconds"} <= set(schemas["Metrics"]["properties"])


def test_what_is_judged_one_by_one_is_described_all_the_same() -> None:
    schemas = published("openapi.json")["components"]["schemas"]

    assert schemas["ResultsIn"]["properties"]["items"]["items"] == {"$ref": "#/components/schemas/CrawlerResult"}
    assert schemas["BatchIn"]["properties"]["items"]["items"] == {"$ref": "#/components/schemas/CrawlRequest"}
