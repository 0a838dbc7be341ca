"""A spider with a leased account: Scrapy's cookies are the account's session.

pip install 'leasehold[scrapy]'
LEASEHOLD_URL=… LEASEHOLD_TOKEN=… scrapy runspider examples/board_scrapy.py
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from scrapy import FormRequest, Request
from scrapy.http import HtmlResponse, Response

from leasehold.client import SeedGrant
from leasehold.client.contrib.scrapy import LeasedSpider


class BoardSpider(LeasedSpider):
    name = site = "board"
    # One page after the other, as a person reads: the board replaces its cookie now and then.
    custom_settings = {"CONCURRENT_REQUESTS": 1, "USER_AGENT": "board-scrapy"}  # noqa: RUF012
    wanted = 5

    async def start(self) -> AsyncIterator[Any]:
        if request := await self.next_thread():
            yield request

    async def next_thread(self) -> Request | None:
        if not self.wanted:
            return None
        self.wanted -= 1
        found = await asyncio.to_thread(self.lh.seeds.acquire, owner=self.lease.owner, site=self.site)
        for grant in found.leases:
            return Request(str(grant.seed.url), self.parse_thread, cb_kwargs={"grant": grant}, dont_filter=True)
        return None

    async def parse_thread(self, response: Response, grant: SeedGrant) -> AsyncIterator[Any]:
        if isinstance(response, HtmlResponse) and response.css("input[name=password]"):
            form = {"username": self.lease.username, "password": self.lease.secret["password"]}
            yield FormRequest.from_response(
                response, formdata=form, callback=self.parse_thread, cb_kwargs={"grant": grant}, dont_filter=True
            )
            return
        url, posts = str(grant.seed.url), len(response.css("article"))
        await asyncio.to_thread(
            self.lh.captures.upload,
            site=self.site,
            url=url,
            files={"page.html": response.body},
            seed_id=grant.seed.id,
            lease_id=self.lease.id,
        )
        new = posts - (grant.seed.cursor or 0)
        await asyncio.to_thread(self.lh.seeds.release, grant.id, found=new, cursor=posts)
        yield {"account": self.lease.username, "url": url, "posts": posts}
        if request := await self.next_thread():
            yield request
