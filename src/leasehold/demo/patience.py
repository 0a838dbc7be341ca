"""Waiting until something is so, by looking again and again: most of what the demo waits for is behind HTTP."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(is_so: Callable[[], Awaitable[bool]], every_s: float = 0.5) -> None:
    while not await is_so():  # noqa: ASYNC110 (there is no event over HTTP)
        await asyncio.sleep(every_s)
