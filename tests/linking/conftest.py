"""What tests of linking share: a town's worth of people, and what was learned from them."""

import pytest

from leasehold.linking import DEFAULT, Epoch, Record, learn
from tests.linking.people import people

Town = tuple[list[Record], dict[tuple[str, str, str], int]]


@pytest.fixture(scope="session")
def town() -> Town:
    return people(120)


@pytest.fixture(scope="session")
def epoch(town: Town) -> Epoch:
    return learn(town[0], DEFAULT)
