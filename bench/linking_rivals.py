"""Splink on the same sets in the same run, where it is installed: its own tutorial's comparisons and rules."""

import importlib.util
import logging
import time
from collections.abc import Mapping
from typing import Any

from leasehold.linking import Record, Score, score

Place = tuple[str, str, str]

THRESHOLDS = (0.5, 0.9, 0.95, 0.99)


def is_there() -> bool:
    return importlib.util.find_spec("splink") is not None


def splink_scores(records: list[Record], truth: Mapping[Place, str]) -> tuple[dict[float, Score], float]:
    """By threshold, with connected components as Splink makes them; and seconds for all but scoring, one threshold."""
    import pyarrow as pa
    from splink import Linker
    from splink.backends.duckdb import DuckDBAPI

    rows = []
    for at, record in enumerate(records):
        tokens = record.name.split()
        first, last = (tokens[0], tokens[-1]) if tokens else (None, None)
        rows.append({"unique_id": at, "first": first, "last": last, "full": record.name or None, **record.attributes})
    columns = sorted({key for record in records for key in record.attributes})
    table = pa.Table.from_pylist([dict.fromkeys(columns) | row for row in rows])
    logging.getLogger("splink").setLevel(logging.ERROR)
    began = time.perf_counter()
    settings, rules, training = _settings(columns)
    linker = Linker(DuckDBAPI().register(table), settings, log_level=None)
    linker.training.estimate_probability_two_random_records_match(rules, recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
    for rule in training:
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    predictions = linker.inference.predict(threshold_match_probability=0.01)
    found: dict[float, Score] = {}
    seconds = 0.0
    for threshold in THRESHOLDS:
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(predictions, threshold)
        seconds = seconds or time.perf_counter() - began
        members: dict[Any, list[Place]] = {}
        for row in clusters.as_record_list():
            members.setdefault(row["cluster_id"], []).append(records[row["unique_id"]].place)
        found[threshold] = score(truth, members.values())
    return found, seconds


def _settings(columns: list[str]) -> tuple[Any, list[Any], list[Any]]:
    import splink.comparison_library as cl
    from splink import SettingsCreator
    from splink.blocking_rule_library import block_on

    dates = [key for key in columns if key in ("dob", "date_of_birth")]
    codes = [key for key in columns if "postcode" in key or key == "soc_sec_id"]
    comparisons: list[Any] = [cl.ForenameSurnameComparison("first", "last")]
    for key in columns:
        if key in dates or key in codes:
            comparisons.append(cl.LevenshteinAtThresholds(key, [1, 2]))
        elif key in ("gender", "state", "street_number", "occupation"):
            comparisons.append(cl.ExactMatch(key).configure(term_frequency_adjustments=True))
        else:
            comparisons.append(cl.JaroWinklerAtThresholds(key, [0.92, 0.8]))
    born, code = dates[0], codes[0]
    rules: list[Any] = [
        block_on("full"),
        block_on(born),
        block_on(code),
        block_on("last", "substr(first, 1, 2)"),
        block_on("first", f"substr({born}, 1, 4)"),
        block_on("last", f"substr({born}, 1, 4)"),
    ]
    settings = SettingsCreator(
        link_type="dedupe_only", comparisons=comparisons, blocking_rules_to_generate_predictions=rules
    )
    return settings, [block_on("full", born), block_on("full", code)], [block_on("first", "last"), block_on(born)]
