"""Front door of captures: what visits brought home, kept whole, and handed on."""

from leasehold.captures.blobs import Blobs
from leasehold.captures.choosing import make
from leasehold.captures.handoff import Handoff
from leasehold.captures.models import Limits
from leasehold.captures.service import Captures, Sources
from leasehold.captures.store import count
from leasehold.captures.sweeping import remove_stray, strays, sweep
from leasehold.captures.verifying import Reread, reread

__all__ = [
    "Blobs",
    "Captures",
    "Handoff",
    "Limits",
    "Reread",
    "Sources",
    "count",
    "make",
    "remove_stray",
    "reread",
    "strays",
    "sweep",
]
