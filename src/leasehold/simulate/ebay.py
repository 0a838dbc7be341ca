"""eBay's identity and Browse APIs, as far as collectors use them: a token for an application, and searching."""

import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leasehold.simulate.control import RETRY_AFTER_S, Control, Mode, answer
from leasehold.simulate.credentials import bearer, has_basic
from leasehold.simulate.goods import listings

PROVIDER = "ebay"
_SEARCH = "/ebay/buy/browse/v1/item_summary/search"


class EbayApi:
    def __init__(self, control: Control, token_seconds: int) -> None:
        self._control = control
        self._token_seconds = token_seconds

    def routes(self) -> list[Route]:
        return [
            Route("/ebay/identity/v1/oauth2/token", self._token, methods=["POST"]),
            Route(_SEARCH, self._search, methods=["GET"]),
        ]

    async def _token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode(errors="replace"))
        await self._control.pause(PROVIDER)
        if refused := self._refusal():
            return refused
        if not has_basic(request):
            return _no_token("invalid_client", "client authentication failed", 401)
        if form.get("grant_type") != ["client_credentials"]:
            return _no_token("unsupported_grant_type", "grant type in request is not supported", 400)
        if not form.get("scope"):
            return _no_token("invalid_scope", "The requested scope is invalid, unknown or malformed", 400)
        token = f"v^1.1#i^1#{secrets.token_urlsafe(24)}"
        self._control.tokens.add(token)
        given = {"access_token": token, "expires_in": self._token_seconds, "token_type": "Application Access Token"}
        return answer(given)

    async def _search(self, request: Request) -> Response:
        await self._control.pause(PROVIDER)
        if refused := self._refusal():
            return refused
        if bearer(request) not in self._control.tokens:
            return _wrong(
                401, 1001, "OAuth", "Invalid access token", "Invalid access token. Check the value of the header."
            )
        words = request.query_params.get("q", "")
        try:
            limit, offset = int(request.query_params.get("limit", 50)), int(request.query_params.get("offset", 0))
        except ValueError:
            limit, offset = 0, 0
        if not words or len(words) > 100:
            return _wrong(400, 12001, "API_BROWSE", "The call must have a valid 'q' query parameter.", "")
        if not 1 <= limit <= 200 or offset < 0:
            return _wrong(400, 12006, "API_BROWSE", "The 'limit' or 'offset' value is out of range.", "")
        self._control.paid[PROVIDER][words] += 1
        return answer(_page(str(request.base_url).rstrip("/"), words, limit, offset))

    def _refusal(self) -> Response | None:
        match self._control.modes[PROVIDER]:
            case Mode.DOWN:
                return _wrong(
                    503, 2003, "ACCESS", "Internal error", "There was a problem with an eBay internal system."
                )
            case Mode.RATE_LIMITED:
                said = ("Too many requests.", "The request limit has been reached for the resource.")
                return _wrong(429, 2001, "ACCESS", *said, Retry_After=str(RETRY_AFTER_S))
        return None


def _page(server: str, words: str, limit: int, offset: int) -> dict[str, Any]:
    found = listings(words)

    def at(place: int) -> str:
        return f"{server}{_SEARCH}?{urlencode({'q': words, 'limit': limit, 'offset': place})}"

    page: dict[str, Any] = {"href": at(offset), "total": len(found), "limit": limit, "offset": offset}
    if offset + limit < len(found):
        page["next"] = at(offset + limit)
    if offset > 0:
        page["prev"] = at(max(0, offset - limit))
    items = found[offset : offset + limit]
    return {**page, "itemSummaries": items} if items else page


def _no_token(error: str, description: str, status: int) -> Response:
    return answer({"error": error, "error_description": description}, status)


def _wrong(status: int, number: int, domain: str, message: str, long: str, **headers: str) -> Response:
    category = "APPLICATION" if status >= 500 else "REQUEST"
    error = {"errorId": number, "domain": domain, "category": category, "message": message, "longMessage": long}
    return answer({"errors": [error]}, status, **headers)
