"""What producers and workers do, in few words."""

from typing import Any

import httpx

JSON = dict[str, Any]


class Broker:
    """A caller who may do both."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def submit(self, platform: str | list[str] = "alpha", **more: Any) -> JSON:
        request = {"platform": platform, "task_type": "page", "payload": {"page": "front"}, **more}
        answer = await self.client.post("/v2/jobs", json=request)
        assert answer.status_code == 202, answer.text
        found: JSON = answer.json()
        return found

    async def job(self, job: str) -> JSON:
        answer = await self.client.get(f"/v2/jobs/{job}")
        assert answer.status_code == 200, answer.text
        found: JSON = answer.json()
        return found

    async def offer(self, *platforms: str, limit: int = 1, **more: Any) -> JSON:
        ask = {"owner": "worker", "platforms": list(platforms) or ["alpha"], "limit": limit, **more}
        answer = await self.client.post("/v2/tasks/acquire", json=ask, timeout=40)
        assert answer.status_code == 200, answer.text
        found: JSON = answer.json()
        return found

    async def take(self, *platforms: str, **more: Any) -> JSON:
        """One task on its lease."""
        (lease,) = (await self.offer(*platforms, **more))["leases"]
        found: JSON = lease
        return found

    async def bring(self, *results: Any) -> list[JSON]:
        answer = await self.client.post("/v2/tasks/results", json={"items": list(results)})
        assert answer.status_code == 202, answer.text
        items: list[JSON] = answer.json()["items"]
        return items

    async def verdicts(self, *results: JSON) -> list[str]:
        return [one["verdict"] for one in await self.bring(*results)]

    async def documents(self, job: str) -> list[Any]:
        answer = await self.client.get(f"/v2/jobs/{job}/results")
        assert answer.status_code == 200, answer.text
        return [one["document"] for one in answer.json()["items"]]

    async def books(self) -> dict[str, JSON]:
        return {one["platform"]: one for one in (await self.client.get("/v2/jobs/books")).json()["items"]}

    async def dead(self) -> list[JSON]:
        items: list[JSON] = (await self.client.get("/v2/jobs/dead-letters")).json()["items"]
        return items


def result(lease: JSON, **more: Any) -> JSON:
    """A message about the task of a lease."""
    task = lease["task"]
    names = ("job_id", "attempt", "fence", "platform", "task_type")
    return {**{name: task[name] for name in names}, "status": "success", **more}


def chunk(lease: JSON, cursor: Any, *documents: JSON, **more: Any) -> JSON:
    return result(lease, cursor=cursor, payload_chunk=list(documents), **more)


def last(lease: JSON, **more: Any) -> JSON:
    return result(lease, final=True, **more)


def failed(lease: JSON, code: str, **more: Any) -> JSON:
    return last(lease, status="failed", errors=[{"code": code, "message": "So it said.", **more}])
