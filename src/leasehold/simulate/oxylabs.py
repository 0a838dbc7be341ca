"""The Oxylabs Realtime API, as far as collectors use it: `amazon_search` and `amazon_product`, parsed."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leasehold.simulate.control import RETRY_AFTER_S, Control, Mode, answer
from leasehold.simulate.credentials import has_basic
from leasehold.simulate.goods import Goods, listed, product

PROVIDER = "oxylabs"
_SOURCES = ("amazon_search", "amazon_product")
# The same at every start, as everything here is.
_AT = "2026-01-01 00:00:00"
_JOB = "7000000000000000001"


class OxylabsApi:
    def __init__(self, goods: Goods, control: Control) -> None:
        self._goods = goods
        self._control = control

    def routes(self) -> list[Route]:
        return [Route("/oxylabs/v1/queries", self._query, methods=["POST"])]

    async def _query(self, request: Request) -> Response:
        body = await request.body()
        await self._control.pause(PROVIDER)
        if refused := self._refusal(request):
            return refused
        try:
            wish = orjson.loads(body)
            source, query = wish["source"], str(wish["query"])
            first, pages = int(wish.get("start_page", 1)), int(wish.get("pages", 1))
        except (ValueError, LookupError, TypeError, AttributeError):
            return answer({"message": "Provided payload is not valid."}, 400)
        if source not in _SOURCES or not query or first < 1 or not 1 <= pages <= 20:
            return answer({"message": "Unsupported source, query or page."}, 400)
        if not wish.get("parse"):
            return answer({"message": "Only parsed results are simulated: send parse: true."}, 422)
        numbers = range(first, first + pages) if source == "amazon_search" else range(1, 2)
        results = [self._page(source, query, number) for number in numbers]
        job = {**wish, "id": _JOB, "status": "done", "created_at": _AT, "updated_at": _AT}
        return answer({"results": results, "job": job})

    def _refusal(self, request: Request) -> Response | None:
        match self._control.modes[PROVIDER]:
            case Mode.DOWN:
                return answer({"message": "Service Unavailable"}, 503)
            case Mode.RATE_LIMITED:
                message = "Exceeded rate limit. Please contact Oxylabs support to increase limits."
                return answer({"message": message}, 429, Retry_After=str(RETRY_AFTER_S))
        if not has_basic(request):
            return answer({"message": "Unauthorized"}, 401, WWW_Authenticate="Basic")
        return None

    def _page(self, source: str, query: str, number: int) -> dict[str, Any]:
        is_search = source == "amazon_search"
        self._control.paid[PROVIDER][f"search:{query}:{number}" if is_search else query] += 1
        if is_search:
            return _result(
                self._search(query, number), 200, number, f"https://www.amazon.com/s?k={query}&page={number}"
            )
        url = f"https://www.amazon.com/dp/{query}"
        return _result(product(query), 200, 1, url) if self._goods.has(query) else _result("", 404, 1, url)

    def _search(self, query: str, number: int) -> dict[str, Any]:
        asins = self._goods.page(query, number)
        organic = [listed(asin, place) for place, asin in enumerate(asins, 1)]
        return {
            "url": f"https://www.amazon.com/s?k={query}&page={number}",
            "query": query,
            "page": number,
            "pages": 1,
            "last_visible_page": self._goods.pages,
            "total_results_count": self._goods.items,
            "results": {"organic": organic, "paid": [], "suggested": [], "amazons_choices": []},
            "parse_status_code": 12000,
        }


def _result(content: object, status: int, page: int, url: str) -> dict[str, Any]:
    about = {"created_at": _AT, "updated_at": _AT, "page": page, "url": url, "job_id": _JOB, "is_render_forced": False}
    return {"content": content, **about, "status_code": status, "parser_type": ""}
