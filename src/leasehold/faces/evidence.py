"""What the distance of two faces is worth, in bits: by the model's own calibration, and never enough to join alone."""

from collections.abc import Sequence

from leasehold.faces.models import Calibration, Part

FIELD = "face"
SAME, DIFFERS, UNCLEAR, UNCONFIRMED = "same", "differs", "unclear", "unconfirmed"

# The most that faces say, either way. Twins exist, and so do make-up, masks and pictures of somebody else.
_MOST_BITS = 6.0
_LEAST_BITS = -3.0
# Nearer to nothing than this is nothing.
_UNCLEAR_BITS = 0.5


def most(join: float) -> float:
    """What a face may add at the most: half of what joins two records, so something else must say at least as much."""
    return max(0.0, min(_MOST_BITS, join / 2))


def part(distance: float, calibration: Calibration, join: float, left: str = "", right: str = "") -> Part:
    """The part of the evidence that one model's distance is. `join` is the policy's threshold for joining."""
    threshold = calibration.threshold
    if distance <= threshold:
        room = max(threshold - calibration.genuine_median, 1e-9)
        bits = most(join) * min(1.0, (threshold - distance) / room)
    else:
        room = max(calibration.impostor_min - threshold, 1e-9)
        bits = _LEAST_BITS * min(1.0, (distance - threshold) / room)
    return _made(bits, left, right)


def agreed(parts: Sequence[Part], embedders: int) -> Part:
    """One part of what several models say: what the least convinced says, and nothing good while one is silent."""
    if not parts:
        return _made(0.0, "", "")
    least = min(parts, key=lambda one: (one.bits, one.outcome))
    if least.bits > 0 and len(parts) < embedders:
        return Part(FIELD, UNCONFIRMED, 0.0, least.left, least.right)
    return least


def _made(bits: float, left: str, right: str) -> Part:
    if abs(bits) < _UNCLEAR_BITS:
        return Part(FIELD, UNCLEAR, 0.0, left, right)
    return Part(FIELD, SAME if bits > 0 else DIFFERS, round(bits, 2), left, right)
