"""Our side of the darkroom: starts it, hands it pictures, and starts another when it dies, hangs or is old."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import orjson

from leasehold import logs
from leasehold.faces.frames import CALIBRATE, EMBED, LENGTH
from leasehold.faces.manifest import Manifest
from leasehold.faces.models import Calibration, Face
from leasehold.faces.problems import ImageRefused, ModelRefused

log = logs.get(__name__)

# Address space, which models claim more of than they fill.
MEMORY_BYTES = 4 * 1024**3
# Then a new one takes over: decoders and models leak a little.
_PICTURES_EACH = 500
_PATIENCE_S = 60.0
_LARGEST_ANSWER = 16 * 1024 * 1024


class _Died(Exception):
    """The darkroom ended, hung, or said what it never says."""


class Studio:
    """The models of a configuration. They look at one picture at a time."""

    def __init__(self, embedders: Sequence[Manifest], canary: Path, memory_bytes: int = MEMORY_BYTES) -> None:
        told = {
            "embedders": [one.model_dump(mode="json") for one in embedders],
            "canary": str(canary),
            "memory_bytes": memory_bytes,
        }
        self._told = orjson.dumps(told)
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._pictures = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()

    @property
    def pid(self) -> int | None:
        """The darkroom's process, while there is one."""
        return self._process.pid if self._process else None

    async def calibrations(self) -> Mapping[bytes, Calibration]:
        """What the canary showed of each model, by its digest; raises ModelRefused if one did not pass."""
        try:
            found = await self._ask(CALIBRATE)
        except _Died:
            raise ModelRefused("The models took too long to load, or more memory than there is for them.") from None
        if "refused" in found:
            raise ModelRefused(found["refused"])
        return {bytes.fromhex(digest): Calibration(**said) for digest, said in found.items()}

    async def faces(self, image: bytes) -> Mapping[bytes, Sequence[Face]]:
        """The faces in a picture as each model sees them, by its digest; raises ImageRefused."""
        try:
            found = await self._ask(EMBED + image)
        except _Died:
            raise ImageRefused("crashed") from None
        if "refused" in found:
            raise ImageRefused(found["refused"])
        return {bytes.fromhex(digest): [_face(one) for one in faces] for digest, faces in found.items()}

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()  # it keeps nothing
            await process.wait()

    async def _ask(self, frame: bytes) -> dict[str, Any]:
        async with self._turn:
            process = await self._started()
            self._pictures += 1
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    return await _exchange(process, frame)
            except (TimeoutError, OSError, asyncio.IncompleteReadError, orjson.JSONDecodeError) as error:
                await self.close()
                log.warning("faces.darkroom_died", error=type(error).__name__, code=process.returncode)
                raise _Died from None
            except BaseException:  # whoever asked is gone, and the answer would be taken for that to the next question
                await self.close()
                raise

    async def _started(self) -> Process:
        if self._process is not None and self._pictures < _PICTURES_EACH:
            return self._process
        await self.close()
        # An empty environment: settings are secrets, and this is the place strangers would break into.
        command = [sys.executable, "-m", "leasehold.faces.darkroom"]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={"OMP_NUM_THREADS": "1"}, start_new_session=True
        )
        self._process, self._pictures = process, 0
        await _send(process, self._told)
        return process


async def _exchange(process: Process, frame: bytes) -> dict[str, Any]:
    await _send(process, frame)
    if process.stdout is None:
        raise OSError
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    if length > _LARGEST_ANSWER:
        raise OSError
    found: dict[str, Any] = orjson.loads(await process.stdout.readexactly(length))
    return found


async def _send(process: Process, frame: bytes) -> None:
    if process.stdin is None:
        raise OSError
    process.stdin.write(LENGTH.pack(len(frame)) + frame)
    await process.stdin.drain()


def _face(said: Mapping[str, Any]) -> Face:
    left, top, right, bottom = said["box"]
    return Face(tuple(said["vector"]), (left, top, right, bottom), said["quality"])
