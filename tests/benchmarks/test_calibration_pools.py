"""The simulation of pools can be stopped, gone on with and put together."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.benchmarks import calibration_pools
from tests.benchmarks.calibration_pools import ALPHAS, METHODS, POPULATIONS, Batch, batches, read, simulate, table


@pytest.mark.parametrize("population", POPULATIONS)
def test_systems_of_a_population_are_exchangeable_and_scores_are_scores(population):
    scores = POPULATIONS[population](np.random.default_rng(0), (4, 20_000))
    assert scores.min() >= 0
    assert scores.max() <= 1
    means = scores.mean(axis=1)
    assert np.ptp(means) < 5 * scores.std() / np.sqrt(20_000)


def test_a_batch_is_the_same_whenever_it_is_simulated(monkeypatch):
    monkeypatch.setattr(calibration_pools, "BATCH", 4)
    batch = Batch(next(iter(POPULATIONS)), 3, 25, 7, 200)
    first = simulate(batch)
    assert first == simulate(batch)
    assert first["simulations"] == 4
    assert set(first["failed"]) == set(METHODS)


def test_results_are_read_joined_and_shown_where_they_are_off(tmp_path):
    population = next(iter(POPULATIONS))
    path = tmp_path / "results.jsonl"
    lines = []
    for number, count in enumerate((5, 15)):  # 20 of 500: 4.0 %
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
    assert f"| {population} | 25 | 3 | 5 | 4.0 | **8.0** | 4.0 | 500 |" in table(done).splitlines()
    assert len(table(done).splitlines()) == 2 + len(ALPHAS)
