"""What differs between the platforms of two folders, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from leasehold.platforms.models import Platform


def compare(now: Mapping[str, Platform], then: Mapping[str, Platform]) -> Iterator[str]:
    """One line for each difference, from `now` to `then`."""
    for slug in sorted({*now, *then}):
        if slug not in then:
            yield f"- {slug}"
        elif slug not in now:
            yield f"+ {slug}"
        else:
            before, after = _flat(now[slug]), _flat(then[slug])
            for path in sorted({*before, *after}):
                if before.get(path) != after.get(path):
                    yield f"~ {slug}: {path}: {_shown(before, path)} → {_shown(after, path)}"


def _flat(platform: Platform) -> dict[str, Any]:
    return dict(_leaves("", platform.model_dump(mode="json", by_alias=True)))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}" if path else str(name), inner)
    else:
        yield path, value


def _shown(values: Mapping[str, Any], path: str) -> str:
    return repr(values[path]) if path in values else "nothing"
