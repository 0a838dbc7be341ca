"""Front door of idempotency: doing a thing once although it was asked twice."""

from leasehold.idempotency.store import (
    Once,
    claim,
    claim_many,
    forget,
    forget_many,
    hang_up_many,
    keep,
    keep_many,
    repeated,
    sweep,
)

__all__ = [
    "Once",
    "claim",
    "claim_many",
    "forget",
    "forget_many",
    "hang_up_many",
    "keep",
    "keep_many",
    "repeated",
    "sweep",
]
