"""What was worked out is remembered, up to a limit."""

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

_LIMIT = 1 << 18


class Memory(dict[Key, Value]):
    """A dictionary that works out what it does not hold. Full, it forgets everything: that costs time alone."""

    __slots__ = ("_work",)

    def __init__(self, work: Callable[[Key], Value]) -> None:
        super().__init__()
        self._work = work

    def __missing__(self, key: Key) -> Value:
        if len(self) >= _LIMIT:
            self.clear()
        value = self[key] = self._work(key)
        return value
