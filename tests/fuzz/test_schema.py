"""Requests made from the API's own description, right and wrong: every answer is one that the description knows.

As many as one likes: CASES=50000 pytest tests/fuzz. The requests are the same each time, and others for another SEED;
SEED=any takes one that nobody has tried. A failure says which it was.
"""

import asyncio
import os
import random
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

import httpx
import pytest
import pytest_asyncio
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case as AnyCase
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.auth.test_matrix import DOCUMENT, things
from tests.parts.house import House, house
from tests.parts.postgres import TestDatabase

pytestmark = pytest.mark.asyncio(loop_scope="module")

Case = AnyCase[Any]
CASES = int(os.environ.get("CASES", "3000"))
_GIVEN = os.environ.get("SEED", "1")
SEED = random.SystemRandom().randrange(2**32) if _GIVEN == "any" else int(_GIVEN)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
PATIENCE_S = 30.0

SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)}
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
EACH = max(1, CASES // len(OPERATIONS) // len(MODES) // 2)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(_worker_database: TestDatabase) -> AsyncIterator[House]:
    _worker_database.empty()
    async with house(_worker_database) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def names(home: House) -> dict[str, str]:
    return await things(home)


def cases(label: str, mode: GenerationMode, named: Mapping[str, str]) -> list[Case]:
    """Some requests for an operation: to what the path may name, or to these."""
    made: list[Case] = []
    chosen = {name: named[name] for name in re.findall(r"\{(\w+)\}", label) if name in named}

    @seed(SEED)
    @settings(
        max_examples=EACH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(OPERATIONS[label].as_strategy(generation_mode=mode, path_parameters=chosen or None))
    def collect(case: Case) -> None:
        made.append(case)

    # Where nothing can be wrong, as nothing is taken.
    with suppress(Unsatisfiable):
        collect()
    return made


async def send(client: httpx.AsyncClient, case: Case) -> httpx.Response | None:
    """The answer; None for what no client can put on the wire, such as a file that is a number."""
    said = case.as_transport_kwargs(base_url="http://leasehold")
    headers = {
        name: value
        for name, value in (said.pop("headers") or {}).items()
        if name.lower() not in ("authorization", "connection", "accept-encoding")
    }
    for part in (said.get("json"), said.get("params")):
        if isinstance(part, dict) and isinstance(part.get("wait_seconds"), int | float):
            part["wait_seconds"] = min(part["wait_seconds"], 1)
    data = said.pop("data", None)
    content = {"content": data} if isinstance(data, bytes | str) else {"data": data}
    said = {name: value for name, value in said.items() if name in ("method", "url", "params", "json", "files")}
    try:
        request = client.build_request(**said, **content, headers=headers)
        await request.aread()
    except (AttributeError, TypeError):
        return None
    async with asyncio.timeout(PATIENCE_S):
        answer: httpx.Response = await client.send(request)
    return answer


@pytest.mark.parametrize("label", OPERATIONS)
async def test_every_answer_is_in_the_description(home: House, names: dict[str, str], label: str) -> None:
    client = await home.caller()
    sent: list[int] = []
    for mode in MODES:
        for named in ({}, names):
            for case in cases(label, mode, named):
                answer = await send(client, case)
                if answer is None:
                    continue
                sent.append(answer.status_code)
                try:
                    case.validate_response(answer, checks=CHECKS)
                except Exception as error:
                    error.add_note(f"SEED={SEED} {mode.value} {case.as_curl_command()}")
                    raise
    assert sent
