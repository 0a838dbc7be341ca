"""Messages in older versions, brought to the present one on the way in, so that old and new workers run side by side.

Version 2 counts how long a chunk took in seconds, as everything else does; version 1 in milliseconds.
"""

from collections.abc import Callable, Mapping
from typing import Any

JSON = dict[str, Any]


def upgraded(message: Any) -> Any:
    """A result in the present version; what is no message at all is left for the validation to refuse."""
    if not isinstance(message, dict):
        return message
    version = message.get("schema_version", 1)
    while isinstance(version, int) and version in _STEPS:
        message = _STEPS[version](message)
        version += 1
    return message


def _to_2(message: Mapping[str, Any]) -> JSON:
    after: JSON = {**message, "schema_version": 2}
    metrics = message.get("metrics")
    if isinstance(metrics, dict) and "duration_ms" in metrics:
        told = {name: value for name, value in metrics.items() if name != "duration_ms"}
        took = metrics["duration_ms"]
        is_number = isinstance(took, int | float) and not isinstance(took, bool)
        after["metrics"] = told | {"duration_seconds": took / 1000 if is_number else took}
    return after


_STEPS: dict[int, Callable[[Mapping[str, Any]], JSON]] = {1: _to_2}
