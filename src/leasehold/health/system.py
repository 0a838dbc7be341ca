"""What this process is and does, for operators: versions, schema, background tasks, alerts, a mark of its settings."""

import hashlib
import platform
import time
from datetime import datetime
from uuid import UUID

import orjson
from pydantic import Field, SecretStr

from leasehold import __version__, alerts
from leasehold.background import Background
from leasehold.db import Database
from leasehold.health.checks import SQL, Health
from leasehold.settings import Settings
from leasehold.strict import Answer

_MOST_ALERTS = 50


class BackgroundTaskOut(Answer):
    name: str
    every_seconds: float = Field(description="0 for what never ends by itself.")
    is_well: bool
    failures: int = Field(description="In a row.")
    last_good_seconds: float = Field(description="Since its last good step, or since the start.")


class AlertOut(Answer):
    kind: str
    platform: str | None
    reason: str | None
    count: int
    at: datetime
    sent_at: datetime | None
    tries: int


class SystemOut(Answer):
    version: str
    python: str
    postgres: str
    schema_step: str = Field(description="The last step of the schema that was made.")
    up_seconds: float
    settings_hash: str = Field(description="Equal for two processes that are set up alike. Secrets are no part of it.")
    pools: str
    checks: dict[str, str]
    tasks: list[BackgroundTaskOut]
    unwritten: int = Field(description="Chunks of results that no writer has confirmed.")
    oldest_unwritten_seconds: float | None
    alerts_on: bool = Field(description="Whether there is an address that alerts are sent to.")
    alerts: list[AlertOut] = Field(description="Of the last day, the newest first; what was sent is soon forgotten.")


async def describe(
    db: Database, health: Health, background: Background, settings: Settings, organisation: UUID
) -> SystemOut:
    postgres, last = await health.schema()
    async with db.transaction(organisation) as conn:
        ((unwritten, oldest_s),) = await (
            await conn.execute(SQL["unwritten"], {"organisation": organisation})
        ).fetchall()
        told = await alerts.recent(conn, organisation, _MOST_ALERTS)
    now = time.monotonic()
    return SystemOut(
        version=__version__,
        python=platform.python_version(),
        postgres=postgres,
        schema_step=last,
        up_seconds=health.up_s,
        settings_hash=settings_hash(settings),
        pools=settings.pools,
        checks=await health.checks(),
        tasks=[
            BackgroundTaskOut(
                name=task.name,
                every_seconds=task.every_s,
                is_well=task.is_well,
                failures=task.failures,
                last_good_seconds=now - task.last_good,
            )
            for task in background.tasks
        ],
        unwritten=unwritten,
        oldest_unwritten_seconds=oldest_s,
        alerts_on=bool(settings.alert_url.get_secret_value()),
        alerts=[AlertOut.model_validate(one) for one in told],
    )


def settings_hash(settings: Settings) -> str:
    """Of a secret only whether there is one: a digest of it could be tried out."""
    plain = {
        name: bool(value.get_secret_value()) if isinstance(value, SecretStr) else str(value) for name, value in settings
    }
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]
