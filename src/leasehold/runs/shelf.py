"""The collectors of each organisation, made when they are first asked for and closed together."""

from collections.abc import Mapping
from typing import Protocol
from uuid import UUID

from leasehold.collectors import Amazon, Collector, Providers, make
from leasehold.db import Database
from leasehold.runs.findings import CollectedProducts


class Stock(Protocol):
    """Collectors by organisation."""

    def __call__(self, organisation: UUID) -> Mapping[str, Collector]: ...

    async def aclose(self) -> None: ...


class Shelf:
    """Collectors by organisation: some of them go on from what others have collected there."""

    def __init__(self, db: Database, providers: Providers) -> None:
        self._db = db
        self._providers = providers
        self._made: dict[UUID, Mapping[str, Collector]] = {}

    def __call__(self, organisation: UUID) -> Mapping[str, Collector]:
        if organisation not in self._made:
            products = CollectedProducts(self._db, organisation, Amazon.slug)
            self._made[organisation] = make(self._providers, products)
        return self._made[organisation]

    async def aclose(self) -> None:
        for collectors in self._made.values():
            for collector in collectors.values():
                await collector.aclose()
        self._made.clear()
