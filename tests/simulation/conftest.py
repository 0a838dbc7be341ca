"""What simulations borrow: a world of runs, whose ledger is in a real PostgreSQL."""

from tests.runs.conftest import it, shop

__all__ = ["it", "shop"]
