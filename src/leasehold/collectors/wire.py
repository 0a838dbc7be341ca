"""One provider over HTTP: a pool of connections, a time limit, and what its refusals mean in our words.

Nothing a library says reaches an error: it could name an address or a header in full.
"""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

import httpx
from pydantic import SecretStr

from leasehold import theirwords
from leasehold.collectors.models import BadCredentials, CollectorError, ItemRefused, ProviderDown, RateLimited
from leasehold.logs import HIDDEN
from leasehold.theirtime import retry_after_s, said_at

_CONNECTIONS = 100
_CONNECT_S = 10.0
# When a provider says that it was too often, and not until when.
_RETRY_AFTER_S = 30.0
_LONGEST_RETRY_AFTER_S = 86_400.0
_LONGEST_WORDS = 300
# A page with everything on it has less than one.
_MOST_BYTES = 32 * 1024 * 1024
_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")
# Of Oxylabs: the job was given up after many attempts; the API itself is well.
_FAULTED = (612, 613)


@dataclass(frozen=True, slots=True)
class Access:
    """Where a provider is, and what lets us in there."""

    url: str
    name: SecretStr
    secret: SecretStr

    @property
    def is_complete(self) -> bool:
        return bool(self.name.get_secret_value() and self.secret.get_secret_value())

    @property
    def basic(self) -> httpx.BasicAuth:
        return httpx.BasicAuth(self.name.get_secret_value(), self.secret.get_secret_value())


class Wire:
    """The one pool of a client. Every call either gives an answer that is a success or raises a CollectorError."""

    def __init__(self, provider: str, access: Access, timeout_s: float) -> None:
        self._provider = provider
        self._secrets = [secret.get_secret_value() for secret in (access.name, access.secret)]
        self._timeout_s = timeout_s
        # Proxies and passwords are what the settings say, not what this machine's environment does.
        self._client = httpx.AsyncClient(
            base_url=access.url.rstrip("/") + "/",
            headers=theirwords.ACCEPTED,
            timeout=httpx.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
            verify=_trusted(),
            follow_redirects=False,
            trust_env=False,
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The answer, whatever it is. Raises ProviderDown when there is none, ItemRefused when it is too large."""
        try:
            async with asyncio.timeout(self._timeout_s):  # httpx counts from each piece of an answer to the next
                return await self._asked(method, path, more)
        except theirwords.TooMuch as why:
            raise ItemRefused("unparsable", f"What {self._provider} answered {why}.") from None
        except TimeoutError:
            raise ProviderDown(f"{self._provider} did not answer within {self._timeout_s:g} seconds.") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise ProviderDown(f"{self._provider} cannot be reached ({type(error).__name__}).") from None

    async def _asked(self, method: str, path: str, more: dict[str, Any]) -> httpx.Response:
        async with self._client.stream(method, path, **more) as answer:
            content = await theirwords.read(answer, _MOST_BYTES)
        # Unpacked by now; what it says of its packing would be done a second time.
        headers = [(name, value) for name, value in answer.headers.multi_items() if name not in _OF_THE_WAY]
        return httpx.Response(answer.status_code, headers=headers, content=content)

    def refusal(self, answer: httpx.Response, said: str) -> CollectorError:
        """What an answer that is no success means; `said` are the provider's own words."""
        status, words = answer.status_code, self._shown(said)
        what = f"{self._provider} answered {status}{f': {words}' if words else ''}."
        match status:
            case 401 | 402 | 403:
                return BadCredentials(what)
            case 404 | 410:
                return ItemRefused("not_found", what)
            case 429:
                return RateLimited(
                    retry_after_s(answer, usual_s=_RETRY_AFTER_S, longest_s=_LONGEST_RETRY_AFTER_S), what
                )
            case _ if status in _FAULTED:
                return ItemRefused("faulted", what)
            case _ if 400 <= status < 500:
                return ItemRefused("refused", what)
        return ProviderDown(what)

    def _shown(self, said: str) -> str:
        """A provider may repeat to us what we sent it."""
        for secret in filter(None, self._secrets):
            said = said.replace(secret, HIDDEN)
        return " ".join(said.split())[:_LONGEST_WORDS].rstrip(".")


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed; reading them takes longer than most calls."""
    return httpx.create_ssl_context(trust_env=False)


def document_of(answer: httpx.Response) -> Any:
    """What an answer says, if that is JSON."""
    try:
        return answer.json()
    except ValueError:
        return None


def said_in(document: Any, names: Sequence[str]) -> str:
    """The first of these fields that is a text."""
    if not isinstance(document, dict):
        return ""
    return next((value for name in names if isinstance(value := document.get(name), str) and value), "")


def day_of(answer: httpx.Response) -> date | None:
    """The provider's own day: whatever it counts, it counts on that."""
    told = said_at(answer)
    return told.date() if told else None
