"""The partition does not depend on the order or the batches records come in, and equals what memory alone finds."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leasehold.db import Database
from leasehold.entities import offer
from leasehold.entities.intake import naming_itself, read
from leasehold.entities.models import State
from leasehold.entities.writers import Writer
from leasehold.ids import uuid7
from leasehold.linking import PERFORMER, Graph, Policy, prior
from tests.entities.people import JSON, person, records
from tests.parts.house import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

RECORDS = records(60)
POLICIES = {"performer": PERFORMER}
CURATED = ("alpha", "beta")


async def linked(
    db: Database, batches: Sequence[Sequence[JSON]], policies: Mapping[str, Policy] = POLICIES
) -> set[frozenset[str]]:
    """Who is with whom once these batches were written, one after the other, in a graph of their own."""
    organisation = uuid7()
    writer = Writer(db, organisation, uuid7(), policies, None)
    assert await writer.claim()
    for batch in batches:
        async with db.transaction(organisation) as conn:
            await offer(conn, organisation, None, batch)
        while await writer.write_some():
            pass
    return await groups(db, organisation)


async def groups(db: Database, organisation: UUID) -> set[frozenset[str]]:
    statement = "SELECT array_agg(source_id) FROM source_record WHERE organisation = %s GROUP BY entity"
    async with db.transaction(organisation) as conn:
        return {frozenset(ids) for (ids,) in await (await conn.execute(statement, [organisation])).fetchall()}


def in_memory(items: Sequence[JSON]) -> set[frozenset[str]]:
    graph = Graph(prior(PERFORMER))
    graph.add(naming_itself(read(item).record, State.LIVE) for item in items)
    return {frozenset(source_id for _, _, source_id in cluster) for cluster in graph.partition()}


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), size=st.sampled_from([1, 7, 40, 500]))
async def test_any_order_and_any_batches_make_the_same_entities(home: House, seed: int, size: int) -> None:
    shuffled = random.Random(seed).sample(RECORDS, len(RECORDS))  # noqa: S311 (an order)
    if size == 1:
        shuffled = shuffled[:60]
    batches = [shuffled[at : at + size] for at in range(0, len(shuffled), size)]

    found = await linked(home.app.state.db, batches)

    assert found == in_memory(shuffled)
    assert any(len(group) > 1 for group in found)


def at_studios() -> list[JSON]:
    """Everybody also has the page of one of two studios, and there everybody is like somebody."""
    return [
        {**one, "urls": {**one.get("urls", {}), "twitter": [f"https://twitter.com/studio_{at % 2}"]}}
        for at, one in enumerate(RECORDS[:90])
    ]


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), size=st.sampled_from([9, 200]))
async def test_what_strangers_share_depends_on_no_order_either(home: House, seed: int, size: int) -> None:
    people = at_studios()
    shuffled = random.Random(seed).sample(people, len(people))  # noqa: S311 (an order)

    found = await linked(home.app.state.db, [shuffled[at : at + size] for at in range(0, len(shuffled), size)])

    assert found == await linked(home.app.state.db, [people])
    assert all(len({person(int(one.split("-")[1]))["name"] for one in group}) == 1 for group in found)


LONG = 15


def chain() -> list[JSON]:
    """Each has more in common with the one before than with the one after, and two at most can be one."""
    shared = [{f"likes-{at}-{nth}": f"thing {at} of {nth}" for nth in range(LONG - at)} for at in range(LONG)]
    return [
        {
            "source": CURATED[at % 2],
            "source_id": f"{at}",
            "kind": "performer",
            "name": "Ada Abbott",
            "attributes": (shared[at - 1] if at else {}) | shared[at],
        }
        for at in range(LONG)
    ]


def pairs(start: int) -> set[frozenset[str]]:
    return {frozenset(str(at) for at in (one, one + 1) if at < LONG) for one in range(start, LONG, 2)}


async def test_a_change_is_followed_as_far_as_it_reaches(home: House) -> None:
    """With the first of a chain, everybody changes partners; without it, everybody has the old one back."""
    policies = {"performer": replace(PERFORMER, curated=frozenset(CURATED))}
    first, *others = chain()
    stranger = {**first, "name": "Zeno Quist", "attributes": {}}

    without = await linked(home.app.state.db, [others], policies)
    with_it = await linked(home.app.state.db, [others, [first]], policies)
    touched = {**others[1], "aliases": ["Ada A."]}
    without_again = await linked(home.app.state.db, [others, [first], [stranger], [touched]], policies)
    with_it_again = await linked(home.app.state.db, [[stranger], others, [first], [stranger], [first]], policies)

    assert without == pairs(1)
    assert with_it == with_it_again == pairs(0)
    assert without_again == {*pairs(1), frozenset("0")}


async def test_records_that_change_on_the_way_end_where_they_would_have_begun(home: House) -> None:
    """Half of the records come first as somebody else's, and are put right afterwards."""
    wrong = [{**one, "name": "Somebody Else", "attributes": {}, "urls": {}} for one in RECORDS[::2]]

    found = await linked(home.app.state.db, [wrong, RECORDS[1::2], RECORDS[::2]])

    assert found == in_memory(RECORDS)
