"""The statements that are measured against are the product's own: they must keep up with it."""

import asyncio

import psycopg
from bench.ground import fill, scratch_postgres, token

from bench import pgbench


def test_the_script_for_pgbench_grants_and_ends() -> None:
    with scratch_postgres() as (url, programs):
        asyncio.run(token(url))
        organisation = fill(url, accounts=500)
        as_app = url + ("&" if "?" in url else "?") + "options=-crole%3Dleasehold_app"

        pgbench.pairs_per_second(programs, as_app, pgbench.script(organisation, sites=500), clients=1, seconds=1)

        with psycopg.connect(url) as conn:
            ended = conn.execute("SELECT count(*) FROM lease_end WHERE how = 'released' AND outcome = 'ok'").fetchone()
    assert ended is not None
    assert ended[0] > 0
