"""Front door of sources: where records come from, how far each is swept, and who sweeps it."""

from leasehold.sources.catalogue import Catalogue, KeyMissing, files
from leasehold.sources.declared import Kind, Source
from leasehold.sources.driver import LEASE_S
from leasehold.sources.models import Gone, Links, Offer, Outlet, Pressure, Retire, State
from leasehold.sources.problems import SourceOff, SourceUnknown
from leasehold.sources.router import routes
from leasehold.sources.service import RUNS, Sources, Standing
from leasehold.sources.store import forget

__all__ = [
    "LEASE_S",
    "RUNS",
    "Catalogue",
    "Gone",
    "KeyMissing",
    "Kind",
    "Links",
    "Offer",
    "Outlet",
    "Pressure",
    "Retire",
    "Source",
    "SourceOff",
    "SourceUnknown",
    "Sources",
    "Standing",
    "State",
    "files",
    "forget",
    "routes",
]
