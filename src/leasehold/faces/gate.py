"""The canary gate: a model that cannot tell a handful of known people apart is not let near anybody else.

A wrong scaling does not fail: it makes all distances small, and everybody one person. So each model has to show on
pictures whose truth is known that it works as it is configured here, and its threshold is what it showed.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leasehold.faces.manifest import Manifest
from leasehold.faces.models import Calibration, Embedder
from leasehold.faces.problems import ImageRefused, ModelRefused

Vectors = NDArray[np.float64]

_NAMED = re.compile(r"(?P<person>.+)-(?P<number>\d+)\.(jpe?g|png|webp)\Z", re.IGNORECASE)
# How much nearer the farthest picture of the same person must be than the nearest of another.
_GAP = 0.1
# Strangers that are nearer than this to each other are not told apart at all, whatever the gap: of what is possible for
# distances of directions, and of the length of vectors for the others.
_LEAST_APART = {"cosine": 0.05, "l2": 0.1}
_LARGEST_BYTES = 20 * 1024 * 1024
_MOST_PICTURES = 200


def distances(left: Vectors, right: Vectors, metric: str) -> Vectors:
    """How far each of the one is from each of the other, exactly."""
    if metric == "cosine":
        unit_left = left / np.linalg.norm(left, axis=1, keepdims=True)
        unit_right = right / np.linalg.norm(right, axis=1, keepdims=True)
        near: Vectors = 1.0 - unit_left @ unit_right.T
        return near
    apart: Vectors = np.linalg.norm(left[:, np.newaxis] - right[np.newaxis], axis=2)
    return apart


def read(folder: Path) -> Mapping[str, Sequence[Path]]:
    """The pictures of a canary by who is in them: `person-1.jpg`, `person-2.jpg`, `other-1.jpg`."""
    people: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        if (named := _NAMED.match(file.name)) and file.stat().st_size <= _LARGEST_BYTES:
            people[named["person"]].append(file)
    pictures = sum(map(len, people.values()))
    if len(people) < 2 or max(map(len, people.values())) < 2 or pictures > _MOST_PICTURES:
        raise ModelRefused(
            f"The canary in {folder} is no use: it needs pictures of at least two people, two or more of one of them, "
            f"{_MOST_PICTURES} in all at most, named person-1.jpg, person-2.jpg, other-1.jpg."
        )
    return people


def calibrate(embedder: Embedder, manifest: Manifest, canary: Path) -> Calibration:
    """What a model makes of the canary; raises ModelRefused where that is not good enough."""
    people = {person: [_only_face(embedder, file) for file in files] for person, files in read(canary).items()}
    genuine = [_distance(a, b, manifest) for faces in people.values() for a, b in combinations(faces, 2)]
    impostor = [
        _distance(a, b, manifest) for one, other in combinations(people.values(), 2) for a in one for b in other
    ]
    return _judged(manifest, genuine, impostor, _length(people, manifest))


def _only_face(embedder: Embedder, file: Path) -> tuple[float, ...]:
    try:
        faces = embedder.embed(file.read_bytes())
    except ImageRefused as error:
        raise ModelRefused(f"The canary's {file.name} cannot be used: {error.reason}.") from None
    if len(faces) != 1:
        raise ModelRefused(f"The canary's {file.name} shows {len(faces)} faces; a picture of a canary shows one.")
    return faces[0].vector


def _distance(a: Sequence[float], b: Sequence[float], manifest: Manifest) -> float:
    return float(distances(np.array([a]), np.array([b]), manifest.metric)[0, 0])


def _length(people: Mapping[str, Sequence[Sequence[float]]], manifest: Manifest) -> float:
    """What distances are measured in: nothing where only directions count, else the length of a vector."""
    if manifest.metric == "cosine":
        return 1.0
    return float(np.mean([np.linalg.norm(vector) for faces in people.values() for vector in faces]))


def _judged(manifest: Manifest, genuine: list[float], impostor: list[float], length: float) -> Calibration:
    farthest, nearest = max(genuine), min(impostor)
    told = (
        f"{manifest.name}: pictures of one person are up to {farthest:.4f} apart, of two people at least {nearest:.4f}"
    )
    what = (
        "Check `scaling`, `colour`, `alignment`, `layout` and `metric` in its manifest against how the model was "
        "trained, and that the canary's pictures are named for who is in them."
    )
    if not np.isfinite([*genuine, *impostor]).all():
        raise ModelRefused(f"{manifest.name} gives vectors that are no numbers. {what}")
    least = _LEAST_APART[manifest.metric] * length
    if np.median(impostor) < least:
        raise ModelRefused(f"{told}: it sees everybody as the same, which is what a wrong scaling looks like. {what}")
    if nearest - farthest < _GAP * nearest or nearest < least:
        raise ModelRefused(f"{told}: that is no gap to put a threshold into. {what}")
    middle = (farthest + nearest) / 2
    return Calibration(middle, float(np.median(genuine)), farthest, nearest, len(genuine) + len(impostor))
