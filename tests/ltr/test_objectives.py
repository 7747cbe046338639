"""Gradients of the objectives against plain Python, which computes nDCG and risk anew after each swap."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.ltr import (
    TFARO,
    TSARO,
    UCRO,
    GeoRisk,
    LambdaMART,
    QueryBaselines,
)
from tests.ltr import plain_lambdas as plain

pytest.importorskip("numba")

Array = npt.NDArray[np.float64]
ALPHAS = (0.0, 1.0, 5.0)


@st.composite
def data(draw: st.DrawFn) -> tuple[Array, Array, list[int]]:
    """Labels, scores and groups: ties, queries of one document, queries without a relevant one or with one."""
    group = draw(st.lists(st.integers(1, 7), min_size=1, max_size=5))
    rows = sum(group)
    labels = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    if draw(st.booleans()):
        labels[: group[0]] = [0] * group[0]
    if draw(st.booleans()):
        labels[-group[-1] :] = [0] * (group[-1] - 1) + [3]
    some = st.one_of(st.sampled_from([0.0, 0.5, -1.0]), st.floats(-5, 5))
    scores = [0.0] * rows if draw(st.booleans()) else draw(st.lists(some, min_size=rows, max_size=rows))
    return np.array(labels, float), np.array(scores), group


def split(values: Array, group: Sequence[int]) -> list[list[float]]:
    return [part.tolist() for part in np.split(values, np.cumsum(group)[:-1])]


def slow(
    labels: Array, scores: Array, group: list[int], effect: Callable[[list[float], int], Any], k: int, **options: Any
) -> tuple[Array, Array]:
    gains = split(np.exp2(labels) - 1, group)
    queries = list(zip(gains, split(scores, group), strict=True))
    found = [plain.expected_ndcg(gain, score, k) for gain, score in queries]
    both = [
        plain.gradients(gain, score, effect(found, query), k=k, **options)
        for query, (gain, score) in enumerate(queries)
    ]
    return np.concatenate([part[0] for part in both]), np.concatenate([part[1] for part in both])


def baselines(rng: np.random.Generator, group: list[int], *, many: int = 1, k: int = 3) -> QueryBaselines:
    scores = rng.uniform(size=(many, len(group))) * (rng.uniform(size=(many, len(group))) < 0.8)
    queries = tuple(f"q{number}" for number in range(len(group)))
    return QueryBaselines(tuple(f"b{number}" for number in range(many)), queries, scores, k)


def assert_equal(one: tuple[Array, Array], other: tuple[Array, Array], *, within: float) -> None:
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=within, atol=within)


OPTIONS = st.fixed_dictionaries(
    {
        "norm": st.booleans(),
        "sigmoid": st.sampled_from([1.0, 0.5, 2.0]),
        "truncation_level": st.sampled_from([None, 1, 3, 30]),
    }
)


@settings(deadline=None)
@given(data(), OPTIONS, st.integers(1, 5))
def test_lambdamart_is_that_of_plain_python(rows, options, k):
    labels, scores, group = rows
    found = LambdaMART(k=k, **options).gradients(labels, scores, group)
    assert_equal(found, slow(labels, scores, group, lambda *_: lambda change: change, k, **options), within=1e-9)
    assert abs(found[0].sum()) <= 1e-9 * max(1, np.abs(found[0]).sum())


@settings(deadline=None)
@given(data(), OPTIONS, st.sampled_from(ALPHAS), st.sampled_from(["change", "crossing"]), st.integers(0, 2**32 - 1))
def test_ucro_is_that_of_plain_python(rows, options, alpha, form, seed):
    labels, scores, group = rows
    one = baselines(np.random.default_rng(seed), group)
    effect = {"change": plain.urisk_effect, "crossing": plain.crossing_effect}[form]
    found = UCRO(one, alpha, form=form, **options).gradients(labels, scores, group)
    expected = slow(
        labels, scores, group, lambda found, query: effect(found[query], one.scores[0, query], alpha), 3, **options
    )
    assert_equal(found, expected, within=1e-9)


@settings(deadline=None)
@given(data(), OPTIONS, st.sampled_from(ALPHAS), st.sampled_from(["deviation", "error"]), st.integers(0, 2**32 - 1))
def test_adaptive_objectives_are_those_of_plain_python(rows, options, alpha, standardization, seed):
    labels, scores, group = rows
    one = baselines(np.random.default_rng(seed), group)

    def alphas(found: list[float]) -> list[float]:
        differences = [score - base for score, base in zip(found, one.scores[0], strict=True)]
        x = [plain.tradeoff(difference, alpha) for difference in differences]
        n, mean = len(x), math.fsum(x) / len(x)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in x) / (n - 1)) if n > 1 else 0.0
        if deviation <= 1e-9:
            return [alpha / 2] * n
        levels = (
            [value / deviation for value in x]
            if standardization == "deviation"
            else [difference / (deviation / math.sqrt(n)) for difference in differences]
        )
        return [alpha * (1 - plain.phi(level)) for level in levels]

    def saro(found: list[float], query: int) -> Callable[[float], float]:
        return plain.urisk_effect(found[query], one.scores[0, query], alphas(found)[query])

    def faro(found: list[float], query: int) -> Callable[[float], float]:
        return lambda change: (1 + alphas(found)[query]) * change

    for objective, effect in ((TSARO, saro), (TFARO, faro)):
        found = objective(one, alpha, standardization=standardization, **options).gradients(labels, scores, group)
        assert_equal(found, slow(labels, scores, group, effect, 3, **options), within=1e-7)


@settings(deadline=None)
@given(data(), OPTIONS, st.sampled_from(ALPHAS), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_georisk_is_that_of_plain_python(rows, options, alpha, many, seed):
    labels, scores, group = rows
    pool = baselines(np.random.default_rng(seed), group, many=many)
    found = GeoRisk(pool, alpha, **options).gradients(labels, scores, group)
    expected = slow(
        labels,
        scores,
        group,
        lambda found, query: plain.georisk_effect(found, pool.scores.tolist(), query, alpha),
        3,
        **options,
    )
    assert_equal(found, expected, within=1e-7)
