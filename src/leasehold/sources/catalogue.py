"""The sources in force: a folder of files, read at the start and again whenever one changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import SecretStr, ValidationError

from leasehold import logs
from leasehold.settings import variable
from leasehold.sources.declared import Source

log = logs.get(__name__)

SHIPPED = Path(__file__).parent / "shipped"
LOOK_EVERY_S = 1.0
_LARGEST_BYTES = 256 * 1024


class KeyMissing(Exception):
    """There is no key for a source; the message says where it should be."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a file."""

    file: str
    why: str

    def __str__(self) -> str:
        return f"{self.file}: {self.why}"


class Catalogue:
    """Sources by their name. A file that turns bad leaves its source as it was, and says so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: Sequence[Fault] = ()
        self._sources: dict[str, Source] = {}
        self._seen: dict[str, tuple[int, int]] = {}
        self.reload()

    def get(self, name: str) -> Source | None:
        return self._sources.get(name)

    @property
    def sources(self) -> Mapping[str, Source]:
        return self._sources

    async def look(self) -> None:
        """Read the folder again if anything in it is not as it was."""
        if _print(self.folder) != self._seen:
            self.reload()

    def reload(self) -> None:
        self._seen = _print(self.folder)
        found, faults = read(self.folder)
        bad = {Path(fault.file).stem for fault in faults}
        kept = {name: source for name, source in self._sources.items() if name in bad}
        for fault in faults:
            if fault not in self.faults:
                log.warning("source.invalid", file=fault.file, why=fault.why)
        self._sources, self.faults = dict(sorted({**kept, **found}.items())), faults

    def key(self, source: Source) -> SecretStr:
        """What lets us in there, looked up anew each time. Raises KeyMissing."""
        if source.key_env:
            key, where = variable(source.key_env), f"the variable {source.key_env}"
        else:
            file = self.folder / str(source.key_file)
            key, where = _text(file), str(file)
        if not key or not key.isascii() or not key.isprintable():
            raise KeyMissing(f"There is no key for {source.name}: put it into {where}.")
        return SecretStr(key)


def files(folder: Path | None) -> Catalogue:
    """The sources of a folder; the shipped ones, all switched off, where none is named."""
    return Catalogue(folder or SHIPPED)


def read(folder: Path) -> tuple[dict[str, Source], list[Fault]]:
    """Every source of a folder. One bad file does not keep the others out."""
    if not folder.is_dir():
        return {}, [Fault(str(folder), "There is no such folder.")]
    found: dict[str, Source] = {}
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.yaml")):
        one = _read_file(path)
        if isinstance(one, Source):
            same = next((other.name for other in found.values() if other.url == one.url), None)
            if same is None:
                found[one.name] = one
                continue
            one = [Fault(path.name, f"url: this is the same source as {same}.")]
        faults += one
    faults += [Fault(path.name, "Name it .yaml.") for path in sorted(folder.glob("*.yml"))]
    return found, faults


def _read_file(path: Path) -> Source | list[Fault]:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            return [Fault(path.name, "It is too large.")]
        document = yaml.safe_load(path.read_text("utf-8"))
        source = Source.model_validate(document)
    except (OSError, UnicodeDecodeError) as error:
        return [Fault(path.name, f"It cannot be read: {type(error).__name__}.")]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return [Fault(path.name, f"This is not YAML{f' (line {mark.line + 1})' if mark else ''}.")]
    except ValidationError as error:
        return list(_faults(path.name, error))
    if source.name != path.stem:
        return [Fault(path.name, f"source: It says {source.name}; a source stands in a file of its name.")]
    return source


def _faults(file: str, error: ValidationError) -> Iterator[Fault]:
    for one in error.errors(include_url=False, include_input=False):
        where = ".".join(str(step) for step in one["loc"])
        why = one["msg"].removeprefix("Value error, ")
        yield Fault(file, f"{where}: {why}" if where else why)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _print(folder: Path) -> dict[str, tuple[int, int]]:
    if not folder.is_dir():
        return {}
    stats = {path.name: path.stat() for path in folder.glob("*.y*ml")}
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in stats.items()}
