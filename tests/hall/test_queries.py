"""Every statement is one PostgreSQL can prepare, every one is used, and every parameter is cast."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import leasehold
from leasehold.db import APP_ROLE, SYSTEM_ROLE, queries
from tests.parts.postgres import TestDatabase

SOURCE = Path(leasehold.__file__).parent
PARAMETER = re.compile(r"%\((\w+)\)s(::[a-z0-9]+(?:\[\])?)?")


def statements() -> Iterator[tuple[str, str, str]]:
    for file in sorted(SOURCE.rglob("queries.sql")):
        feature = file.parent.name
        for name, statement in queries(f"leasehold.{feature}").items():
            yield feature, name, statement


STATEMENTS = list(statements())
IDS = [f"{feature}.{name}" for feature, name, _ in STATEMENTS]


@pytest.mark.parametrize(("feature", "name", "statement"), STATEMENTS, ids=IDS)
def test_a_statement_prepares_against_the_schema(
    database: TestDatabase, feature: str, name: str, statement: str
) -> None:
    numbered: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        assert match[2], f"%({match[1]})s in {feature}/{name} is not cast: PostgreSQL would have to guess its type"
        return numbered.setdefault(match[1], f"${len(numbered) + 1}") + match[2]

    text = PARAMETER.sub(number, statement).rstrip().rstrip(";")
    role = SYSTEM_ROLE if "Across organisations" in statement or feature == "health" else APP_ROLE

    with database.connect() as conn:
        conn.execute(f"SET ROLE {role}".encode())
        conn.execute(f"PREPARE tried AS {text}".encode())


@pytest.mark.parametrize(("feature", "name", "statement"), STATEMENTS, ids=IDS)
def test_a_statement_is_used(feature: str, name: str, statement: str) -> None:
    code = "".join(file.read_text() for file in (SOURCE / feature).glob("*.py"))

    assert f'SQL["{name}"]' in code, f"{feature}/queries.sql: nobody uses {name}"


def test_a_name_stands_once_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "twice"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "queries.sql").write_text("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ValueError, match="twice"):
        queries("twice")
