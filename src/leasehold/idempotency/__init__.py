"""Front door of idempotency: doing a thing once although it was asked twice."""

from leasehold.idempotency.store import Once, claim, keep, sweep

__all__ = ["Once", "claim", "keep", "sweep"]
