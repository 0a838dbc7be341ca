"""`leasehold import accounts` and `import seeds`, as an operator runs them on the server itself."""

import pytest

from tests.parts.postgres import TestDatabase
from tests.parts.process import KEYS, Ended, Place

SECRET = "LHCANARY9f"
LONG = 5_001  # more than is taken in at once


@pytest.fixture
def site(database: TestDatabase) -> TestDatabase:
    """An organisation `default` with the site `board`."""
    database.run("INSERT INTO organisation (id, slug) VALUES (gen_random_uuid(), 'default')")
    database.run("INSERT INTO site (organisation, slug, name) SELECT id, 'board', 'board' FROM organisation")
    database.run(
        "INSERT INTO mount (id, organisation, site, host, scheme, prefix, subdomains, fold, trust, current)"
        " SELECT gen_random_uuid(), id, 'board', 'b.example', 'https', '/', 'keep', '{www}', 'credentials', true"
        "   FROM organisation"
    )
    return database


def run(here: Place, database: TestDatabase, kind: str, file: str, content: str, *more: str) -> Ended:
    (here.folder / file).write_text(content)
    return here.run("import", kind, file, *more, LEASEHOLD_DATABASE_URL=database.url, LEASEHOLD_KEYS=KEYS)


def test_accounts_of_a_file_are_there_and_bad_lines_are_told(here: Place, site: TestDatabase) -> None:
    content = f"site,username,password\nboard,ann,{SECRET}\nnowhere,bob,{SECRET}\nboard,,{SECRET}\n"

    first = run(here, site, "accounts", "a.csv", content)
    strict = run(here, site, "accounts", "a.csv", content, "--strict")

    assert first.code == 0, first.err
    assert first.out.splitlines() == [
        "line 3: site: no site of your organisation has this slug.",
        "line 4: username: String should have at least 1 character.",
        "accounts: 1 created, 0 updated, 2 rejected",
    ]
    assert strict.code == 1
    assert strict.out.splitlines()[-1] == "accounts: 0 created, 1 updated, 2 rejected"
    assert SECRET not in first.out + first.err
    assert site.rows("SELECT site, username FROM account") == [("board", "ann")]


def test_accounts_may_be_one_object_a_line(here: Place, site: TestDatabase) -> None:
    ended = run(here, site, "accounts", "a.ndjson", '{"site": "board", "username": "ann", "secret": {"password": "p"}}')

    assert (ended.code, ended.out) == (0, "accounts: 1 created, 0 updated, 0 rejected\n"), ended.err


@pytest.mark.parametrize(
    ("file", "content", "more"),
    [
        ("s.csv", "url\nhttps://b.example/1\nhttps://stranger.example/\n", ()),
        ("s.ndjson", '{"url": "https://b.example/1"}\n{"url": "https://stranger.example/"}', ("--site", "board")),
        (
            "s.opml",
            '<opml><body><outline xmlUrl="https://b.example/1"/><outline url="https://stranger.example/"/></body></opml>',
            (),
        ),
    ],
)
def test_seeds_of_a_file_are_there(
    here: Place, site: TestDatabase, file: str, content: str, more: tuple[str, ...]
) -> None:
    ended = run(here, site, "seeds", file, content, *more)

    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1] == "seeds: 1 created, 0 updated, 1 rejected"
    assert site.rows("SELECT site, original_url FROM seed") == [("board", "https://b.example/1")]


@pytest.mark.parametrize(
    ("kind", "header", "good", "bad"),
    [("accounts", "site,username", "board,ann-{}", "board"), ("seeds", "url", "https://b.example/{}", "nothing")],
)
def test_a_long_file_is_counted_whole_and_only_the_first_bad_lines_are_named(
    here: Place, site: TestDatabase, kind: str, header: str, good: str, bad: str
) -> None:
    lines = [header, *(bad for _ in range(102)), *(good.format(number) for number in range(LONG))]

    ended = run(here, site, kind, "long.csv", "\n".join(lines))

    told = ended.out.splitlines()
    assert ended.code == 0, ended.err
    assert told[-2:] == ["and 2 more", f"{kind}: {LONG:,} created, 0 updated, 102 rejected"]
    assert [line.partition(":")[0] for line in told[:100]] == [f"line {number}" for number in range(2, 102)]
    assert site.rows(f"SELECT count(*) FROM {kind.removesuffix('s')}") == [(LONG,)]


@pytest.mark.parametrize(
    ("kind", "content"), [("accounts", "site,username\nboard,ann"), ("seeds", "url\nhttps://b.example/1")]
)
def test_a_file_may_begin_with_a_byte_order_mark(here: Place, site: TestDatabase, kind: str, content: str) -> None:
    ended = run(here, site, kind, "marked.csv", f"\ufeff{content}")

    assert ended.out == f"{kind}: 1 created, 0 updated, 0 rejected\n", ended.err


@pytest.mark.parametrize(
    ("kind", "file", "content", "more", "said"),
    [
        (
            "accounts",
            "a.txt",
            "",
            (),
            "what is in a file is told by how its name ends; known are .csv, .ndjson, .jsonl",
        ),
        ("accounts", "a.opml", "", (), "known are .csv, .ndjson, .jsonl."),
        ("seeds", "s.csv", "host\nb.example\n", (), "The first line must name the columns; url is missing."),
        ("seeds", "s.csv", "url\n", ("--site", "nowhere"), "--site: no site of the organisation has this slug."),
        ("seeds", "s.csv", "url\n", ("--org", "nobody"), "--org: there is no such organisation."),
    ],
)
def test_what_cannot_be_imported_is_a_sentence(
    here: Place, site: TestDatabase, kind: str, file: str, content: str, more: tuple[str, ...], said: str
) -> None:
    ended = run(here, site, kind, file, content, *more)

    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_a_file_that_is_not_there_is_a_sentence(here: Place, site: TestDatabase) -> None:
    ended = here.run("import", "seeds", "none.csv", LEASEHOLD_DATABASE_URL=site.url, LEASEHOLD_KEYS=KEYS)

    assert (ended.code, ended.err.splitlines()[-1]) == (2, "leasehold: none.csv: No such file or directory.")
