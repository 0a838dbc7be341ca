"""A client of eBay's Browse API, as an application: a token by client credentials, and searches page by page."""

import asyncio
from dataclasses import dataclass
from datetime import date
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from leasehold.collectors.models import BadCredentials, ItemRefused, ProviderDown
from leasehold.collectors.wire import Access, Wire, day_of, document_of, said_in

PROVIDER = "ebay"
TIMEOUT_S = 30.0
# What may be searched for at the most, by their documentation.
LONGEST_QUERY = 100
MOST_ON_A_PAGE = 200
_SCOPE = "https://api.ebay.com/oauth/api_scope"
# A token is renewed so long before its end that a call under way still finds it good.
_AHEAD_S = 120.0


@dataclass(frozen=True, slots=True)
class Page:
    """Some of what a search found."""

    items: list[dict[str, Any]]
    total: int
    next_offset: int | None
    day: date | None


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    good_until: float  # by this process's own monotonic clock


class EbayApi:
    """Raises CollectorErrors."""

    def __init__(self, access: Access, marketplace: str, timeout_s: float = TIMEOUT_S) -> None:
        self._auth = access.basic
        self._marketplace = marketplace
        self._wire = Wire(PROVIDER, access, timeout_s)
        self._token: _Token | None = None
        self._one_at_a_time = asyncio.Lock()

    async def aclose(self) -> None:
        await self._wire.aclose()

    async def search(self, words: str, *, limit: int, offset: int = 0) -> Page:
        """One page of the listings that fit some words."""
        asked = {"q": words[:LONGEST_QUERY], "limit": str(limit), "offset": str(offset)}
        answer = await self._get("buy/browse/v1/item_summary/search", asked)
        document = document_of(answer)
        if answer.status_code != 200:
            raise self._wire.refusal(answer, _said(document))
        try:
            items, total = document.get("itemSummaries", []), int(document.get("total", 0))
            following = _offset(document.get("next"))
        except (AttributeError, TypeError, ValueError):
            raise ItemRefused("unparsable", f"What {PROVIDER} answered cannot be read.") from None
        if not isinstance(items, list):
            raise ItemRefused("unparsable", f"What {PROVIDER} answered cannot be read.")
        return Page(items, total, following, day_of(answer))

    async def _get(self, path: str, asked: dict[str, str]) -> httpx.Response:
        """With a token; with a new one when the one we have is refused, but not a third time."""
        token = await self._good_token(None)
        answer = await self._with(token, path, asked)
        if answer.status_code != 401:
            return answer
        return await self._with(await self._good_token(token), path, asked)

    async def _with(self, token: _Token, path: str, asked: dict[str, str]) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token.text}", "X-EBAY-C-MARKETPLACE-ID": self._marketplace}
        return await self._wire.ask("GET", path, params=asked, headers=headers)

    async def _good_token(self, refused: _Token | None) -> _Token:
        """The token in hand unless it is the refused one or about to end. Many who ask at once fetch one."""
        async with self._one_at_a_time:
            if self._token is None or self._token is refused or self._token.good_until <= monotonic():
                self._token = await self._fetch()
            return self._token

    async def _fetch(self) -> _Token:
        begun = monotonic()
        form = {"grant_type": "client_credentials", "scope": _SCOPE}
        answer = await self._wire.ask("POST", "identity/v1/oauth2/token", data=form, auth=self._auth)
        document = document_of(answer)
        if answer.status_code in (400, 401, 403):
            said = said_in(document, ("error",))
            raise BadCredentials(f"{PROVIDER} gives no token ({answer.status_code}{f', {said[:60]}' if said else ''}).")
        if answer.status_code != 200:
            raise self._wire.refusal(answer, said_in(document, ("error_description", "error")))
        try:
            text, lasts_s = str(document["access_token"]), float(document["expires_in"])
        except (LookupError, TypeError, ValueError):
            raise ProviderDown(f"The token that {PROVIDER} gave cannot be read.") from None
        return _Token(text, begun + max(lasts_s - _AHEAD_S, lasts_s / 2))


def _said(document: Any) -> str:
    errors = document.get("errors") if isinstance(document, dict) else None
    return said_in(errors[0], ("longMessage", "message")) if isinstance(errors, list) and errors else ""


def _offset(following: Any) -> int | None:
    """Where the next page begins, by the address that leads there. The address itself is never called."""
    if not isinstance(following, str):
        return None
    return int(parse_qs(urlsplit(following).query)["offset"][0]) if "offset=" in following else None
