"""docs/crawlers.md takes a stranger from nothing to a crawler: this is the stranger."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.parts.process import PATIENCE_S, Place, until

PAGE = (Path(__file__).parents[2] / "docs/crawlers.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """What the page has in blocks of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def following(command: str) -> list[str]:
    """What the page prints after a command."""
    _, _, rest = PAGE.partition(command)
    return rest.split("```\n")[2].splitlines()


def shell(here: Place, command: str, **environment: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    own = {**os.environ, **environment, "PATH": path, "NO_PROXY": "*"}
    ran = subprocess.run(
        ["sh", "-ec", command], cwd=here.folder, env=own, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_page_leads_from_nothing_to_documents(here: Place) -> None:
    check, canary, ask, results = blocks("sh")
    (here.folder / "platforms").mkdir()
    (here.folder / "platforms/news.yaml").write_text(blocks("yaml")[0])
    (here.folder / "crawler.py").write_text(blocks("python")[0])

    checked = shell(here, check)
    up = here.up(LEASEHOLD_PLATFORMS_DIR="platforms")
    access = {"LEASEHOLD_URL": up.address, "LEASEHOLD_TOKEN": up.token or ""}
    worker = here.start("worker", "crawler", **access)
    until(lambda: "Ctrl-C" in worker.out)
    flown = shell(here, canary, **access)
    accepted = json.loads(shell(here, ask, **access))
    until(lambda: len(json.loads(shell(here, results, **access))["items"]) == 6)
    left = worker.end()

    assert checked.splitlines() == following(check)
    assert worker.out.replace(up.address, "http://127.0.0.1:8700").splitlines() == following("leasehold worker crawler")
    assert [line.split()[0] for line in steps(flown.splitlines())] == [line.split()[0] for line in following(canary)]
    assert accepted["id"] == "first"
    assert left == 0
    titles = [one["document"]["title"] for one in json.loads(shell(here, results, **access))["items"]]
    assert titles == [f"Article {n}" for n in range(1, 7)]


def steps(lines: list[str]) -> list[str]:
    """Without what it waited for on the way, which depends on who is quicker."""
    return [line for line in lines if not line.startswith("  ")]
