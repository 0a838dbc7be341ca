"""Benchmarks that measure nothing, for the tests of the report. Each runs in a process of its own, as real ones do."""

import os
import time

from bench.measured import NOTHING, Report, at_least
from bench.turns import Plan

TOKEN = "lh_a-token-that-nobody-should-read"


def fine(plan: Plan) -> Report:
    report = Report()
    for n in range(plan.rounds):
        report.add("ours: jobs/s", 300.0 + n)
        report.add("theirs | in C: jobs/s", 100.0)
    report.ratio("jobs/s, ours ÷ theirs", "ours: jobs/s", "theirs | in C: jobs/s", at_least(2.0, 5.0, tolerance=0.25))
    report.note("of interest alone", [0.5], NOTHING)
    return report


def broken(_plan: Plan) -> Report:
    raise RuntimeError("the server did not start |\nas it should")


def refused(_plan: Plan) -> Report:
    import subprocess

    subprocess.run(["/bin/false", "--token", TOKEN], check=True)
    return Report()


def killed(_plan: Plan) -> Report:
    os.kill(os.getpid(), 9)
    return Report()


def endless(_plan: Plan) -> Report:
    while True:
        time.sleep(1)
