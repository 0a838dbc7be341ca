"""What a pool of accounts promises: who is chosen, and what each end of a lease does to an account."""

import asyncio

import pytest

from tests.contracts.stage import Refused, Stage


async def names(stage: Stage, count: int) -> list[str]:
    """Who is given out next, one after the other."""
    return [(await stage.acquire())["account"]["username"] for _ in range(count)]


async def test_higher_priority_comes_first_then_the_longest_idle(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("old", "new")
    await stage.accounts("first", priority=5)
    for username in ("old", "new"):
        await stage.release(await stage.acquire(account_id=(await stage.account_named(username))["id"]))

    assert await names(stage, 3) == ["first", "old", "new"]


async def test_longest_idle_counts_from_when_it_was_leased_not_given_back(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("zombie", "worker")
    zombie = await stage.acquire(account_id=(await stage.account_named("zombie"))["id"], ttl_seconds=600)
    worker = await stage.acquire(account_id=(await stage.account_named("worker"))["id"], ttl_seconds=600)
    await stage.release(worker)
    await stage.release(zombie)

    assert await names(stage, 2) == ["zombie", "worker"]


async def test_labels_narrow_the_choice(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("plain")
    await stage.accounts("german", labels={"region": "de", "tier": "gold"})

    lease = await stage.acquire(labels={"region": "de"})
    waiting = await stage.waiting(labels={"region": "fr"})

    assert lease["account"]["username"] == "german"
    assert (waiting["reason"], waiting["counts"]["active"]) == ("none_match", 0)
    assert (await stage.waiting(labels={"region": "de"}))["reason"] == "all_leased"


async def test_an_account_can_be_pinned(stage: Stage) -> None:
    await stage.site()
    _, second = await stage.accounts("one", "two")

    lease = await stage.acquire(account_id=second["id"])

    assert lease["resource_id"] == second["id"]
    assert (await stage.waiting(account_id=second["id"]))["reason"] == "all_leased"
    assert (await stage.waiting(account_id="acct_" + "0" * 32))["reason"] == "none_match"


async def test_several_are_given_all_or_none(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one", "two", "three")
    await stage.acquire()

    waiting = await stage.waiting(count=3)
    both = await stage.ask(count=2)

    assert (waiting["reason"], waiting["counts"]) == (
        "all_leased",
        {"active": 2, "using": 1, "cooling": 0, "inactive": 0, "blocked": 0},
    )
    assert len({lease["resource_id"] for lease in both["leases"]}) == 2


async def test_a_site_that_is_not_there_is_refused(stage: Stage) -> None:
    with pytest.raises(Refused) as refused:
        await stage.ask("nowhere")

    assert (refused.value.status, refused.value.type) == (404, "site-unknown")


async def test_the_cap_of_a_site_is_never_passed(stage: Stage) -> None:
    await stage.site(max_concurrent_accounts=3)
    await stage.accounts(*(f"a{n}" for n in range(10)))

    answers = await asyncio.gather(*(stage.ask(owner=f"o{n}") for n in range(20)))

    leases = [lease for answer in answers for lease in answer["leases"]]
    reasons = {answer["waiting"]["reason"] for answer in answers if answer["waiting"]}
    assert (len(leases), reasons) == (3, {"site_capped"})
    await stage.release(leases[0])
    assert len((await stage.ask(count=1))["leases"]) == 1
    assert (await stage.waiting())["reason"] == "site_capped"


async def test_a_lease_that_ran_out_does_not_count_against_the_cap(stage: Stage) -> None:
    await stage.site(max_concurrent_accounts=1)
    await stage.accounts("one", "two")
    await stage.acquire()
    await stage.passes(121)

    assert await stage.acquire()


async def test_after_use_an_account_cools_down_as_the_site_says(stage: Stage) -> None:
    await stage.site(cooldown_seconds=30)
    await stage.accounts("one")

    released = await stage.release(await stage.acquire())

    assert released["resource"]["state"] == "cooling"
    waiting = await stage.waiting()
    assert waiting["reason"] == "cooling"
    assert waiting["next_available_at"] == released["resource"]["cooling_until"]
    assert 1 <= waiting["retry_after_seconds"] <= 30
    await stage.passes(31)
    assert (await stage.account(released["resource"]))["state"] == "active"
    assert await stage.acquire()


async def test_failures_climb_a_ladder_and_a_success_steps_down_one(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.accounts("one")
    rungs = []
    for outcome, rest in (("failed", 60), ("failed", 300), ("failed", 900), ("ok", 0), ("failed", 900)):
        account = (await stage.release(await stage.acquire(), outcome))["resource"]
        rungs.append(account["consecutive_failures"])
        if rest:
            await stage.passes(rest - 5)
            assert (await stage.account(account))["state"] == "cooling"
        await stage.passes(6)

    assert rungs == [1, 2, 3, 2, 3]


async def test_a_rate_limit_rests_as_long_as_it_says(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.accounts("one")

    account = (await stage.release(await stage.acquire(), "rate_limited", cooldown_seconds=1000))["resource"]

    assert (account["state"], account["consecutive_failures"]) == ("cooling", 0)
    await stage.passes(990)
    assert (await stage.account(account))["state"] == "cooling"
    await stage.passes(11)
    assert (await stage.account(account))["state"] == "active"


async def test_a_rate_limit_that_says_nothing_climbs_the_ladder(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.accounts("one")

    account = (await stage.release(await stage.acquire(), "rate_limited"))["resource"]

    assert (account["state"], account["consecutive_failures"]) == ("cooling", 1)


async def test_a_blocked_account_is_not_given_out_until_an_operator_says_so(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.accounts("one")

    account = (await stage.release(await stage.acquire(), "blocked", reason="suspended by the site"))["resource"]

    assert (account["state"], account["blocked_reason"]) == ("blocked", "suspended by the site")
    await stage.passes(1_000_000)
    assert (await stage.waiting())["reason"] == "blocked"
    assert (await stage.change(account, state="active"))["on_probation"]
    assert await stage.acquire()


@pytest.mark.parametrize("outcome", ["failed", "blocked"])
async def test_on_probation_one_bad_end_blocks_again(stage: Stage, outcome: str) -> None:
    await stage.site(breaker_min_accounts=100)
    (account,) = await stage.accounts("one")
    await stage.change(account, state="blocked")
    await stage.change(account, state="active")

    account = (await stage.release(await stage.acquire(), outcome))["resource"]

    assert (account["state"], account["on_probation"]) == ("blocked", False)


async def test_on_probation_one_good_end_is_the_way_back(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    (account,) = await stage.accounts("one")
    await stage.change(account, state="blocked")
    await stage.change(account, state="active")

    account = (await stage.release(await stage.acquire()))["resource"]

    assert (account["state"], account["on_probation"]) == ("active", False)
    again = (await stage.release(await stage.acquire(), "failed"))["resource"]
    assert again["state"] == "cooling"


async def test_a_site_may_try_blocked_accounts_again_by_itself(stage: Stage) -> None:
    await stage.site(probation_after_seconds=3600, breaker_min_accounts=100)
    await stage.accounts("one")
    account = (await stage.release(await stage.acquire(), "blocked"))["resource"]
    await stage.passes(3590)
    assert (await stage.account(account))["state"] == "blocked"
    await stage.passes(11)

    lease = await stage.acquire()

    assert lease["account"]["on_probation"]


async def test_a_logged_out_account_stays_active_and_needs_a_login(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.accounts("one")

    account = (await stage.release(await stage.acquire(), "logged_out"))["resource"]
    after = (await stage.release(await stage.acquire()))["resource"]

    assert (account["state"], account["needs_login"]) == ("active", True)
    assert not after["needs_login"]


async def test_refused_credentials_make_an_account_inactive(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.accounts("one")

    account = (await stage.release(await stage.acquire(), "invalid_credentials"))["resource"]

    assert (account["state"], account["last_outcome"]) == ("inactive", "invalid_credentials")
    assert (await stage.waiting())["reason"] == "blocked"


async def test_an_outcome_there_is_not_is_refused(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    lease = await stage.acquire()

    for outcome in ("fine", "gone", "OK"):
        with pytest.raises(Refused) as refused:
            await stage.release(lease, outcome)
        assert (refused.value.status, refused.value.document["errors"][0]["pointer"]) == (422, "/outcome")

    assert await stage.beat(lease)


async def test_an_unclean_end_rests_for_the_reclaim_delay_and_counts(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=100)
    await stage.accounts("one")
    lease = await stage.acquire()
    await stage.passes(121)

    resting = await stage.account(lease)
    waiting = await stage.waiting()

    assert (resting["state"], resting["unclean_ends"]) == ("cooling", 1)
    assert (waiting["reason"], waiting["next_available_at"]) == ("cooling", resting["cooling_until"])
    await stage.passes(100)
    assert (await stage.acquire())["account"]["unclean_ends"] == 1


async def test_an_unclean_end_needs_no_reaper(stage: Stage) -> None:
    await stage.home.app.state.background.stop()
    await stage.site(reclaim_delay_seconds=10)
    await stage.accounts("one")
    first = await stage.acquire()
    await stage.passes(121)
    assert (await stage.waiting())["reason"] == "cooling"
    await stage.passes(10)

    second = await stage.acquire()

    assert second["fence"] > first["fence"]


async def test_repeated_unclean_ends_set_an_account_aside(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=0, quarantine_after_unclean=2)
    await stage.accounts("one")
    for _ in range(2):
        lease = await stage.acquire()
        await stage.passes(121)

    account = await stage.account(lease)

    assert (account["state"], account["unclean_ends"]) == ("blocked", 2)
    assert "unclean" in account["blocked_reason"]
    assert (await stage.waiting())["reason"] == "blocked"


async def test_a_clean_end_forgets_unclean_ones(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=0, quarantine_after_unclean=2, breaker_min_accounts=100)
    await stage.accounts("one")
    await stage.acquire()
    await stage.passes(121)

    account = (await stage.release(await stage.acquire(), "logged_out"))["resource"]

    assert account["unclean_ends"] == 0


async def test_reclaim_books_what_ran_out(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one", "two", "three")
    for _ in range(2):
        await stage.acquire(ttl_seconds=5)
    await stage.acquire(ttl_seconds=600)
    await stage.passes(6)

    first = await stage.way.send("POST", "/v2/accounts/reclaim", {"site": "board"})
    second = await stage.way.send("POST", "/v2/accounts/reclaim", {})

    assert (first, second) == ({"reclaimed": 2}, {"reclaimed": 0})


async def test_when_most_accounts_fail_the_site_is_paused_and_they_are_forgiven(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=5, breaker_percent=60)
    accounts = await stage.accounts(*(f"a{n}" for n in range(5)))
    leases = [await stage.acquire() for _ in range(5)]
    await stage.release(leases[0])
    for lease, outcome in zip(leases[1:3], ("failed", "blocked"), strict=True):
        await stage.release(lease, outcome)
    assert not (await stage.way.send("GET", "/v2/sites/board"))["paused"]

    last = await stage.release(leases[3], "failed")

    site = await stage.way.send("GET", "/v2/sites/board")
    assert site["paused"]
    assert site["pause_reason"].startswith("breaker: 3 of 5 accounts failed within 600 s")
    assert last["resource"]["state"] == "active"
    states = [await stage.account(account) for account in accounts]
    assert {(one["state"], one["consecutive_failures"], one["blocked_reason"]) for one in states} <= {
        ("active", 0, None),
        ("using", 0, None),
    }
    assert (await stage.waiting())["reason"] == "paused"
    # What was still under way when the site was found to be at fault is its fault, too.
    assert (await stage.release(leases[4], "blocked"))["resource"]["state"] == "active"
    await stage.way.send("POST", "/v2/sites/board/resume")
    assert await stage.acquire()


async def test_too_few_accounts_do_not_trip_the_breaker(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=5)
    await stage.accounts("one", "two", "three", "four")

    for lease in [await stage.acquire() for _ in range(4)]:
        await stage.release(lease, "failed")

    assert not (await stage.way.send("GET", "/v2/sites/board"))["paused"]


async def test_failures_of_long_ago_do_not_trip_the_breaker(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=5, breaker_window_seconds=100)
    await stage.accounts(*(f"a{n}" for n in range(5)))
    leases = [await stage.acquire(ttl_seconds=3600) for _ in range(5)]

    for lease in leases:
        await stage.release(lease, "failed")
        await stage.passes(60)

    assert not (await stage.way.send("GET", "/v2/sites/board"))["paused"]


async def test_of_a_large_pool_those_in_use_are_judged(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=5)
    await stage.accounts(*(f"a{n}" for n in range(40)))
    leases = (await stage.ask(count=20))["leases"]

    for lease in leases:
        await stage.release(lease, "failed")

    assert (await stage.way.send("GET", "/v2/sites/board"))["paused"]


async def test_nothing_of_a_paused_site_is_given(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one")
    await stage.way.send("POST", "/v2/sites/board/pause", {"reason": "a new login page"})

    waiting = await stage.waiting()

    assert waiting["reason"] == "paused"
    assert "a new login page" in waiting["detail"]


async def test_explain_says_why_in_a_sentence(stage: Stage) -> None:
    await stage.site(max_concurrent_accounts=2, breaker_min_accounts=100)
    await stage.accounts(*(f"a{n}" for n in range(6)))
    ends = ["failed", "blocked", "invalid_credentials"]
    for outcome in ends:
        await stage.release(await stage.acquire(), outcome)
    await stage.acquire(owner="ann")
    await stage.acquire(owner="bob")

    told = await stage.explain()

    assert told["sentence"] == "No account for board: 2 of 6 in use (cap 2), 1 cooling, 1 blocked, 1 inactive, 1 free."
    assert (told["cap"], told["holders"]) == (2, ["ann", "bob"])
    assert told["counts"]["using"] == 2
    assert told["next_available_at"] is not None


async def test_a_change_of_the_secret_is_what_the_next_holder_gets(stage: Stage) -> None:
    await stage.site()
    (account,) = await stage.accounts("one")

    await stage.change(account, secret={"password": "LHCANARYnew", "totp": {"seed": "x"}})

    assert (await stage.acquire())["account"]["secret"] == {"password": "LHCANARYnew", "totp": {"seed": "x"}}


async def test_an_account_in_use_cannot_be_deleted(stage: Stage) -> None:
    await stage.site()
    (account,) = await stage.accounts("one")
    lease = await stage.acquire()

    with pytest.raises(Refused) as refused:
        await stage.way.send("DELETE", f"/v2/accounts/{account['id']}")

    assert (refused.value.status, refused.value.type, refused.value.document["lease"]) == (
        409,
        "account-in-use",
        lease["id"],
    )
    await stage.release(lease)
    assert await stage.way.send("DELETE", f"/v2/accounts/{account['id']}") is None
    with pytest.raises(Refused) as gone:
        await stage.account(account)
    assert gone.value.status == 404


async def test_an_account_whose_lease_ran_out_can_be_deleted(stage: Stage) -> None:
    await stage.site()
    (account,) = await stage.accounts("one")
    await stage.acquire()
    await stage.passes(121)

    await stage.way.send("DELETE", f"/v2/accounts/{account['id']}")

    assert await stage.leases() == []


async def test_a_name_stands_once_at_a_site(stage: Stage) -> None:
    await stage.site()
    await stage.site("shop")
    (first,) = await stage.accounts("one")
    await stage.accounts("one", site="shop")

    with pytest.raises(Refused) as refused:
        await stage.accounts("one")

    assert (refused.value.status, refused.value.type) == (409, "account-exists")
    assert refused.value.document["account"] == first["id"]


async def test_two_who_make_the_same_account_make_one(stage: Stage) -> None:
    await stage.site()

    made = await asyncio.gather(*(stage.accounts("one") for _ in range(4)), return_exceptions=True)

    refusals = [one for one in made if isinstance(one, Refused)]
    assert [refusal.type for refusal in refusals] == ["account-exists"] * 3


async def test_a_repeated_create_makes_one(stage: Stage) -> None:
    await stage.site()
    body = {"site": "board", "username": "one", "secret": {}}

    first = await stage.way.send("POST", "/v2/accounts", body, "k1")
    again = await stage.way.send("POST", "/v2/accounts", body, "k1")

    assert first == again


async def test_accounts_are_listed_and_filtered(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.site("shop")
    await stage.accounts("ann", "bob", labels={"region": "de"})
    await stage.accounts("cem", site="shop", labels={"region": "de", "tier": "gold"})
    await stage.release(await stage.acquire(), "blocked")

    async def found(query: str) -> list[str]:
        answer = await stage.way.send("GET", f"/v2/accounts{query}")
        return [account["username"] for account in answer["items"]]

    assert await found("") == ["ann", "bob", "cem"]
    assert await found("?site=board") == ["ann", "bob"]
    assert await found("?state=blocked") == ["ann"]
    assert await found("?label=region:de&label=tier:gold") == ["cem"]
    assert await found("?q=O") == ["bob"]


async def test_accounts_are_listed_page_by_page(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("a", "b", "c")

    seen, cursor = [], ""
    while True:
        page = await stage.way.send("GET", f"/v2/accounts?limit=1{cursor}")
        seen += [account["username"] for account in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"

    assert seen == ["a", "b", "c"]


async def test_stats_count_by_state(stage: Stage) -> None:
    await stage.site(breaker_min_accounts=100)
    await stage.site("shop")
    await stage.accounts("a", "b", "c")
    await stage.accounts("d", site="shop")
    await stage.release(await stage.acquire(), "failed")
    await stage.acquire()

    all_of_it = await stage.way.send("GET", "/v2/accounts/stats")
    one = await stage.way.send("GET", "/v2/accounts/stats?site=shop")

    assert (all_of_it["total"], all_of_it["active"], all_of_it["using"], all_of_it["cooling"]) == (4, 2, 1, 1)
    assert all_of_it["sites"]["board"]["using"] == 1
    assert (one["total"], one["active"]) == (1, 1)


async def test_an_import_makes_and_updates(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("ann", labels={"region": "de"}, priority=3)
    items = [
        {"site": "board", "username": "ann", "secret": {"password": "LHCANARYnew"}},
        {"site": "board", "username": "bob", "secret": {"password": "x"}, "priority": 9},
        {"site": "nowhere", "username": "x", "secret": {}},
        {"site": "board", "username": "", "secret": {}},
        "nonsense",
    ]

    answer = await stage.way.send("POST", "/v2/accounts/import", {"items": items})

    assert (answer["created"], answer["updated"]) == (1, 1)
    assert [rejected["line"] for rejected in answer["rejected"]] == [3, 4, 5]
    ann = await stage.account_named("ann")
    assert (ann["labels"], ann["priority"]) == ({"region": "de"}, 3)
    lease = await stage.acquire(account_id=ann["id"])
    assert lease["account"]["secret"] == {"password": "LHCANARYnew"}


async def test_a_revealed_secret_is_in_the_audit(stage: Stage) -> None:
    await stage.site()
    (account,) = await stage.accounts("one")

    answer = await stage.way.send("POST", f"/v2/accounts/{account['id']}/reveal")

    assert answer == {"secret": {"password": "LHCANARY of one"}}
    events = (await stage.way.send("GET", f"/v2/audit?subject={account['id']}"))["items"]
    assert events[0]["action"] == "account.revealed"


async def test_a_site_with_accounts_is_not_deleted(stage: Stage) -> None:
    await stage.site()
    await stage.accounts("one", "two")

    with pytest.raises(Refused) as refused:
        await stage.way.send("DELETE", "/v2/sites/board")

    assert refused.value.document["holds"] == {"accounts": 2}


async def test_what_an_operator_says_stands_over_a_lease_under_way(stage: Stage) -> None:
    await stage.site()
    (account,) = await stage.accounts("one")
    lease = await stage.acquire()

    changed = await stage.change(account, state="inactive")
    released = await stage.release(lease)

    assert (changed["state"], changed["standing"]) == ("using", "inactive")
    assert released["resource"]["state"] == "inactive"


async def test_who_was_set_aside_while_in_use_stays_so_after_an_unclean_end(stage: Stage) -> None:
    await stage.site(reclaim_delay_seconds=1, probation_after_seconds=60)
    (account,) = await stage.accounts("one")
    await stage.acquire()
    await stage.change(account, state="blocked", reason="by hand")
    await stage.passes(121)
    await stage.account(account)
    await stage.passes(1000)

    found = await stage.account(account)

    assert (found["state"], found["blocked_reason"]) == ("blocked", "by hand")
