"""The stage of the contract suite, for what is promised of accounts in particular."""

from tests.contracts.conftest import stage

__all__ = ["stage"]
