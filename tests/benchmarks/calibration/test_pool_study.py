"""The simulation of pools: it can be stopped and gone on with, and the page says what it finds."""

from __future__ import annotations

import csv
import json
import math
from itertools import product

import numpy as np
import pytest

from pytest_riskguard import check
from pytest_riskguard.inference.georisk_pool import METHODS
from tests.benchmarks.calibration import pool_study
from tests.benchmarks.calibration.pool_study import (
    ALPHAS,
    BATCH,
    NOMINAL,
    POPULATIONS,
    REPLICATES,
    SYSTEMS,
    TOO_FAR,
    TOPICS,
    Batch,
    batches,
    read,
    simulate,
    table,
)
from tests.docs.pages import DOCS

TEXT = (DOCS / "explanation/georisk.md").read_text(encoding="utf-8")
#: Of the table on the page.
COLUMNS = ("percentile", "bca", "student_t")
#: So many standard errors may a batch be off the page.
ERRORS = 4.5

Cell = tuple[str, int, int, float]


def page() -> dict[Cell, dict[str, str]]:
    """The table that the page shows: cells by population, topics, systems and alpha."""
    with (DOCS / "data/calibration/georisk.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))[1:]
    cells: dict[Cell, dict[str, str]] = {}
    for population, topics, systems, alpha, *shares, simulations in rows:
        cell = population, int(topics), int(systems), float(alpha)
        assert cell not in cells
        cells[cell] = {**dict(zip(COLUMNS, shares, strict=True)), "simulations": simulations}
    return cells


def is_off(share: str) -> bool:
    """Whether a share is further from what is due than a verdict lets pass without a warning."""
    return abs(float(share) - NOMINAL) > TOO_FAR


@pytest.mark.parametrize("population", POPULATIONS)
def test_systems_of_a_population_are_exchangeable_and_scores_are_scores(population):
    scores = POPULATIONS[population](np.random.default_rng(0), (4, 20_000))
    assert scores.min() >= 0
    assert scores.max() <= 1
    means = scores.mean(axis=1)
    assert np.ptp(means) < 5 * scores.std() / np.sqrt(20_000)


def test_a_batch_is_the_same_whenever_it_is_simulated(monkeypatch):
    monkeypatch.setattr(pool_study, "BATCH", 4)
    batch = Batch(next(iter(POPULATIONS)), 3, 25, 7, 200)
    first = simulate(batch)
    assert first == simulate(batch)
    assert first["simulations"] == 4
    assert set(first["failed"]) == set(METHODS)


def test_results_are_read_and_joined(tmp_path):
    population = next(iter(POPULATIONS))
    path = tmp_path / "results.jsonl"
    lines = []
    for number, count in enumerate((5, 15)):  # 20 of 500: 4.0%
        failed = {method: {f"{alpha:g}": count for alpha in ALPHAS} for method in METHODS}
        failed["bca"]["5"] = 2 * count
        of = {"population": population, "systems": 3, "topics": 25, "number": number, "replicates": 2000}
        lines.append(json.dumps({**of, "simulations": 250, "failed": failed}))
    path.write_text("\n".join([*lines, lines[0]]) + "\n")  # a batch that two runs have done counts once
    done = read(path)
    assert len(done) == 2
    assert [batch.number for batch in batches(750, 2000) if batch not in done and batch.population == population][
        -1
    ] == 2
    assert sum(batch in done for batch in batches(750, 2000)) == 2
    assert f'"{population}",25,3,5,4.0,8.0,4.0,500' in table(done).splitlines()
    assert len(table(done).splitlines()) == 1 + len(ALPHAS)


def test_the_table_has_every_cell_and_the_page_shows_it():
    assert list(page()) == list(product(POPULATIONS, TOPICS, SYSTEMS, ALPHAS))
    assert {int(row["simulations"]) for row in page().values()} == {6000}
    assert "\n:file: ../data/calibration/georisk.csv\n" in TEXT


@pytest.mark.parametrize(("topics", "alpha"), sorted({(cell[1], cell[3]) for cell in page()}))
def test_a_verdict_warns_where_the_page_has_a_share_that_is_off(topics, alpha):
    rng = np.random.default_rng(topics)
    systems = [{str(n): float(x) for n, x in enumerate(rng.beta(2, 3, topics))} for _ in range(3)]
    verdict = check("georisk_not_worse", systems[0], dict(zip("ab", systems[1:], strict=True)), alpha=alpha)
    warned = "few_topics" in {warning.code for warning in verdict.warnings}
    shown = [row["bca"] for cell, row in page().items() if (cell[1], cell[3]) == (topics, alpha)]
    assert warned or not any(map(is_off, shown))
    assert warned == (topics < 50 and alpha > 1)


@pytest.mark.parametrize("population", POPULATIONS)
def test_a_batch_finds_what_the_page_says(population):
    failed = simulate(Batch(population, 3, 25, 0, REPLICATES))["failed"]
    for method, alpha in product(METHODS, ALPHAS):
        shown = page()[population, 25, 3, alpha]
        said = float(shown[method]) / 100
        error = math.sqrt(said * (1 - said) / BATCH)
        assert abs(failed[method][f"{alpha:g}"] / BATCH - said) < ERRORS * error, (method, alpha)
