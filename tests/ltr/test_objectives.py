"""Gradients of the objectives against plain Python, which recomputes nDCG and risk after each swap."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.ltr import TFARO, TSARO, UCRO, GeoRisk, JudgedQueries, LambdaMART, QueryBaselines
from pytest_riskguard.risk import SMOOTH, SmoothTradeoff, fitted_tradeoff, georisk
from tests.ltr import plain_lambdas as plain

pytest.importorskip("numba")


Array = npt.NDArray[np.float64]
Effect = Callable[[float], float]
ALPHAS = st.sampled_from([0.0, 1.0, 5.0])
SEEDS = st.integers(0, 2**32 - 1)


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


OPTIONS = st.fixed_dictionaries(
    {
        "norm": st.booleans(),
        "sigmoid": st.sampled_from([1.0, 0.5, 2.0]),
        "truncation_level": st.sampled_from([None, 1, 3, 30]),
    }
)


def split(values: Array, group: Sequence[int]) -> list[list[float]]:
    return [part.tolist() for part in np.split(values, np.cumsum(group)[:-1])]


def agree(
    objective: Any,
    rows: tuple[Array, Array, list[int]],
    effect: Callable[[list[float], int], Effect],
    *,
    within: float = 1e-9,
    k: int = 3,
    **options: Any,
) -> None:
    """The objective's gradients are those of plain Python, where swaps have this effect on a query."""
    labels, scores, group = rows
    queries = list(zip(split(np.exp2(labels) - 1, group), split(scores, group), strict=True))
    ndcg = [plain.expected_ndcg(gain, score, k) for gain, score in queries]
    both = [
        plain.gradients(gain, score, effect(ndcg, query), k=k, **options)
        for query, (gain, score) in enumerate(queries)
    ]
    for mine, theirs in zip(objective.gradients(*rows), zip(*both, strict=True), strict=True):
        np.testing.assert_allclose(mine, np.concatenate(theirs), rtol=within, atol=within)


def unweighted(*_: Any) -> Effect:
    return lambda change: change


def baselines(seed: int, rows: tuple[Array, Array, list[int]], *, many: int = 1, k: int = 3) -> QueryBaselines:
    rng = np.random.default_rng(seed)
    labels, _, group = rows
    scores = rng.uniform(size=(many, len(group))) * (rng.uniform(size=(many, len(group))) < 0.8)
    return QueryBaselines(JudgedQueries(labels, group, k=k), tuple(f"b{number}" for number in range(many)), scores)


@settings(deadline=None)
@given(data(), OPTIONS, st.integers(1, 5))
def test_lambdamart_is_that_of_plain_python(rows, options, k):
    agree(LambdaMART(k=k, **options), rows, unweighted, k=k, **options)


@settings(deadline=None)
@given(data(), OPTIONS, ALPHAS, SEEDS)
def test_objectives_against_one_baseline_are_those_of_plain_python(rows, options, alpha, seed):
    one = baselines(seed, rows)
    base = one.only().tolist()

    def alphas(ndcg: list[float]) -> list[float]:
        x = [plain.tradeoff(score - level, alpha) for score, level in zip(ndcg, base, strict=True)]
        n, mean = len(x), math.fsum(x) / len(x)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in x) / (n - 1)) if n > 1 else 0.0
        return [alpha * (1 - plain.phi(value / deviation if deviation > 1e-9 else 0.0)) for value in x]

    def cro(ndcg: list[float], query: int) -> Effect:
        return plain.urisk_effect(ndcg[query], base[query], alpha)

    def saro(ndcg: list[float], query: int) -> Effect:
        return plain.urisk_effect(ndcg[query], base[query], alphas(ndcg)[query])

    def faro(ndcg: list[float], query: int) -> Effect:
        return lambda change: (1 + alphas(ndcg)[query]) * change

    for objective, effect in ((UCRO, cro), (TSARO, saro), (TFARO, faro)):
        agree(objective(one, alpha, **options), rows, effect, within=1e-7, **options)


#: That of AIRS 2019, one fitted to other fences, and one that falls beyond 1.
TRADEOFFS = SMOOTH, fitted_tradeoff(-0.1, 0.2, alpha=2), SmoothTradeoff((-0.3, 0.0, 1.0))


@settings(deadline=None)
@given(data(), OPTIONS, st.sampled_from(TRADEOFFS), SEEDS)
def test_a_smooth_trade_off_is_that_of_plain_python(rows, options, tradeoff, seed):
    one = baselines(seed, rows)

    def effect(ndcg: list[float], query: int) -> Effect:
        return plain.smooth_effect(ndcg[query], one.only().tolist()[query], tradeoff.coefficients)

    agree(UCRO(one, tradeoff=tradeoff, **options), rows, effect, **options)


@pytest.mark.parametrize("tradeoff", TRADEOFFS)
def test_no_swap_that_improves_ndcg_counts_as_a_loss(tradeoff):
    rng = np.random.default_rng(0)
    for _ in range(30):
        data = JudgedQueries(rng.integers(0, 5, 12), [12], documents="abcdefghijkl")
        scores, baseline = rng.normal(size=12), rng.uniform()
        (before,) = data.ndcg(scores)
        for pair in itertools.combinations(range(12), 2):
            swapped = scores.copy()
            swapped[[*pair]] = scores[[*pair[::-1]]]
            (after,) = data.ndcg(swapped)
            effect = plain.smooth_effect(before, baseline, tradeoff.coefficients)(after - before)
            assert np.sign(effect) == np.sign(after - before)
            assert tradeoff(after - baseline) - tradeoff(before - baseline) == pytest.approx(effect, abs=1e-12)


def georisk_effect(pool: QueryBaselines, alpha: float) -> Callable[[list[float], int], Effect]:
    return lambda ndcg, query: plain.georisk_effect(ndcg, pool.scores.tolist(), query, alpha)


@settings(deadline=None)
@given(data(), OPTIONS, ALPHAS, st.integers(1, 4), SEEDS)
def test_georisk_is_that_of_plain_python(rows, options, alpha, many, seed):
    pool = baselines(seed, rows, many=many)
    agree(GeoRisk(pool, alpha, **options), rows, georisk_effect(pool, alpha), within=1e-7, **options)


@pytest.mark.parametrize(
    ("labels", "scores", "truncation_level"),
    [
        # the first swap costs more than the query has, which is its mean over the orders of tied documents
        ([3, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0], None),
        # pairs beyond k change nothing that the query has, which is nothing
        ([0, 0, 0, 0, 1, 0, 2, 0], [8, 7, 6, 5, 4, 3, 2, 1], 30),
    ],
)
def test_georisk_of_a_model_without_any_score_left_is_that_of_plain_python(labels, scores, truncation_level):
    rows = np.array(labels, float), np.array(scores, float), [len(labels)]
    options: dict[str, Any] = {"truncation_level": truncation_level}
    pool = baselines(1, rows, many=2)
    agree(GeoRisk(pool, 5, **options), rows, georisk_effect(pool, 5), **options)


def test_georisk_of_plain_python_is_that_of_the_gates():
    pool = np.random.default_rng(1).uniform(size=(4, 9))
    expectations = [plain.expected(pool.tolist(), 3, query) for query in range(9)]
    assert plain.georisk(pool[3].tolist(), expectations, 2.0) == pytest.approx(georisk(pool, alpha=2.0)[3])


def test_scores_far_apart_are_those_of_plain_python_too():
    rows = np.array([1.0, 0, 2, 0]), np.array([0.0, 0.3, 350.0, 350.2]), [4]  # 700 with sigmoid 2
    options: dict[str, Any] = {"sigmoid": 2.0, "norm": False}
    agree(LambdaMART(k=3, **options), rows, unweighted, **options)


LABELS, GROUP = np.array([2.0, 0, 1, 0, 3, 1, 0, 0, 1, 2]), [4, 3, 3]
SOME = np.array([0.3, 0.1, 0.9, 0.5, -0.2, 0.4, 0.0, 1.0, 0.7, 0.2])
ROWS = LABELS, SOME, GROUP


@pytest.mark.slow
def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    group = rng.integers(1, 60, 2000)
    rows = rng.integers(0, 5, group.sum()).astype(float), rng.normal(size=group.sum()), group.tolist()
    for objective in (LambdaMART(), GeoRisk(baselines(0, rows, many=2, k=10), 5)):
        found = []
        for processors in (1, 5):
            monkeypatch.setattr("os.cpu_count", lambda processors=processors: processors)
            found.append(objective.gradients(*rows))
        np.testing.assert_array_equal(found[0], found[1])


def test_an_objective_can_go_on_to_other_data():
    objective = LambdaMART(k=3)
    for rows in (ROWS, (LABELS[::-1].copy(), SOME, GROUP), (LABELS[::-1].copy(), SOME, [3, 3, 4])):
        np.testing.assert_array_equal(objective.gradients(*rows), LambdaMART(k=3).gradients(*rows))


def test_georisk_is_learned_from_until_it_vanishes():
    assert GeoRisk(baselines(0, ROWS), 70).gradients(*ROWS)[0].any()
    assert (LambdaMART().k, GeoRisk(baselines(0, ROWS)).alpha) == (10, 1)


def test_ndcg_is_that_of_the_baselines():
    measures: Any = ((3, "exponential"), (2, "exponential"), (3, "linear"))
    made = [JudgedQueries(LABELS, GROUP, k=k, gain=gain) for k, gain in measures]
    scores = np.array([[0.9, 0.2, 0.6]])
    found = [UCRO(QueryBaselines(data, ("b",), scores), 3).gradients(*ROWS)[0].tolist() for data in made]
    assert found[0] not in found[1:]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LambdaMART(k=0).gradients([1, 0], [1, 0], [2]), ValueError, "k must be a whole number .* got 0"),
        (lambda: LambdaMART(truncation_level=0), ValueError, "truncation_level must be None or a whole number .* 0"),
        (lambda: LambdaMART(sigmoid=0), ValueError, "sigmoid must be finite and above 0, got 0"),
        (lambda: LambdaMART(sigmoid=math.inf), ValueError, "sigmoid must be finite and above 0, got inf"),
        (lambda: UCRO(baselines(0, ROWS), -1), ValueError, "alpha must be finite and at least 0, got -1"),
        (lambda: UCRO(baselines(0, ROWS, many=2)), ValueError, r"expected one baseline, got 2; baselines.mean\(\)"),
        (lambda: TFARO(baselines(0, ROWS, many=2)), ValueError, "expected one baseline, got 2"),
        (
            lambda: UCRO(baselines(0, ROWS), 2, SMOOTH),
            ValueError,
            "a tradeoff says what a loss weighs: leave out alpha, got 2",
        ),
        (
            lambda: UCRO(baselines(0, ROWS), tradeoff=fitted_tradeoff(-0.241, 0.292, alpha=5)),
            ValueError,
            r"else a swap that improves nDCG could count as a loss; .* got SmoothTradeoff\(coefficients=\(3\.",
        ),
        (lambda: LambdaMART().gradients([1, 0], [math.inf, 0], [2]), ValueError, "scores must be finite, got inf in"),
        (
            lambda: GeoRisk(baselines(0, ROWS), 71).gradients(*ROWS),
            UsageError,
            r"vanishes at alpha 71 \(.* is 7e-13\)",
        ),
        (lambda: UCRO(baselines(0, ROWS)).gradients(LABELS, SOME, [3, 4, 3]), DataError, "other groups or labels"),
        (lambda: UCRO(baselines(0, ROWS)).gradients(LABELS[::-1], SOME, GROUP), DataError, "other groups or labels"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(make: Any, error, message):
    with pytest.raises(error, match=message):
        make()
