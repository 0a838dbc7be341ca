"""What a session promises: merged, never overwritten; handed out to the holder alone; and nothing lost between two."""

import asyncio
from typing import Any

import pytest

from tests.contracts.stage import JSON, Refused, Stage

# Spoken to directly: the SDK's own way with sessions has tests of its own.
pytestmark = pytest.mark.parametrize("stage", ["postgres-http", "mongo-http"], indirect=True)


def cookie(name: str, value: str, **more: Any) -> JSON:
    plain = {"domain": "board.example", "path": "/", "expires": -1, "httpOnly": False, "secure": True}
    return {"name": name, "value": value, **plain, "sameSite": "Lax", **more}


def state(*cookies: JSON, **storage: str) -> JSON:
    origins = [
        {"origin": "https://board.example", "localStorage": [{"name": n, "value": v} for n, v in storage.items()]}
    ]
    return {"cookies": list(cookies), "origins": origins if storage else []}


def values(given: JSON) -> dict[str, str]:
    found = {one["name"]: one["value"] for one in given["cookies"]}
    return found | {one["name"]: one["value"] for origin in given["origins"] for one in origin["localStorage"]}


@pytest.fixture(autouse=True)
async def _pool(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=0, auth_markers=["sid"])
    await stage.accounts("one", "two")


class Browser:
    """Somebody with an account on lease, and what its browser does."""

    def __init__(self, stage: Stage, lease: JSON) -> None:
        self.stage, self.lease = stage, lease
        self.account = lease["resource_id"]

    async def load(self, include: str = "") -> tuple[str, JSON]:
        answer = await self.stage.session(
            "GET", self.account, lease=self.lease, query=f"?include={include}" if include else ""
        )
        return answer.headers["etag"].strip('"'), answer.json()

    async def save(self, given: JSON, **query: Any) -> JSON:
        answer = await self.stage.session("PUT", self.account, lease=self.lease, body=given, query=asked(query))
        found: JSON = answer.json()
        return found


def asked(query: dict[str, Any]) -> str:
    return "?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else ""


@pytest.fixture
async def browser(stage: Stage) -> Browser:
    return Browser(stage, await stage.acquire())


async def test_the_first_upload_is_handed_out_as_it_is(browser: Browser) -> None:
    told = await browser.save(state(cookie("sid", "s1"), token="t1"), base="fresh")
    version, given = await browser.load()

    assert (told["version"], told["set"], version) == (1, 2, "1")
    assert values(given) == {"sid": "s1", "token": "t1"}


async def test_an_account_without_a_session_says_so(browser: Browser) -> None:
    with pytest.raises(Refused) as refused:
        await browser.load()

    assert (refused.value.status, refused.value.type) == (404, "session-unknown")


async def test_only_an_upload_that_names_its_base_deletes(browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), cookie("pref", "p"), cookie("more", "m")), base="fresh")
    version, _ = await browser.load()

    unknown = await browser.save(state(cookie("sid", "s1"), cookie("more", "m")))
    named = await browser.save(state(cookie("sid", "s1"), cookie("more", "m")), base=version)

    assert (unknown["deleted"], unknown["absent_kept"]) == (0, 1)
    assert named["deleted"] == 1
    assert values((await browser.load())[1]) == {"sid": "s1", "more": "m"}


async def test_what_others_wrote_meanwhile_is_not_deleted_by_who_never_saw_it(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")
    version, _ = await browser.load()
    await stage.operator_saves(browser.account, state(cookie("extra", "x")))

    first = await browser.save(state(cookie("sid", "s2")), base=version)
    again = await browser.save(state(cookie("sid", "s2"), cookie("mine", "1")), base=first["version"])

    assert again["deleted"] == 0
    assert values((await browser.load())[1]) == {"sid": "s2", "extra": "x", "mine": "1"}


async def test_a_stale_echo_does_not_win(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), pref="old"), base="fresh")
    version, _ = await browser.load()
    await stage.operator_saves(browser.account, state(cookie("sid", "s2")))

    told = await browser.save(state(cookie("sid", "s1"), pref="new"), base=version)

    assert (told["set"], told["stale_echo"]) == (1, 1)
    assert values((await browser.load())[1]) == {"sid": "s2", "pref": "new"}


async def test_many_uploads_at_once_lose_nothing(browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")

    await asyncio.gather(*(browser.save(state(cookie(f"c{n}", "v"))) for n in range(8)))

    assert set(values((await browser.load())[1])) == {"sid", *(f"c{n}" for n in range(8))}


async def test_the_same_upload_twice_is_one(browser: Browser) -> None:
    first = await browser.save(state(cookie("sid", "s1")), base="fresh", upload_id="u1")
    again = await browser.save(state(cookie("sid", "s1")), base="fresh", upload_id="u1")

    assert (first["version"], again["version"], again["set"]) == (1, 1, 0)


async def test_the_base_that_a_repeat_is_told_is_still_what_its_context_holds(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), cookie("a", "1"), cookie("b", "1")), base="fresh")
    version, _ = await browser.load()
    held = state(cookie("sid", "s2"), cookie("a", "1"), cookie("b", "1"))
    await browser.save(held, base=version, upload_id="u1")
    await stage.operator_saves(browser.account, state(cookie("extra", "x")))

    again = await browser.save(held, base=version, upload_id="u1")
    told = await browser.save(held, base=again["version"])

    assert (told["deleted"], told["held"]) == (0, 0)
    assert "extra" in values((await browser.load())[1])


async def test_a_dry_run_tells_and_changes_nothing(browser: Browser) -> None:
    told = await browser.save(state(cookie("sid", "s1")), base="fresh", dry_run="true")

    assert (told["version"], told["set"]) == (1, 1)
    with pytest.raises(Refused):
        await browser.load()


async def test_an_upload_that_was_logged_out_changes_nothing_and_is_kept_aside(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), cookie("dev", "d")), base="fresh")
    version, _ = await browser.load()

    told = await browser.save(state(cookie("anon", "1")), base=version, health="logged_out", upload_id="bad")
    (listed,) = (await stage.way.send("GET", "/v2/sessions?site=board"))["items"]

    assert (told["version"], told["held"]) == (1, 3)
    assert listed["branches"] == ["bad"]
    assert values((await browser.load())[1]) == {"sid": "s1", "dev": "d"}


async def test_what_is_put_aside_did_not_make_the_version_it_lies_beside(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh", upload_id="good")
    version, _ = await browser.load()
    path = f"/v2/sessions/{browser.account}/versions"
    before = (await stage.way.send("GET", path))["items"]

    await browser.save(state(cookie("anon", "1")), base=version, health="logged_out", upload_id="bad")
    (after,) = (await stage.way.send("GET", path))["items"]

    assert {**after, "branches": []} == before[0]
    assert after["branches"] == ["bad"]


async def test_an_aside_can_be_taken_in_or_dropped(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")
    version, _ = await browser.load()
    for upload in ("u1", "u2"):
        await browser.save(
            state(cookie("sid", "s1"), cookie(upload, "1")), base=version, health="logged_out", upload_id=upload
        )
    path = f"/v2/sessions/{browser.account}/asides"

    await stage.way.send("POST", f"{path}/u1", {"decision": "take"})
    await stage.way.send("POST", f"{path}/u2", {"decision": "drop"})
    (listed,) = (await stage.way.send("GET", "/v2/sessions"))["items"]

    assert listed["branches"] == []
    assert values((await browser.load())[1]) == {"sid": "s1", "u1": "1"}


async def test_bad_entries_are_left_out_one_by_one(browser: Browser) -> None:
    told = await browser.save(
        state(cookie("ok", "1"), cookie("bad", "a;b"), cookie("__Host-x", "1", domain=".board.example")), base="fresh"
    )

    assert [one["reason"] for one in told["rejected"]] == ["chars", "host-prefix"]
    assert "a;b" not in str(told)
    assert values((await browser.load())[1]) == {"ok": "1"}


async def test_a_session_is_for_the_holder_of_its_account_alone(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")
    other = Browser(stage, await stage.acquire(owner="bob"))
    other.account = browser.account

    with pytest.raises(Refused) as of_another:
        await other.load()
    with pytest.raises(Refused) as without:
        await stage.session("GET", browser.account, lease=None, is_collector=True)

    assert (of_another.value.status, of_another.value.type) == (403, "permission-denied")
    assert (without.value.status, without.value.document["permission"]) == (403, "sessions.manage")


@pytest.mark.parametrize("how", ["expired", "released", "revoked"])
async def test_a_lease_that_ended_neither_reads_nor_writes(stage: Stage, browser: Browser, how: str) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")
    if how == "expired":
        await stage.passes(121)
    elif how == "released":
        await stage.release(browser.lease)
    else:
        await stage.revoke(browser.lease)

    with pytest.raises(Refused) as reading:
        await browser.load()
    with pytest.raises(Refused) as writing:
        await browser.save(state(cookie("sid", "late")))

    assert (reading.value.status, reading.value.reason) == (writing.value.status, writing.value.reason) == (410, how)
    assert values((await stage.session("GET", browser.account, lease=None)).json()) == {"sid": "s1"}


async def test_a_session_goes_along_with_the_account(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")
    await stage.release(browser.lease)

    answer = await stage.ask(count=2, include_session=True)

    given = {lease["account"]["username"]: lease for lease in answer["leases"]}
    held = browser.lease["account"]["username"]
    assert given[held]["session"]["version"] == 1
    assert values(given[held]["session"]["storage_state"]) == {"sid": "s1"}
    assert given[held]["account"]["has_session"] is True
    (none,) = [lease for name, lease in given.items() if name != held]
    assert (none["session"], none["account"]["has_session"]) == (None, False)


async def test_what_went_along_is_the_base_of_the_next_upload(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), cookie("a", "1"), cookie("b", "1")), base="fresh")
    await stage.release(browser.lease)
    (lease,) = (await stage.ask(include_session=True, account_id=browser.account))["leases"]
    again = Browser(stage, lease)

    told = await again.save(state(cookie("sid", "s1"), cookie("a", "1")), base=lease["session"]["version"])

    assert told["deleted"] == 1


async def test_versions_can_be_listed_and_rolled_back(stage: Stage, browser: Browser) -> None:
    for value in ("s1", "s2", "s3"):
        await browser.save(state(cookie("sid", value)))
    path = f"/v2/sessions/{browser.account}"

    kept = (await stage.way.send("GET", f"{path}/versions"))["items"]
    told = await stage.way.send("POST", f"{path}/rollback", {"version": 1})

    assert [one["version"] for one in kept] == [3, 2, 1]
    assert kept[0]["written"]["owner"] == "ann"
    assert told["version"] == 4
    assert values((await browser.load())[1]) == {"sid": "s1"}


async def test_a_version_that_is_not_kept_is_not_found(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")))

    with pytest.raises(Refused) as refused:
        await stage.way.send("POST", f"/v2/sessions/{browser.account}/rollback", {"version": 9})

    assert (refused.value.status, refused.value.type) == (404, "session-unknown")


async def test_old_versions_are_let_go(stage: Stage, browser: Browser) -> None:
    for number in range(25):
        await browser.save(state(cookie("sid", f"s{number}")))

    kept = (await stage.way.send("GET", f"/v2/sessions/{browser.account}/versions?limit=100"))["items"]

    assert len(kept) <= 21
    assert kept[0]["version"] == 25


async def test_what_one_upload_did_can_be_taken_out(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh", upload_id="good")
    await browser.save(state(cookie("sid", "evil"), cookie("new", "1")), base="fresh", upload_id="bad")
    await stage.way.send("POST", f"/v2/sessions/{browser.account}/undo", {"upload_id": "bad"})

    entries = (await stage.way.send("GET", f"/v2/sessions/{browser.account}/entries"))["items"]

    assert values((await browser.load())[1]) == {"sid": "s1"}
    assert [(one["upload_id"], one["is_marker"]) for one in entries] == [("good", True)]


@pytest.mark.parametrize(("path", "body"), [("undo", {"upload_id": "no"}), ("asides/no", {"decision": "take"})])
async def test_an_upload_there_is_not_is_not_found(stage: Stage, browser: Browser, path: str, body: JSON) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")

    with pytest.raises(Refused) as refused:
        await stage.way.send("POST", f"/v2/sessions/{browser.account}/{path}", body)

    assert (refused.value.status, refused.value.type) == (404, "session-unknown")


async def test_a_deleted_session_is_gone_and_its_numbers_are_not_used_again(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1")), base="fresh")
    await stage.way.send("DELETE", f"/v2/sessions/{browser.account}")

    with pytest.raises(Refused):
        await browser.load()
    told = await browser.save(state(cookie("sid", "s2")), base="fresh")

    assert told["version"] == 2
    assert (await stage.account(browser.account))["has_session"] is True


async def test_an_operator_may_replace_the_whole(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), token="t"), base="fresh")

    await stage.operator_saves(browser.account, state(cookie("only", "1")), mode="replace")

    assert values((await browser.load())[1]) == {"only": "1"}


async def test_a_forked_token_is_told_to_the_operator(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), cookie("dev", "d")), base="fresh")
    version, _ = await browser.load()
    await browser.save(state(cookie("sid", "mine"), cookie("dev", "d")), base=version, health="ok")
    await stage.release(browser.lease)
    other = Browser(stage, await stage.acquire(account_id=browser.account, owner="bob"))

    await other.save(state(cookie("sid", "theirs"), cookie("dev", "d")), base=version, health="ok")
    (listed,) = (await stage.way.send("GET", "/v2/sessions"))["items"]

    assert listed["needs_exclusive"] is True
    assert listed["forked"] == ["cookie board.example/ sid"]


async def test_a_moved_site_hands_its_sessions_out_on_the_new_address(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "s1"), cookie("cf_clearance", "x"), token="t"), base="fresh")

    moved = await stage.way.send("POST", "/v2/sites/board/moves", {"to": "board2.example"})
    version, given = await browser.load()
    told = await browser.save(given, base=version)
    back = await stage.way.send("POST", "/v2/sites/board/moves", {"to": "board.example"})

    assert moved["affected"]["sessions"] == back["affected"]["sessions"] == 1
    assert {one["name"]: one["domain"] for one in given["cookies"]}["sid"] == "board2.example"
    assert [one["origin"] for one in given["origins"]] == ["https://board2.example"]
    assert (told["set"], told["deleted"]) == (0, 0)
    assert {one["domain"] for one in (await browser.load())[1]["cookies"]} == {"board.example"}


async def test_every_hand_out_is_in_the_audit_and_shows_no_value(stage: Stage, browser: Browser) -> None:
    await browser.save(state(cookie("sid", "LHCANARY")), base="fresh")
    await browser.load()

    events = (await stage.way.send("GET", f"/v2/audit?subject={browser.account}"))["items"]

    assert [event["action"] for event in events][:2] == ["session.disclosed", "session.merged"]
    assert "LHCANARY" not in str(events)
