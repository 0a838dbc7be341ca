"""Platforms: files that say what crawlers there are, what can be asked of them, and within which limits."""

from leasehold.platforms.catalogue import LOOK_EVERY_S, Catalogue
from leasehold.platforms.comparing import compare
from leasehold.platforms.files import SHIPPED, Fault, Folder, read
from leasehold.platforms.handlers import PLAIN, About, Document, Handler, Plain, find
from leasehold.platforms.models import (
    Backoff,
    Breaker,
    Limits,
    Phase,
    Platform,
    Rate,
    Results,
    Retry,
    Slug,
    TaskType,
    Writer,
    faults,
)

__all__ = [
    "LOOK_EVERY_S",
    "PLAIN",
    "SHIPPED",
    "About",
    "Backoff",
    "Breaker",
    "Catalogue",
    "Document",
    "Fault",
    "Folder",
    "Handler",
    "Limits",
    "Phase",
    "Plain",
    "Platform",
    "Rate",
    "Results",
    "Retry",
    "Slug",
    "TaskType",
    "Writer",
    "compare",
    "faults",
    "find",
    "read",
]
