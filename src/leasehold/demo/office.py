"""Who runs the place in the demo: an operator at the API, for what has no call in the SDK."""

from typing import Any

import httpx


class Office:
    """The API with an admin's token."""

    def __init__(self, address: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.AsyncClient(base_url=address, headers=headers, trust_env=False, timeout=60.0)

    async def get(self, path: str, **params: Any) -> Any:
        return _read(await self._http.get(path, params=params))

    async def post(self, path: str, body: Any = None) -> Any:
        return _read(await self._http.post(path, json=body))

    async def patch(self, path: str, body: Any) -> Any:
        return _read(await self._http.patch(path, json=body))

    async def token(self, name: str, role: str) -> str:
        return str((await self.post("/v2/tokens", {"name": name, "role": role}))["token"])

    async def close(self) -> None:
        await self._http.aclose()


def _read(answer: httpx.Response) -> Any:
    answer.raise_for_status()
    return answer.json()
