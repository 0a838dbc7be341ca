"""Rewriting 10,000 URLs over HTTP: does it cost more with ten thousand sites than with ten? Printed as a ratio."""

import argparse
import asyncio
import json
import platform
import random
import statistics
import time
from pathlib import Path

import httpx
import psycopg

from bench import aims
from bench.ground import scratch_postgres
from bench.measured import Report
from leasehold import logs
from leasehold.app import build, edged
from leasehold.auth import Role, Tokens, role_wish
from leasehold.ids import uuid7
from leasehold.settings import Settings
from leasehold.vault import Keyring

URLS = 10_000
SIZES = (10, 10_000)


def fill(url: str, organisation: str, sites: int) -> None:
    """Sites that moved once, written straight to the tables: making them one by one is not what is measured."""
    with psycopg.connect(url) as conn:
        row = conn.execute("SELECT id FROM organisation WHERE slug = %s", [organisation]).fetchone()
        assert row is not None
        names = [f"site{n}" for n in range(sites)]
        conn.execute(
            "INSERT INTO site (organisation, slug, name) SELECT %s, name, name FROM unnest(%s::text[]) name",
            [row[0], names],
        )
        for place, days in (("old", 400), ("new", 10)):
            conn.execute(
                "INSERT INTO mount"
                " (id, organisation, site, host, scheme, prefix, subdomains, fold, since, trust, current)"
                " SELECT id, %s, name, %s || '-' || name || '.example', 'https', '/', 'keep', '{www}',"
                "        now() - make_interval(days => %s), 'credentials', %s"
                "   FROM unnest(%s::uuid[], %s::text[]) AS t (id, name)",
                [row[0], place, days, place == "new", [uuid7() for _ in names], names],
            )
        conn.execute("INSERT INTO registry_version VALUES (%s, 1)", [row[0]])


def sample(sites: int, rng: random.Random) -> list[str]:
    """URLs of all sorts: moved, current, below a subdomain, of nobody."""
    shapes = ("https://old-{}.example/t/{}", "https://new-{}.example/t/{}?p=1", "https://img.old-{}.example/{}.png")
    chosen = (rng.choice(shapes) for _ in range(URLS * 9 // 10))
    managed = [shape.format(f"site{rng.randrange(sites)}", n) for n, shape in enumerate(chosen)]
    strangers = [f"https://nobody{n}.example/x" for n in range(URLS - len(managed))]
    return managed + strangers


async def measure(url: str, rounds: int, seed: int) -> dict[int, list[float]]:
    app = build(Settings(), url, Keyring.parse("bench:" + "A" * 43 + "="))
    seconds: dict[int, list[float]] = {size: [] for size in SIZES}
    async with app.router.lifespan_context(app):
        clients = {}
        for size in SIZES:
            token = await Tokens(app.state.db).create_locally(f"bench{size}", role_wish("bench", Role.VIEWER))
            fill(url, f"bench{size}", size)
            clients[size] = httpx.AsyncClient(
                transport=httpx.ASGITransport(app=edged(app)),
                base_url="http://bench",
                headers={"Authorization": f"Bearer {token}"},
                timeout=120,
            )
        bodies = {size: {"urls": sample(size, random.Random(seed))} for size in SIZES}
        for turn in range(rounds + 1):
            for size in SIZES:  # interleaved: a slow moment of the machine hits both
                started = time.perf_counter()
                answer = await clients[size].post("/v2/sites/rewrite", json=bodies[size])
                elapsed = time.perf_counter() - started
                changed = sum(item["changed"] for item in answer.json()["items"])
                assert changed > URLS // 3, changed
                if turn:  # the first builds the index
                    seconds[size].append(elapsed)
        for client in clients.values():
            await client.aclose()
    return seconds


def run(json_file: Path | None, rounds: int, seed: int = 1) -> Report:
    logs.configure("warning", "console")
    with scratch_postgres() as (url, _):
        seconds = asyncio.run(measure(url, rounds, seed))
    report = Report()
    for size, times in seconds.items():
        report.values[f"{URLS:,} URLs, {size:,} sites: ms"] = [1000 * took for took in times]
    large, small = reversed(report.values)
    report.ratio(f"rewriting {URLS:,} URLs: {SIZES[1]:,} sites ÷ {SIZES[0]:,}", large, small, aims.REWRITE_OF_MANY)
    for name, times in report.values.items():
        print(f"{name} {statistics.median(times):.0f} ({min(times):.0f} … {max(times):.0f})")
    report.print()
    print(f"{rounds} rounds, seed {seed}, {platform.machine()}")
    if json_file:
        json_file.write_text(json.dumps({"seed": seed, **report.document()}, indent=2))
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    run(options.json, options.rounds, options.seed)


if __name__ == "__main__":
    main()
