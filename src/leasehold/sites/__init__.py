"""Front door of sites: places we collect from, and what their URLs are called."""

from leasehold.sites.addresses import Mount, Reference, Refusal, Registry, Subdomains, Trust
from leasehold.sites.conformance import Outcome, VectorsMalformed
from leasehold.sites.history import (
    AddressUnfit,
    Brought,
    HistoryConflict,
    PastAddress,
    PastSite,
    bring,
    known_slugs,
    past_address,
    past_addresses,
)
from leasehold.sites.models import Saying, Site
from leasehold.sites.problems import SiteUnknown
from leasehold.sites.service import Dependents, Sites, trip

__all__ = [
    "AddressUnfit",
    "Brought",
    "Dependents",
    "HistoryConflict",
    "Mount",
    "Outcome",
    "PastAddress",
    "PastSite",
    "Reference",
    "Refusal",
    "Registry",
    "Saying",
    "Site",
    "SiteUnknown",
    "Sites",
    "Subdomains",
    "Trust",
    "VectorsMalformed",
    "bring",
    "known_slugs",
    "past_address",
    "past_addresses",
    "trip",
]
