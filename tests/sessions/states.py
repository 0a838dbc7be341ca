"""States and uploads in few words, for the tests of sessions."""

import json
from pathlib import Path
from typing import Any

from leasehold.sessions import (
    Base,
    Envelope,
    Health,
    History,
    Policy,
    Received,
    Rules,
    Source,
    Start,
    Wish,
    hand_out,
    read_state,
    receive,
)

DATA = Path(__file__).parents[1] / "data/sessions"
MANIFEST: dict[str, Any] = json.loads((DATA / "chromium/MANIFEST.json").read_text("utf-8"))
KEY = b"the key of one session in tests."
EVERYTHING = Rules(allows_files=True, allows_credentials=True)
ALL = Wish(databases=True, files=True, credentials=True)
NOW = 10_000.0
State = dict[str, Any]


def sample(name: str) -> State:
    """A state that Chromium wrote, by the beginning of its file's name."""
    (file,) = (DATA / "chromium").glob(f"{name}_*.json")
    state: State = json.loads(file.read_text("utf-8"))
    return state


def sample_time(name: str) -> int:
    (t,) = [entry["t"] for key, entry in MANIFEST.items() if key.startswith(f"{name}_")]
    return round(float(t) * 1000)


def cookie(name: str, value: str = "v", **other: Any) -> dict[str, Any]:
    found = {"name": name, "value": value, "domain": "a.example", "path": "/", "expires": -1}
    return {**found, "httpOnly": False, "secure": True, "sameSite": "Lax", **other}


def state(*cookies: dict[str, Any], **local: str) -> State:
    """Cookies, and the localStorage of https://a.example."""
    items = [{"name": name, "value": value} for name, value in local.items()]
    origins = [{"origin": "https://a.example", "localStorage": items}] if items else []
    return {"cookies": list(cookies), "origins": origins}


def known(held: State) -> Base:
    return read_state(held, EVERYTHING, 0)


def send(history: History, upload: str, t: float, held: State, base: Base = Start.FRESH, **other: Any) -> Received:
    """One upload at `t` seconds; health is ok unless a test says otherwise."""
    policy = other.pop("policy", Policy(EVERYTHING))
    envelope = Envelope(upload, round(t * 1000), **{"health": Health.OK, "source": Source.CONTEXT, **other})
    return receive(history, held, envelope, base, KEY, policy)


def shown(history: History, now: float = NOW) -> dict[str, str]:
    """Cookies and localStorage keys by name, as they are handed out."""
    given = hand_out(history, now, ALL).state
    found = {one["name"]: one["value"] for one in given["cookies"]}
    return found | {item["name"]: item["value"] for one in given["origins"] for item in one["localStorage"]}
