"""Reads what collectors are told by files: which categories there are, and what things cost from which day on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from leasehold.collectors.prices import Entry, Prices, PricesInvalid

SHIPPED = Path(__file__).parent / "shipped"
_SLUG = r"^[a-z][a-z0-9_-]{0,62}$"
Kind = TypeVar("Kind")


class CollectorsInvalid(Exception):
    """A file of the collectors is wrong; the message says which, where and why."""


class CategoryFile(BaseModel):
    """A category as its file says it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Annotated[str, Field(pattern=_SLUG)]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    items: Annotated[int, Field(ge=1, le=1_000_000)] = 500
    """So many are wanted at the most."""
    query: Annotated[str, Field(max_length=200)] = ""
    """What is searched for; its id when empty."""
    node: Annotated[str, Field(pattern=r"^[0-9]*$")] = ""
    """Amazon's number of the department to search in."""

    @property
    def words(self) -> str:
        return self.query or self.id


class CollectorFile(BaseModel):
    """What one collector collects."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    categories: Annotated[list[CategoryFile], Field(min_length=1)]
    domain: Annotated[str, Field(pattern=r"^[a-z.]{2,10}$")] = "com"
    """Which Amazon: `com`, `de`, `co.uk` …"""
    products_per_page: Annotated[int, Field(ge=1, le=1000)] = 20
    """How few products a page of a search may have: what finding an item costs is reckoned with it."""
    marketplace: Annotated[str, Field(pattern=r"^EBAY_[A-Z_]{2,20}$")] = "EBAY_US"
    """Which eBay."""

    @field_validator("categories")
    @classmethod
    def _stand_once(cls, categories: list[CategoryFile]) -> list[CategoryFile]:
        ids = [category.id for category in categories]
        if twice := sorted({one for one in ids if ids.count(one) > 1}):
            raise ValueError(f"{', '.join(twice)} stands twice")
        return categories


_COLLECTOR = TypeAdapter(CollectorFile)
_ENTRIES: TypeAdapter[Sequence[Entry]] = TypeAdapter(Sequence[Entry])


def read_collector(name: str, folder: Path | None) -> CollectorFile:
    """`NAME.yaml` of the folder, or the shipped one where it has none. Raises CollectorsInvalid."""
    return _read(f"{name}.yaml", folder, _COLLECTOR)


def read_prices(folder: Path | None) -> Prices:
    """`prices.yaml`, all of it from one place. Raises CollectorsInvalid."""
    entries = _read("prices.yaml", folder, _ENTRIES)
    try:
        return Prices(entries)
    except PricesInvalid as error:
        raise CollectorsInvalid(f"prices.yaml: {error}") from None


def _read(name: str, folder: Path | None, kind: TypeAdapter[Kind]) -> Kind:
    if folder is not None and not folder.is_dir():
        raise CollectorsInvalid(f"{folder}: There is no such folder; see LEASEHOLD_COLLECTORS_DIR.")
    own = folder / name if folder else None
    path = own if own and own.is_file() else SHIPPED / name
    try:
        document: Any = yaml.safe_load(path.read_text("utf-8"))
        return kind.validate_python(document)
    except (OSError, UnicodeDecodeError) as error:
        raise CollectorsInvalid(f"{path}: It cannot be read: {type(error).__name__}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise CollectorsInvalid(f"{path}: This is not YAML{f' (line {mark.line + 1})' if mark else ''}.") from None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in fault["loc"])
        why = fault["msg"].removeprefix("Value error, ")
        raise CollectorsInvalid(f"{path}: {f'{where}: ' if where else ''}{why}") from None
