"""One source over HTTP: a time limit, a limit of bytes, and what its refusals mean in our words.

Nothing a library says reaches an error: it could name an address or a header in full.
"""

import asyncio
import ssl
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import httpx
import orjson

from leasehold import theirwords
from leasehold.logs import HIDDEN
from leasehold.sources.models import Denied, RateLimited, Rejected, Unavailable
from leasehold.theirtime import retry_after_s, said_at

_CONNECT_S = 10.0
# When a source says that it was too often, and not until when.
_RETRY_AFTER_S = 10.0
_LONGEST_RETRY_AFTER_S = 3600.0
_LONGEST_WORDS = 300
_DENIED = (401, 403)
_PASSING = (408, 425)


@dataclass(frozen=True, slots=True)
class Limits:
    timeout_s: float
    answer_bytes: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A success, or a refusal that is no error of the wire: 404, and 4xx that GraphQL explains."""

    status: int
    document: Any
    date: datetime | None


class Wire:
    """The connections to one source."""

    def __init__(self, source: str, url: str, headers: dict[str, str], key: str, limits: Limits) -> None:
        self._source = source
        self._url = url
        self._key = key
        self._limits = limits
        # Proxies and passwords are what the files say, not what this machine's environment does.
        self._client = httpx.AsyncClient(
            headers={"Accept": "application/json", **theirwords.ACCEPTED, **headers},
            timeout=httpx.Timeout(limits.timeout_s, connect=min(_CONNECT_S, limits.timeout_s)),
            verify=_trusted(),
            follow_redirects=False,  # a key goes where the file says, and nowhere else
            trust_env=False,
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ask(self, method: str, path: str, **more: Any) -> Answer:
        """What it answers. Raises a FetchError where that is nothing to go on with."""
        try:
            async with asyncio.timeout(self._limits.timeout_s):  # httpx counts from each piece to the next
                return await self._asked(method, path, more)
        except theirwords.TooMuch as why:
            raise Rejected(f"What {self._source} answered {why}.") from None
        except TimeoutError:
            raise Unavailable(f"{self._source} did not answer within {self._limits.timeout_s:g} seconds.") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise Unavailable(f"{self._source} cannot be reached ({type(error).__name__}).") from None

    async def _asked(self, method: str, path: str, more: dict[str, Any]) -> Answer:
        async with self._client.stream(method, self._url + path, **more) as answer:
            raw = await theirwords.read(answer, self._limits.answer_bytes)
        document = _json(raw)
        status, said = answer.status_code, self._said(document)
        what = f"{self._source} answered {status}{f': {said}' if said else ''}."
        if status == 429:
            raise RateLimited(retry_after_s(answer, usual_s=_RETRY_AFTER_S, longest_s=_LONGEST_RETRY_AFTER_S), what)
        if status in _DENIED:
            raise Denied(what)
        if 300 <= status < 400:
            raise Rejected(f"{what} It has moved; its file should say where.")
        if status >= 500 or status in _PASSING:
            raise Unavailable(what)
        if document is None:
            raise Unavailable(f"{self._source} answered {status} and no JSON.")
        return Answer(status, document, said_at(answer))

    def hide(self, text: str) -> str:
        """A source may repeat to us what we sent it."""
        return text.replace(self._key, HIDDEN)

    def _said(self, document: Any) -> str:
        if not isinstance(document, dict):
            return ""
        errors = document.get("errors")
        first = errors[0] if isinstance(errors, list) and errors else {}
        told = (first.get("message") if isinstance(first, dict) else None) or document.get("message") or ""
        return " ".join(self.hide(str(told)).split())[:_LONGEST_WORDS].rstrip(".")

    def complaint(self, document: Any) -> str:
        """What an answer that is a refusal says, as a sentence."""
        said = self._said(document)
        return f"{self._source} refuses: {said}." if said else f"{self._source} refuses and does not say why."


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed; reading them takes longer than most calls."""
    return httpx.create_ssl_context(trust_env=False)


def _json(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
