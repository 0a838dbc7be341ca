"""What becomes of documents before they are written, by what a platform's file says, and in which version they came."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leasehold.jobs.messages import CrawlerResult
from leasehold.jobs.pipeline import prepare
from leasehold.jobs.versions import upgraded
from tests.jobs.conftest import change
from tests.parts.broker import JSON, Broker, chunk, last, result
from tests.parts.house import House

HANDLER = """
class Careful:
    def normalise(self, document, about):
        if document.get("kind") == "advert":
            return None
        return {**document, "title": document["title"].strip()}

    def validate(self, document, about):
        return "It has no words." if not document["title"] else None

    def identity(self, document, about):
        return document["id"]

    def enrich(self, document, about):
        return {**document, "from": [about.platform, about.task_type, about.job_id, about.cursor]}
"""


def test_characters_that_no_database_takes_are_replaced() -> None:
    about: JSON = {"job_id": "j", "attempt": 1, "fence": 1, "platform": "alpha", "task_type": "page"}
    message = CrawlerResult.model_validate(
        {**about, "status": "success", "cursor": 1, "payload_chunk": [{"a\x00b": ["x\x00y", "\\u0000"]}]}
    )

    (document,) = prepare(message, None).documents

    assert document == {"a\N{REPLACEMENT CHARACTER}b": ["x\N{REPLACEMENT CHARACTER}y", "\\u0000"]}


async def test_documents_that_fail_the_schema_go_to_the_dead_letters_and_the_others_are_kept(
    home: House, broker: Broker, folder: Path
) -> None:
    schema = "results: {schema: {type: object, required: [id], properties: {id: {type: integer}}}}\n"
    change(home, folder, schema)
    lease = await _begun(broker)

    told = await broker.bring(chunk(lease, "p1", {"id": 1}, {"id": "two"}, {}), last(lease))

    job = await broker.job("one")
    letters = await broker.dead()
    assert [one["verdict"] for one in told] == ["accepted", "accepted"]
    assert told[0]["detail"].startswith("2 of its documents went to the dead letters")
    assert (job["status"], job["result_count"], await broker.documents("one")) == ("completed", 1, [{"id": 1}])
    assert {letter["reason"] for letter in letters} == {"invalid_document"}
    assert sorted(str(letter["payload"]["document"]) for letter in letters) == ["{'id': 'two'}", "{}"]


async def test_documents_of_one_identity_are_written_once_in_a_job(home: House, broker: Broker, folder: Path) -> None:
    change(home, folder, "results: {identity: [site, id]}\n")
    lease = await _begun(broker)
    one, other, nameless = {"site": "a", "id": 1, "seen": 1}, {"site": "b", "id": 1}, {"text": "like no other"}

    await broker.bring(chunk(lease, "p1", one, one | {"seen": 2}, nameless), chunk(lease, "p2", other, one, nameless))
    await broker.bring(chunk(lease, "p3", other | {"seen": 3}), last(lease))

    assert await broker.documents("one") == [one, nameless, other, nameless]
    assert (await broker.job("one"))["result_count"] == 4


@pytest.fixture
def careful(tmp_path: Path) -> Iterator[None]:
    """A package of somebody's that brings a handler."""
    home = tmp_path / "site"
    about = home / "careful_crawls-1.0.dist-info"
    about.mkdir(parents=True)
    (home / "careful_crawls.py").write_text(HANDLER)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: careful-crawls\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[leasehold.handlers]\ncareful = careful_crawls:Careful\n")
    sys.path.insert(0, str(home))
    yield
    sys.path.remove(str(home))


@pytest.mark.usefixtures("careful")
async def test_a_handler_of_a_package_sees_each_document(home: House, broker: Broker, folder: Path) -> None:
    change(home, folder, "results: {handler: careful}\n")
    lease = await _begun(broker)
    good, advert = {"id": 1, "title": " Moon "}, {"id": 2, "kind": "advert"}
    empty, broken = {"id": 3, "title": " "}, {"id": 4}

    await broker.bring(chunk(lease, "p1", good, advert, empty, broken, good), last(lease))

    assert await broker.documents("one") == [{"id": 1, "title": "Moon", "from": ["alpha", "page", "one", "p1"]}]
    said = {letter["detail"]: letter["payload"]["document"] for letter in await broker.dead()}
    assert said == {"It has no words.": empty, "The handler careful raised KeyError.": broken}


def test_an_older_message_means_the_same_in_the_present_version() -> None:
    old = {"status": "success", "metrics": {"duration_ms": 1500, "documents": 2}, "unknown": 1}

    assert upgraded(old) == {
        "schema_version": 2,
        "status": "success",
        "metrics": {"duration_seconds": 1.5, "documents": 2},
        "unknown": 1,
    }
    assert upgraded(upgraded(old)) == upgraded(old)
    assert upgraded("no message") == "no message"


async def test_workers_of_two_versions_run_side_by_side(broker: Broker) -> None:
    await broker.submit(job_id="old")
    await broker.submit(job_id="new")
    first, second = (await broker.offer(limit=2))["leases"]
    slow = {"documents": 1, "duration_ms": 1500}

    told = await broker.verdicts(
        chunk(first, "p1", {"n": 1}, metrics=slow),
        result(first, final=True, schema_version=1, metrics=slow),
        chunk(second, "p1", {"n": 1}, schema_version=2, metrics={"duration_seconds": 1.5}),
        result(second, final=True, schema_version=2),
    )
    strange = await broker.bring(result(first, schema_version=3), result(first, metrics={"duration_ms": "long"}))

    assert told == ["accepted"] * 4
    assert [(await broker.job(job))["status"] for job in ("old", "new")] == ["completed"] * 2
    assert [one["verdict"] for one in strange] == ["invalid"] * 2
    assert "schema_version" in strange[0]["detail"]


async def _begun(broker: Broker) -> JSON:
    await broker.submit(job_id="one")
    return await broker.take()
