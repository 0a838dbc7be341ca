"""The README's own example does what the README says."""

import re
import subprocess
import sys
from pathlib import Path

from tests.parts.process import place

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_example_of_the_readme_prints_what_the_readme_prints() -> None:
    example, printed = re.findall(r"```(?:python)?\n(.*?)```", README, re.DOTALL)[:2]
    assert example.startswith("from leasehold.client import Leasehold")

    with place() as here:
        server = here.up()
        code = example.replace("http://127.0.0.1:8700", server.address).replace("lh_…", server.token or "")
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == printed


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(README.splitlines()) <= 150
    assert "make up" in README
    assert "make test" in README
