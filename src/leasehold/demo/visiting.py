"""What a collector does at a board with an account, whoever gave it the account. The same with leases and without."""

import re
from dataclasses import dataclass

import httpx

from leasehold.demo.world import Market, Place


class Trouble(Exception):
    """A page that was not to be had."""


class AccountBlocked(Trouble):
    """The board has blocked the account."""


class WrongPassword(Trouble):
    """The board does not know the account by that password."""


class TooOften(Trouble):
    """The account has read enough for now."""

    def __init__(self, rest_s: int) -> None:
        super().__init__(f"wait {rest_s} s")
        self.rest_s = rest_s


class Moved(Trouble):
    """The board lives elsewhere. A redirect is a claim of the old address: it is for others to believe it."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read."""

    url: str
    content: bytes
    posts: int
    product: str | None


@dataclass(frozen=True, slots=True)
class Login:
    """Who to sign in as."""

    username: str
    password: str


class Visit:
    """Reads pages as somebody who is signed in, and signs in where that is asked."""

    def __init__(self, web: httpx.AsyncClient, login: Login) -> None:
        self._web = web
        self._login = login

    async def read(self, url: str) -> Page:
        """One page. Raises Trouble."""
        answer = await self._web.get(url)
        if answer.status_code == httpx.codes.SEE_OTHER:  # to the form
            answer = await self._sign_in(url)
        _refuse(answer)
        text = answer.text
        found = re.search(r'href="/products/(\w+)"', text)
        return Page(url, answer.content, text.count("<article"), found[1] if found else None)

    async def _sign_in(self, url: str) -> httpx.Response:
        asked = httpx.URL(url)
        form = {"username": self._login.username, "password": self._login.password, "next": asked.path}
        answer = await self._web.post(asked.copy_with(path="/login"), data=form)
        _refuse(answer)
        return await self._web.get(url)


def _refuse(answer: httpx.Response) -> None:
    match answer.status_code:
        case httpx.codes.PERMANENT_REDIRECT:
            raise Moved(answer.headers["location"])
        case httpx.codes.FORBIDDEN:
            raise AccountBlocked(answer.text)
        case httpx.codes.UNAUTHORIZED:
            raise WrongPassword("the board does not take it")
        case httpx.codes.TOO_MANY_REQUESTS:
            raise TooOften(int(answer.headers["retry-after"]))


def browsing(name: str, place: Place, cookies: httpx.Cookies) -> httpx.AsyncClient:
    """A client that calls itself by the collector's name."""
    return httpx.AsyncClient(
        cookies=cookies, headers={"User-Agent": name}, proxy=place.address, trust_env=False, timeout=30.0
    )


async def look_up(market: Market, product: str) -> None:
    """Ask the provider about a product. It wants money for that, however often it was asked before."""
    async with httpx.AsyncClient(trust_env=False, timeout=30.0) as web:
        wish = {"source": "amazon_product", "query": product, "parse": True}
        url = f"{market.settings['oxylabs_url']}/v1/queries"
        auth = (market.settings["oxylabs_username"], market.settings["oxylabs_password"])
        (await web.post(url, json=wish, auth=auth)).raise_for_status()
