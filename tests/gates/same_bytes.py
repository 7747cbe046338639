"""Prints the JSON report on made-up systems, asked everything that a gate can ask.

A program of its own, so that a test can run it with other numbers of threads: ``python -m tests.gates.same_bytes 1``
gives the topics in an order drawn with seed 1.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from pytest_riskguard.data.memory import topic_scores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.inference.intervals import METHODS
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.json import dumps
from tests.strict import check, gate_of

Scores = dict[str, float]


def systems() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Candidate and baseline, one pair for each way in which a law is computed."""
    rng = np.random.default_rng(3)
    dense = rng.beta(2, 3, (2, 40))
    coarse = np.round(rng.beta(2, 3, (2, 40)), 1)
    sparse = np.repeat(rng.beta(2, 3, (1, 30)), 2, axis=0)
    sparse[0, :6] /= 3
    few = np.repeat(rng.beta(2, 3, (1, 14)), 2, axis=0)
    few[0, :4] /= 3
    dense[0] *= 0.9
    return dict(zip(KINDS, ((pair[0], pair[1]) for pair in (dense, coarse, sparse, few)), strict=True))


#: Studentized intervals take seconds; they have such a test of their own.
CHEAP = tuple(method for method in METHODS if method != "studentized")
KINDS = ("dense", "coarse", "sparse", "few")
GATES: list[tuple[str, dict[str, Any]]] = [
    *(("not_significantly_risky", {"alpha": 1, "method": method}) for method in ("auto", *CHEAP)),
    ("not_significantly_risky", {"alpha": 5, "on_churn": "warn", "tolerance": 0.01}),
    ("not_significantly_risky", {"tradeoff": "smooth", "level": 0.999}),
    ("not_inferior", {"tolerance": 0.1}),
    ("equivalent", {"tolerance": 0.1}),
    ("no_topic_collapse", {"max_loss": 0.3}),
]


#: Gates over a pool.
POOLS: list[dict[str, Any]] = [
    {"alpha": 5.0},
    {"tradeoff": "smooth", "on_churn": "warn"},
]
#: Each gate on one pair, and the first on all.
QUESTIONS: list[tuple[str, str, dict[str, Any]]] = [("dense", *gate) for gate in GATES] + [
    (pair, *GATES[0]) for pair in KINDS[1:]
]


def in_parts(order: np.random.Generator | None) -> Iterator[Verdict]:
    """A gate whose topics carry tags."""
    candidate, baseline = systems()["dense"]
    tags = {f"t{place:03d}": {"half": "ab"[place % 2], "kind": "xyz"[place % 3]} for place in range(candidate.size)}
    ours = topic_scores(named(candidate, order), "candidate")
    theirs = topic_scores(named(baseline, order), "baseline")
    yield judge(gate_of("in parts", alpha=1), ours, theirs, topics=Topics({}, tags))
    yield judge(gate_of("since a release", kind="no_drift"), ours, theirs)


def verdicts(order: np.random.Generator | None = None) -> Iterator[Verdict]:
    """All gates of all pairs; topics are named by their place and given in that order, or in another."""
    for pair, kind, options in QUESTIONS:
        candidate, baseline = systems()[pair]
        yield check(kind, named(candidate, order), named(baseline, order), **options)
    yield from in_parts(order)
    candidate, *baselines = pool()
    for options in POOLS:
        others = {f"b{number}": named(values, order) for number, values in enumerate(baselines)}
        yield check("georisk_not_worse", named(candidate, order), others, **options)


def pool() -> np.ndarray:
    """A candidate and three baselines."""
    difficulty = np.random.default_rng(8).beta(2, 3, 40)
    return np.clip(difficulty + np.random.default_rng(9).normal(0, 0.15, (4, 40)), 0, 1)


def named(values: np.ndarray, order: np.random.Generator | None) -> Scores:
    places = np.arange(values.size) if order is None else order.permutation(values.size)
    return {f"t{place:03d}": float(values[place]) for place in places}


if __name__ == "__main__":
    print(dumps(Report(list(verdicts(np.random.default_rng(int(sys.argv[1])))))), end="")
