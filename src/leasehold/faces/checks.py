"""Whether faces could be told apart as they are configured: every model is loaded and has to pass the canary."""

from pathlib import Path

from leasehold.faces.configuration import read
from leasehold.faces.problems import FacesInvalid, ModelRefused
from leasehold.faces.studio import Studio


async def check(file: Path, *, allow_private: bool) -> tuple[bool, str]:
    """Whether all is well, and what there is to say."""
    try:
        setup = read(file)
        async with Studio(setup.embedders, setup.canary) as studio:
            calibrations = await studio.calibrations()
    except (FacesInvalid, ModelRefused) as error:
        return False, str(error)
    if allow_private:
        return False, (
            "LEASEHOLD_FACES_ALLOW_PRIVATE is on: whoever writes a picture's address into a record can make this "
            "server call machines of your own network. It is for tests; switch it off."
        )
    told = [f"{one.name} up to {calibrations[one.digest].threshold:.3f}" for one in setup.embedders]
    return True, f"{', '.join(told)}; for {', '.join(sorted(setup.sources))}"
