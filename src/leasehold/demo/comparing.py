"""The same work twice, in the same world: by collectors that share a file, and by collectors with leases."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from leasehold.client import AsyncLeasehold, LeaseLost, NothingFree
from leasehold.demo.collectors import Collector
from leasehold.demo.patience import until
from leasehold.demo.without import FileCollector, SharedFile
from leasehold.demo.world import LOOKUP_MICROS, Market, Place, board_at, market
from leasehold.simulate import Board

Say = Callable[[str], None]

SITE = "board"
_MOVED = "board-2.localhost"
_TELL_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Task:
    """What there is to do, and with how much."""

    seed: int = 1
    accounts: int = 20
    pages: int = 60
    collectors: int = 5
    visits: int = 100
    pause_s: float = 0.3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it, by the board's and the provider's own books."""

    visits: int
    blocked: int
    sessions_lost: int
    devices_lost: int
    pages: int
    pages_again: int
    spent_micros: int
    spent_again_micros: int


class Budget:
    """So many visits for all collectors together; in the middle the board moves."""

    def __init__(self, visits: int) -> None:
        self.begun = 0
        self._visits = visits
        self.half = asyncio.Event()

    def take(self) -> bool:
        if self.begun >= self._visits:
            return False
        self.begun += 1
        if 2 * self.begun >= self._visits:
            self.half.set()
        return True


class Scene:
    """One board and one provider, as new, and collectors at work there."""

    def __init__(self, stack: ExitStack, task: Task, say: Say) -> None:
        self.task = task
        self.place: Place = stack.enter_context(board_at(SITE, Board(task.accounts, task.pages, task.seed)))
        self.market: Market = stack.enter_context(market(items=2000, latency_ms=0))
        self.budget = Budget(task.visits)
        self._say = say

    async def play(self, rounds: list[Awaitable[None]], move: Callable[[], Awaitable[None]]) -> Outcome:
        """Let all of them work to their end, tell how far they are, and count."""
        moving = asyncio.create_task(self._move(move))
        telling = asyncio.create_task(self._tell())
        try:
            await asyncio.gather(*rounds)
        finally:
            moving.cancel()
            telling.cancel()
            await asyncio.gather(moving, telling, return_exceptions=True)
        return self._counted()

    async def _move(self, move: Callable[[], Awaitable[None]]) -> None:
        await self.budget.half.wait()
        await move()

    async def _tell(self) -> None:
        while True:
            await asyncio.sleep(_TELL_EVERY_S)
            told = self.place.board.truth()
            self._say(f"    {self.budget.begun} visits, {told['pages']} pages, {told['blocked']} accounts blocked")

    def _counted(self) -> Outcome:
        members, served = self.place.board.members.values(), self.place.board.served
        paid = self.market.control.paid["oxylabs"]
        return Outcome(
            visits=self.budget.begun,
            blocked=sum(one.blocked is not None for one in members),
            sessions_lost=sum(one.sessions_lost for one in members),
            devices_lost=sum(one.devices_lost for one in members),
            pages=len(served),
            pages_again=served.total() - len(served),
            spent_micros=LOOKUP_MICROS * paid.total(),
            spent_again_micros=LOOKUP_MICROS * (paid.total() - len(paid)),
        )


async def without_leases(task: Task, folder: Path, say: Say) -> Outcome:
    """What comes of a file that everybody shares."""
    with ExitStack() as stack:
        scene = Scene(stack, task, say)
        shared = SharedFile(folder / "shared.json")
        shared.begin(scene.place)

        async def work(name: str) -> None:
            one = FileCollector(shared, name, scene.place, scene.market, task.pause_s, task.seed)
            while scene.budget.take() and await one.round():
                pass

        async def move() -> None:
            scene.place.board.move(_MOVED)

        return await scene.play([work(f"collector-{number}") for number in range(1, task.collectors + 1)], move)


async def with_leases(task: Task, office: AsyncLeasehold, lh: AsyncLeasehold, say: Say) -> Outcome:
    """What comes of the same with leasehold, which runs already: one client may manage it, the other is theirs."""
    with ExitStack() as stack:
        scene = Scene(stack, task, say)
        place = scene.place
        await settle(office, place)

        async def work(name: str) -> None:
            one = Collector(lh, name, place, scene.market, task.pause_s)
            while await _is_more_to_do(office) and scene.budget.take():
                with suppress(NothingFree, LeaseLost):
                    await one.round(1)

        async def move() -> None:
            await move_house(office, place, _MOVED)

        return await scene.play([work(f"collector-{number}") for number in range(1, task.collectors + 1)], move)


async def settle(lh: AsyncLeasehold, place: Place, rhythm: Mapping[str, int] | None = None, **policy: object) -> None:
    """Tell leasehold of a board: where it lives, its accounts, and its pages with the rhythm of their visits."""
    # A board takes an account to be where it was for a moment longer; then it may turn up elsewhere.
    policy = {"cooldown_seconds": 3, "auth_markers": ["sid"], **policy}
    await lh.sites.create(place.slug, domain=place.mount, name=place.slug.title(), policy=policy)
    members = place.board.members.values()
    await lh.accounts.import_(
        [{"site": place.slug, "username": one.name, "secret": {"password": one.password}} for one in members]
    )
    numbers = range(1, place.board.threads + 1)
    about = {"site": place.slug, "kind": "thread", **(rhythm or {})}
    await lh.seeds.upsert({"url": place.url(number), **about} for number in numbers)


async def move_house(lh: AsyncLeasehold, place: Place, host: str) -> None:
    """The board moves. Nobody is there meanwhile: leasehold knows who is, and asks them to wait."""
    await lh.sites.pause(place.slug, reason=f"moving to {host}")

    async def is_empty() -> bool:
        return not (await lh.leases.page(site=place.slug, limit=1)).items

    await until(is_empty, 0.2)
    place.board.move(host)
    await lh.sites.move(place.slug, to=place.mount, reason="announced on the front page")
    await lh.sites.resume(place.slug)


async def _is_more_to_do(lh: AsyncLeasehold) -> bool:
    return bool((await lh.seeds.page(site=SITE, due=True, limit=1)).items)


def table(without: Outcome, having: Outcome) -> str:
    """Both, side by side."""
    rows = [
        ("visits", without.visits, having.visits),
        ("accounts blocked by the board", without.blocked, having.blocked),
        ("sessions lost, signed in again", without.sessions_lost, having.sessions_lost),
        ("trusted devices lost", without.devices_lost, having.devices_lost),
        ("pages collected", without.pages, having.pages),
        ("pages collected again", without.pages_again, having.pages_again),
        ("money spent", _dollars(without.spent_micros), _dollars(having.spent_micros)),
        ("money spent twice", _dollars(without.spent_again_micros), _dollars(having.spent_again_micros)),
    ]
    lines = [f"  {'':<34}{'without leases':>16}{'with leases':>16}"]
    return "\n".join([*lines, *(f"  {what:<34}{one:>16}{other:>16}" for what, one, other in rows)])


def _dollars(micros: int) -> str:
    return f"${micros / 1_000_000:.4f}"
