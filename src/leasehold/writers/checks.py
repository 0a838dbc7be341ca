"""Whether a Redis can be worked with: it answers, is new enough, takes writes, and throws nothing away."""

from typing import Any

from redis.exceptions import AuthenticationError, RedisError

from leasehold.writers.stream import connect

# The first that gives what a dead reader had taken to another.
OLDEST = (6, 2)


async def check(url: str) -> tuple[bool, str]:
    """Whether all is well, and what there is to say. Nothing is written."""
    try:
        client = connect(url)
    except ValueError:
        return False, "LEASEHOLD_REDIS_URL is no address of a Redis. Write it as redis://host:port/0."
    try:
        told: dict[str, Any] = await client.info()
    except AuthenticationError:
        return False, "LEASEHOLD_REDIS_URL: Redis does not know this user, or not with this password."
    except (RedisError, OSError) as error:
        why = f"Redis does not answer ({type(error).__name__})"
        return False, f"LEASEHOLD_REDIS_URL: {why}. See that it runs there, and that its password is in the address."
    finally:
        await client.aclose()
    wrong = _wrong(told)
    return wrong is None, wrong or f"{told['redis_version']} (6.2 or newer is needed), evicts nothing{_advice(told)}"


def _wrong(told: dict[str, Any]) -> str | None:
    version = str(told["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        return f"{version} is too old: 6.2 or newer is needed."
    if told.get("role") not in (None, "master"):
        return "is a replica and takes no writes. Put the address of its master into LEASEHOLD_REDIS_URL."
    # Where a provider keeps it to itself, there is nothing to be said of it.
    policy = told.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        how = "Set `maxmemory-policy noeviction` in redis.conf, or give the results a Redis of their own."
        return f"throws away what it has when memory is short (maxmemory-policy {policy}). {how}"
    return None


def _advice(told: dict[str, Any]) -> str:
    if told.get("aof_enabled", 1):
        return ""
    return (
        "; appendonly is off: what is in the stream when Redis ends is put into it again a minute later. "
        "`appendonly yes` saves that minute"
    )
