"""The waiting room on a real database: who is called, in which order, and what happens when nobody can be heard."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from leasehold.background import Background
from leasehold.db import Database
from leasehold.leases import Ear, Place, WaitingRoom, enqueue
from leasehold.metrics import Metrics
from tests.parts.postgres import TestDatabase

OURS, THEIRS = UUID(int=1), UUID(int=2)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
PATIENCE_S = 30
LISTENING = (
    "SELECT pid FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'leasehold' AND query LIKE 'LISTEN%%'"
)


@dataclass(eq=False)
class Slip:
    """Somebody who waits."""

    name: str
    site: str = "board"
    priority: int = 4
    since: datetime | None = NOON
    calls: int = 0
    in_s: float = 3600
    deadline: float = 0
    future: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def __post_init__(self) -> None:
        self.deadline = asyncio.get_running_loop().time() + self.in_s


class Room(WaitingRoom[Slip]):
    """A room that remembers whom it called."""

    def __init__(self, db: Database) -> None:
        super().__init__(db, lambda organisation, slip: self.called.append((organisation, slip.name)))
        self.called: list[tuple[UUID, str]] = []

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.called]

    def sit(self, *slips: Slip, organisation: UUID = OURS) -> None:
        for slip in slips:
            slip.calls = self.calls(organisation, slip.site)
            self.park(organisation, slip)


@pytest.fixture
async def db(database: TestDatabase) -> AsyncIterator[Database]:
    async with Database(database.url, pool_size=3) as opened:
        yield opened


@pytest.fixture
async def room(db: Database) -> AsyncIterator[Room]:
    made = Room(db)
    yield made
    made.close()
    await made.leave_all()


@pytest.fixture
async def ear(room: Room, db: Database, database: TestDatabase) -> AsyncIterator[Callable[[], list[Any]]]:
    """Somebody listens for the room, watched as in a server; tells which backend does it for us."""
    background, listener = Background(Metrics()), Ear(db, [room])
    background.add("wake-ups", listener.listen, 0.0)
    background.start()
    await until(lambda: database.rows(LISTENING))
    yield lambda: database.rows(LISTENING)
    await background.stop()
    await listener.close()


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.01)


def notify(database: TestDatabase, payload: str) -> None:
    database.run("SELECT pg_notify('leasehold_wake', %s)", payload)


async def test_higher_priority_is_called_first_then_who_waits_longest(room: Room) -> None:
    room.sit(
        Slip("new", since=None),
        Slip("later", since=NOON + timedelta(seconds=1)),
        Slip("a moment later", since=NOON + timedelta(microseconds=1)),
        Slip("first", since=NOON),
        Slip("urgent", since=NOON + timedelta(seconds=2), priority=9),
        Slip("patient", since=NOON - timedelta(days=1), priority=0),
    )

    room.call(OURS, "board")

    assert room.names == ["urgent", "first", "a moment later", "later", "new", "patient"]
    assert len(room) == 0


async def test_only_who_waits_there_is_called(room: Room) -> None:
    room.sit(Slip("here"), Slip("at another site", site="shop"))
    room.sit(Slip("a stranger"), organisation=THEIRS)

    room.call(OURS, "board")
    room.call(OURS, "nowhere")

    assert room.called == [(OURS, "here")]
    assert len(room) == 2


async def test_a_crowd_is_called_in_parts(room: Room) -> None:
    room.sit(*(Slip(str(number), since=NOON + timedelta(seconds=number)) for number in range(300)))

    room.call(OURS, "board")
    assert room.names == [str(number) for number in range(256)]
    room.call(OURS, "board")

    assert room.names == [str(number) for number in range(300)]


async def test_who_left_is_not_called(room: Room) -> None:
    room.sit(gone := Slip("gone"), Slip("here"))

    room.leave(OURS, gone)
    room.leave(OURS, gone)  # and again, which is nothing
    room.call(OURS, "board")

    assert room.names == ["here"]


async def test_whose_time_is_up_comes_back_by_itself(room: Room) -> None:
    room.sit(Slip("short", in_s=0.05), Slip("past", in_s=-1), Slip("long"))

    await until(lambda: len(room) == 1)

    assert room.names == ["past", "short"]


@pytest.mark.parametrize("alarms_s", [(0.05, 3600), (3600, 0.05), (3600, 0.05, 1800)])
async def test_of_two_alarms_the_nearer_rings(room: Room, alarms_s: tuple[float, ...]) -> None:
    room.sit(Slip("here"))

    for seconds in alarms_s:
        room.call_in(OURS, "board", seconds)

    await until(lambda: room.names == ["here"])


async def test_an_alarm_can_be_set_again_after_it_rang(room: Room) -> None:
    for name in ("first", "second"):
        room.sit(Slip(name))
        room.call_in(OURS, "board", 0)
        await until(lambda: len(room) == 0)

    assert room.names == ["first", "second"]


async def test_an_alarm_rings_at_its_own_site_alone(room: Room) -> None:
    room.sit(Slip("here"), Slip("there", site="shop"))

    room.call_in(OURS, "shop", 0)
    room.call_in(THEIRS, "board", 0)

    await until(lambda: room.names)
    assert (room.names, len(room)) == (["there"], 1)


async def test_a_room_that_closes_sends_everybody_back(room: Room) -> None:
    room.sit(Slip("a"), Slip("b", site="shop"))
    room.sit(Slip("c"), organisation=THEIRS)
    room.call_in(OURS, "board", 0)

    room.close()
    room.sit(Slip("late"))

    assert room.called == [(OURS, "a"), (OURS, "b"), (THEIRS, "c"), (OURS, "late")]
    assert (room.is_closed, len(room)) == (True, 0)


async def test_what_another_process_says_is_heard(room: Room, ear: object, database: TestDatabase) -> None:
    room.sit(Slip("here"), Slip("there", site="shop"))

    notify(database, f"{OURS} shop")

    await until(lambda: room.names)
    assert room.names == ["there"]


@pytest.mark.parametrize("payload", [f"{OURS} nowhere", f"{THEIRS} board", f"{OURS} ", f"{OURS}"])
async def test_a_word_about_something_unknown_is_harmless(
    room: Room, ear: Callable[[], list[Any]], database: TestDatabase, payload: str
) -> None:
    listening = ear()
    room.sit(Slip("here"), Slip("there", site="shop"))

    notify(database, payload)
    notify(database, f"{OURS} shop")

    await until(lambda: room.names)
    assert (room.names, ear()) == (["there"], listening)


async def test_a_lost_connection_is_made_anew_and_everybody_is_called(
    room: Room, ear: Callable[[], list[Any]], database: TestDatabase
) -> None:
    (lost,) = ear()
    room.sit(Slip("here"), Slip("there", site="shop"))
    room.sit(Slip("a stranger"), organisation=THEIRS)

    database.run("SELECT pg_terminate_backend(%s, 5000)", lost[0])

    await until(lambda: len(room) == 0)
    assert sorted(room.names) == ["a stranger", "here", "there"]
    (anew,) = ear()
    assert anew != lost
    room.sit(Slip("after"))
    notify(database, f"{OURS} board")
    await until(lambda: "after" in room.names)


async def test_nobody_is_called_by_a_quiet_connection(room: Room, ear: object) -> None:
    room.sit(Slip("here"))

    await asyncio.sleep(0.3)

    assert room.names == []


async def take_place(db: Database, organisation: UUID, process: UUID, site: str = "board") -> None:
    async with db.transaction(organisation) as conn:
        await enqueue(conn, organisation, process, [Place(uuid4(), site, 4, 1, {}, None)])


@pytest.fixture
def organisation(database: TestDatabase) -> UUID:
    database.run("INSERT INTO organisation (id, slug) VALUES (%s, 'ours')", OURS)
    return OURS


async def test_what_comes_free_here_is_told_where_somebody_waits_for_it(
    room: Room, ear: object, db: Database, organisation: UUID
) -> None:
    elsewhere = Room(db)
    await take_place(db, organisation, room.process)
    room.sit(Slip("here"), Slip("there", site="shop"))

    elsewhere.freed(organisation, ["board", "shop"])

    await until(lambda: room.names)
    await elsewhere.leave_all()
    assert room.names == ["here"]  # nobody has a place in the queue of the other


async def test_a_tick_keeps_our_places_and_takes_those_of_the_dead(
    room: Room, db: Database, database: TestDatabase, organisation: UUID
) -> None:
    alive, dead = uuid4(), uuid4()
    for process in (room.process, alive, dead):
        await take_place(db, organisation, process)
    database.run("UPDATE waiter SET refreshed_at = refreshed_at - interval '50 s'")
    database.run("UPDATE waiter SET refreshed_at = refreshed_at - interval '11 s' WHERE process = %s", dead)
    room.sit(Slip("here"))

    await room.tick()

    ages = "SELECT process, clock_timestamp() - refreshed_at < interval '30 s' FROM waiter"
    assert dict(database.rows(ages)) == {room.process: True, alive: False}


async def test_now_and_then_a_tick_calls_everybody(room: Room) -> None:
    room.sit(Slip("here"), Slip("there", site="shop"))

    calls = []
    for _ in range(3):
        await room.tick()
        calls.append(len(room.names))

    assert calls == [0, 0, 2]


async def test_a_process_that_stops_gives_up_its_places_and_no_others(
    room: Room, db: Database, database: TestDatabase, organisation: UUID
) -> None:
    other = uuid4()
    for process in (room.process, other):
        await take_place(db, organisation, process)

    await room.leave_all()

    assert database.rows("SELECT process FROM waiter") == [(other,)]


async def test_a_process_can_stop_while_the_database_is_away(db: Database) -> None:
    room = Room(db)
    await db.close()

    room.nudge(OURS, ["board"])

    async with asyncio.timeout(PATIENCE_S):
        await room.leave_all()


async def test_who_was_called_while_at_the_desk_is_sent_back_at_once(room: Room) -> None:
    slip = Slip("late")
    slip.calls = room.calls(OURS, slip.site)
    room.call(OURS, slip.site)

    room.park(OURS, slip)

    assert room.called == [(OURS, "late")]
    assert len(room) == 0
