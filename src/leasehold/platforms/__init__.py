"""Platforms: files that say what crawlers there are, what can be asked of them, and within which limits."""

from leasehold.platforms.catalogue import LOOK_EVERY_S, Catalogue
from leasehold.platforms.comparing import compare
from leasehold.platforms.files import SHIPPED, Fault, Folder, read
from leasehold.platforms.models import Backoff, Platform, Retry, Slug, TaskType, Writer

__all__ = [
    "LOOK_EVERY_S",
    "SHIPPED",
    "Backoff",
    "Catalogue",
    "Fault",
    "Folder",
    "Platform",
    "Retry",
    "Slug",
    "TaskType",
    "Writer",
    "compare",
    "read",
]
