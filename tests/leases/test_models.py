"""The id of a lease says what it is on, and its end is told in a sentence."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from leasehold.ids import parse, show, uuid7
from leasehold.leases import PREFIX, How, Kind, Lease, lost, new_id, shown, unknown
from leasehold.leases.models import kind_of

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize("kind", Kind)
def test_an_id_says_what_its_lease_is_on(kind: Kind) -> None:
    ids = [new_id(kind) for _ in range(500)]

    assert {kind_of(id_) for id_ in ids} == {kind}
    assert len(set(ids)) == len(ids)
    assert {id_.version for id_ in ids} == {7}


def test_an_id_that_was_never_given_out_is_on_nothing() -> None:
    kinds = [kind_of(UUID(int=uuid7().int & ~0xF | digit)) for digit in range(16)]

    assert kinds == [None, Kind.ACCOUNT, Kind.SEED, Kind.CAPTURE, Kind.TASK, *[None] * 11]


@pytest.mark.parametrize("kind", Kind)
def test_an_id_survives_being_shown(kind: Kind) -> None:
    id_ = new_id(kind)

    assert parse(PREFIX, show(PREFIX, id_)) == id_


@pytest.mark.parametrize(
    ("kind", "prefix"), [(Kind.ACCOUNT, "acct"), (Kind.SEED, "seed"), (Kind.CAPTURE, "cap"), (Kind.TASK, "job")]
)
def test_a_lease_is_answered_with_the_id_of_what_it_is_on(kind: Kind, prefix: str) -> None:
    lease = Lease(new_id(kind), kind, UUID(int=5), "board", "ann", None, 7, AT, AT)

    answer = shown(lease).model_dump(mode="json")

    assert answer == {
        "id": f"lease_{lease.id.hex}",
        "kind": str(kind),
        "resource_id": f"{prefix}_{5:032x}",
        "site": None if kind is Kind.TASK else "board",  # a task is a platform's, not a site's
        "owner": "ann",
        "job_id": None,
        "fence": 7,
        "acquired_at": "2026-01-31T12:00:00Z",
        "expires_at": "2026-01-31T12:00:00Z",
    }


@pytest.mark.parametrize("how", How)
def test_a_lost_lease_says_how_it_ended_and_nothing_of_who_came_after(how: How) -> None:
    problem = lost(UUID(int=1), how)

    assert problem.detail.startswith("This lease has ended: ")
    assert (problem.status, problem.type()) == (410, "/problems/lease-lost")
    assert problem.members == {"lease": f"lease_{1:032x}", "reason": str(how)}


def test_a_lease_that_never_was_is_not_found() -> None:
    assert (unknown().status, unknown().type()) == (404, "/problems/lease-unknown")
