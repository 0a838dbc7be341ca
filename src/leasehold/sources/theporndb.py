"""Speaks with ThePornDB's REST API: performers page by page and one by one. It lists no changes."""

from typing import Any

from pydantic import SecretStr

from leasehold.sources import performers
from leasehold.sources.declared import Source
from leasehold.sources.models import Listing, ListWish, Mapped, Rejected, Thing
from leasehold.sources.urls import Addresses
from leasehold.sources.wire import Limits, Wire


class ThePornDb:
    """A fetcher for ThePornDB."""

    has_changes = False

    def __init__(self, source: Source, key: SecretStr) -> None:
        secret = key.get_secret_value()
        limits = Limits(source.timeout_seconds, source.answer_limit_bytes)
        self._source = source.name
        self._wire = Wire(source.name, source.url, {"Authorization": f"Bearer {secret}"}, secret, limits)
        self._addresses = Addresses(source.namespaces)

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def prepare(self) -> None:
        """It says nothing of the sites it links to."""

    async def page(self, wish: ListWish) -> Listing:
        asked = {"page": wish.page, "per_page": wish.per_page}
        answer = await self._wire.ask("GET", "/performers", params=asked)
        document = answer.document if isinstance(answer.document, dict) else {}
        rows, meta = document.get("data"), document.get("meta")
        total = meta.get("total") if isinstance(meta, dict) else None
        if answer.status >= 400 or not isinstance(rows, list) or not isinstance(total, int):
            raise Rejected(self._wire.complaint(document))
        return Listing(total, [_thing(row) for row in rows], answer.date)

    async def find(self, source_id: str) -> Thing | None:
        answer = await self._wire.ask("GET", f"/performers/{source_id}")
        if answer.status == 404:
            return None
        found = answer.document.get("data") if isinstance(answer.document, dict) else None
        if answer.status >= 400 or not isinstance(found, dict):
            raise Rejected(self._wire.complaint(answer.document))
        return _thing(found)

    def read(self, thing: Thing) -> Mapped:
        return performers.from_theporndb(self._source, thing.raw, self._addresses)

    def hide(self, text: str) -> str:
        return self._wire.hide(text)


def _thing(row: Any) -> Thing:
    given = row.get("id") if isinstance(row, dict) else None
    # It becomes part of an address when it is asked for: letters, digits and dashes, as ids there are.
    is_id = isinstance(given, str) and 0 < len(given) <= 200 and given.replace("-", "").isalnum() and given.isascii()
    return Thing(given if is_id else None, row)
