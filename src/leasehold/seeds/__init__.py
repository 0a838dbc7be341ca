"""Front door of seeds: addresses that are visited again and again, handed out on leases when they are due."""

from leasehold.seeds.answers import SeedGrantOut, granted_seeds
from leasehold.seeds.books import books
from leasehold.seeds.importing import Line as FileLine
from leasehold.seeds.importing import NotThatFormat, from_csv, from_ndjson, from_opml
from leasehold.seeds.intake import from_line
from leasehold.seeds.models import Histogram, Seed
from leasehold.seeds.service import Seeds

__all__ = [
    "FileLine",
    "Histogram",
    "NotThatFormat",
    "Seed",
    "SeedGrantOut",
    "Seeds",
    "books",
    "from_csv",
    "from_line",
    "from_ndjson",
    "from_opml",
    "granted_seeds",
]
