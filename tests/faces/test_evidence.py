"""What faces are worth: by each model's own measure, and never enough alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.faces import Calibration, Part, agreed, part

DLIB = Calibration(threshold=0.63, genuine_median=0.36, genuine_max=0.44, impostor_min=0.82, pairs=6)
OTHER = Calibration(threshold=0.35, genuine_median=0.2, genuine_max=0.3, impostor_min=0.4, pairs=6)
NUMBERS = st.floats(0, 4, allow_nan=False)


@given(distance=NUMBERS, join=st.floats(0.01, 60), threshold=st.floats(0.001, 2), spread=st.floats(0.0001, 1))
def test_a_face_alone_never_joins(distance: float, join: float, threshold: float, spread: float) -> None:
    shown = Calibration(threshold, threshold * (1 - spread), threshold * 0.99, threshold * (1 + spread), 3)

    found = part(distance, shown, join)

    assert found.bits < join
    assert found.bits <= join / 2 + 0.005
    assert -3 <= found.bits <= 6


@given(near=NUMBERS, far=NUMBERS)
def test_what_is_farther_never_says_more(near: float, far: float) -> None:
    near, far = sorted((near, far))

    assert part(near, DLIB, 12).bits >= part(far, DLIB, 12).bits


def test_the_same_distance_means_another_thing_to_another_model() -> None:
    assert part(0.45, DLIB, 12).outcome == "same"
    assert part(0.45, OTHER, 12).outcome == "differs"


@pytest.mark.parametrize(
    ("distance", "outcome", "bits"),
    [(0.0, "same", 6.0), (0.36, "same", 6.0), (0.45, "same", 4.0), (0.63, "unclear", 0.0), (0.82, "differs", -3.0)],
)
def test_bits_follow_the_calibration(distance: float, outcome: str, bits: float) -> None:
    assert part(distance, DLIB, 12, "a", "b") == Part("face", outcome, bits, "a", "b")


def test_two_models_must_agree_before_anything_is_said_for_a_pair() -> None:
    same, less, differs = part(0.3, DLIB, 12), part(0.25, OTHER, 12), part(0.5, OTHER, 12)

    assert agreed([same, less], 2) == less
    assert agreed([same, differs], 2) == differs
    assert agreed([same], 2) == Part("face", "unconfirmed", 0.0, "", "")
    assert agreed([differs], 2) == differs
    assert agreed([same], 1) == same
    assert agreed([], 1).bits == 0
