"""Front door of imports out of an older system: a MongoDB whose documents a map explains."""

from leasehold.legacy.checking import Compared, compare
from leasehold.legacy.mapping import LegacyMap, MapInvalid, read_map
from leasehold.legacy.models import ImportFailed, Progress, Tally
from leasehold.legacy.report import FileReport, FirstOnes, Report
from leasehold.legacy.service import LegacyImport, Wish
from leasehold.legacy.source import Source

__all__ = [
    "Compared",
    "FileReport",
    "FirstOnes",
    "ImportFailed",
    "LegacyImport",
    "LegacyMap",
    "MapInvalid",
    "Progress",
    "Report",
    "Source",
    "Tally",
    "Wish",
    "compare",
    "read_map",
]
