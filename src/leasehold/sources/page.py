"""What a page brings: which things are new or changed, and what of them nobody could read."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

import orjson

from leasehold.sources.machine import Place
from leasehold.sources.models import Fetcher, Mapped, Sighting, Taken, Thing

# As much of what could not be read is kept.
_LONGEST_PAYLOAD = 64 * 1024


def take(fetcher: Fetcher, things: Sequence[Thing], known: Mapping[str, Sighting], place: Place) -> Taken:
    """Sort a page: what is handed over is what is not known as it is now."""
    taken = Taken()
    began = datetime.fromisoformat(place.began) if place.began else None
    for thing in _each_once(things):
        mapped = fetcher.read(thing)
        taken.letters += [(thing.id, reason, _payload(fetcher, thing)) for reason in _reasons(mapped)]
        if thing.id is None:
            continue
        before = known.get(thing.id)
        digest = _digest(mapped.item if mapped.item is not None else {"unread": repr(thing.raw)})
        taken.sightings.append((thing.id, digest))
        taken.merged |= {one: thing.id for one in thing.merged_ids if one != thing.id}
        if mapped.item is not None and (before is None or before.digest != digest or before.state != "live"):
            taken.items.append(mapped.item)
        is_of_sweep = before is not None and before.sweep == place.sweep and before.state == "live"
        is_of_pass = is_of_sweep and before is not None and before.number == place.number
        taken.fresh += not is_of_sweep
        taken.unseen += not is_of_pass
        taken.new += bool(not is_of_pass and began and thing.created and thing.created >= began)
    return taken


def _reasons(mapped: Mapped) -> list[str]:
    """Nothing for who could be read; one reason, however much there is to say."""
    if not mapped.faults:
        return []
    told = "; ".join(mapped.faults)
    return [f"Not taken: {told}." if mapped.item is None else f"Taken without: {told}."]


def _payload(fetcher: Fetcher, thing: Thing) -> str:
    text = orjson.dumps(thing.raw, default=repr).decode()
    return fetcher.hide(text)[:_LONGEST_PAYLOAD].replace("\x00", "")


def _digest(item: Mapping[str, Any]) -> bytes:
    return blake2b(orjson.dumps(item, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def _each_once(things: Sequence[Thing]) -> list[Thing]:
    """A source that is out of order may list a thing twice on one page."""
    nameless = [thing for thing in things if thing.id is None]
    return [*{thing.id: thing for thing in things if thing.id is not None}.values(), *nameless]
