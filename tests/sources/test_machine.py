"""How a sweep goes on, as pure decisions: what a pass proves, and what it does not."""

from dataclasses import replace
from uuid import UUID

import pytest

from leasehold.sources.machine import (
    MOST_PASSES,
    TABLE,
    Mode,
    Move,
    Next,
    Phase,
    Place,
    Read,
    Status,
    after_asking,
    after_page,
    after_pass,
    edge,
    gives_less,
    resumed,
    with_smaller_pages,
)

BEGUN = Place.begin(UUID(int=1), Mode.FULL, 10, None)


def page(rows: int = 10, count: int = 30, new: int = 0, fresh: int = 10) -> Read:
    return Read(rows, count, "2026-01-01T00:00:00+00:00", new, fresh, None, reaches_watermark=False)


def passed(first: int, last: int, new: int = 0, **more: object) -> Place:
    return replace(BEGUN, first_count=first, last_count=last, new=new, **more)  # type: ignore[arg-type]


def test_every_state_is_reached_and_left() -> None:
    reached = {target for _, target in TABLE.values()}
    left = {source for sources, _ in TABLE.values() for source in sources}

    assert reached == left == set(Status)
    assert edge(Move.STOP) == {"src": ["sweeping"], "dst": "paused"}


def test_a_pass_ends_where_the_source_says_it_has_no_more() -> None:
    place, ends = BEGUN, []
    for _ in range(3):
        place, is_last = after_page(place, page())
        ends.append(is_last)

    assert ends == [False, False, True]
    assert (place.page, place.first_count, place.last_count) == (4, 30, 30)


def test_a_place_comes_back_from_json_as_it_was() -> None:
    place, _ = after_page(BEGUN, page())

    assert Place.of(place.to_json()) == place


@pytest.mark.parametrize(
    ("place", "live", "unseen", "following"),
    [
        (passed(30, 30), 30, 0, (Next.ASK, False)),  # all seen: only those of sweeps before are asked for
        (passed(30, 30, fresh=28), 28, 0, (Next.AGAIN, False)),  # some fell between two pages
        (passed(30, 32, new=2), 32, 0, (Next.ASK, False)),  # what was created meanwhile disturbs nothing
        (passed(30, 29, fresh=29), 29, 0, (Next.AGAIN, False)),  # one was deleted, and one may have moved past us
        (passed(30, 30, new=1, fresh=30), 30, 0, (Next.AGAIN, False)),  # one came and one went: it only looks the same
        (passed(29, 29, is_steady=False), 30, 1, (Next.ASK, True)),  # one that was seen before is gone now, or hides
        (passed(30, 30, number=2), 29, 0, (Next.ASK, False)),  # the very same twice: it has no more, whatever it says
        (passed(30, 29, number=MOST_PASSES, fresh=1), 29, 0, (Next.ASK, False)),  # enough
    ],
)
def test_what_comes_after_a_pass(place: Place, live: int, unseen: int, following: tuple[Next, bool]) -> None:
    after, step = after_pass(place, live, unseen)

    assert (step, after.asks_own) == following
    assert after.phase is (Phase.ASK if step is Next.ASK else Phase.LIST)


def test_after_asking_it_is_done_when_all_agrees_and_reads_again_when_not() -> None:
    place = passed(29, 29, asks_own=True, phase=Phase.ASK)

    assert after_asking(place, 29)[1] is Next.DONE
    assert after_asking(place, 28)[1] is Next.AGAIN


def test_each_pass_has_pages_of_another_size() -> None:
    sizes = [replace(BEGUN, batch=100, number=number).per_page for number in range(1, 9)]

    assert len(set(sizes)) == 8
    assert min(sizes) >= 50


def test_a_change_between_two_passes_is_noticed() -> None:
    again, _ = after_pass(passed(30, 30, fresh=28), 28, 0)

    after, _ = after_page(again, page(count=29))

    assert after.is_steady is False


def test_who_goes_on_reads_one_page_again() -> None:
    assert resumed(replace(BEGUN, page=7)).page == 6
    assert resumed(BEGUN).page == 1


def test_a_source_that_gives_less_is_asked_for_less() -> None:
    place = replace(BEGUN, batch=100)

    assert gives_less(place, page(rows=25, count=300))
    assert not gives_less(place, page(rows=25, count=25))
    assert with_smaller_pages(place, 25).per_page == 25
    assert with_smaller_pages(replace(place, batch=25), 20).per_page == 20


def test_an_incremental_sweep_begins_again_when_one_was_deleted_under_it() -> None:
    place = replace(passed(30, 29), mode=Mode.INCREMENTAL)

    assert after_pass(place, 0, 0)[1] is Next.AGAIN
    assert after_pass(replace(place, first_count=29), 0, 0)[1] is Next.DONE
