"""Countries by their two letters, whatever somebody calls them."""

from functools import cache
from importlib import resources

import yaml


def country_code(text: str | None) -> str | None:
    """The code of a country; what nobody knows stays as it is written."""
    if not text:
        return None
    if len(text) == 2 and text.isascii() and text.isalpha():
        return text.upper()
    # A place is often written from the small to the large: the last part is the country.
    last = text.rsplit(",", 1)[-1].strip().lower().rstrip(".")
    return _names().get(last, text.strip())


@cache
def _names() -> dict[str, str]:
    text = resources.files("leasehold.sources").joinpath("countries.yaml").read_text(encoding="utf-8")
    return {name.strip().lower(): code for code, names in yaml.safe_load(text).items() for name in names.split(",")}
