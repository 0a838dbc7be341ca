"""Front door of sites: places we collect from, and what their URLs are called."""

from leasehold.sites.addresses import Mount, Registry, Subdomains, Trust
from leasehold.sites.conformance import Outcome, VectorsMalformed
from leasehold.sites.models import Saying
from leasehold.sites.problems import SiteUnknown
from leasehold.sites.service import Dependents, Sites, trip

__all__ = [
    "Dependents",
    "Mount",
    "Outcome",
    "Registry",
    "Saying",
    "SiteUnknown",
    "Sites",
    "Subdomains",
    "Trust",
    "VectorsMalformed",
    "trip",
]
