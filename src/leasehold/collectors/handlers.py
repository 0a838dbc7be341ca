"""What becomes of the documents of the shipped collectors before they are written."""

import re
from typing import Any

from leasehold.collectors.names import normalised_name
from leasehold.platforms import About, Document, Plain

_ASIN = re.compile(r"[A-Z0-9]{10}")


class AmazonProducts(Plain):
    """A product is known by its ASIN."""

    def normalise(self, document: Document, about: About) -> Document | None:
        title = " ".join(str(document.get("title") or "").split())
        return {**document, "asin": str(document.get("asin", "")).strip().upper(), "title": title}

    def validate(self, document: Document, about: About) -> str | None:
        if not _ASIN.fullmatch(document["asin"]):
            return "It has no ASIN of ten letters and digits."
        return None if document["title"] else "It has no title."

    def identity(self, document: Document, about: About) -> Any:
        return document["asin"]


class EbaySellers(Plain):
    """A seller is known by its name, in whatever spelling, and stands once for each product."""

    def normalise(self, document: Document, about: About) -> Document | None:
        name = " ".join(str(document.get("username") or "").split())
        return {**document, "username": name, "normalised_name": normalised_name(name)}

    def validate(self, document: Document, about: About) -> str | None:
        product = document.get("product")
        if not document["username"]:
            return "It has no name."
        return None if isinstance(product, dict) and product.get("asin") else "It does not say of which product."

    def identity(self, document: Document, about: About) -> Any:
        return [document["normalised_name"], document["product"]["asin"]]
