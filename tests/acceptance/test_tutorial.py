"""docs/tutorial.md takes a stranger from nothing to a first collector: every block of it is run, in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.parts.ports import free_port
from tests.parts.process import PATIENCE_S, Place

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MARK = "-- block "


def test_the_tutorial_does_what_it_says(here: Place) -> None:
    up = here.up()
    told = {"http://127.0.0.1:8700": up.address, "lh_…": up.token or "", "8790": str(free_port())}

    def filled(text: str) -> str:
        for word, value in told.items():
            text = text.replace(word, value)
        return text

    start, *blocks = BLOCK.findall(PAGE)
    assert start == ("sh", "leasehold up\n")
    script, prints, names = [], [], iter(re.findall(r"`(\w+\.py)`[^`]*?:$", PAGE, re.MULTILINE | re.DOTALL))
    for language, text in blocks:
        if language == "python":
            (here.folder / next(names)).write_text(filled(text))
        elif language == "sh":
            script.append(f"echo '{MARK}'\n{filled(text)}")
            prints.append("")
        else:
            assert language == "", f"nobody runs a block of {language}"
            prints[-1] = text
    assert next(names, None) is None

    code, out, err = _shell(here, "\n".join(script))

    assert code == 0, out + err
    _, *said = out.split(f"{MARK}\n")
    for wanted, got in zip(prints, said, strict=True):
        assert re.fullmatch(re.escape(wanted).replace("…", ".*"), got, re.DOTALL), f"not {wanted!r} in {out}"


def test_the_pages_of_the_ui_it_sends_people_to_are_there() -> None:
    routes = (ROOT / "ui/src/App.tsx").read_text(encoding="utf-8")
    pages = re.findall(r"<http://127.0.0.1:8700/ui/(\S*)>", PAGE)

    assert pages[0] == ""
    for page in pages[1:]:
        assert f'<Route path="{page}" ' in routes


def _shell(here: Place, script: str) -> tuple[int, str, str]:
    """Run it in one shell. What it leaves in the background has files to write to, so that nobody waits for its end."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
    own |= {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "NO_PROXY": "*",
        "LEASEHOLD_DATA_DIR": str(here.data),  # where `leasehold up` has its own
    }
    out, err = here.folder / "tutorial.out", here.folder / "tutorial.err"
    with out.open("w") as told, err.open("w") as complained:
        command = ["sh", "-euc", script]
        ran = subprocess.run(
            command, cwd=here.folder, env=own, stdout=told, stderr=complained, timeout=5 * PATIENCE_S, check=False
        )
    return ran.returncode, out.read_text(), err.read_text()
