"""Edges: what two records have in common, in bits; found for a batch at once, away from the event loop."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from leasehold.db import Conn
from leasehold.entities.keys import hashed
from leasehold.entities.memory import Current, Memory
from leasehold.entities.models import SELLER, Edge, Outside, Pair, Tie
from leasehold.entities.store import SQL
from leasehold.linking import Features, compare, is_worth_telling, share_an_id_or_address, weigher

FACE = "face"
# The records each of a batch is to be compared with.
Like = Mapping[int, Collection[int]]


def pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)


def keys_of(nodes: Iterable[int], memory: Memory, current: Current) -> dict[int, list[int]]:
    return {node: hashed(current.kind, memory[node].features.keys) for node in nodes}


async def candidates(
    conn: Conn, organisation: UUID, current: Current, keys: Mapping[int, Sequence[int]]
) -> dict[int, set[int]]:
    """Who shares a key with each of these: others of them, and what is kept already."""
    holders: dict[int, list[int]] = defaultdict(list)
    for node, several in keys.items():
        for key in several:
            holders[key].append(node)
    given = {"organisation": organisation, "epoch": current.number, "hashes": list(holders)}
    cur = await conn.execute(SQL["sharing"], given, prepare=False)
    for key, node in await cur.fetchall():
        # What is in the batch may be entered under what it was before.
        if node not in keys:
            holders[key].append(node)
    like = {}
    for node, several in keys.items():
        found: set[int] = set()
        for key in several:
            found.update(holders[key])
        found.discard(node)
        like[node] = found
    return like


def weighed(like: Like, memory: Memory, current: Current, outside: Mapping[Pair, Sequence[Outside]]) -> list[Edge]:
    """The edges to these: those that say enough to be kept, and those that would but for a conflict."""
    weigh, policy = weigher(current.epoch), current.epoch.policy
    every = {node: memory[node].features for node in set(like).union(*like.values())}
    edges: list[Edge] = []
    for node, others in like.items():
        mine = every[node]
        for other in others:
            if other in like and other < node:
                continue  # seen from the other side
            theirs = every[other]
            bits = weigh(mine, theirs)
            of = pair(node, other)
            if of in outside or ((bits is None or bits < policy.join) and share_an_id_or_address(mine, theirs, policy)):
                edges += _with_care(of, memory, current, outside.get(of, ()))
            elif bits is not None:
                edges.append(Edge(*of, bits, _step(mine, theirs)))
    return edges


def explained(of: Pair, memory: Memory, current: Current, outside: Sequence[Outside]) -> Tie:
    """All there is to say of two records, part by part."""
    a, b = (memory[node] for node in of)
    found = compare(a.features, b.features, current.epoch)
    parts = [*found.to_json()["parts"], *(dict(one.part) for one in outside)]
    bits = round(found.bits + sum(one.bits for one in outside), 2)
    step = FACE if outside and found.bits < current.epoch.policy.join <= bits else _step(a.features, b.features)
    return Tie(a.id, b.id, bits, step, parts, list(found.conflicts), current.number)


def _with_care(of: Pair, memory: Memory, current: Current, outside: Sequence[Outside]) -> Iterable[Edge]:
    """An edge with evidence from elsewhere, or one that somebody should know of although it says no."""
    tie = explained(of, memory, current, outside)
    parts = [(part["field"], part["bits"]) for part in tie.parts]
    if is_worth_telling(tie.bits, parts, current.epoch.policy):
        yield Edge(*of, tie.bits, tie.step, tuple(tie.conflicts))


def _step(mine: Features, theirs: Features) -> str:
    if mine.kind == SELLER:
        return "name_metadata"  # what they share as an id is the name
    if not mine.ids.isdisjoint(theirs.ids):
        return "explicit_id"
    return "name_metadata" if mine.urls.isdisjoint(theirs.urls) else "external_url"
