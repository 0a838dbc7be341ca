"""Money of a run, over many seeds: what the ledger in PostgreSQL says and does, beside a model of four numbers.

Each seed is one transaction that is taken back in the end; what a driver that died had in hand is taken back before.
"""

import random
from collections import Counter
from uuid import UUID

from leasehold.db import Conn, RollBack
from leasehold.runs import ledger
from leasehold.runs.ledger import Cost, Purpose
from tests.runs.conftest import World
from tests.simulation.storm import SEEDS

STEPS = 25
SHARE = 0.04
MUST = {"reserved", "refused", "settled", "returned", "died", "found again", "overran"}
SUMS = """
SELECT r.overrun_micros, r.reserved_micros, r.spent_micros, coalesce(sum(l.reserved_micros), 0)::bigint,
       coalesce(sum(l.spent_micros), 0)::bigint
  FROM run r LEFT JOIN run_ledger l ON l.run = r.id
 WHERE r.id = %s
 GROUP BY r.id
"""


class Model:
    """What is in hand, what was spent, and how much there is: all there is to know."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311
        self.cap = self.rng.randint(0, 3000)
        self.spent = 0
        self.overrun = 0
        self.open: list[tuple[Purpose, Cost]] = []
        self.seen: Counter[str] = Counter()

    @property
    def reserved(self) -> int:
        return sum(cost.reserved_micros for _, cost in self.open)

    async def step(self, conn: Conn, organisation: UUID, run: UUID) -> None:
        match self.rng.choice(["reserve", "reserve", "settle", "settle", "die", "take over"]):
            case "reserve":
                purpose: Purpose = self.rng.choice(["item", "listing"])
                costs = [Cost(None, self.rng.randint(0, 500)) for _ in range(self.rng.randint(1, 3))]
                is_room = self.spent + self.reserved + sum(cost.reserved_micros for cost in costs) <= self.cap
                assert await ledger.reserve(conn, organisation, run, costs, purpose) is is_room
                self.open += [(purpose, cost) for cost in costs] if is_room else []
                self.seen["reserved" if is_room else "refused"] += 1
            case "settle" if self.open:
                await self._settle(conn, organisation, run)
            case "die":
                # What was done is taken back with its transaction, and the model was not told of it.
                await conn.execute("SAVEPOINT death")
                await ledger.reserve(conn, organisation, run, [Cost(None, 1)], "item")
                await conn.execute("ROLLBACK TO SAVEPOINT death")
                self.seen["died"] += 1
            case "take over":
                # Nobody knows whether a page was charged that a driver had asked for when it died: it counts.
                await ledger.settle_listings(conn, organisation, run)
                listings = [cost.reserved_micros for purpose, cost in self.open if purpose == "listing"]
                self.spent += sum(listings)
                self.open = [(purpose, cost) for purpose, cost in self.open if purpose == "item"]
                self.seen["found again"] += bool(listings)

    async def _settle(self, conn: Conn, organisation: UUID, run: UUID) -> None:
        purpose, cost = self.open.pop(self.rng.randrange(len(self.open)))
        # A provider may ask for more than it said: that is spent, and told apart.
        paid = self.rng.choice([0, cost.reserved_micros // 2, cost.reserved_micros, cost.reserved_micros + 99])
        found = await ledger.settle(conn, organisation, run, [Cost(None, cost.reserved_micros, paid)], purpose)
        assert found == paid
        self.spent += paid
        self.overrun += max(0, paid - cost.reserved_micros)
        self.seen["settled" if paid else "returned"] += 1
        self.seen["overran"] += paid > cost.reserved_micros


async def test_the_ledger_is_what_a_model_of_it_says(it: World) -> None:
    run = UUID((await it.plan()).removeprefix("run_"))
    ((organisation,),) = it.database.rows("SELECT organisation FROM run")
    seen: Counter[str] = Counter()
    for seed in range(max(1, int(SEEDS * SHARE))):
        model = Model(seed)
        try:
            async with it.home.app.state.db.transaction(organisation) as conn:
                await conn.execute("UPDATE run SET budget_cap_micros = %s WHERE id = %s", [model.cap, run])
                for _ in range(STEPS):
                    await model.step(conn, organisation, run)
                    sums = await (await conn.execute(SUMS, [run])).fetchone()
                    assert sums == (model.overrun, model.reserved, model.spent, model.reserved, model.spent)
                    assert model.reserved + model.spent <= model.cap + model.overrun
                raise RollBack
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        seen += model.seen
    assert set(seen) >= MUST, "a storm that never comes to this proves nothing of it"
