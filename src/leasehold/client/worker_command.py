"""Runs the workers of a module: what `leasehold worker` does, also where the server is not installed."""

import argparse
import asyncio
import importlib
import os
import sys
from types import ModuleType

from leasehold.client.worker import Worker, WorkerMisconfigured, run_all


def run(target: str, concurrency: int | None = None, url: str | None = None) -> int:
    """Work until it is told to stop; returns the exit code."""
    try:
        workers = find(target)
        for worker in workers.values():
            worker.concurrency = worker.concurrency if concurrency is None else concurrency
            worker.url = url or worker.url
        for name, worker in workers.items():
            _say(f"{name}: {described(worker)}")
        _say("Ctrl-C stops it.")
        asyncio.run(run_all(list(workers.values())))
    except WorkerMisconfigured as error:
        sys.stderr.write(f"leasehold: {error}\n")
        return 2
    return 0


def find(target: str) -> dict[str, Worker]:
    """The workers of `module` or the one of `module:name`. The current folder is looked at first."""
    module_name, _, name = target.partition(":")
    module = _imported(module_name.removesuffix(".py").replace(os.sep, "."))
    found = {one: value for one, value in vars(module).items() if isinstance(value, Worker)}
    if name:
        if name not in found:
            raise WorkerMisconfigured(f"{module_name} has no worker {name}; it has {', '.join(found) or 'none'}.")
        return {name: found[name]}
    if not found:
        raise WorkerMisconfigured(f"There is no worker in {module_name}: it needs a line like `worker = Worker()`.")
    return found


def described(worker: Worker) -> str:
    """What a worker works on, for people to read."""
    work = "; ".join(f"{platform}: {', '.join(sorted(types))}" for platform, types in worker.subjects.items())
    return f"{work or 'nothing'} ({worker.concurrency} at once, from {worker.transport().address})"


def _imported(name: str) -> ModuleType:
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not (name == missing.name or name.startswith(f"{missing.name}.")):
            raise WorkerMisconfigured(f"{name} imports {missing.name}, which is not installed.") from missing
        raise WorkerMisconfigured(
            f"There is no module {name} here: looked in {os.getcwd()} and on Python's path."
        ) from missing
    except (ValueError, TypeError) as error:
        raise WorkerMisconfigured(f"{name!r} is no name of a module: {error}") from error


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(words: list[str]) -> int:
    """The command where there is nothing but the SDK."""
    parser = argparse.ArgumentParser(prog="leasehold worker", description="Run the workers of a module.")
    parser.add_argument("module", help="MODULE or MODULE:NAME, importable from the current folder")
    parser.add_argument("--concurrency", type=int, help="how many tasks at once")
    parser.add_argument("--url", help="the server, or a broker's amqp:// address [LEASEHOLD_URL]")
    given = parser.parse_args(words)
    return run(given.module, given.concurrency, given.url)
