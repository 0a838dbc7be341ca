"""Asks whether a pinned package has a known weakness. It fails when one has, and when nobody could be asked."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PINNED = (ROOT / "requirements" / "server.txt", ROOT / "requirements" / "faces.txt")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of asking."""

    audited: int
    skipped: int
    weak: tuple[str, ...]
    unasked: int = 0  # files of which nothing was audited

    @property
    def is_clean(self) -> bool:
        """Nothing weak among those asked about; and some of every file were, or it would mean nothing."""
        return self.audited > 0 and not self.weak and not self.unasked

    @property
    def sentence(self) -> str:
        if self.weak:
            return f"Known weaknesses: {'; '.join(self.weak)}. Run `make requirements` to raise the pinned versions."
        if not self.audited or self.unasked:
            what = f"Nothing of {self.unasked} files" if self.audited else "Nothing"
            return (
                f"{what} was audited: of {self.skipped} packages no advisories could be had. "
                "Run `make audit` where the package index with its advisories can be reached."
            )
        return f"{self.audited} packages audited, none with a known weakness; {self.skipped} could not be looked up."


def judged(reports: Sequence[dict[str, Any]]) -> Verdict:
    found = [package for report in reports for package in report["dependencies"]]
    asked = [package for package in found if "skip_reason" not in package]
    weak = [
        f"{package['name']} {package['version']} ({weakness['id']})"
        for package in asked
        for weakness in package.get("vulns", ())
    ]
    unasked = sum(all("skip_reason" in package for package in report["dependencies"]) for report in reports)
    return Verdict(len(asked), len(found) - len(asked), tuple(weak), unasked)


def asked(pinned: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(pinned), "--no-deps", "--disable-pip"]
    command += ["--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 (our own words)
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"dependencies": []}
    return report


def main() -> int:
    reports = []
    for pinned in PINNED:
        print(f"Asking about {pinned.relative_to(ROOT)} …", flush=True)
        reports.append(asked(pinned))
    verdict = judged(reports)
    print(verdict.sentence, file=sys.stdout if verdict.is_clean else sys.stderr)
    return 0 if verdict.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
