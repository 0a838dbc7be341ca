"""Oxylabs and eBay as tests have them: `leasehold simulate providers`, over real HTTP, and failing on command."""

import re

import httpx

from tests.parts.process import PATIENCE_S, Place, until

_ADDRESS = re.compile(r"Simulated providers at (http://\S+),")


class Providers:
    """Both providers, running in a place of a test's own."""

    def __init__(self, place: Place, *words: str) -> None:
        started = place.start("simulate", "providers", "--port", "0", *words)
        until(lambda: _ADDRESS.search(started.out))
        found = _ADDRESS.search(started.out)
        assert found
        self.address = found[1]

    @property
    def environment(self) -> dict[str, str]:
        """What a server needs to find them."""
        return {
            "LEASEHOLD_OXYLABS_URL": f"{self.address}/oxylabs",
            "LEASEHOLD_OXYLABS_USERNAME": "any",
            "LEASEHOLD_OXYLABS_PASSWORD": "any",
            "LEASEHOLD_EBAY_URL": f"{self.address}/ebay",
            "LEASEHOLD_EBAY_CLIENT_ID": "any",
            "LEASEHOLD_EBAY_CLIENT_SECRET": "any",
        }

    def become(self, mode: str, provider: str = "oxylabs") -> None:
        wish = {"provider": provider, "mode": mode}
        answer = httpx.put(f"{self.address}/control", json=wish, trust_env=False, timeout=PATIENCE_S)
        assert answer.is_success, answer.text
