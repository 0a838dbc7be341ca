"""Where something was measured: the machine, the versions of what took part, the commit."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from bench import rabbit
from leasehold.embedded import programs

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "psycopg",
    "fastapi",
    "uvicorn",
    "uvloop",
    "pydantic",
    "orjson",
    "pymongo",
    "aio-pika",
    "redis",
    "procrastinate",
    "splink",
)
NOT_THERE = "not there"


@dataclass(frozen=True, slots=True)
class Place:
    """The machine, the versions, the commit, and what was typed."""

    cores: int
    cpu: str
    memory_gb: float
    kernel: str
    load: float  # of the minute before
    versions: dict[str, str]
    commit: str
    measured_at: str
    command: str


def here(command: str) -> Place:
    return Place(
        cores=os.cpu_count() or 1,
        cpu=_cpu(),
        memory_gb=round(psutil.virtual_memory().total / 1024**3, 1),
        kernel=f"{platform.system()} {platform.release()}",
        load=round(os.getloadavg()[0], 1),
        versions=versions(),
        commit=_commit(),
        measured_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command=command,
    )


def versions() -> dict[str, str]:
    homes = sorted(rabbit.HOMES.glob("rabbitmq_server-*"))
    services = {
        "Python": platform.python_version(),
        "PostgreSQL": _postgres(),
        "mongod": _mongod(),
        "RabbitMQ": homes[-1].name.partition("-")[2] if homes else NOT_THERE,
        "Redis": _said("redis-server", r"v=([\d.]+)"),
    }
    return services | {name: _package(name) for name in PACKAGES}


def _cpu() -> str:
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _commit() -> str:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return "unknown"
    commit = _output([git, "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"])
    # What this run is about to write again is no change of what was measured.
    changed = [git, "-C", str(ROOT), "status", "--porcelain", "--", ".", ":!bench/REPORT.md", ":!bench/results.json"]
    return f"{commit} and changes that are not committed" if _output(changed) else commit


def _postgres() -> str:
    return _said(str(programs() / "postgres"), r"PostgreSQL\) ([\d.]+)")


def _mongod() -> str:
    from tests.parts.mongo import MongoFailed, program

    try:
        return _said(str(program()), r"db version v([\d.]+)")
    except MongoFailed:
        return NOT_THERE


def _said(program: str, pattern: str) -> str:
    """The version a program gives of itself."""
    path = shutil.which(program)
    found = re.search(pattern, _output([path, "--version"])) if path else None
    return found[1] if found else NOT_THERE


def _package(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return NOT_THERE


def _output(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
