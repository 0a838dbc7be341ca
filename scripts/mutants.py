"""Breaks one promise after the other on purpose, and looks whether a test notices. Run by `make mutants`.

Each mutant is a change of a few words that takes a promise away. It is made in a copy of the sources, the tests that
hold the promise are run against the copy, and they must fail. `make mutants ONLY=fence` runs those with a word in their
name.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.mutant_table import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]


def is_noticed(mutant: Mutant, copy: Path) -> bool:
    """Whether a test fails when the tests run against the mutant."""
    source = ROOT / mutant.file
    mutant.apply(copy)
    try:
        # Where there is one file to run, a second worker would only start services of its own.
        workers = "2" if len(mutant.tests.split()) > 1 or "." not in mutant.tests else "0"
        options = ["-q", "-x", "-n", workers, "--dist", "loadfile", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options]
        environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"}
        done = subprocess.run(  # noqa: S603 (our own words)
            [*command, *mutant.tests.split()], cwd=copy, env=environment, capture_output=True, check=False
        )
    finally:
        shutil.copyfile(source, copy / mutant.file)
    has_failed = b" failed" in done.stdout[-500:] or b" error" in done.stdout[-500:]
    if done.returncode != 0 and not has_failed:  # stopping at the first failure has a code of its own
        raise SystemExit(f"The tests for “{mutant.promise}” could not be run:\n{done.stdout.decode()[-2000:]}")
    return has_failed


def main() -> int:
    wanted = [mutant for mutant in MUTANTS if os.environ.get("ONLY", "") in mutant.promise]
    survivors = []
    with tempfile.TemporaryDirectory(prefix="leasehold-mutants-") as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "node_modules", "build", "__pycache__")
        )
        for number, mutant in enumerate(wanted, 1):
            noticed = is_noticed(mutant, copy)
            print(f"{number} of {len(wanted)}  {'noticed ' if noticed else 'SURVIVED'}  {mutant.promise}", flush=True)
            if not noticed:
                survivors.append(mutant)
    if survivors:
        print(f"{len(survivors)} of {len(wanted)} mutants were noticed by no test: write one.", file=sys.stderr)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
