"""The darkroom may die, hang or be fed anything; we go on, and it learns nothing from us."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from leasehold.faces import ImageRefused, Manifest, ModelRefused
from leasehold.faces.studio import MEMORY_BYTES, Studio
from tests.parts.faces import pattern


@pytest.fixture
def manifest(small: dict[str, Any]) -> Manifest:
    return Manifest.model_validate(small)


async def test_a_darkroom_that_dies_costs_one_picture(
    manifest: Manifest, patterns: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEHOLD_KEYS", "secret")
    async with Studio([manifest], patterns) as studio:
        shown = await studio.calibrations()
        first = studio.pid
        assert first is not None
        environment = psutil.Process(first).environ()
        bound = psutil.Process(first).rlimit(psutil.RLIMIT_AS)

        os.kill(first, signal.SIGKILL)
        with pytest.raises(ImageRefused, match="crashed"):
            await studio.faces(pattern(1, 1))
        after = await studio.faces(pattern(1, 1))

        assert bound == (MEMORY_BYTES, MEMORY_BYTES)
        assert set(environment) == {"OMP_NUM_THREADS"}
        assert set(shown) == set(after) == {manifest.digest}
        assert len(after[manifest.digest][0].vector) == 64
        assert studio.pid != first
        with pytest.raises(ImageRefused, match="no-image"):
            await studio.faces(b"no picture")


async def test_a_question_nobody_waits_for_does_not_answer_the_next(manifest: Manifest, patterns: Path) -> None:
    async with Studio([manifest], patterns) as studio:
        asked = asyncio.create_task(studio.calibrations())
        while studio.pid is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        asked.cancel()
        await asyncio.wait([asked])

        found = await studio.faces(pattern(1, 1))

        assert len(found[manifest.digest]) == 1


async def test_models_that_take_too_much_memory_are_refused(manifest: Manifest, patterns: Path) -> None:
    async with Studio([manifest], patterns, memory_bytes=64 * 1024**2) as studio:
        with pytest.raises(ModelRefused, match=r"memory|cannot be loaded"):
            await studio.calibrations()


async def test_a_model_that_does_not_pass_is_told_through_the_wall(small: dict[str, Any], patterns: Path) -> None:
    wrong = Manifest.model_validate({**small, "scaling": {"subtract": 127.5, "divide": 255}})

    async with Studio([wrong], patterns) as studio:
        with pytest.raises(ModelRefused, match="everybody as the same"):
            await studio.calibrations()


def test_the_darkroom_ends_when_whoever_started_it_is_gone() -> None:
    room = subprocess.Popen([sys.executable, "-m", "leasehold.faces.darkroom"], stdin=subprocess.PIPE)
    assert room.stdin is not None

    room.stdin.close()

    assert room.wait(30) == 0


_WITHOUT = """
import sys
for name in ("PIL", "dlib", "onnxruntime", "face_recognition_models"):
    sys.modules[name] = None  # as if it were not installed
import leasehold.faces
from leasehold.faces.detecting import package
try:
    package("dlib")
except leasehold.faces.ModelRefused as error:
    sys.exit(0 if "pip install 'leasehold[server,faces]'" in str(error) else 1)
"""


def test_a_server_without_the_extra_starts_and_says_what_is_missing() -> None:
    assert subprocess.run([sys.executable, "-c", _WITHOUT], check=False).returncode == 0


async def test_the_darkroom_ends_with_its_studio(manifest: Manifest, patterns: Path) -> None:
    async with Studio([manifest], patterns) as studio:
        await studio.faces(pattern(1, 1))
        process = psutil.Process(studio.pid)

    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
