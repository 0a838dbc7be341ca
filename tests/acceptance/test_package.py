"""What is installed is what was promised: a small SDK, and a wheel that runs from any folder with UI and migrations."""

import os
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import httpx
import pytest

from leasehold import migrate
from tests.parts.process import place

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built as pip builds it."""
    folder, copy = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("checkout")
    for name in ("src", "ui"):  # a copy: building here would pull the UI from under the tests that use it
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("node_modules", "dist", "__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(copy)]
    subprocess.run(command, check=True)
    (made,) = folder.glob("leasehold-*.whl")
    return made


def test_the_wheel_carries_the_ui_the_migrations_and_the_queries(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {f"leasehold/migrations/{name}.sql" for name in migrate.shipped()} <= names
    assert {"leasehold/_ui/index.html", "leasehold/_ui/docs.html", "leasehold/sites/queries.sql"} <= names
    assert "leasehold/py.typed" in names
    assert any(name.startswith("leasehold/_ui/assets/") and name.endswith(".js") for name in names)


def test_the_sdk_has_two_dependencies(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    wanted = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []

    always = {requirement.split(">")[0] for requirement in wanted if "extra ==" not in requirement}

    assert always == {"httpx", "pydantic"}


def test_the_sdk_works_where_the_server_is_not_installed() -> None:
    """With every package of the server made unfindable, the SDK imports and the command says what to install."""
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"fastapi", "starlette", "psycopg", "typer", "uvicorn", "structlog", "orjson"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import leasehold.client
from leasehold.__main__ import main
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ran.returncode == 1
    assert ran.stderr.startswith("This command needs the server")
    assert "leasehold[server]" in ran.stderr


def test_the_wheel_runs_from_any_folder(wheel: Path) -> None:
    with place() as here:
        target = here.folder / "installed"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
        subprocess.run(command, check=True)
        where = "import leasehold; print(leasehold.__file__)"
        environment = {**os.environ, "PYTHONPATH": str(target)}
        told = subprocess.run([sys.executable, "-c", where], capture_output=True, text=True, cwd="/", env=environment)
        assert told.stdout.strip() == str(target / "leasehold" / "__init__.py")

        server = here.up(PYTHONPATH=str(target))

        page = httpx.get(server.address + "/ui/", trust_env=False, timeout=60)
        assert page.status_code == 200
        assert "/ui/assets/" in page.text
        assert httpx.get(server.address + "/docs", trust_env=False, timeout=60).status_code == 200
        assert server.ask("GET", "/v2/sites", server.token).status_code == 200
