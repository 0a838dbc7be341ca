"""A source as its file says it."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import ip_address
from typing import Annotated, Any, Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,62}$")]


class Kind(StrEnum):
    STASHBOX = "stashbox"  # GraphQL
    THEPORNDB = "theporndb"  # REST
    RUNS = "runs"  # what runs of ours have found; nothing is fetched


class Faces(StrEnum):
    OFF = "off"
    ON = "on"


def _switch(value: Any) -> Any:
    """YAML takes a bare `off` for false."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


class Source(BaseModel):
    """Where records come from, and how it may be asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[Slug, Field(alias="source")]
    kind: Kind
    url: str
    """Where it is asked: the address of its GraphQL, or of its REST API."""
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The variable of the environment that has the key. The key itself never stands in a file like this."""
    key_file: str | None = None
    """Or the file that has it, seen from the folder of this one."""
    rate_limit: Annotated[int, Field(ge=1, le=60_000)] = 240
    """Requests in a minute at the most."""
    batch_size: Annotated[int, Field(ge=1, le=1000)] = 100
    """Records asked for at once; a source that gives less is asked for 25."""
    priority: Annotated[int, Field(ge=0, le=9)] = 4
    """Whose records are written first when there are many; higher first."""
    retry_attempts: Annotated[int, Field(ge=0, le=100)] = 5
    """How often something is asked for again before the sweep stops."""
    retry_delay_seconds: Annotated[float, Field(gt=0, le=600)] = 1.0
    """How long before the first time; twice as long each time after that, up to a minute."""
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    sweep_every_hours: Annotated[float, Field(gt=0, le=8760)] | None = None
    """How long after a sweep the next one begins by itself; it reads what has changed. Left out, somebody starts it."""
    full_every_hours: Annotated[float, Field(gt=0, le=8760)] | None = None
    """How long after a full sweep the next full one begins: it alone sees what was deleted."""
    log_interval: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Seconds between two lines of `leasehold ingest` where no terminal shows its progress."""
    enabled: bool = True
    curated: bool = False
    """Each person stands there once."""
    faces: Annotated[Faces, BeforeValidator(_switch)] = Faces.OFF
    """Whether pictures may be fetched and compared."""
    namespaces: list[Slug] | None = None
    """The sites whose profiles count; all that are known when left out."""
    answer_limit_bytes: Annotated[int, Field(ge=1024, le=1024**3)] = 32 * 1024**2

    def next_sweep(self, last_sweep: Mapping[str, Any] | None) -> datetime | None:
        """When the next one begins by itself; the first is started by somebody."""
        if not last_sweep or not self.enabled:
            return None
        waits = ((self.sweep_every_hours, "ended_at"), (self.full_every_hours, "full_at"))
        return min(
            (
                datetime.fromisoformat(last_sweep[since]) + timedelta(hours=hours)
                for hours, since in waits
                if hours is not None and last_sweep.get(since)
            ),
            default=None,
        )

    @field_validator("kind")
    @classmethod
    def _is_fetched(cls, kind: Kind) -> Kind:
        if kind is Kind.RUNS:
            raise ValueError("is stashbox or theporndb; what runs find is there by itself")
        return kind

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        return canonical(url)

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if (self.key_env is None) == (self.key_file is None):
            raise ValueError("Say where the key is: either key_env or key_file.")
        return self


def canonical(url: str) -> str:
    """One address for one source, however it is written: `?type=Scene` and `?type=JAV` are the same people."""
    if not re.match(r"https?://[^/\s@?#]+([/?#]\S*)?\Z", url, re.IGNORECASE):
        raise ValueError("must start with https:// and have no name or password in it")
    parts = urlsplit(url)
    if parts.scheme.lower() == "http" and not _is_loopback(parts.hostname or ""):
        raise ValueError("must start with https://: the key would be sent for all to read")
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme.lower()]
    port = f":{parts.port}" if parts.port not in (None, default) else ""
    return urlunsplit((parts.scheme.lower(), host + port, parts.path.rstrip("/"), "", ""))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
