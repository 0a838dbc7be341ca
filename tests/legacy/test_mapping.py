"""A map that cannot be used is refused with everything that is wrong and where, before anything is written."""

import pytest

from leasehold.legacy import ImportFailed, MapInvalid, read_map
from tests.legacy.old import MAP, Old
from tests.parts.house import House
from tests.test_house import ROOT


def test_the_map_in_the_docs_can_be_used() -> None:
    page = (ROOT / "docs/migration-from-mongo.md").read_text()
    text = page.split("```toml\n")[1].split("```")[0]

    assert len(read_map(text.encode()).sections) == 5


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ('collection = "pages"', "", "captures.collection: this must be the name of a collection."),
        ('collection = "pages"', "collection = 7", "captures.collection: this must be"),
        ("[events]", "[event]", "event: there is no such section; there are sites, domains, captures, events."),
        ('url = "request.url"', "", "captures.fields.url: this must be said."),
        ('url = "request.url"', 'url = "request..url"', "captures.fields.url: this is not a path"),
        ('url = "request.url"', 'url = "$where"', "captures.fields.url: this is not a path"),
        ('url = "request.url"', "url = 5", "captures.fields.url: this must be a path, or a table"),
        ('url = "request.url"', 'url = {path = "a", value = "b"}', "captures.fields.url: this must have either"),
        ('url = "request.url"', 'url = {path = "a", as = "x"}', "captures.fields.url: `as` takes epoch_s,"),
        ('url = "request.url"', 'url = {path = "a", way = 1}', "captures.fields.url: way: there is no such setting"),
        ('job_id = "job"', 'jobid = "job"', "captures.fields.jobid: there is no such field; there are id, site,"),
        ("done = ", "done = 'received', x = ", "captures.fields.state: what this can become is delivered or rejected."),
        ("true = ", "true = 'observed', x = ", "domains.fields.trust: what this can become is urls or credentials."),
        ('collection = "pages"', 'collection = "pages"\neach = "x"', "captures.each: there is no such setting here."),
        ("filter = {", 'filter = { "$where" = "1",', "captures.filter: code that the server would run is not taken."),
        ("[domains.fields]", "[domains.field]", "domains.fields: this table is missing; it names site, host, since."),
        ("[sites]", "[sites", "The map is not TOML: "),
        (MAP[MAP.index("[captures]") : MAP.index("[events]")], "", "events: they belong to captures, and there is no"),
    ],
)
def test_what_is_wrong_with_a_map_is_said_and_where(before: str, after: str, wrong: str) -> None:
    assert before in MAP

    with pytest.raises(MapInvalid) as refused:
        read_map(MAP.replace(before, after, 1).encode())

    assert wrong in str(refused.value)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(MapInvalid) as refused:
        read_map(b'[sites]\n[captures]\ncollection = "a"\n[captures.fields]\nsite = 7\n')

    assert len(str(refused.value).splitlines()) == 7


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        (
            'collection = "log"',
            'collection = "logs"',
            "events.collection: the database has no collection of that name.",
        ),
        ('"$ne" = true', '"$near" = true', "captures.filter: MongoDB does not take it."),
    ],
)
async def test_a_map_that_does_not_fit_the_database_is_refused_before_anything_is_written(
    old: Old, home: House, before: str, after: str, wrong: str
) -> None:
    old.fill(pages=1)
    old.map = MAP.replace(before, after)

    with pytest.raises(MapInvalid) as refused:
        await old.bring()

    assert wrong in str(refused.value)
    assert old.count("site") == 0
    assert not (old.folder / "bad.ndjson").exists()


async def test_a_filter_leaves_documents_out(old: Old, home: House) -> None:
    old.fill(pages=3)
    old.change("pages", 1, {"test": True})

    ran = await old.bring()

    assert ran.row("captures") == [2, 2, 0, 0]
    assert ran.row("events") == [6, 4, 0, 2]


@pytest.mark.parametrize(
    "url",
    [
        "mongodb://ann:s3cr%20t@127.0.0.1:1/old?serverSelectionTimeoutMS=300",
        "mongodb://ann:s3cr t@@127.0.0.1:1/old",
        "mongodb://ann:s3cr@127.0.0.1:1/",
        "http://s3cr",
    ],
)
async def test_an_address_that_leads_nowhere_is_a_sentence_without_its_password(
    old: Old, home: House, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Old, "url", url)
    monkeypatch.setattr("leasehold.legacy.source._PATIENCE_MS", 300)

    with pytest.raises(ImportFailed) as failed:
        await old.bring()

    assert "s3cr" not in str(failed.value)
    assert "address" in str(failed.value)
