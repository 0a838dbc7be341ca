"""Front door of the audit: what operators changed, for ever."""

from leasehold.audit.store import Event, page, record

__all__ = ["Event", "page", "record"]
