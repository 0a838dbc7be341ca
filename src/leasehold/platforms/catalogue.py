"""The platforms in force: read at the start, and again whenever a file changes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from leasehold import logs
from leasehold.platforms import files
from leasehold.platforms.files import Fault
from leasehold.platforms.models import Platform

log = logs.get(__name__)

LOOK_EVERY_S = 1.0

_Print = dict[str, tuple[int, int]]


class Catalogue:
    """Platforms by their slug. A file that turns bad leaves its platform as it was, and says so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: Sequence[Fault] = ()
        self._platforms: dict[str, Platform] = {}
        self._seen: _Print = {}
        self.reload()

    def get(self, slug: str) -> Platform | None:
        return self._platforms.get(slug)

    @property
    def platforms(self) -> Mapping[str, Platform]:
        return self._platforms

    async def look(self) -> None:
        """Read the folder again if anything in it is not as it was."""
        if _print(self.folder) != self._seen:
            self.reload()

    def reload(self) -> None:
        seen = _print(self.folder)
        found = files.read(self.folder)
        bad = {Path(fault.file).stem for fault in found.faults}
        kept = {slug: platform for slug, platform in self._platforms.items() if slug in bad}
        now = dict(sorted({**kept, **found.platforms}.items()))
        if self._seen:
            self._tell(now)
        for fault in found.faults:
            if fault not in self.faults:
                log.warning("platform.invalid", file=fault.file, where=fault.where, why=fault.why)
        self._platforms, self.faults, self._seen = now, found.faults, seen

    def _tell(self, now: Mapping[str, Platform]) -> None:
        for slug in sorted({*now, *self._platforms}):
            if now.get(slug) != self._platforms.get(slug):
                how = "added" if slug not in self._platforms else "removed" if slug not in now else "changed"
                log.info("platform.reloaded", platform=slug, how=how)


def _print(folder: Path) -> _Print:
    """What tells whether anything has changed."""
    if not folder.is_dir():
        return {}
    stats = {path.name: path.stat() for path in folder.glob("*.y*ml")}
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in stats.items()}
