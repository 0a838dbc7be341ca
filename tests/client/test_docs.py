"""The examples of docs/sdk.md do what the page says, one after the other on one server."""

import asyncio
import os
import re
import sys
from pathlib import Path

from tests.parts.chromium import program
from tests.parts.house import House

PAGE = (Path(__file__).parents[2] / "docs/sdk.md").read_text(encoding="utf-8")


async def test_the_examples_of_the_page_print_what_the_page_prints(home: House, address: str) -> None:
    examples = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    environment = os.environ | {"LEASEHOLD": address, "TOKEN": await home.token(), "CHROMIUM": program()}

    assert len(examples) == PAGE.count("```python")
    for code, printed in examples:
        run = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await run.communicate()

        assert (run.returncode, err.decode()) == (0, "")
        assert out.decode() == printed
