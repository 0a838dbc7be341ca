"""One leasehold and one simulated board for all examples, each a process as a stranger would start it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.parts.chromium import program
from tests.parts.process import Leasehold, place, until

EXAMPLES = Path(__file__).parents[2] / "examples"
_BOARD = re.compile(r"Simulated board at http://board\.localhost:(\d+)/, 5 accounts")


@dataclass
class Scene:
    """What the examples work with."""

    server: Leasehold
    port: int
    environment: dict[str, str] = field(repr=False)

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Python on words, in the folder of the examples."""
        return subprocess.run(
            [sys.executable, *words],
            cwd=EXAMPLES,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=240,
        )

    def ask(self, path: str) -> Any:
        answer = self.server.ask("GET", path, self.server.token)
        assert answer.status_code == 200, answer.text
        return answer.json()["items"]

    def board(self, method: str, path: str, **more: Any) -> Any:
        answer = httpx.request(method, f"http://127.0.0.1:{self.port}{path}", trust_env=False, timeout=60, **more)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with place() as here:
        board = here.start("simulate", "board", "--port", "0", "--accounts", "5")
        until(lambda: _BOARD.search(board.out) or board.process.poll() is not None)
        found = _BOARD.search(board.out)
        assert found, board.err
        server = here.up(LEASEHOLD_ALLOW_SPECIAL_HOSTS="true")
        own = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
        scene = Scene(
            server,
            int(found[1]),
            own
            | {
                "LEASEHOLD_URL": server.address,
                "LEASEHOLD_TOKEN": str(server.token),
                "CHROMIUM": program(),
                # Names below localhost, for those whose resolver does not know them; and nobody else is reached.
                "HTTP_PROXY": f"http://127.0.0.1:{found[1]}",
                "HTTPS_PROXY": "http://127.0.0.1:1",
                "NO_PROXY": "127.0.0.1",
            },
        )
        settled = scene.run("settle.py", found[1])
        assert settled.stdout == "5 accounts, 40 seeds\n", settled.stderr
        for account in scene.ask("/v2/accounts")[1:]:  # one is left, so that all of them hold the same
            server.ask("PATCH", f"/v2/accounts/{account['id']}", server.token, {"state": "inactive"})
        yield scene
