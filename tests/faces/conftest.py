"""Pictures and models that the tests of faces share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parts import faces as parts
from tests.parts.faces import Gallery


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pictures of one person and one of another."""
    return parts.people(tmp_path_factory.mktemp("faces") / "people")


@pytest.fixture(scope="session")
def patterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of nobody, which a small model tells apart."""
    return parts.patterns(tmp_path_factory.mktemp("faces") / "patterns")


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Any]:
    """The manifest of a small model, as it is written in a file."""
    return parts.small_model(tmp_path / "small.onnx")


@pytest.fixture(scope="session")
def _gallery() -> Iterator[Gallery]:
    with parts.gallery() as made:
        yield made


@pytest.fixture
def gallery(_gallery: Gallery) -> Gallery:
    """A server of pictures on loopback that has none yet."""
    _gallery.has.clear()
    _gallery.came.clear()
    return _gallery
