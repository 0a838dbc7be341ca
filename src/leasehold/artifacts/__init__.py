"""Front door of artefacts: static files of what is known, and the public status page."""

from leasehold.artifacts.checks import check
from leasehold.artifacts.documents import KINDS, schema_json
from leasehold.artifacts.models import Published
from leasehold.artifacts.router import routes
from leasehold.artifacts.service import Artifacts, Elsewhere, PublishFailed
from leasehold.artifacts.shelf import Shelf, make

__all__ = [
    "KINDS",
    "Artifacts",
    "Elsewhere",
    "PublishFailed",
    "Published",
    "Shelf",
    "check",
    "make",
    "routes",
    "schema_json",
]
