"""Front door of sites: places we collect from, and what their URLs are called."""

from leasehold.sites.addresses import Mount, Reference, Refusal, Registry, Subdomains, Trust
from leasehold.sites.conformance import Outcome, VectorsMalformed
from leasehold.sites.models import Saying, Site
from leasehold.sites.problems import SiteUnknown
from leasehold.sites.service import Dependents, Sites, trip

__all__ = [
    "Dependents",
    "Mount",
    "Outcome",
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
    "trip",
]
