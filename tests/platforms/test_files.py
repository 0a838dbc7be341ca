"""Files of platforms: what is right, what is wrong where, and what happens when they change."""

from pathlib import Path

import pytest

from leasehold.platforms import SHIPPED, Backoff, Catalogue, Platform, compare, read
from tests.jobs.conftest import platform


def one(folder: Path) -> Platform:
    found = read(folder)
    assert not found.faults, [str(fault) for fault in found.faults]
    (only,) = found.platforms.values()
    return only


def write(folder: Path, text: str, name: str = "alpha.yaml") -> Path:
    (folder / name).write_text(text)
    return folder


def test_what_is_shipped_is_right_and_bears_what_it_says() -> None:
    found = read(SHIPPED)

    assert found.faults == []
    assert {"youtube", "tiktok", "facebook"} <= set(found.platforms)
    for slug in ("youtube", "tiktok", "facebook"):
        shipped = found.platforms[slug]
        assert (shipped.limits.concurrency, shipped.retry.attempts) == (50, 5)
        assert shipped.retry.backoff.first_seconds == 1.0
        assert {"timeout", "rate_limited"} <= set(shipped.retry.retryable)


@pytest.mark.parametrize(
    ("change", "where", "why"),
    [
        (("concurrency: 10", "concurrency: 0"), "limits.concurrency", "greater than or equal to 1"),
        (("concurrency: 10", "concurrency: many"), "limits.concurrency", "valid integer"),
        (("transport: http", "transport: pigeon"), "transport", "'http'"),
        (("transport: http", "results: {handler: nobody}"), "results.handler", "only amazon, ebay, plain"),
        (("transport: http", "results: {schema: {type: 1}}"), "results.schema", "is no JSON Schema"),
        (("transport: http", "writer: {phase: dual}"), "writer", "needs a shadow"),
        (("transport: http", "writer: {target: papyrus}"), "writer.target", "'postgres' or 'mongo'"),
        (("attempts: 3", "attempts: 3\n  patience: 1"), "retry.patience", "not permitted"),
        (("fatal: [not_found]", "fatal: [timeout]"), "retry", "can be only one of"),
        (("{page: front}", "{page: 1}"), "task_types.page", "the example does not pass the schema: /page"),
        (("type: object\n", "type: obj\n"), "task_types.page.schema", "no JSON Schema"),
        (("platform: alpha", "platform: beta"), "platform", "a file of its name"),
        (("platform: alpha", "platform: alpha\nplatform: alpha"), "", "stands twice"),
        (("platform: alpha", "platform: [alpha"), "", "line"),
        (("lease_seconds: 5", "lease_seconds: 1"), "timeouts.lease_seconds", "greater than or equal to 5"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, change: tuple[str, str], where: str, why: str) -> None:
    text = platform("alpha")
    assert change[0] in text

    found = read(write(tmp_path, text.replace(*change)))

    assert found.platforms == {}
    assert any(fault.where == where and why in fault.why for fault in found.faults), [str(one) for one in found.faults]


def test_one_bad_file_does_not_keep_the_others_out(tmp_path: Path) -> None:
    write(tmp_path, platform("alpha"))
    write(tmp_path, "nonsense", "beta.yaml")
    write(tmp_path, "", "gamma.yml")

    found = read(tmp_path)

    assert list(found.platforms) == ["alpha"]
    assert {fault.file for fault in found.faults} == {"beta.yaml", "gamma.yml"}


def test_a_folder_that_is_not_there_is_said() -> None:
    assert read(Path("/nowhere/at/all")).faults[0].why == "There is no such folder."


async def test_a_change_of_a_file_is_in_force_and_a_bad_one_leaves_what_was(tmp_path: Path) -> None:
    catalogue = Catalogue(write(tmp_path, platform("alpha")))

    write(tmp_path, platform("alpha", concurrency=7))
    write(tmp_path, platform("beta"), "beta.yaml")
    await catalogue.look()
    changed = {slug: found.limits.concurrency for slug, found in catalogue.platforms.items()}
    write(tmp_path, platform("alpha", concurrency=0))
    (tmp_path / "beta.yaml").unlink()
    await catalogue.look()

    assert changed == {"alpha": 7, "beta": 10}
    assert {slug: found.limits.concurrency for slug, found in catalogue.platforms.items()} == {"alpha": 7}
    assert [fault.file for fault in catalogue.faults] == ["alpha.yaml"]


def test_the_wait_grows_to_its_most_and_chance_only_shortens_it() -> None:
    backoff = Backoff(first_seconds=1.0, factor=2.0, most_seconds=10.0, jitter=0.5)

    assert [backoff.wait_s(attempt, 0.0) for attempt in (1, 2, 3, 4, 5, 1000)] == [1, 2, 4, 8, 10, 10]
    assert backoff.wait_s(3, 1.0) == 2.0


def test_differences_are_told_one_by_one(tmp_path: Path) -> None:
    now = {"alpha": one(write(tmp_path, platform("alpha")))}
    then = {"alpha": one(write(tmp_path, platform("alpha", concurrency=3)))}

    assert list(compare(now, then)) == ["~ alpha: limits.concurrency: 10 → 3"]
    assert list(compare(now, {})) == ["- alpha"]
    assert list(compare({}, now)) == ["+ alpha"]


def test_a_fault_of_a_payload_names_its_place_and_never_its_value(tmp_path: Path) -> None:
    kind = one(write(tmp_path, platform("alpha"))).task_types["page"]

    faults = kind.faults({"page": 5, "secret": "hunter2"})

    assert dict(faults) == {"": "It has a property that is not known here.", "/page": "It must be of type string."}
