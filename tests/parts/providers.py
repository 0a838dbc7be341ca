"""The providers of the shipped collectors in a thread: a real HTTP server on loopback that is told how to behave."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from leasehold.collectors import Access, Product, Providers
from leasehold.server import listen
from leasehold.simulate import Control, Goods, Mode, providers_app, server

SECRET = "LHCANARY-of-a-provider"


@dataclass
class Market:
    """Both providers, and what they were asked."""

    address: str
    control: Control

    @property
    def providers(self) -> Providers:
        return Providers(access(f"{self.address}/oxylabs"), access(f"{self.address}/ebay"))

    def paid(self, provider: str) -> Counter[str]:
        return self.control.paid[provider]

    def calm(self) -> None:
        """As it was at the start."""
        self.control.modes |= dict.fromkeys(self.control.modes, Mode.OK)
        self.control.latency_ms = 0
        self.control.tokens.clear()
        for paid in self.control.paid.values():
            paid.clear()


def access(url: str, name: str = "user", secret: str = SECRET) -> Access:
    return Access(url, SecretStr(name), SecretStr(secret))


@contextmanager
def market(goods: Goods | None = None, token_seconds: int = 7200) -> Iterator[Market]:
    control, ready = Control(slow_ms=1000), threading.Event()
    listener = listen("127.0.0.1", 0)
    served = server(providers_app(goods or Goods(), control, token_seconds), ready.set)
    thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert ready.wait(30)
        yield Market(f"http://127.0.0.1:{listener.getsockname()[1]}", control)
    finally:
        served.should_exit = True
        thread.join()
        listener.close()


@dataclass
class Shelf:
    """Products that were collected, in a list."""

    products: list[Product] = field(default_factory=list)

    async def after(self, category: str, cursor: str | None, limit: int) -> list[Product]:
        mine = [product for product in self.products if product.category == category]
        first = next((place for place, one in enumerate(mine, 1) if one.position == cursor), 0)
        return mine[first : first + limit]


def shelf(category: str, count: int) -> Shelf:
    return Shelf([Product(f"B{number:09}", f"Lamp {number}", category, f"p{number}") for number in range(count)])
