"""How far a run is enumerated: pages of a listing that become items, in their order, each once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from leasehold.collectors import Listing, Wish
from leasehold.runs.models import Place, Run


@dataclass(slots=True)
class Page:
    """A page of a listing that is being turned into items."""

    place: Place
    listing: Listing


def moved_on(page: Page, category: str, many: int, new: int, *, is_last: bool) -> Place:
    """Where enumeration stands after so many of a page, of which some are new: a thing may be listed twice."""
    place, listing = page.place, page.listing
    known = {**place.known, category: place.known.get(category, 0) + new}
    if place.offset + many < len(listing.wishes) and not is_last:
        return Place(place.category, place.cursor, place.offset + many, known)
    if listing.cursor is None or is_last:
        return Place(place.category + 1, None, 0, known)
    return Place(place.category, listing.cursor, 0, known)


def chosen(wishes: Sequence[Wish], left_out: Collection[str], most: int) -> tuple[list[Wish], list[Wish]]:
    """The next of a page: so many to collect at the most, and those between them that are left out."""
    wanted: list[Wish] = []
    skipped: list[Wish] = []
    for wish in wishes:
        if wish.external_id in left_out:
            skipped.append(wish)
        elif len(wanted) < most:
            wanted.append(wish)
        else:
            break
    return wanted, skipped


def line_of(run: Run, category: str) -> dict[str, Any]:
    """What was estimated for a category of a run."""
    return next(line for line in run.estimate if line["category"] == category)


def total_items(run: Run, place: Place) -> int:
    """How many items there are: those that were found where no more are begun, those that are expected elsewhere."""
    done = {*run.categories[: place.category], *run.dropped_categories}
    return sum(
        place.known.get(line["category"], 0) if line["category"] in done else int(line["items"])
        for line in run.estimate
    )
