"""The calls of producers and workers: what is sent and how the answer is read."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from leasehold.client.calls import Call, Span, new_key, seconds
from leasehold.client.worker_models import TaskOffer, Verdict


def submit_job(
    platform: str | Sequence[str], task_type: str, payload: Mapping[str, Any], **more: Any
) -> Call[dict[str, Any]]:
    """Ask for a crawl; `job_id` among the rest is your own name for it, and sent again it is the same job."""
    slugs = platform if isinstance(platform, str) else list(platform)
    body = {"job_id": new_key(), **more, "platform": slugs, "task_type": task_type, "payload": dict(payload)}
    return Call("POST", "/v2/jobs", dict, body, harmless=True)


def get_job(job_id: str) -> Call[dict[str, Any]]:
    """One job with its parts and its history."""
    return Call("GET", _job(job_id), dict)


def explain_job(job_id: str) -> Call[dict[str, Any]]:
    """Why it is where it is."""
    return Call("GET", f"{_job(job_id)}/explain", dict)


def get_platform(slug: str) -> Call[dict[str, Any]]:
    """One platform, with what can be asked of it."""
    return Call("GET", f"/v2/platforms/{quote(slug, safe='')}", dict)


def acquire_tasks(
    platforms: Sequence[str],
    *,
    owner: str,
    task_types: Sequence[str] | None = None,
    limit: int = 1,
    ttl: Span | None = None,
    wait: Span = 0,
) -> Call[TaskOffer]:
    """Lease tasks, the most urgent first; without `ttl` they live as long as their platform's file says."""
    body: dict[str, Any] = {"owner": owner, "platforms": list(platforms), "limit": limit, "wait_seconds": seconds(wait)}
    body |= {"task_types": list(task_types)} if task_types else {}
    body |= {} if ttl is None else {"ttl_seconds": seconds(ttl)}
    return Call("POST", "/v2/tasks/acquire", TaskOffer.model_validate, body, key=new_key(), held_s=seconds(wait))


def bring_results(messages: Sequence[str]) -> Call[list[Verdict]]:
    """Results, each as JSON; durable when they are answered. To send them again is harmless: the first stands."""
    body = f'{{"items":[{",".join(messages)}]}}'
    return Call("POST", "/v2/tasks/results", _verdicts, text=("application/json", body), harmless=True)


def _verdicts(answer: Any) -> list[Verdict]:
    return [Verdict.model_validate(item) for item in answer["items"]]


def _job(job_id: str) -> str:
    return f"/v2/jobs/{quote(job_id, safe='')}"
