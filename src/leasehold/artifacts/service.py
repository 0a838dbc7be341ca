"""Publishes artefacts: one process at a time, on a schedule or at once. What fails leaves the last good edition."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from leasehold import logs
from leasehold.artifacts import publishing, store
from leasehold.artifacts.documents import KINDS, Edition
from leasehold.artifacts.models import Figures, Published, Schedule, Trouble
from leasehold.artifacts.reading import Reader
from leasehold.artifacts.shelf import make
from leasehold.artifacts.store import Turn
from leasehold.background import Background
from leasehold.db import Database
from leasehold.duties import Duty
from leasehold.ids import uuid7
from leasehold.metrics import Metrics
from leasehold.problems import Problem
from leasehold.settings import Settings

log = logs.get(__name__)

LOOK_EVERY_S = 2.0
# Who takes longer than this loses the turn, and has not replaced anything.
_LEASE_S = 60
_ASK_AGAIN_S = 0.2

Say = Callable[[str], None]
# Counts accounts by state where PostgreSQL does not keep them.
Elsewhere = Callable[[], Awaitable[Mapping[str, int]]]


class PublishFailed(Exception):
    """An edition could not be published; the message says why and what to do. The last good one stands."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How artefacts are wanted."""

    schedule: Schedule
    depth: int  # earlier editions that are kept
    shows_spend: bool

    @classmethod
    def of(cls, settings: Settings) -> "Wish":
        schedule = Schedule.every(settings.artifact_interval_seconds)
        return cls(schedule, settings.artifact_history, settings.status_shows_spend)


@dataclass(frozen=True, slots=True)
class Listed:
    """An artefact there should be, and what was last published of it, if it ever was."""

    name: str
    version: int
    last: Published | None
    trouble: Trouble


class Artifacts:
    """The publisher of one process."""

    def __init__(self, db: Database, settings: Settings, metrics: Metrics, elsewhere: Elsewhere | None = None) -> None:
        self._db = db
        self._shelf = make(settings.artifact_url.get_secret_value(), settings.data_dir)
        self._wish = Wish.of(settings)
        self.page = Reader(self._shelf)
        self._metrics = metrics
        self._elsewhere = elsewhere
        self._process: UUID = uuid7()
        self._is_settled = False

    def add_to(self, background: Background) -> None:
        background.add("artifacts", self.look, LOOK_EVERY_S, Duty.ARTIFACTS)

    async def look(self) -> None:
        """Publish if it is time to and nobody else does. A shelf that fails is told, and tried at the next time."""
        turn = await self._claim(at_once=False) if self._wish.schedule.interval_s else None
        if turn is not None:
            try:
                await self._publish(turn)
            except PublishFailed as failure:
                log.warning("artifacts.not_published", edition=turn.edition, error=str(failure))
        async with self._db.system() as conn:
            self._metrics.artifacts_published.set(await store.last(conn))

    async def publish(self, say: Say) -> list[Published]:
        """Publish now, whenever the next time is; whoever is at it is waited for. Raises PublishFailed."""
        if (turn := await self._claim(at_once=True)) is None:
            say("Another process is publishing; waiting for it, a minute at the most …")
        while turn is None:
            await asyncio.sleep(_ASK_AGAIN_S)
            turn = await self._claim(at_once=True)
        say(f"Edition {turn.edition}: counting …")
        published = await self._publish(turn)
        say(f"Written to {self._shelf.place}.")
        return published

    async def listed(self) -> list[Listed]:
        async with self._db.system() as conn:
            found = {one.name: one for one in await store.published(conn)}
            trouble = await store.trouble(conn)
        return [Listed(kind.name, kind.version, found.get(kind.name), trouble) for kind in KINDS]

    async def _claim(self, *, at_once: bool) -> Turn | None:
        async with self._db.system() as conn:
            if not self._is_settled:
                await store.settle_in(conn)
            turn = await store.claim(conn, self._process, _LEASE_S, self._wish.schedule.interval_s, at_once=at_once)
        self._is_settled = True
        return turn

    async def _publish(self, turn: Turn) -> list[Published]:
        try:
            published = await self._edition(turn)
        except (OSError, Problem) as error:
            failure = PublishFailed(self._told(error))
            self._metrics.artifacts.labels("failed").inc()
            async with self._db.system() as conn:
                await store.finish(conn, turn, str(failure))
            raise failure from error
        self._metrics.artifacts.labels("published").inc()
        return published

    async def _edition(self, turn: Turn) -> list[Published]:
        figures = await self._figures()
        wish, shelf = self._wish, self._shelf
        edition = Edition(turn.edition, figures, wish.schedule, wish.shows_spend)
        made = await asyncio.to_thread(publishing.lay_out, shelf, edition, wish.depth)
        async with self._db.system() as conn:
            if not await store.renew(conn, turn, _LEASE_S):
                raise PublishFailed("It took too long, and another process publishes by now. Nothing was replaced.")
        published = await asyncio.to_thread(publishing.put_in_place, shelf, edition, made, wish.depth)
        async with self._db.system() as conn:
            await store.keep(conn, turn, figures.at, published)
            await store.finish(conn, turn, None)
        return published

    async def _figures(self) -> Figures:
        async with self._db.system() as conn:
            figures = await store.read(conn)
        if self._elsewhere is None:
            return figures
        accounts = store.read_accounts(await self._elsewhere())
        return replace(figures, accounts=accounts, leases=replace(figures.leases, account=accounts.held))

    def _told(self, error: OSError | Problem) -> str:
        if isinstance(error, Problem):
            return f"{error.detail} The last edition stands."
        reason = error.strerror or type(error).__name__
        return (
            f"{self._shelf.place} cannot be written ({reason}). Check LEASEHOLD_ARTIFACT_URL and who owns the place."
            " The last edition stands."
        )
