"""A client of the Oxylabs Realtime API: one query, one answer, parsed over there.

`POST /v1/queries` with basic auth; an answer holds `results`, each with a `status_code` of its own and a `content`.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

from leasehold.collectors.models import ItemRefused
from leasehold.collectors.wire import Access, Wire, day_of, document_of, said_in

PROVIDER = "oxylabs"
PRODUCT = "amazon_product"
SEARCH = "amazon_search"
# They advise to wait three minutes: a page is tried several times over there.
TIMEOUT_S = 180.0
# Of the parser over there: all of it was read, or all but some fields.
_PARSED = (12000, 12004, 12005)


@dataclass(frozen=True, slots=True)
class Answer:
    """One page, parsed, and the day it is counted on."""

    content: dict[str, Any]
    day: date | None


class Useless(Exception):
    """An answer that brings nothing, as that there is no such page. It is paid for all the same."""

    def __init__(self, code: str, day: date | None) -> None:
        super().__init__(code)
        self.code = code
        self.day = day


class Oxylabs:
    """Raises CollectorErrors, and Useless."""

    def __init__(self, access: Access, timeout_s: float = TIMEOUT_S) -> None:
        self._auth = access.basic
        self._wire = Wire(PROVIDER, access, timeout_s)

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def product(self, asin: str, domain: str) -> Answer:
        return await self._query({"source": PRODUCT, "query": asin, "domain": domain, "parse": True})

    async def search(self, words: str, node: str, domain: str, page: int) -> Answer:
        wish = {"source": SEARCH, "query": words, "domain": domain, "start_page": page, "pages": 1, "parse": True}
        if node:
            wish["context"] = [{"key": "category_id", "value": node}]
        return await self._query(wish)

    async def _query(self, wish: dict[str, Any]) -> Answer:
        answer = await self._wire.ask("POST", "v1/queries", json=wish, auth=self._auth)
        document = document_of(answer)
        if answer.status_code != 200:
            raise self._wire.refusal(answer, said_in(document, ("message", "error")))
        return _first(document, day_of(answer))


def _first(document: Any, day: date | None) -> Answer:
    try:
        result = document["results"][0]
        status, content = int(result.get("status_code", 200)), result["content"]
    except (LookupError, TypeError, ValueError, AttributeError):
        raise ItemRefused("unparsable", f"What {PROVIDER} answered cannot be read.") from None
    if status in (404, 410):
        raise Useless("not_found", day)
    if not 200 <= status < 300:
        raise ItemRefused("faulted", f"{PROVIDER} could not fetch the page ({status}).")
    if not isinstance(content, dict) or content.get("parse_status_code", 12000) not in _PARSED:
        raise Useless("unparsable", day)
    return Answer(content, day)
