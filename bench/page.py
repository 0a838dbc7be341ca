"""The report: results as a page of Markdown."""

import statistics

from bench.measured import Ratio
from bench.results import Result, Results

_HEAD = """\
# Numbers

Written by `make bench`; the raw values are in `results.json` beside it. `docs/numbers.md` says what each means and how
it is measured. Only ratios inside one run mean something: the figures below them are those of this machine, that day.
"""
_QUICK = "\n**A short run, to see that everything works. Its figures mean nothing.**\n"
_MET = {"goal": "goal", "must": "must", "no": "**no**", "": ""}


def markdown(results: Results) -> str:
    parts = [_HEAD, _QUICK if results.is_quick else "", _place(results), _ratios(results), _missing(results)]
    return "\n".join(part for part in [*parts, _figures(results)] if part)


def _place(results: Results) -> str:
    place = results.place
    told = {
        "machine": f"{place.cores} cores, {place.cpu}, {place.memory_gb:g} GB, load {place.load:g} before it began",
        "kernel": place.kernel,
        "versions": ", ".join(f"{name} {version}" for name, version in place.versions.items()),
        "commit": place.commit,
        "date": place.measured_at,
        "command": f"`{place.command}`",
        "took": f"{sum(one.seconds for one in results.results) / 60:.0f} minutes",
    }
    lines = [f"| {name} | {_cell(value)} |" for name, value in told.items()]
    return "\n".join(["| | |", "|---|---|", *lines, ""])


def _ratios(results: Results) -> str:
    lines = ["## Ratios", "", "| what | must | goal | median | lowest … highest | met? |", "|---|---|---|---|---|---|"]
    for one in results.results:
        if one.ratios:
            lines += [f"| **{_cell(one.what)}** | | | | | |", *(_row(ratio) for ratio in one.ratios)]
    return "\n".join([*lines, ""])


def _row(ratio: Ratio) -> str:
    sign = "≤" if ratio.aim.is_ceiling else "≥"
    asked = [f"{sign} {_number(bound)}" if bound is not None else "" for bound in (ratio.aim.must, ratio.aim.goal)]
    cells = [_cell(ratio.name), *asked, _number(ratio.median), _spread(ratio.rounds), _MET[ratio.verdict]]
    return f"| {' | '.join(cells)} |"


def _missing(results: Results) -> str:
    """What the table above does not tell of, so that nobody takes its silence for good news."""
    lines = [f"- {one.what}: **failed**. {_cell(one.failed)}" for one in results.results if one.failed]
    lines += [f"- {one.what}: skipped. {_cell(one.skipped)}" for one in results.results if one.skipped]
    return "\n".join(["## Not measured", "", *lines, ""]) if lines else ""


def _figures(results: Results) -> str:
    lines = [
        "## Side by side",
        "",
        "The figures the ratios are made of: leasehold and its peers, in turns on one machine.",
    ]
    for one in results.results:
        lines += _table(one)
    return "\n".join([*lines, ""])


def _table(one: Result) -> list[str]:
    if not one.figures:
        return []
    rows = [
        f"| {_cell(name)} | {_number(statistics.median(rounds))} | {_spread(rounds)} |"
        for name, rounds in one.figures.items()
    ]
    return ["", f"### {one.what}", "", "| what | median | lowest … highest |", "|---|---|---|", *rows]


def _spread(rounds: tuple[float, ...] | list[float]) -> str:
    if len(rounds) == 1:
        return "one round"
    return f"{_number(min(rounds))} … {_number(max(rounds))}"


def _number(value: float) -> str:
    """As many places as it takes to tell two apart, and no more."""
    size = abs(value)
    return (
        f"{value:,.0f}"
        if size >= 100
        else f"{value:.1f}"
        if size >= 10
        else f"{value:.2f}"
        if size >= 1
        else f"{value:.3g}"
    )


def _cell(text: str | None) -> str:
    return " ".join((text or "").replace("|", "\\|").split())
