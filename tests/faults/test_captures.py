"""The smoke run: the server is killed in the middle of uploads, again and again, and nothing acknowledged is lost."""

from tests.faults.captures import Plan, torture
from tests.parts.process import Place

SEED = 20_262


def test_what_was_acknowledged_is_there_after_every_kill(here: Place) -> None:
    # Few who upload: they share two cores with the server, and more of them only keep it from coming back.
    told = torture(Plan(SEED, kills=8, uploaders=3), here)

    assert not told.faults, "\n".join(told.faults)
    assert len(told.acknowledged) > 50  # some in each of its lives
    assert told.cut_off > 0
    assert told.repeats > 0
