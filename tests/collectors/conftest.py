"""What tests of collectors share: providers that are served once for each file."""

from collections.abc import Iterator

import pytest

from leasehold.simulate import Goods
from tests.parts import providers as parts
from tests.parts.providers import Market


@pytest.fixture(scope="module")
def _market() -> Iterator[Market]:
    with parts.market(Goods(items=45, missing_every=10)) as served:
        yield served


@pytest.fixture
def market(_market: Market) -> Market:
    """Both providers, as well as on the first day: 45 products in each category, each tenth of which is gone."""
    _market.calm()
    return _market
