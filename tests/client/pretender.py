"""A browser that is none: what the SDK asks of Playwright's objects, with cookies that change when a test says so.

It stands in for the browser alone. A real one is in tests/browser.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from tests.client.standin import SECRET


def cookie(name: str, value: str) -> dict[str, Any]:
    plain = {"domain": "board.example", "path": "/", "expires": -1, "httpOnly": False, "secure": True}
    return {"name": name, "value": value, **plain, "sameSite": "Lax"}


class Pages:
    """What a context holds, whoever asks."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.jar = {"sid": "s1", "secret": SECRET}
        self.captures: list[dict[str, Any]] = []
        self.is_closed = False
        self.is_dead = False
        self.slow_s = 0.0
        self.listeners: list[Callable[[object], None]] = []

    def look(self) -> list[dict[str, Any]]:
        if self.is_dead:
            raise ConnectionError(f"the browser has gone, and with it {SECRET}")
        return [cookie(name, value) for name, value in self.jar.items()]

    def capture(self, options: dict[str, Any]) -> dict[str, Any]:
        self.captures.append(options)
        return {"cookies": self.look(), "origins": []}


class AsyncPages(Pages):
    """A context with an event loop."""

    async def cookies(self) -> list[dict[str, Any]]:
        return self.look()

    async def storage_state(self, **options: Any) -> dict[str, Any]:
        await asyncio.sleep(self.slow_s)
        return self.capture(options)

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.is_closed = True


class BlockingPages(Pages):
    """A context without one."""

    def cookies(self) -> list[dict[str, Any]]:
        return self.look()

    def storage_state(self, **options: Any) -> dict[str, Any]:
        return self.capture(options)

    def close(self) -> None:
        self.is_closed = True

    def on(self, event: str, listener: Callable[[object], None]) -> None:
        assert event == "requestfinished"
        self.listeners.append(listener)

    def loaded(self) -> None:
        """A page has loaded something."""
        for listener in self.listeners:
            listener(object())


class AsyncPretender:
    """The browser itself, and the contexts it made."""

    def __init__(self) -> None:
        self.made: list[AsyncPages] = []

    async def new_context(self, **options: Any) -> AsyncPages:
        await asyncio.sleep(0)
        self.made.append(AsyncPages(options))
        return self.made[-1]


class Pretender:
    """The same without an event loop."""

    def __init__(self) -> None:
        self.made: list[BlockingPages] = []

    def new_context(self, **options: Any) -> BlockingPages:
        self.made.append(BlockingPages(options))
        return self.made[-1]
