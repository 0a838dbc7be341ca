"""Tell leasehold of the simulated board: its address, its accounts, and the threads to visit.

leasehold simulate board --port 8702
LEASEHOLD_ALLOW_SPECIAL_HOSTS=true leasehold up
LEASEHOLD_URL=… LEASEHOLD_TOKEN=… python examples/settle.py 8702
"""

import os
import sys

import httpx

from leasehold.client import Leasehold

port = int(sys.argv[1])
accounts = httpx.get(f"http://127.0.0.1:{port}/accounts.csv", trust_env=False).text

with Leasehold(os.environ["LEASEHOLD_URL"], os.environ["LEASEHOLD_TOKEN"]) as lh:
    # The board takes an account to be where it was for a moment longer, so it rests before it turns up elsewhere.
    policy = {"cooldown_seconds": 3, "auth_markers": ["sid"]}
    lh.sites.create("board", domain={"host": "board.localhost", "scheme": "http", "port": port}, policy=policy)
    made = lh.accounts.import_(csv=accounts)
    base = f"http://board.localhost:{port}/threads"
    seeds = lh.seeds.upsert({"site": "board", "url": f"{base}/{number}"} for number in range(1, 41))

print(f"{made.created} accounts, {seeds.created} seeds")
