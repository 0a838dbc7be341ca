"""Front door of the audit: what operators changed, for ever, and the chain that proves it."""

from leasehold.audit.chain import BATCH, Checked, Fault, Kind, check, seal, seal_all
from leasehold.audit.store import Event, Note, life, organisations, page, record, record_many

__all__ = [
    "BATCH",
    "Checked",
    "Event",
    "Fault",
    "Kind",
    "Note",
    "check",
    "life",
    "organisations",
    "page",
    "record",
    "record_many",
    "seal",
    "seal_all",
]
