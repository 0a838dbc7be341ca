"""Which seeds are looked at and who gets them: by priority, then by who waits longest, fair between sites."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from leasehold.leases import Claim
from leasehold.seeds.gathering import Bed, Candidate, Gathering, Look, Scope, scopes, share
from leasehold.seeds.models import Seed

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANY = Scope(None, ())


def ago(minutes: float) -> datetime:
    return NOON - timedelta(minutes=minutes)


def bed(site: str, priority: int = 50, waits_min: float = 1, served_min: float | None = None) -> Bed:
    return Bed(site, priority, ago(waits_min), None if served_min is None else ago(served_min), is_limited=False)


def candidates(of: Bed, *overdue_min: float, labels: Mapping[str, str] | None = None) -> list[Candidate]:
    found = []
    for rank, minutes in enumerate(overdue_min):
        id_ = UUID(int=hash((of.site, of.priority, rank)) & (2**128 - 1))
        seed = Seed(
            id_,
            of.site,
            "",
            f"/{rank}",
            "",
            "page",
            of.priority,
            60,
            60,
            60,
            ago(minutes),
            None,
            labels or {},
            True,
            0,
            None,
            None,
            None,
            NOON,
            NOON,
        )
        found.append(Candidate(seed, 0, of, rank))
    return found


def claim(limit: int = 1, site: str | None = None, **labels: str) -> Claim:
    return Claim(site, limit, labels)


def gathered(beds: Mapping[Bed, int], wanted: int, rooms: Mapping[str, int] | None = None) -> dict[str, int]:
    """What is found of each bed, where it has so many due."""
    there, found, gathering = dict(beds), dict.fromkeys(beds, 0), Gathering.of(ANY, wanted, beds, rooms or {})
    for _ in range(100):
        looks = gathering.looks()
        if not looks:
            break
        for look in looks:
            count = min(look.count, there[look.bed])
            there[look.bed] -= count
            found[look.bed] += count
            gathering.saw(look, count)
    return {f"{one.site}{one.priority}": count for one, count in found.items()}


def test_every_bed_gives_an_equal_share() -> None:
    assert gathered({bed("a"): 100, bed("b"): 100}, 10) == {"a50": 5, "b50": 5}


def test_what_one_bed_lacks_the_others_give() -> None:
    assert gathered({bed("a"): 2, bed("b"): 100, bed("c"): 3}, 20) == {"a50": 2, "b50": 15, "c50": 3}


def test_a_lower_priority_is_looked_at_only_when_the_higher_is_exhausted() -> None:
    high, low = bed("a", 90), bed("a", 10)

    assert gathered({high: 10, low: 10}, 10) == {"a90": 10, "a10": 0}
    assert gathered({high: 4, low: 10}, 10) == {"a90": 4, "a10": 6}


def test_when_there_are_more_beds_than_wanted_those_that_wait_longest_give() -> None:
    beds = {bed(f"s{minutes}", waits_min=minutes): 5 for minutes in range(1, 10)}

    found = gathered(beds, 3)

    assert {site for site, count in found.items() if count} == {"s950", "s850", "s750"}


def test_no_more_is_looked_at_than_a_site_has_room_for() -> None:
    assert gathered({bed("a", 90): 10, bed("a", 10): 10, bed("b"): 3}, 10, {"a": 4}) == {
        "a90": 4,
        "a10": 0,
        "b50": 3,
    }


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 30)), max_size=15), st.integers(1, 60))
def test_whatever_is_wanted_is_found_if_it_is_there(spread: list[tuple[int, int, int]], wanted: int) -> None:
    beds = {bed(f"s{site}", priority): due for site, priority, due in spread}

    found = gathered(beds, wanted)

    assert sum(found.values()) >= min(wanted, sum(beds.values()))
    assert sum(found.values()) < wanted + len(beds)


def test_claims_of_one_kind_are_looked_for_together() -> None:
    claims = [claim(2), claim(3), claim(4, "board"), claim(1, "board", region="de")]

    assert scopes(claims) == {ANY: 5, Scope("board", ()): 4, Scope("board", (("region", "de"),)): 1}


def order(*claims: Claim, of: list[Candidate], rooms: Mapping[str, int] | None = None) -> list[list[str]]:
    shared = share(claims, of, rooms or {})
    return [[f"{one.seed.site}{one.seed.rest}" for one in taken] for _, taken in shared]


def test_the_longest_overdue_comes_first() -> None:
    assert order(claim(3), of=candidates(bed("a"), 30, 20, 10)) == [["a/0", "a/1", "a/2"]]


def test_a_higher_priority_comes_before_a_longer_wait() -> None:
    of = [*candidates(bed("a", 10), 600), *candidates(bed("b", 90), 1)]

    assert order(claim(2), of=of) == [["b/0", "a/0"]]


def test_sites_take_turns_however_long_the_backlog_of_one() -> None:
    of = [*candidates(bed("big"), 500, 400, 300, 200), *candidates(bed("small"), 3, 2)]

    assert order(claim(4), of=of) == [["big/0", "small/0", "big/1", "small/1"]]


def test_who_was_just_served_waits_again() -> None:
    of = [*candidates(bed("big", served_min=0), 500), *candidates(bed("small", served_min=90), 3)]

    assert order(claim(1), claim(1), of=of) == [["small/0"], ["big/0"]]


def test_claims_are_served_in_their_turn() -> None:
    of = candidates(bed("a"), 3, 2, 1)

    assert order(claim(2), claim(2), claim(2), of=of) == [["a/0", "a/1"], ["a/2"]]


def test_a_claim_takes_only_what_fits_it() -> None:
    of = [*candidates(bed("a"), 3, labels={"region": "de"}), *candidates(bed("b"), 9)]

    assert order(claim(5, region="de"), claim(5, "a"), claim(5, "b"), of=of) == [["a/0"], [], ["b/0"]]


def test_no_site_gives_more_than_it_has_room_for() -> None:
    of = [*candidates(bed("a"), 9, 8, 7), *candidates(bed("b"), 1)]

    assert order(claim(2), claim(5), of=of, rooms={"a": 2}) == [["a/0", "b/0"], ["a/1"]]


def test_a_look_knows_where_it_belongs() -> None:
    (look,) = Gathering.of(ANY, 1, [bed("a")], {}).looks()

    assert look == Look(ANY, bed("a"), 1)
