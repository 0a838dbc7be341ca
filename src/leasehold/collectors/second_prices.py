"""Whether the price of an item is written down twice, and differs: runs go by the table of the collectors alone."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from leasehold import logs
from leasehold.collectors import amazon, ebay, oxylabs
from leasehold.collectors.files import CollectorsInvalid, read_prices
from leasehold.collectors.prices import Prices, PriceUnknown
from leasehold.platforms import Platform

log = logs.get(__name__)

# What is paid for an item, by its platform and task type.
_PAID = {
    (amazon.Amazon.platform, amazon.ITEM_TYPE): oxylabs.PRODUCT,
    (ebay.Ebay.platform, ebay.ITEM_TYPE): ebay.SOURCE,
}


def second_prices(platforms: Mapping[str, Platform], folder: Path | None) -> Iterator[str]:
    """What files of platforms say otherwise than the table, a line for each platform. Raises CollectorsInvalid."""
    prices = read_prices(folder)
    for (slug, kind), source in _PAID.items():
        if slug in platforms and (said := _said(platforms[slug], kind, prices, source)):
            yield f"{slug}.yaml: prices: {said} Runs go by prices.yaml: take the price out of {slug}.yaml."


def warn_of_second_prices(platforms: Mapping[str, Platform], folder: Path | None) -> None:
    try:
        for why in second_prices(platforms, folder):
            log.warning("platform.second_price", why=why)
    except CollectorsInvalid as error:  # whoever asks for a collector is told
        log.warning("collectors.invalid", why=str(error))


def _said(platform: Platform, kind: str, prices: Prices, source: str) -> str | None:
    for day in sorted({*prices.changes(source), *(one.since for one in platform.prices)}):
        theirs = platform.price(kind, day)
        try:
            ours = prices.price(source, day)
        except PriceUnknown:
            continue
        if theirs is not None and (theirs.micros, theirs.per) != (ours, "task"):
            said = f"{theirs.micros} a {theirs.per} on {day}"
            return f"{said}, where prices.yaml of the collectors says {ours} for {source}."
    return None
