"""What a call costs on a day. A price that is not known is an error: nothing is free because nobody wrote it down."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# A provider may be in yesterday still; and an item may wait a day for its call, when the provider is a day ahead.
_NEAR = (-1, 1, 2)


class PricesInvalid(Exception):
    """The table of prices contradicts itself."""


class PriceUnknown(Exception):
    """There is no price for that day; the message says what to write down."""


class Entry(BaseModel):
    """What a provider wants for one call of a source, from a day on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    since: Annotated[date, Field(alias="from")]
    micros: Annotated[int, Field(ge=0, strict=True)]


class Prices:
    """The table, newest first for each source."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        counts = Counter((entry.source, entry.since) for entry in entries)
        if twice := sorted(f"{source} from {since}" for (source, since), count in counts.items() if count > 1):
            raise PricesInvalid(f"{', '.join(twice)} stands twice")
        self._of: dict[str, list[Entry]] = {}
        for entry in sorted(entries, key=lambda entry: entry.since, reverse=True):
            self._of.setdefault(entry.source, []).append(entry)

    def price(self, source: str, day: date) -> int:
        """Micro-dollars for one call on that day."""
        known = self._of.get(source, [])
        for entry in known:
            if entry.since <= day:
                return entry.micros
        since = f"; the first is from {known[-1].since}" if known else ""
        raise PriceUnknown(
            f"There is no price for {source} on {day}{since}. "
            f"Add an entry with `source: {source}`, its provider, `from` and `micros` to prices.yaml."
        )

    def most(self, source: str, day: date) -> int:
        """The most that a call costs which is begun on that day."""
        now, first = self.price(source, day), self._of[source][-1].since
        return max(now, *(self.price(source, max(first, day + timedelta(days=near))) for near in _NEAR))

    def changes(self, source: str) -> list[date]:
        """The days from which a price counts."""
        return [entry.since for entry in self._of.get(source, [])]

    def known(self, source: str, day: date) -> int | None:
        """The same for who only wants to show it."""
        try:
            return self.price(source, day)
        except PriceUnknown:
            return None

    def cost(self, source: str, day: date | None) -> int:
        """What a call did cost that is over: a provider without a calendar does not make it undone."""
        try:
            return self.price(source, day or date.max)
        except PriceUnknown:
            return self.price(source, date.max)
