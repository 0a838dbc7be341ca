"""Front door of checkout: an account, its session and seeds to visit, all of them or nothing."""

from leasehold.checkout.service import Checkout

__all__ = ["Checkout"]
