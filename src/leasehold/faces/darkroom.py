"""The process in which pictures of strangers are opened: it knows no secret, has a bound on its memory, and may die.

It is told what to do in frames on standard input, and answers in frames of JSON. It is started as
`python -m leasehold.faces.darkroom`, and ends when its input does, which is also when whoever started it is gone.
"""

import os
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from leasehold.faces import gate
from leasehold.faces.embedding import load
from leasehold.faces.frames import CALIBRATE, LENGTH, read_frame
from leasehold.faces.manifest import Manifest
from leasehold.faces.models import Embedder
from leasehold.faces.problems import ImageRefused, ModelRefused


class Darkroom:
    """The models, loaded when they are first needed."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._manifests = [Manifest.model_validate(one) for one in told["embedders"]]
        self._canary = Path(told["canary"])
        self._loaded: list[Embedder] = []

    def answer(self, frame: bytes) -> Mapping[str, Any]:
        try:
            self._loaded = self._loaded or [load(manifest) for manifest in self._manifests]
            return self._calibrated() if frame[:1] == CALIBRATE else self._embedded(frame[1:])
        except (ImageRefused, ModelRefused) as error:
            return {"refused": str(error)}

    def _calibrated(self) -> Mapping[str, Any]:
        pairs = zip(self._loaded, self._manifests, strict=True)
        return {
            manifest.digest.hex(): gate.calibrate(embedder, manifest, self._canary).to_json()
            for embedder, manifest in pairs
        }

    def _embedded(self, image: bytes) -> Mapping[str, Any]:
        pairs = zip(self._loaded, self._manifests, strict=True)
        return {
            manifest.digest.hex(): [
                {"vector": face.vector, "box": face.box, "quality": face.quality} for face in embedder.embed(image)
            ]
            for embedder, manifest in pairs
        }


def main() -> None:
    # A library that prints must not speak in our place.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    first = read_frame(sys.stdin.buffer)
    if first is None:
        return
    told = orjson.loads(first)
    resource.setrlimit(resource.RLIMIT_AS, (told["memory_bytes"], told["memory_bytes"]))
    room = Darkroom(told)
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        answer = orjson.dumps(room.answer(frame))
        out.write(LENGTH.pack(len(answer)) + answer)
        out.flush()


if __name__ == "__main__":
    main()
