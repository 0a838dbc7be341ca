"""The cookies of a state in a jar and back: what a jar cannot carry must not be lost on the way."""

from typing import Any

import httpx

from leasehold.client import jar_from, with_jar

FAR = 4_000_000_000


def cookie(name: str, value: str = "v", **more: Any) -> dict[str, Any]:
    plain = {"domain": "board.example", "path": "/", "expires": -1, "httpOnly": True, "secure": True}
    return {"name": name, "value": value, **plain, "sameSite": "Strict", **more}


STATE = {
    "cookies": [
        cookie("sid"),
        cookie("wide", domain=".board.example", expires=FAR + 0.123456),
        cookie("deep", path="/deep", sameSite="None"),
        cookie("chip", partitionKey="https://top.example", _crHasCrossSiteAncestor=True),
        cookie("chip", "plain"),
        cookie("lone", partitionKey="https://top.example", _crHasCrossSiteAncestor=True),
    ],
    "origins": [{"origin": "https://board.example", "localStorage": [{"name": "a", "value": "b"}]}],
}


def sent(client: httpx.Client, url: str) -> str:
    return str(client.build_request("GET", url).headers.get("Cookie", ""))


def site(*set_cookies: str) -> httpx.MockTransport:
    headers = [("Set-Cookie", one) for one in set_cookies]
    return httpx.MockTransport(lambda _request: httpx.Response(200, headers=headers))


def test_a_jar_that_nothing_happened_to_gives_the_state_back_as_it_was() -> None:
    assert with_jar(STATE, jar_from(STATE)) == STATE
    assert with_jar(STATE, jar_from(STATE).jar) == STATE


def test_the_jar_sends_what_a_browser_would() -> None:
    with httpx.Client(cookies=jar_from(STATE)) as client:
        told = sent(client, "https://board.example/deep")
        elsewhere = sent(client, "https://other.example/")
        insecure = sent(client, "http://board.example/")

    assert sorted(told.split("; ")) == ["chip=plain", "deep=v", "sid=v", "wide=v"]
    assert (elsewhere, insecure) == ("", "")


def test_a_replaced_cookie_keeps_what_the_jar_does_not_say() -> None:
    with httpx.Client(cookies=jar_from(STATE), transport=site("sid=new; Path=/; Secure")) as client:
        client.get("https://board.example/")
        after = with_jar(STATE, client.cookies)

    assert after["cookies"] == [cookie("sid", "new"), *STATE["cookies"][1:]]
    assert after["origins"] == STATE["origins"]


def test_a_new_cookie_comes_with_what_the_site_said() -> None:
    new = "new=n; Domain=board.example; Path=/; Max-Age=1000; HttpOnly; SameSite=lax"
    with httpx.Client(cookies=jar_from(STATE), transport=site(new, "bare=b; Path=/")) as client:
        client.get("https://board.example/")
        *_, bare, wide = sorted(with_jar(STATE, client.cookies)["cookies"][6:], key=lambda one: str(one["name"]))

    assert (wide["domain"], wide["httpOnly"], wide["sameSite"], wide["secure"]) == (
        ".board.example",
        True,
        "Lax",
        False,
    )
    assert wide["expires"] > 1000
    assert (bare["domain"], bare["httpOnly"], bare["expires"]) == ("board.example", False, -1)


def test_a_cookie_that_the_site_deleted_is_gone() -> None:
    with httpx.Client(cookies=jar_from(STATE), transport=site("sid=; Path=/; Max-Age=0")) as client:
        client.get("https://board.example/")
        after = with_jar(STATE, client.cookies)

    assert [one["name"] for one in after["cookies"]] == ["wide", "deep", "chip", "chip", "lone"]


def test_an_empty_state_fills_from_the_jar() -> None:
    with httpx.Client(transport=site("sid=1; Path=/")) as client:
        client.get("https://board.example/")
        after = with_jar({"cookies": [], "origins": []}, client.cookies)

    assert [(one["name"], one["value"], one["sameSite"]) for one in after["cookies"]] == [("sid", "1", "Lax")]
