"""The simulated board: whom it blocks, what it takes for lost, and how it moves."""

from collections.abc import AsyncIterator

import httpx
import pytest

from leasehold.simulate import LINGER_S, Board, BoardApp

ANN = {"User-Agent": "ann"}
BOB = {"User-Agent": "bob"}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    return Board(accounts=2, threads=5, clock=clock)


@pytest.fixture
async def web(board: Board) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=BoardApp(board).app())
    async with httpx.AsyncClient(transport=transport, base_url="http://board.localhost", headers=ANN) as made:
        yield made


async def sign_in(web: httpx.AsyncClient, board: Board, **headers: str) -> httpx.Response:
    member = next(iter(board.members.values()))
    form = {"username": member.name, "password": member.password, "next": "/threads/2"}
    return await web.post("/login", data=form, headers=headers)


async def truth(web: httpx.AsyncClient) -> dict[str, object]:
    told: dict[str, object] = (await web.get("/truth")).json()
    return {name: told[name] for name in ("blocked", "sessions_lost", "devices_lost", "pages", "pages_again")}


async def test_who_is_signed_in_reads_and_a_stranger_is_led_to_the_form(web: httpx.AsyncClient, board: Board) -> None:
    stranger = await web.get("/threads/2")
    wrong = await web.post("/login", data={"username": "nobody", "password": "x"})
    signed_in = await sign_in(web, board)
    page = await web.get("/threads/2")

    assert (stranger.status_code, stranger.headers["location"]) == (303, "/login?next=/threads/2")
    assert wrong.status_code == 401
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/threads/2")
    assert page.text.count("<article") == 3


async def test_an_account_in_two_places_at_once_is_blocked_and_a_moment_later_it_is_not(
    web: httpx.AsyncClient, board: Board, clock: Clock
) -> None:
    await sign_in(web, board)
    clock.now += LINGER_S
    later = await web.get("/threads/1", headers=BOB)
    clock.now += LINGER_S - 0.1
    at_once = await web.get("/threads/2", headers=ANN)
    clock.now += 3600
    for_ever = await web.get("/threads/2", headers=ANN)
    blocked = (await web.get("/truth")).json()

    assert (later.status_code, at_once.status_code, for_ever.status_code) == (200, 403, 403)
    assert blocked["blocked"] == 1
    assert blocked["accounts"][next(iter(board.members))]["blocked"] == "used by bob and ann at once"


async def test_a_cookie_is_replaced_and_whoever_shows_an_old_one_has_lost_the_session(
    web: httpx.AsyncClient, board: Board
) -> None:
    await sign_in(web, board)
    first = dict(web.cookies)
    for _ in range(5):
        assert (await web.get("/threads/1")).status_code == 200
    web.cookies.clear()
    old = await web.get("/threads/1", headers={"Cookie": f"sid={first['sid']}"})
    await sign_in(web, board)

    assert old.status_code == 303
    assert await truth(web) == {"blocked": 0, "sessions_lost": 1, "devices_lost": 1, "pages": 1, "pages_again": 4}


async def test_a_board_that_moved_leads_to_where_it_lives_now(web: httpx.AsyncClient, board: Board) -> None:
    await sign_in(web, board)
    moved = await web.put("/control", json={"move": "board-2.localhost"})
    old = await web.get("/threads/3")
    new = await web.get("http://board-2.localhost/threads/3")
    refused = await web.put("/control", json={"mov": "x"})

    assert moved.json()["host"] == "board-2.localhost"
    assert (old.status_code, old.headers["location"]) == (308, "http://board-2.localhost/threads/3")
    assert new.status_code == 303  # its cookies stayed behind
    assert (refused.status_code, "Send JSON" in refused.text) == (422, True)


async def test_who_reads_too_much_is_told_to_wait(web: httpx.AsyncClient, board: Board, clock: Clock) -> None:
    await sign_in(web, board)
    await web.put("/control", json={"most_per_minute": 2})
    answers = [(await web.get("/threads/1")).status_code for _ in range(3)]
    clock.now += 60

    assert answers == [200, 200, 429]
    assert (await web.get("/threads/1")).status_code == 200
