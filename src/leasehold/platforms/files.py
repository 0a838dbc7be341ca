"""Reads a folder of platforms, one file each. What is wrong is told all at once: which file, where in it, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from leasehold.platforms.models import Platform

SHIPPED = Path(__file__).parent / "shipped"
_LARGEST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a file."""

    file: str
    where: str  # a path in it, by dots; empty for all of it
    why: str

    def __str__(self) -> str:
        return f"{self.file}: {self.where}: {self.why}" if self.where else f"{self.file}: {self.why}"


@dataclass(frozen=True, slots=True)
class Folder:
    """What was found in a folder."""

    platforms: Mapping[str, Platform] = field(default_factory=dict)
    faults: Sequence[Fault] = ()


class _Loader(yaml.SafeLoader):
    """YAML in which a key stands once: the second of two is otherwise taken without a word."""


def _mapping(loader: Any, node: Any) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands twice", key_node.start_mark)
        seen.add(key)
    found: dict[Any, Any] = loader.construct_mapping(node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read(folder: Path) -> Folder:
    """Every platform of a folder. One bad file does not keep the others out."""
    if not folder.is_dir():
        return Folder({}, [Fault(str(folder), "", "There is no such folder.")])
    platforms: dict[str, Platform] = {}
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.yaml")):
        found = read_file(path)
        if isinstance(found, Platform):
            platforms[found.slug] = found
        else:
            faults += found
    faults += [Fault(path.name, "", "Name it .yaml.") for path in sorted(folder.glob("*.yml"))]
    return Folder(platforms, faults)


def read_file(path: Path) -> Platform | list[Fault]:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            return [Fault(path.name, "", "It is larger than 1 MiB.")]
        found = _parsed(path.name, path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        return [Fault(path.name, "", f"It cannot be read: {type(error).__name__}.")]
    return found if isinstance(found, Platform) else list(found)


@lru_cache(maxsize=256)
def _parsed(name: str, text: str) -> Platform | tuple[Fault, ...]:
    """What a file says, remembered: a folder is read again whenever one of its files has changed."""
    try:
        document = yaml.load(text, _Loader)  # noqa: S506 (a SafeLoader)
    except yaml.YAMLError as error:
        return (Fault(name, "", _where(error)),)
    if not isinstance(document, dict):
        return (Fault(name, "", "It must be a mapping."),)
    try:
        platform = Platform.model_validate(document)
    except ValidationError as error:
        return tuple(_faults(name, error))
    if platform.slug != name.removesuffix(".yaml"):
        return (Fault(name, "platform", f"It says {platform.slug}; a platform stands in a file of its name."),)
    return platform


def _faults(file: str, error: ValidationError) -> Iterator[Fault]:
    for one in error.errors(include_url=False, include_input=False):
        why = one["msg"].removeprefix("Value error, ")
        yield Fault(file, ".".join(str(step) for step in one["loc"] if step != "[key]"), why)


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "This is not YAML"
    return f"{problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else f"{problem}."
