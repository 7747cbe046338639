"""Pools of which only the answer is asked: the answer is that of all rulings, from fewer resampled systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.pool import against_references
from pytest_riskguard.gates.pool.against_references import CLEAREST, PoolRulings
from pytest_riskguard.inference.georisk import georisk_differences

OPTIONS: tuple[dict[str, Any], ...] = (
    {"alpha": 1.0},
    {"alpha": 0.0, "method": "percentile", "level": 0.8},
    {"alpha": 2.0, "method": "student_t", "tolerance": 0.01},
    {"alpha": 1.0, "tradeoff": "smooth", "method": "bca"},
)


def pool(seed: int, *, strength: float, few_changes: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    m = rng.beta(1.2, 2, 30)
    x = rng.beta(10 * m, 10 * (1 - m), (8, 30))
    x[0] *= strength
    if few_changes:
        x[1, :26] = x[0, :26]
    return x


def pools(x: np.ndarray, **options: Any) -> PoolRulings:
    gate = gate_of("g", kind="georisk_not_worse", reference="any", **options)
    return PoolRulings(gate, x, range(1, len(x)), level=gate.level)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_an_answer_asked_alone_is_that_of_all_rulings(options):
    answers = []
    # without Holm's correction the last would fail as well
    for seed, strength in enumerate((0.5, 0.85, 0.9)):
        rulings = pools(pool(seed, strength=strength, few_changes=seed == 1), **options)
        rest = rulings.without(np.arange(seed, 5 * seed + 2))
        answers.append(rest.passes)
        assert answers[-1] == all(ruling.passes for ruling in rest.rulings)
    assert {*answers} == {True, False}


def test_a_clear_failure_resamples_the_clearest_references_alone(monkeypatch):
    resampled: list[int] = []

    def counted(*args: Any, **options: Any) -> Any:
        resampled.append(len(options["references"]))
        return georisk_differences(*args, **options)

    monkeypatch.setattr(against_references, "georisk_differences", counted)
    x = pool(0, strength=0.4)
    assert not pools(x, alpha=1.0).without(np.arange(2)).passes
    assert resampled == [CLEAREST]
    resampled.clear()
    assert pools(np.vstack([x[1] * 1.2, x[1:]]), alpha=1.0).without(np.arange(2)).passes
    assert resampled == [CLEAREST, 7]


@pytest.mark.parametrize("method", ["student_t", "bca"])
def test_p_values_above_a_limit_are_1_and_others_are_found_as_without_it(method):
    rulings = pools(pool(1, strength=0.8), alpha=1.0).rulings
    p_values = [ruling.difference.p_value(method=method) for ruling in rulings]
    middle = sorted(p_values)[3]
    assert min(p_values) < middle < max(p_values)
    for ruling, p in zip(rulings, p_values, strict=True):
        found = ruling.difference.p_value(method=method, at_most=middle)
        assert found == (p if p <= middle else 1.0)
