"""Front door of idempotency: doing a thing once although it was asked twice."""

from leasehold.idempotency.store import Once, claim, forget, keep, sweep

__all__ = ["Once", "claim", "forget", "keep", "sweep"]
