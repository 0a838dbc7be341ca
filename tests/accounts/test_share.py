"""How free accounts are divided: whatever is free and whoever asks, nobody gets too much and nobody jumps the queue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.accounts.machine import Breaker, Rules
from leasehold.accounts.models import Candidate, Ground, Wish
from leasehold.accounts.share import Claim, Shares, needs, share

SITES = ["board", "shop"]
LABELS = [{}, {"region": "de"}, {"region": "fr"}, {"region": "de", "tier": "gold"}]
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def ground(slug: str = "board", cap: int | None = None, live: int = 0) -> Ground:
    return Ground(slug, False, None, cap, Rules(0, 15, 3, None), Breaker(60, 5, 600), live)


def free(count: int, site: str = "board", **labels: str) -> list[Candidate]:
    return [Candidate(UUID(int=n), site, labels) for n in range(count)]


def wish(count: int = 1, priority: int = 4, waiting_since: int | None = None, **labels: str) -> Wish:
    """At noon and so many seconds, if it waits."""
    since = None if waiting_since is None else NOON + timedelta(seconds=waiting_since)
    return Wish("board", priority, count, labels, None, since, is_waiting=since is not None)


def given_to(shares: Shares[str]) -> dict[str, int]:
    return {holder: len(found) for holder, found in shares.given}


@dataclass(frozen=True)
class Scene:
    """Some claims in their order of arrival, what is free, and the caps."""

    claims: list[Claim[int]]
    candidates: dict[str, list[Candidate]]
    grounds: dict[str, Ground]

    def divided(self) -> Shares[int]:
        return share(self.claims, self.candidates, self.grounds)

    def in_turn(self) -> list[Claim[int]]:
        never = NOON + timedelta(days=1)
        order = sorted(
            enumerate(self.claims), key=lambda one: (-one[1].wish.priority, one[1].wish.since or never, one[0])
        )
        return [claim for _, claim in order]

    def of_one_kind(self) -> Iterator[tuple[Claim[int], Claim[int]]]:
        """Pairs who want the same thing, the first in turn before the second."""
        for first, second in combinations(self.in_turn(), 2):
            if _kind(first) == _kind(second):
                yield first, second


def _kind(claim: Claim[int]) -> tuple[object, ...]:
    return claim.wish.site, sorted(claim.wish.labels.items()), claim.wish.account


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    candidates: dict[str, list[Candidate]] = {}
    for number, site in enumerate(SITES):
        labels = draw(st.lists(st.sampled_from(LABELS), max_size=7))
        candidates[site] = [Candidate(UUID(int=number * 100 + n), site, found) for n, found in enumerate(labels)]
    ids = [candidate.id for found in candidates.values() for candidate in found]
    pins = st.none() if not ids else st.none() | st.none() | st.sampled_from(ids)
    times = st.integers(0, 3).map(lambda second: NOON + timedelta(seconds=second))
    wishes = st.builds(
        Wish,
        site=st.sampled_from(SITES),
        priority=st.integers(3, 5),
        count=st.integers(1, 4),
        labels=st.sampled_from(LABELS),
        account=pins,
        since=st.none() | times,
        is_waiting=st.booleans(),
    )
    elsewhere = st.builds(lambda wish, since: replace(wish, since=since, is_waiting=True), wishes, times)
    here = [Claim(one, number) for number, one in enumerate(draw(st.lists(wishes, max_size=7)))]
    others: list[Claim[int]] = [Claim(one, None) for one in draw(st.lists(elsewhere, max_size=3))]
    caps = st.none() | st.integers(0, 8)
    grounds = {site: ground(site, draw(caps), draw(st.integers(0, 5))) for site in SITES}
    return Scene(draw(st.permutations([*here, *others])), candidates, grounds)


patient = settings(deadline=None, max_examples=150)  # a busy machine is no failure


@patient
@given(scenes())
def test_no_account_is_given_twice(scene: Scene) -> None:
    ids = [candidate.id for _, found in scene.divided().given for candidate in found]

    assert len(ids) == len(set(ids))


@patient
@given(scenes())
def test_no_cap_is_passed(scene: Scene) -> None:
    shares = scene.divided()

    for site, there in scene.grounds.items():
        given_here = sum(candidate.site == site for _, found in shares.given for candidate in found)
        assert there.cap is None or given_here <= max(0, there.cap - there.live)


@patient
@given(scenes())
def test_everybody_here_gets_all_of_it_or_nothing(scene: Scene) -> None:
    shares = scene.divided()

    wanted = {claim.holder: claim.wish for claim in scene.claims if claim.holder is not None}
    for holder, found in shares.given:
        assert len(found) == wanted[holder].count
        assert all(candidate.site == wanted[holder].site and wanted[holder].fits(candidate) for candidate in found)
    assert sorted([holder for holder, _ in shares.given] + shares.unmet) == sorted(wanted)


@patient
@given(scenes())
def test_nobody_of_one_kind_is_served_before_its_turn(scene: Scene) -> None:
    shares = scene.divided()
    served = dict(shares.given)

    for first, second in scene.of_one_kind():
        if second.holder in served and first.wish.count <= second.wish.count:
            is_here = first.holder is not None
            assert first.holder in served if is_here else first.wish.site in shares.left_for_others


@patient
@given(scenes())
def test_who_is_served_first_gets_the_better_ones(scene: Scene) -> None:
    served = dict(scene.divided().given)

    for first, second in scene.of_one_kind():
        if first.holder in served and second.holder in served:
            place = scene.candidates[first.wish.site].index
            assert max(map(place, served[first.holder])) < min(map(place, served[second.holder]))


@patient
@given(scenes())
def test_who_waits_for_more_than_there_is_keeps_it_from_those_behind(scene: Scene) -> None:
    shares = scene.divided()
    served = dict(shares.given)

    for first, second in scene.of_one_kind():
        if first.wish.is_waiting and first.holder in shares.unmet:
            assert second.holder not in served


@patient
@given(scenes())
def test_who_waits_in_another_process_gets_nothing_here_but_keeps_its_share(scene: Scene) -> None:
    as_if_here = [claim if claim.holder is not None else replace(claim, holder=-1) for claim in scene.claims]

    shares, all_here = scene.divided(), share(as_if_here, scene.candidates, scene.grounds)

    assert shares.given == [(holder, found) for holder, found in all_here.given if holder != -1]
    assert shares.left_for_others == {found[0].site for holder, found in all_here.given if holder == -1}


@patient
@given(scenes())
def test_looking_at_no_more_than_is_needed_changes_nothing(scene: Scene) -> None:
    looked_at: dict[str, list[Candidate]] = {}
    for site, kinds in needs(scene.claims).items():
        there = scene.candidates[site]
        seen = {one.id for wish, count in kinds for one in [c for c in there if wish.fits(c)][:count]}
        looked_at[site] = [candidate for candidate in there if candidate.id in seen]

    assert share(scene.claims, looked_at, scene.grounds) == scene.divided()


@patient
@given(scenes())
def test_what_is_free_is_only_read(scene: Scene) -> None:
    before = {site: list(found) for site, found in scene.candidates.items()}

    scene.divided()

    assert scene.candidates == before


def divide(free_: Sequence[Candidate], *claims: Claim[str], cap: int | None = None, live: int = 0) -> Shares[str]:
    return share(claims, {"board": free_}, {"board": ground(cap=cap, live=live)})


def test_higher_priority_comes_first_then_who_waits_longest_then_who_came_first() -> None:
    claims = [
        Claim(wish(), "came first"),
        Claim(wish(), "came second"),
        Claim(wish(waiting_since=2), "waits"),
        Claim(wish(waiting_since=1), "waits longest"),
        Claim(wish(priority=5), "urgent"),
    ]

    shares = divide(free(5), *claims)

    assert [holder for holder, _ in shares.given] == ["urgent", "waits longest", "waits", "came first", "came second"]
    assert [found[0].id.int for _, found in shares.given] == [0, 1, 2, 3, 4]


def test_who_does_not_wait_and_wants_too_much_is_stepped_over() -> None:
    shares = divide(free(2), Claim(wish(3), "greedy"), Claim(wish(), "modest"))

    assert (given_to(shares), shares.unmet) == ({"modest": 1}, ["greedy"])


def test_who_waits_for_many_is_not_starved_by_the_small() -> None:
    shares = divide(free(2), Claim(wish(), "small"), Claim(wish(3, waiting_since=1), "many"))

    assert (given_to(shares), shares.unmet) == ({}, ["many", "small"])


def test_who_waits_for_another_kind_keeps_nothing_from_anybody() -> None:
    shares = divide(free(1, region="fr"), Claim(wish(2, waiting_since=1, region="de"), "picky"), Claim(wish(), "any"))

    assert given_to(shares) == {"any": 1}


def test_who_waits_longer_elsewhere_is_left_its_share() -> None:
    shares = divide(free(1), Claim(wish(), "here"), Claim(wish(waiting_since=1), None))

    assert (given_to(shares), shares.unmet, shares.left_for_others) == ({}, ["here"], {"board"})


def test_who_waits_elsewhere_for_more_than_there_is_is_not_called_yet() -> None:
    shares = divide(free(1), Claim(wish(), "here"), Claim(wish(2, waiting_since=1), None))

    assert (given_to(shares), shares.left_for_others) == ({}, set())


def test_the_cap_is_kept_for_who_waits_for_many() -> None:
    shares = divide(free(9), Claim(wish(), "small"), Claim(wish(3, waiting_since=1), "many"), cap=5, live=3)

    assert given_to(shares) == {}


def test_more_live_than_the_cap_is_room_for_nobody() -> None:
    shares = divide(free(3), Claim(wish(), "here"), cap=2, live=4)

    assert shares.unmet == ["here"]


def test_who_is_pinned_to_an_account_gets_that_one_or_nothing() -> None:
    second = Wish("board", 4, 1, {}, UUID(int=1))

    shares = divide(free(3), Claim(second, "first"), Claim(second, "second"))

    assert [(holder, found[0].id.int) for holder, found in shares.given] == [("first", 1)]
    assert shares.unmet == ["second"]
