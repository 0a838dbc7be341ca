"""An older system in a real MongoDB, beside a clean database."""

from pathlib import Path

import pytest

from tests.legacy.old import Old
from tests.parts.mongo import MongoDatabase
from tests.parts.postgres import TestDatabase


@pytest.fixture
def old(mongo_database: MongoDatabase, database: TestDatabase, tmp_path: Path) -> Old:
    return Old(mongo_database, database, tmp_path)
