"""The files of deploy/, as far as they can be checked without an engine: our program takes what they give it."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from leasehold.cli import app
from leasehold.duties import read as duties_in
from leasehold.settings import PREFIX, Settings, load

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: of for name, of in SERVICES.items() if of["image"] == "leasehold:local"}
DOCKERFILE = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
# What clients read, and no server: settings.of_a_client.
OF_CLIENTS = {"LEASEHOLD_URL", "LEASEHOLD_TOKEN"}


def accept(words: list[str]) -> None:
    """Let the real command line parse it, and do nothing. Raises a usage error if it would refuse."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("leasehold", [], resilient_parsing=True)
    while hasattr(command, "resolve_command"):
        name, command, words = command.resolve_command(context, words)
        if not hasattr(command, "resolve_command"):
            context = command.make_context(name, list(words), parent=context)
    if only := context.params.get("only"):
        duties_in(only)


def example() -> dict[str, str]:
    lines = (DEPLOY / "env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def filled(value: str) -> str:
    """With values as a person would fill them in."""
    given = {**example(), "LEASEHOLD_KEYS": "k1:" + "A" * 43 + "=", "LEASEHOLD_BOOTSTRAP_TOKEN": "lh_" + "a" * 64}
    return re.sub(r"\$\{(\w+)[^}]*\}", lambda found: given[found[1]] or "0a1b2c", value)


def variables(value: object) -> set[str]:
    return set(re.findall(r"(?<!\$)\$\{(\w+)", yaml.safe_dump(value)))


def mounts() -> Iterator[tuple[str, str, str]]:
    for name, service in SERVICES.items():
        for mount in service.get("volumes", ()):
            source, target = mount.split(":")[:2]
            yield name, source, target


def test_what_services_refer_to_is_there() -> None:
    for service in SERVICES.values():
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        assert ":" in service["image"], "an image without a version is another one tomorrow"
        assert not re.match(r"[^/]*[.:][^/]*/", service["image"]), "images are named without their host"
    for service in OURS.values():
        for other, how in service["depends_on"].items():
            assert how == {"condition": "service_healthy"}
            assert "test" in SERVICES[other]["healthcheck"], f"nobody can say when {other} is well"
    named = {source for _, source, _ in mounts() if not source.startswith(".")}
    assert named == set(COMPOSE["volumes"])
    for name, source, _ in mounts():
        assert not source.startswith(".") or (DEPLOY / source).is_file(), f"{name} mounts {source}"


def test_variables_are_in_the_example_and_the_example_holds_no_secret() -> None:
    assert variables(COMPOSE) == set(example())
    assert {name for name, value in example().items() if value} == {"LEASEHOLD_POOLS"}


@pytest.mark.parametrize("name", OURS)
def test_our_program_takes_what_a_service_gives_it(name: str) -> None:
    given = {key: filled(value) for key, value in OURS[name]["environment"].items()}

    accept(OURS[name]["command"])
    unknown = {key for key in given if key.removeprefix(PREFIX).lower() not in Settings.model_fields}
    assert unknown == set()
    load(**{key.removeprefix(PREFIX).lower(): value for key, value in given.items()})
    for address in re.findall(r"://(?:[^@/]*@)?([\w.-]+):(\d+)", " ".join(given.values())):
        assert address[0] in SERVICES, f"{name} is sent to {address[0]}, which is no service"


def test_everything_we_do_is_done_by_some_service() -> None:
    told = [word for word in OURS["work"]["command"] if "," in word]

    assert OURS["leasehold"]["command"] == ["serve"]
    assert duties_in(told[0]) >= {"dispatcher", "aggregator", "data-writer"}


def test_prometheus_and_grafana_find_what_is_mounted() -> None:
    targets = {target for _, _, target in mounts()}
    prometheus = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text())
    (job,) = prometheus["scrape_configs"]
    (source,) = yaml.safe_load((DEPLOY / "grafana/datasources.yaml").read_text())["datasources"]
    (provider,) = yaml.safe_load((DEPLOY / "grafana/dashboards.yaml").read_text())["providers"]

    assert set(prometheus["rule_files"]) <= targets
    assert job["job_name"] == "leasehold", "the rules ask for it by this name"
    assert [one.partition(":")[0] for static in job["static_configs"] for one in static["targets"]] == ["leasehold"]
    assert source["url"] == "http://prometheus:9090"
    assert any(Path(target).parent == Path(provider["options"]["path"]) for target in targets)


def test_the_image_is_built_from_what_there_is() -> None:
    copied: list[str] = re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
    ignored = [line for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] not in "#"]
    let_in = [line[1:] for line in ignored if line.startswith("!")]

    assert ignored[0] == "*"
    assert len(copied) == 4
    for source in [word for words in copied for word in words.split()[:-1]]:
        assert (ROOT / source).exists(), f"the Dockerfile copies {source}"
        assert any(fnmatch(source, name) or source.startswith(f"{name}/") for name in let_in), f"{source} is ignored"
    for name in let_in:
        assert (ROOT / name).exists(), f"the image is to be built from {name}"


def test_the_image_runs_our_program_as_nobody_in_particular() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    variables = set(re.findall(rf"\b({PREFIX}\w+)=", DOCKERFILE))
    (entry,) = re.findall(r"^ENTRYPOINT \[\"(.*)\"\]$", DOCKERFILE, re.MULTILINE)
    (command,) = re.findall(r"^CMD \[\"(.*)\"\]$", DOCKERFILE, re.MULTILINE)
    last = DOCKERFILE.rpartition("\nFROM ")[2]

    assert entry in project["scripts"]
    accept([command])
    assert all(name.removeprefix(PREFIX).lower() in Settings.model_fields for name in variables)
    assert re.findall(r"^USER (.*)$", last, re.MULTILINE) == ["leasehold"]
    assert "/healthz" in last.partition("HEALTHCHECK")[2]
    assert f"EXPOSE {Settings.model_fields['port'].default}\n" in last
    assert len(set(re.findall(r"^FROM (\S+:\S+)", DOCKERFILE, re.MULTILINE))) == 1, "built and run on one Python"
    # The packages are those that `make` installs, in the same way.
    assert "--require-hashes -r requirements/server.txt" in DOCKERFILE
    assert "--require-hashes -r requirements/server.txt" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_our_program_takes_what_a_unit_gives_it(unit: Path) -> None:
    text = unit.read_text()
    (command,) = re.findall(r"^ExecStart=/opt/leasehold/bin/leasehold (.*)$", text, re.MULTILINE)

    accept(command.replace("%i", "crawler").split())
    for name in re.findall(rf"^Environment=({PREFIX}\w+)=", text, re.MULTILINE):
        assert name.removeprefix(PREFIX).lower() in Settings.model_fields
    assert "\nUser=leasehold" in text
    assert "\nKillMode=mixed\n" in text


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.fail("systemd-analyze is not installed. Run `make services`.")
    installed = str(Path(sys.executable).parent / "leasehold")
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/leasehold/bin/leasehold", installed))

    files = [str(tmp_path / unit.name) for unit in UNITS]
    told = subprocess.run([program, "verify", "--man=no", *files], capture_output=True, text=True, check=False)

    about = [line for line in told.stderr.splitlines() if str(tmp_path) in line or "leasehold" in line]
    assert (told.returncode, about) == (0, [])


def test_the_page_names_every_file() -> None:
    page = (ROOT / "docs/deploy.md").read_text()

    for file in ("Dockerfile", "compose.yaml", "env.example", *(f"systemd/{unit.name}" for unit in UNITS)):
        assert f"(../deploy/{file})" in page
