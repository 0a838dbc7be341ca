"""Takes results to the server: whatever is ready goes in one request, in order, and again until it is answered."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from leasehold.client.problems import LeaseLost, ProblemError
from leasehold.client.transport import BUSY, pause_after
from leasehold.client.worker_models import ResultRefused, Verdict
from leasehold.client.worker_words import log, told

_MOST_MESSAGES = 500
_MOST_BYTES = 4 * 1024 * 1024  # well below what a server takes unless it is told otherwise
_HEAVY_BYTES = 512 * 1024
_CRASHES = 3  # a server that falls over a message does so again


@dataclass(frozen=True, slots=True)
class Parcel:
    """One result on its way."""

    message: str
    lost: Callable[[], str | None]
    verdict: asyncio.Future[Verdict]


class Courier:
    """One request at a time: two could overtake each other, and the last cursor would not be the last."""

    def __init__(self, send: Callable[[Sequence[str]], Awaitable[Sequence[Verdict]]]) -> None:
        self._send = send
        self._waiting: deque[Parcel] = deque()
        self._ready = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="leasehold-courier")

    def bring(self, message: str, lost: Callable[[], str | None]) -> asyncio.Future[Verdict]:
        parcel = Parcel(message, lost, asyncio.get_running_loop().create_future())
        self._waiting.append(parcel)
        self._ready.set()
        return parcel.verdict

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        for parcel in self._waiting:
            parcel.verdict.cancel()

    async def _run(self) -> None:
        while True:
            await self._ready.wait()
            while parcels := self._load():
                await self._deliver(parcels)
            self._ready.clear()

    def _load(self) -> list[Parcel]:
        loaded: list[Parcel] = []
        weight = 0
        while self._waiting and len(loaded) < _MOST_MESSAGES:
            weight += len(self._waiting[0].message)
            if loaded and weight > _MOST_BYTES:
                break
            loaded.append(self._waiting.popleft())
        return loaded

    async def _deliver(self, parcels: list[Parcel]) -> None:
        """Until it is answered, or nobody is left who may still say it."""
        failures = 0
        while parcels := [one for one in parcels if not _is_given_up(one)]:
            try:
                verdicts = await self._send([one.message for one in parcels])
            except Exception as error:
                if _is_answer(error) or (failures >= _CRASHES and (_is_crash(error) or _is_heavy(parcels))):
                    return await self._divide(parcels, error)
                failures += 1
                log.warning("results are sent again: %s", told(error))
                await asyncio.sleep(pause_after(min(failures, 5)))
            else:
                return _settle(parcels, verdicts)
        return None

    async def _divide(self, parcels: list[Parcel], error: Exception) -> None:
        """One that is refused must not take others with it."""
        if len(parcels) == 1:
            return _refuse(parcels[0], ResultRefused(told(error)))
        for one in parcels:
            await self._deliver([one])
        return None


def _settle(parcels: Sequence[Parcel], verdicts: Sequence[Verdict]) -> None:
    for parcel, verdict in zip(parcels, verdicts, strict=True):
        if not parcel.verdict.done():
            parcel.verdict.set_result(verdict)


def _is_given_up(parcel: Parcel) -> bool:
    if why := parcel.lost():
        _refuse(parcel, LeaseLost.here("", "expired", why))
    return parcel.verdict.done()


def _refuse(parcel: Parcel, error: Exception) -> None:
    if not parcel.verdict.done():
        parcel.verdict.set_exception(error)


def _is_answer(error: Exception) -> bool:
    """The server understood and will not: asking again changes nothing."""
    return isinstance(error, ProblemError) and error.status not in BUSY and error.status < 500


def _is_heavy(parcels: Sequence[Parcel]) -> bool:
    """A server that refuses a large body may hang up before its answer is heard: then smaller ones may get through."""
    return len(parcels) > 1 and sum(len(one.message) for one in parcels) > _HEAVY_BYTES


def _is_crash(error: Exception) -> bool:
    return isinstance(error, ProblemError) and error.status not in BUSY
