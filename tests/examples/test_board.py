"""The examples against a real server and the simulated board: they collect, and one sign-in lasts for all of them."""

from pathlib import Path

import pytest

from tests.examples.conftest import Scene

LOSING = Path(__file__).with_name("losing.py")
COLLECTORS = {
    "httpx": ["board_httpx.py"],
    "playwright": ["board_playwright.py"],
    "scrapy": ["-m", "scrapy", "runspider", "board_scrapy.py"],
}


@pytest.mark.parametrize("words", COLLECTORS.values(), ids=COLLECTORS.keys())
def test_a_collector_brings_pages_home_and_gives_back_what_it_held(scene: Scene, words: list[str]) -> None:
    before = {one["id"] for one in scene.ask("/v2/captures?limit=500")}

    done = scene.run(*words)

    assert done.returncode == 0, done.stderr
    brought = [one for one in scene.ask("/v2/captures?limit=500") if one["id"] not in before]
    assert len({one["url"] for one in brought}) == 5
    assert scene.ask("/v2/leases") == []
    assert scene.ask("/v2/accounts?state=blocked") == []
    assert str(scene.server.token) not in done.stdout + done.stderr


def test_one_sign_in_lasted_for_all_of_them_and_lasts_over_a_move(scene: Scene) -> None:
    scene.board("PUT", "/control", json={"move": "board-2.localhost"})
    to = {"host": "board-2.localhost", "scheme": "http", "port": scene.port}
    moved = scene.server.ask("POST", "/v2/sites/board/moves", scene.server.token, {"to": to})

    done = [scene.run(*words) for words in COLLECTORS.values()]

    assert moved.status_code == 200, moved.text
    assert [one.returncode for one in done] == [0, 0, 0], done
    truth = scene.board("GET", "/truth")
    assert (truth["sign_ins"], truth["pages"], truth["pages_again"]) == (1, 30, 0)


def test_without_a_free_account_a_spider_sends_nothing(scene: Scene) -> None:
    scene.server.ask("POST", "/v2/sites/board/pause", scene.server.token, {"reason": "nobody is to go there"})
    before = scene.board("GET", "/control/requests")
    try:
        done = scene.run(*COLLECTORS["scrapy"], "-s", "LEASEHOLD_WAIT_SECONDS=0")
    finally:
        scene.server.ask("POST", "/v2/sites/board/resume", scene.server.token)

    assert "NothingFree" in done.stderr
    assert scene.board("GET", "/control/requests") == before


def test_a_spider_that_lost_its_account_sends_nothing_more(scene: Scene) -> None:
    done = scene.run("-m", "scrapy", "runspider", str(LOSING), "-s", "LEASEHOLD_TTL_SECONDS=5")

    assert "'finish_reason': 'lease_lost'" in done.stderr
    assert "'response_received_count': 1," in done.stderr
