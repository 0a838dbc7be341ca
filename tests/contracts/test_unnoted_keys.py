"""A grant in MongoDB whose key PostgreSQL never learned of, since the server died in between."""

from collections.abc import Awaitable, Callable

import pytest

from tests.contracts.stage import Refused, Stage

pytestmark = pytest.mark.parametrize("stage", ["mongo-http"], indirect=True)


async def granted_without_a_note(stage: Stage, count: int = 1) -> set[str]:
    await stage.site(reclaim_delay_seconds=0)
    await stage.accounts("one", "two", "three")
    leases = {lease["id"] for lease in (await stage.ask(count=count, key="k1", ttl_seconds=60))["leases"]}
    stage.home.database.run("DELETE FROM idempotency_key")
    return leases


async def runs_out(stage: Stage) -> None:
    await stage.passes(61)


async def runs_out_and_is_booked(stage: Stage) -> None:
    await stage.passes(61)
    await stage.acquire(key="another")  # finds what is due, and books it
    await stage.leases()


async def is_taken(stage: Stage) -> None:
    for lease in await stage.leases():
        await stage.revoke(lease)


async def test_it_is_the_repeats_while_it_lives(stage: Stage) -> None:
    granted = await granted_without_a_note(stage, count=2)

    again = (await stage.ask(count=2, key="k1", ttl_seconds=60))["leases"]

    assert {lease["id"] for lease in again} == granted


@pytest.mark.parametrize(
    ("ends", "reason"), [(runs_out, "expired"), (runs_out_and_is_booked, "expired"), (is_taken, "revoked")]
)
async def test_once_it_is_over_the_repeat_is_told_so_and_gets_nothing_new(
    stage: Stage, ends: Callable[[Stage], Awaitable[None]], reason: str
) -> None:
    await granted_without_a_note(stage)
    await ends(stage)

    with pytest.raises(Refused) as refused:
        await stage.acquire(key="k1", ttl_seconds=60)

    assert refused.value.status == 410
    assert refused.value.reason == reason


async def test_what_was_given_back_undelivered_leaves_its_key_free(stage: Stage) -> None:
    (granted,) = await granted_without_a_note(stage)
    await stage.release({"id": granted})

    again = await stage.acquire(key="k1", ttl_seconds=60)

    assert again["id"] != granted


async def test_another_body_is_refused_after_its_end_as_before(stage: Stage) -> None:
    await granted_without_a_note(stage)
    await runs_out_and_is_booked(stage)

    with pytest.raises(Refused) as refused:
        await stage.acquire(key="k1", ttl_seconds=90)

    assert refused.value.status == 422
