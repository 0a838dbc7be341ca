"""The rules of the house that no linter knows. Each failure says why the rule is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import leasehold
from leasehold.app import build
from leasehold.auth import Permission
from leasehold.door import ANY_CALLER, PERMISSION_FIELD, PUBLIC, UndeclaredRoute, allows, router
from leasehold.embedded import Embedded
from leasehold.settings import Settings
from scripts import generate
from tests.parts.house import KEYS
from tests.parts.postgres import Postgres, migrated

ROOT = Path(leasehold.__file__).parents[2]
SOURCE = Path(leasehold.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
FEATURES = {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}

# A word, where it may stand, and why nowhere else.
HOMES = {
    r"\bos\.environ\b": (
        {
            "settings.py",
            "client/worker.py",
            "client/contrib/scrapy.py",
        },  # the SDK has no settings but where the server is, and what lets it in
        "settings are read once, in one place, and passed on as values",
    ),
    r"\bHTTPException\b": ({"problems.py"}, "services raise problems; only problems.py knows the framework's errors"),
    r"\.commit\(|\"COMMIT": ({"db.py"}, "one use case is one transaction, and db.py ends it"),
    r"\bdatetime\.now\(|\btime\.time\(": (
        {"client/worker_amqp.py"},  # over a broker nobody can be asked for the time; only giving up depends on it
        "the database's clock is the only clock",
    ),
    r"\.system\(\)": (
        {
            "auth/service.py",
            "health/checks.py",
            "leases/timekeeper.py",
            "leases/waiting.py",
            "accounts/moving.py",
            "live/tickets.py",
            "runs/drivers.py",
            "runs/workers.py",
            "artifacts/service.py",
            "entities/writers.py",
            "sources/sweepers.py",
            "app.py",
            "stores.py",
        },
        "crossing organisations is for these few; everybody else works inside one",
    ),
    r"^\s*print\(": ({"cli.py"}, "the command line prints; everything else logs"),
    r"\blogging\.getLogger\(": (
        {
            "logs.py",
            "client/saving.py",
            "client/worker_words.py",
        },  # the SDK has no logs of its own: it uses those of the collector
        "events go through logs.get, which hides secrets",
    ),
}


def name(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_file_says_what_it_is_for_and_stays_short(file: Path) -> None:
    text = file.read_text()

    assert ast.get_docstring(ast.parse(text)), "the first line of a file tells a stranger what it is for"
    assert len(text.splitlines()) <= 400, "a file over 400 lines holds two ideas; name the second"


@pytest.mark.parametrize("file", FILES, ids=name)
def test_words_stay_at_home(file: Path) -> None:
    for pattern, (homes, why) in HOMES.items():
        found = re.search(pattern, file.read_text(), re.MULTILINE)

        assert not found or name(file) in homes, f"{found} in {name(file)}: {why}"


@pytest.mark.parametrize("file", FILES, ids=name)
def test_features_are_entered_by_the_front_door(file: Path) -> None:
    own = name(file).split("/")[0]
    if name(file) in ("app.py", "cli.py", "cli_worker.py", "demo/workers.py", "__main__.py"):
        return  # those that put the house together; what runs workers is no business of others who use the SDK

    for module in imports(file):
        parts = module.split(".")
        inner = len(parts) > 2 and parts[0] == "leasehold" and parts[1] in FEATURES - {own}
        is_module = inner and (SOURCE / parts[1] / f"{parts[2]}.py").exists()

        assert not is_module, f"{name(file)} imports {module}; use what {parts[1]}/__init__.py offers"


def test_the_sdk_needs_nothing_of_the_server() -> None:
    allowed = {"httpx", "pydantic", "leasehold"}
    for file in (SOURCE / "client").rglob("*.py"):
        for module in imports(file):
            top, *rest = module.split(".")
            is_server = top == "leasehold" and rest[:1] not in ([], ["client"], ["__version__"])

            assert not is_server, f"{name(file)} imports {module}: collectors install the SDK alone"
            if (name(file), top) in (("client/worker_amqp.py", "aio_pika"), ("client/contrib/scrapy.py", "scrapy")):
                continue  # an extra of its own, imported by who asks for it
            assert top in allowed or top in __import__("sys").stdlib_module_names, f"{name(file)} imports {module}"


def test_every_route_says_who_may_use_it() -> None:
    allowed = {str(permission) for permission in Permission} | {PUBLIC, ANY_CALLER}
    paths = build(Settings(), "postgresql://nowhere/nothing", KEYS).openapi()["paths"]

    for path, operations in paths.items():
        for operation in operations.values():
            assert operation[PERMISSION_FIELD] in allowed, path


def test_a_route_that_does_not_say_it_cannot_be_made() -> None:
    routes = router("test")

    with pytest.raises(UndeclaredRoute):

        @routes.get("/v2/secret")
        async def secret() -> None: ...

    @routes.get("/v2/open", **allows(PUBLIC))
    async def opened() -> None: ...


async def test_a_route_that_goes_around_the_door_stops_the_start() -> None:
    app = build(Settings(), "postgresql://nowhere/nothing", KEYS)

    @app.get("/v2/secret")
    async def secret() -> None: ...

    with pytest.raises(UndeclaredRoute):
        async with app.router.lifespan_context(app):
            pass


def test_every_operation_documents_its_refusals() -> None:
    document = build(Settings(), "postgresql://nowhere/nothing", KEYS).openapi()

    for path, operations in document["paths"].items():
        for operation in operations.values():
            statuses = {status for status in operation["responses"] if status >= "400"}
            wanted = set() if operation[PERMISSION_FIELD] == PUBLIC else {"401", "403", "503"}
            wanted |= {"413", "415", "422"} if "requestBody" in operation else set()

            assert statuses >= wanted, path
            assert operation["description"], f"{path} says nothing of what it does"
            assert len(operation["tags"]) == 1


def test_every_setting_is_documented() -> None:
    assert set(generate.field_docs()) == set(Settings.model_fields), "a setting without a sentence under it"


@pytest.mark.parametrize("file", generate.PRINTED)
def test_what_is_printed_from_the_code_is_up_to_date(file: str) -> None:
    made = generate.PRINTED[file]()

    assert (ROOT / file).read_text(encoding="utf-8") == made, f"{file} is old; run `make generated`"


def test_the_schema_for_readers_is_what_the_migrations_make(postgres: Postgres) -> None:
    database = migrated(postgres, "lh_schema")
    cluster: Embedded = postgres.cluster

    assert (ROOT / "docs/schema.sql").read_text() == generate.schema_sql(database.url, cluster.programs), (
        "docs/schema.sql is old; run `make generated`"
    )


def test_every_table_is_behind_the_wall(postgres: Postgres) -> None:
    database = migrated(postgres, "lh_wall")
    open_tables = database.rows(
        "SELECT relname FROM pg_class WHERE relkind = 'r'"
        " AND relnamespace IN ('public'::regnamespace, 'faces'::regnamespace)"
        " AND NOT (relrowsecurity AND relforcerowsecurity)"
    )

    assert {table for (table,) in open_tables if "yoyo" not in table} == {"pool", "readiness", "schema_mark"}


def test_links_in_the_docs_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
