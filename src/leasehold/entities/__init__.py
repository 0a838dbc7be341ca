"""Front door of entities: what many records speak of, why they belong together, and who says so."""

from leasehold.entities.books import Books, books
from leasehold.entities.erasing import Eraser
from leasehold.entities.evaluate import NotRecords, evaluate_file
from leasehold.entities.models import ENTITY, SELLER, Entity, Kept
from leasehold.entities.policies import PoliciesInvalid, read_policies
from leasehold.entities.proposing import Proposals
from leasehold.entities.queue import HIGH_WATER, links, offer, queued_bytes, retire
from leasehold.entities.review_router import review_routes
from leasehold.entities.router import routes
from leasehold.entities.safe import SuppressionSafe
from leasehold.entities.service import Entities
from leasehold.entities.writers import LOOK_EVERY_S, SWEEP_EVERY_S, Writers

__all__ = [
    "ENTITY",
    "HIGH_WATER",
    "LOOK_EVERY_S",
    "SELLER",
    "SWEEP_EVERY_S",
    "Books",
    "Entities",
    "Entity",
    "Eraser",
    "Kept",
    "NotRecords",
    "PoliciesInvalid",
    "Proposals",
    "SuppressionSafe",
    "Writers",
    "books",
    "evaluate_file",
    "links",
    "offer",
    "queued_bytes",
    "read_policies",
    "retire",
    "review_routes",
    "routes",
]
