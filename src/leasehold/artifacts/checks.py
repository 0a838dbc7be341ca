"""What the doctor looks at: whether artefacts can be written where they are wanted."""

from leasehold.artifacts.shelf import Shelf


def check(shelf: Shelf) -> tuple[bool, str]:
    """Whether all is well, and a sentence."""
    try:
        shelf.probe()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return (
            False,
            f"{shelf.place} cannot be written ({reason}). Check LEASEHOLD_ARTIFACT_URL and who owns the place.",
        )
    return True, f"can be written, in {shelf.place}"
