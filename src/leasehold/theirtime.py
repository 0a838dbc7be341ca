"""What services of others say of time: seen from their clock, never from ours."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx


def moment(text: str) -> datetime | None:
    """A time as HTTP writes it; None for what is none."""
    try:
        told = parsedate_to_datetime(text)
    except ValueError:
        return None
    return told.astimezone(UTC) if told.tzinfo else told.replace(tzinfo=UTC)


def said_at(answer: httpx.Response) -> datetime | None:
    """When they say they answered."""
    return moment(answer.headers.get("Date", ""))


def retry_after_s(answer: httpx.Response, *, usual_s: float, longest_s: float) -> float:
    """Seconds until they may be asked again; `usual_s` where they do not say, and never longer than `longest_s`."""
    told = answer.headers.get("Retry-After", "").strip()
    if told.isascii() and told.isdigit():
        return min(float(told), longest_s)
    then, now = moment(told), said_at(answer)
    if then is None or now is None:
        return usual_s
    return min(max((then - now).total_seconds(), 0.0), longest_s)
