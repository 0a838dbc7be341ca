"""A spider whose account is taken from it after its first page, and which goes on all the same."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from leasehold.client.contrib.scrapy import LeasedSpider


class LosingSpider(LeasedSpider):
    name = "losing"
    site = "board"

    async def start(self) -> AsyncIterator[Any]:
        seeds = await asyncio.to_thread(self.lh.seeds.page, site=self.site, limit=1)
        yield Request(str(seeds.items[0].url), self.parse_page, dont_filter=True)

    async def parse_page(self, response: Response) -> AsyncIterator[Any]:
        await asyncio.to_thread(self.lh.leases.revoke, self.lease.id)
        while not self.lease.is_lost:
            await asyncio.sleep(0.05)
        yield Request(response.url, self.parse_no_more, dont_filter=True)

    def parse_no_more(self, _response: Response) -> None:
        """Nothing ever comes here."""
