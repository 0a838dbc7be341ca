"""The same collectors without leases: accounts, cookies and what is done stand in a file that all of them share.

Each reads the file, marks an account that nobody uses and the first page that nobody has begun, works, and writes back
what it has, cookies and all. It is how such a thing begins, and in good faith: whoever writes last does not know what
others have marked meanwhile.
"""

import asyncio
import json
import random
from pathlib import Path
from typing import Any

from leasehold.client import jar_from, with_jar
from leasehold.demo.visiting import AccountBlocked, Login, Moved, Page, Visit, browsing, look_up
from leasehold.demo.world import Market, Place


class SharedFile:
    """A JSON file: accounts with their cookies, and the pages that somebody has begun."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self, place: Place) -> None:
        members = place.board.members.values()
        new = {"cookies": [], "blocked": False, "taken": False}
        accounts = {one.name: {"name": one.name, "password": one.password, **new} for one in members}
        self.write({"accounts": accounts, "begun": []})

    def read(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
        return told

    def write(self, told: dict[str, Any]) -> None:
        self._path.write_text(json.dumps(told), encoding="utf-8")


class FileCollector:
    """A collector that shares a file with the others."""

    def __init__(self, shared: SharedFile, name: str, place: Place, market: Market, pause_s: float, seed: int) -> None:
        self._shared = shared
        self._name = name
        self._place = place
        self._market = market
        self._pause_s = pause_s
        self._chance = random.Random(f"{seed}/{name}")  # noqa: S311 (the same choices for the same seed)

    async def round(self) -> bool:
        """Visit one page with some account; false when there is nothing left to do, or nobody to do it with."""
        told = self._shared.read()
        usable = [one for one in told["accounts"].values() if not (one["blocked"] or one["taken"])]
        left = [number for number in range(1, self._place.board.threads + 1) if number not in told["begun"]]
        if not usable or not left:
            return False
        account, number = self._chance.choice(usable), left[0]
        account["taken"] = True
        told["begun"].append(number)
        self._shared.write(told)
        await self._work(account, number)
        account["taken"] = False
        self._shared.write(told)
        return True

    async def _work(self, account: dict[str, Any], number: int) -> None:
        before = {"cookies": account["cookies"]}
        async with browsing(self._name, self._place, jar_from(before)) as web:
            try:
                await asyncio.sleep(self._pause_s)
                page = await self._read(Visit(web, Login(account["name"], account["password"])), number)
                if page.product:
                    await look_up(self._market, page.product)
                account["cookies"] = with_jar(before, web.cookies)["cookies"]
            except AccountBlocked:
                account["blocked"] = True

    async def _read(self, visit: Visit, number: int) -> Page:
        try:
            return await visit.read(self._place.url(number))
        except Moved as moved:
            return await visit.read(moved.url)
