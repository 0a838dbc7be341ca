"""Front door of sites: places we collect from, and what their URLs are called."""

from leasehold.sites.addresses import Reference, Registry
from leasehold.sites.models import Saying
from leasehold.sites.problems import SiteUnknown
from leasehold.sites.service import Dependents, Sites, trip

__all__ = ["Dependents", "Reference", "Registry", "Saying", "SiteUnknown", "Sites", "trip"]
