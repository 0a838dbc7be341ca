"""The files for Prometheus and Grafana speak of metrics and labels that /metrics really serves."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client import Histogram
from prometheus_client.metrics import MetricWrapperBase

from leasehold.metrics import Metrics
from tests.parts.house import House

ROOT = Path(__file__).parents[2]
RULES = ROOT / "ops" / "prometheus-rules.yaml"
BOARD = ROOT / "ops" / "grafana-dashboard.json"
# What Prometheus adds by itself.
ADDED = {"instance", "job"}
SELECTOR = re.compile(r"\b(leasehold_\w+)(?:\{([^}]*)\})?")


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(BOARD.read_text())["panels"]
    return found


def expressions() -> Iterator[tuple[str, str]]:
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for variable in json.loads(BOARD.read_text())["templating"]["list"]:
        if "definition" in variable:
            yield variable["name"], variable["definition"]


EXPRESSIONS = list(expressions())


def labels() -> dict[str, set[str]]:
    """Every sample there may be, with its labels."""
    registry = Metrics().registry
    found: dict[str, set[str]] = {}
    for name, metric in registry._names_to_collectors.items():
        assert isinstance(metric, MetricWrapperBase)
        more = {"le"} if isinstance(metric, Histogram) and name.endswith("_bucket") else set()
        found[name] = {*metric._labelnames, *more}
    return found


def words(text: str) -> set[str]:
    return {word.strip() for word in text.split(",") if word.strip()}


@pytest.mark.parametrize(("title", "expression"), EXPRESSIONS, ids=[title for title, _ in EXPRESSIONS])
def test_an_expression_uses_metrics_and_labels_there_are(title: str, expression: str) -> None:
    known = labels()
    used = SELECTOR.findall(expression)

    assert used or "up{" in expression, f"{title} speaks of nothing of ours"
    for name, selector in used:
        assert name in known, f"{title}: /metrics has no {name}"
        wanted = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
        assert wanted <= known[name] | ADDED, f"{title}: {name} has no such label"
    every = set().union(*(known[name] for name, _ in used)) | ADDED
    for group in re.findall(r"\bby \(([^)]*)\)", expression):
        assert words(group) <= every, f"{title} groups by what is not there"
    assert expression.count("(") == expression.count(")")


async def test_every_metric_of_the_files_is_served(home: House) -> None:
    admin: httpx.AsyncClient = await home.caller()
    served = (await admin.get("/metrics")).text
    families = set(re.findall(r"^# TYPE (\S+)", served, re.MULTILINE))

    for _, expression in EXPRESSIONS:
        for name, _ in SELECTOR.findall(expression):
            assert {name, re.sub(r"_(bucket|count|sum)$", "", name)} & families, name


async def test_readiness_is_a_metric(home: House) -> None:
    admin: httpx.AsyncClient = await home.caller()
    ready = (await admin.get("/metrics")).text
    home.app.state.health.is_draining = True

    stopping = (await admin.get("/metrics")).text

    assert 'leasehold_ready{check="server"} 1.0' in ready
    assert 'leasehold_ready{check="server"} 0.0' in stopping
    assert 'leasehold_ready{check="database"} 1.0' in stopping


def test_every_rule_says_how_bad_it_is_and_what_to_do() -> None:
    names = [rule["alert"] for rule in rules()]

    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert {"summary", "description"} <= set(rule["annotations"])
    told = (ROOT / "docs" / "monitoring.md").read_text()
    for name in names:
        assert f"`{name}`" in told, f"docs/monitoring.md does not tell of {name}"


def test_every_metric_of_jobs_has_a_panel() -> None:
    drawn = " ".join(expression for _, expression in EXPRESSIONS)
    families = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in labels()}

    for name in families:
        if re.match(r"leasehold_(jobs?|results|dead|unwritten)", name):
            assert name in drawn, f"no panel shows {name}"


def test_panels_do_not_overlap() -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in panels():
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert x < 24
                assert taken.setdefault((x, y), panel["title"]) == panel["title"]
    assert len({panel["id"] for panel in panels()}) == len(panels())
