"""Writes the bill of materials of a release: what the server runs on and what the UI is made with (CycloneDX, JSON)."""

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from leasehold import __version__

ROOT = Path(__file__).parents[1]
_ALGORITHMS = {"sha512": HashAlgorithm.SHA_512, "sha384": HashAlgorithm.SHA_384, "sha256": HashAlgorithm.SHA_256}


def python_packages() -> Iterator[Component]:
    for entry in re.split(r"\n(?=\S)", (ROOT / "requirements" / "server.txt").read_text()):
        if match := re.match(r"([a-z0-9_.-]+)(?:\[[^]]*])?==([^\s;\\]+)", entry, re.IGNORECASE):
            hashes = [HashType(alg=HashAlgorithm.SHA_256, content=one) for one in re.findall(r"sha256:(\w+)", entry)]
            yield _component("pypi", None, match[1], match[2], hashes)


def script_packages() -> Iterator[Component]:
    locked: dict[str, dict[str, Any]] = json.loads((ROOT / "ui" / "package-lock.json").read_text())["packages"]
    for path, one in locked.items():
        if path and "integrity" in one:
            scope, _, name = path.rpartition("node_modules/")[2].rpartition("/")
            algorithm, _, digest = one["integrity"].partition("-")
            content = base64.b64decode(digest).hex()
            hashes = [HashType(alg=_ALGORITHMS[algorithm], content=content)]
            yield _component("npm", scope or None, name, one["version"], hashes)


def _component(kind: str, scope: str | None, name: str, version: str, hashes: list[HashType]) -> Component:
    purl = PackageURL(kind, scope, name, version)
    return Component(
        type=ComponentType.LIBRARY, group=scope, name=name, version=version, purl=purl, bom_ref=str(purl), hashes=hashes
    )


def bill() -> str:
    bom = Bom(components=[*python_packages(), *script_packages()])
    bom.metadata.component = Component(type=ComponentType.APPLICATION, name="leasehold", version=__version__)
    return make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)


def main() -> None:
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(bill() + "\n", encoding="utf-8")
    print(f"written {target}")


if __name__ == "__main__":
    main()
