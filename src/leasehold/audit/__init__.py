"""Front door of the audit: what operators changed, for ever, and the chain that proves it."""

from leasehold.audit.chain import BATCH, Checked, Fault, Kind, check, seal, seal_all
from leasehold.audit.store import Event, Note, by_ids, life, organisations, page, record, record_many

__all__ = [
    "BATCH",
    "Checked",
    "Event",
    "Fault",
    "Kind",
    "Note",
    "by_ids",
    "check",
    "life",
    "organisations",
    "page",
    "record",
    "record_many",
    "seal",
    "seal_all",
]
