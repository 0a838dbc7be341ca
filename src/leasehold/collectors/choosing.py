"""Makes the shipped collectors as the settings say."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from leasehold.collectors.amazon import Amazon
from leasehold.collectors.ebay import Ebay
from leasehold.collectors.ebay_api import EbayApi
from leasehold.collectors.files import read_collector, read_prices
from leasehold.collectors.models import Collector, Products
from leasehold.collectors.oxylabs import Oxylabs
from leasehold.collectors.wire import Access
from leasehold.settings import Settings


@dataclass(frozen=True, slots=True)
class Providers:
    """Where the providers are, and which folder stands over the shipped files."""

    oxylabs: Access
    ebay: Access
    folder: Path | None = None

    def without_credentials(self) -> dict[str, str]:
        """The collectors that cannot work yet, each with the settings it lacks."""
        named = {
            Amazon.slug: (self.oxylabs, "LEASEHOLD_OXYLABS_USERNAME and LEASEHOLD_OXYLABS_PASSWORD"),
            Ebay.slug: (self.ebay, "LEASEHOLD_EBAY_CLIENT_ID and LEASEHOLD_EBAY_CLIENT_SECRET"),
        }
        return {slug: names for slug, (access, names) in named.items() if not access.is_complete}


def providers(settings: Settings) -> Providers:
    return Providers(
        Access(settings.oxylabs_url, settings.oxylabs_username, settings.oxylabs_password),
        Access(settings.ebay_url, settings.ebay_client_id, settings.ebay_client_secret),
        settings.collectors_dir,
    )


def make(chosen: Providers, products: Products) -> Mapping[str, Collector]:
    """The collectors by slug; whoever made them closes them. Raises CollectorsInvalid."""
    prices = read_prices(chosen.folder)
    amazon, ebay = read_collector(Amazon.slug, chosen.folder), read_collector(Ebay.slug, chosen.folder)
    return {
        Amazon.slug: Amazon(amazon, prices, Oxylabs(chosen.oxylabs)),
        Ebay.slug: Ebay(ebay, prices, EbayApi(chosen.ebay, ebay.marketplace), products),
    }
