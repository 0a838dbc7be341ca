"""Scrapy with a leased account: cookies begin with the account's session, and go back to it when the spider closes.

In Scrapy's settings, LEASEHOLD_WAIT_SECONDS says how long to wait for an account (60), LEASEHOLD_TTL_SECONDS how long
its lease lives without a renewal (120). Where the server is and what lets us in are variables, LEASEHOLD_URL and
LEASEHOLD_TOKEN: settings are in Scrapy's log.
"""

import os
from contextlib import ExitStack
from typing import Any, ClassVar, Self

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro

from leasehold.client import HeldAccount, Leasehold, OpenSession, jar_from, with_jar

__all__ = ["LeasedCookies", "LeasedSpider"]

_PLACE = 700  # that of Scrapy's own cookies
_WAIT_S, _TTL_S = 60.0, 120.0


class LeasedSpider(scrapy.Spider):
    """A spider that crawls with an account of `site`, held from before its first request until it is closed.

    `lease` is the account: sign in with its `secret`, and say how it went. `lh` asks leasehold for more, and blocks:
    call it with `asyncio.to_thread`.
    """

    site: ClassVar[str]
    lh: Leasehold
    lease: HeldAccount

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        given = settings.getdict("DOWNLOADER_MIDDLEWARES")
        ours = {"scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None, LeasedCookies: _PLACE}
        settings.set("DOWNLOADER_MIDDLEWARES", given | ours, priority="spider")


class LeasedCookies(CookiesMiddleware):
    """Scrapy's cookies, those of a leased account. Without one there is no crawl, and after its loss no request."""

    _held: ExitStack
    _session: OpenSession
    _lease: HeldAccount

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        made = super().from_crawler(crawler)
        made._take(crawler.spider, crawler.settings)
        crawler.signals.connect(made._give_back, signals.spider_closed)
        return made

    def process_request(self, request: scrapy.Request) -> Any:  # type: ignore[override]
        if self._lease.is_lost:
            if self.crawler.engine:
                deferred_from_coro(self.crawler.engine.close_spider_async(reason="lease_lost"))
            raise IgnoreRequest("The lease of the account was lost: somebody else may have it by now.")
        return super().process_request(request)

    def process_response(self, request: scrapy.Request, response: Response) -> Any:  # type: ignore[override]
        return super().process_response(request, response)

    def _take(self, spider: scrapy.Spider | None, settings: BaseSettings) -> None:
        """Raises what stops the crawl before it begins: nothing is free, no such site, no server."""
        if not isinstance(spider, LeasedSpider):
            raise TypeError("LeasedCookies are for spiders that are a LeasedSpider")
        wait_s = settings.getfloat("LEASEHOLD_WAIT_SECONDS", _WAIT_S)
        ttl_s = settings.getfloat("LEASEHOLD_TTL_SECONDS", _TTL_S)
        with ExitStack() as taking:
            lh = taking.enter_context(Leasehold(os.environ["LEASEHOLD_URL"], os.environ["LEASEHOLD_TOKEN"]))
            lease = taking.enter_context(lh.account(spider.site, ttl=ttl_s, wait=wait_s, include_session=True))
            self._session = taking.enter_context(lh.session(lease))
            self._held = taking.pop_all()
        spider.lh, spider.lease, self._lease = lh, lease, lease
        for cookie in jar_from(self._session.storage_state).jar:
            self.jars[None].set_cookie(cookie)

    def _give_back(self) -> None:
        with self._held:
            if not self._lease.is_lost:
                self._session.save(with_jar(self._session.storage_state, self.jars[None].jar))
