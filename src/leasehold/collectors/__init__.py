"""Front door of collectors: what can be collected by runs, at which price, and through which provider."""

from leasehold.collectors.amazon import Amazon
from leasehold.collectors.choosing import Providers, make, providers
from leasehold.collectors.ebay import Ebay
from leasehold.collectors.ebay_api import EbayApi
from leasehold.collectors.files import SHIPPED, CollectorsInvalid, read_collector, read_prices
from leasehold.collectors.handlers import AmazonProducts, EbaySellers
from leasehold.collectors.models import (
    BadCredentials,
    Category,
    CategoryUnknown,
    Collected,
    Collector,
    CollectorError,
    ItemRefused,
    Listing,
    Product,
    Products,
    ProviderDown,
    RateLimited,
    Wish,
)
from leasehold.collectors.names import normalised_name
from leasehold.collectors.oxylabs import Oxylabs
from leasehold.collectors.prices import Prices, PricesInvalid, PriceUnknown
from leasehold.collectors.second_prices import second_prices, warn_of_second_prices
from leasehold.collectors.wire import Access

__all__ = [
    "SHIPPED",
    "Access",
    "Amazon",
    "AmazonProducts",
    "BadCredentials",
    "Category",
    "CategoryUnknown",
    "Collected",
    "Collector",
    "CollectorError",
    "CollectorsInvalid",
    "Ebay",
    "EbayApi",
    "EbaySellers",
    "ItemRefused",
    "Listing",
    "Oxylabs",
    "PriceUnknown",
    "Prices",
    "PricesInvalid",
    "Product",
    "Products",
    "ProviderDown",
    "Providers",
    "RateLimited",
    "Wish",
    "make",
    "normalised_name",
    "providers",
    "read_collector",
    "read_prices",
    "second_prices",
    "warn_of_second_prices",
]
