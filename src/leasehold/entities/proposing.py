"""Evidence from elsewhere: who else looks at records, which of them it is given, and what it finds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from uuid import UUID

import orjson

from leasehold.db import Conn
from leasehold.entities import epochs, store
from leasehold.entities.deciding import wait_for_writer
from leasehold.entities.edges import pair, weighed
from leasehold.entities.intake import node_of
from leasehold.entities.memory import Current, Memory
from leasehold.entities.models import Pair
from leasehold.entities.settling import Fresh, settle
from leasehold.entities.solving import solved
from leasehold.entities.store import SQL
from leasehold.faces import Part, Wanting
from leasehold.linking import Policy, prior

_ACTOR = "faces"


class Proposals:
    """Records whose pictures may be looked at, and what their faces add to the evidence."""

    def __init__(self, policies: Mapping[str, Policy]) -> None:
        self._policies = policies

    @property
    def needed(self) -> float:
        """How many bits it takes, from knowing nothing, to join two records; the least of any kind."""
        return min(policy.join - prior(policy).odds for policy in (Memory({}).policy(""), *self._policies.values()))

    async def records_wanting_faces(
        self, conn: Conn, organisation: UUID, limit: int, sources: Sequence[str]
    ) -> Sequence[Wanting]:
        given = {"organisation": organisation, "of_sources": list(sources), "limit": limit}
        rows = await (await conn.execute(SQL["wanting_faces"], given)).fetchall()
        return [Wanting(record, source, orjson.loads(bytes(content))["images"]) for record, source, content in rows]

    async def faces_looked_at(self, conn: Conn, organisation: UUID, record: UUID, embeddings: int) -> None:
        await conn.execute(SQL["looked_at"], {"organisation": organisation, "node": node_of(record)})
        if embeddings:
            await store.count(conn, organisation, {"": {"embeddings_added": embeddings}})

    async def propose(self, conn: Conn, organisation: UUID, record: UUID, neighbour: UUID, part: Part) -> None:
        """Add a part to the evidence on two records, and solve with it."""
        of = pair(node_of(record), node_of(neighbour))
        await wait_for_writer(conn, organisation)
        kept = {one.node: one for one in await store.kept(conn, organisation, of)}
        if len(kept) < 2 or kept[of[0]].kind != kept[of[1]].kind:
            return
        told = {"field": part.field, "bits": part.bits, "part": orjson.dumps(asdict(part)).decode()}
        await conn.execute(SQL["add_part"], {"organisation": organisation, "a": of[0], "b": of[1], **told})
        memory = Memory(self._policies)
        current = await epochs.current(conn, organisation, kept[of[0]].kind, memory)
        joined = await self._weigh(conn, organisation, memory, current, of)
        if joined and kept[of[0]].entity != kept[of[1]].entity:
            await store.count(conn, organisation, {"": {"joined_by_face": 1}})

    async def _weigh(self, conn: Conn, organisation: UUID, memory: Memory, current: Current, of: Pair) -> bool:
        """Whether the two are one now."""
        await store.remember(conn, organisation, memory, current, of)
        edges = weighed({of[0]: [of[1]]}, memory, current, await store.outside(conn, organisation, of))
        around = await solved(conn, organisation, memory, current, of, edges=edges)
        settled = await settle(conn, organisation, memory, current, around, Fresh(), _ACTOR)
        await store.keep_edges(conn, organisation, current.number, settled.shown(edges, current))
        await settled.finish(conn, organisation, current)
        return settled.partition.of[of[0]] == settled.partition.of[of[1]]
