"""What a run pays for is tried again by the run alone: nobody spends its money beside its books."""

from uuid import uuid4

from tests.runs.conftest import World
from tests.runs.shop import PRICE


async def test_a_job_of_a_run_is_not_retried_by_itself(it: World) -> None:
    it.shop.bad = {3}
    run = await it.started()
    done = await it.over(run)
    (failed,) = await it.items(run, status="failed")

    refused = await it.client.post(f"/v2/jobs/{failed['job_id']}/retry")

    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/job-of-run")
    assert refused.json()["run_id"] == run
    assert (await it.client.get(f"/v2/jobs/{failed['job_id']}")).json()["status"] == "failed"
    assert (done["actual_cost_micros"], sum(it.shop.asked.values())) == (44 * PRICE, 45)


async def test_a_replay_leaves_the_letters_of_runs_alone_and_says_why(it: World) -> None:
    it.shop.bad = {3, 7}
    run = await it.started()
    await it.over(run)

    tried = await it.client.post("/v2/jobs/dead-letters/replay", json={"filter": {"platform": "amazon"}})

    outcome = tried.json()
    assert (outcome["matched"], outcome["replayed"], len(outcome["skipped"])) == (2, 0, 2)
    assert all(f"/v2/runs/{run}/retry" in one["detail"] for one in outcome["skipped"])
    assert it.database.rows("SELECT count(*) FROM task WHERE status = 'failed'") == [(2,)]


async def test_the_job_an_item_failed_as_before_stays_with_the_run(it: World) -> None:
    it.shop.bad = {3}
    run = await it.started()
    await it.over(run)
    (failed,) = await it.items(run, status="failed")
    it.shop.bad.clear()
    await it.client.post(f"/v2/runs/{run}/retry", json={})
    await it.over(run)

    refused = await it.client.post(f"/v2/jobs/{failed['job_id']}/retry")

    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/job-of-run")
    assert sum(it.shop.asked.values()) == 46


async def test_a_producer_may_name_runs_of_its_own(it: World) -> None:
    wish = {"platform": "youtube", "task_type": "video", "payload": {"video_id": "dQw4w9WgXcQ"}}
    job = f"mine-{uuid4().hex}"
    await it.client.post("/v2/jobs", json={**wish, "job_id": job, "run_id": "nightly"})
    await it.client.post(f"/v2/jobs/{job}/cancel")

    assert (await it.client.post(f"/v2/jobs/{job}/retry")).status_code == 200
