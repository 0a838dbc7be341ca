"""Front door of captures: what visits brought home, kept whole, and handed on."""

from leasehold.captures.blobs import Blobs, Key, key_of
from leasehold.captures.books import books
from leasehold.captures.choosing import make
from leasehold.captures.handoff import Handoff
from leasehold.captures.machine import CaptureState
from leasehold.captures.models import PREFIX, Limits
from leasehold.captures.multipart import CONTENT_TYPE, OCTETS
from leasehold.captures.multipart import NAME as FILE_NAME
from leasehold.captures.records import RECORD_STATES, ExternalFile, Record, keep_records, read_records
from leasehold.captures.service import Captures, Sources
from leasehold.captures.store import count
from leasehold.captures.sweeping import remove_stray, strays, sweep
from leasehold.captures.verifying import Reread, reread

__all__ = [
    "CONTENT_TYPE",
    "FILE_NAME",
    "OCTETS",
    "PREFIX",
    "RECORD_STATES",
    "Blobs",
    "CaptureState",
    "Captures",
    "ExternalFile",
    "Handoff",
    "Key",
    "Limits",
    "Record",
    "Reread",
    "Sources",
    "books",
    "count",
    "keep_records",
    "key_of",
    "make",
    "read_records",
    "remove_stray",
    "reread",
    "strays",
    "sweep",
]
