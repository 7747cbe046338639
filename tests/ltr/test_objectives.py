"""Gradients of the objectives against plain Python, which recomputes nDCG and risk after each swap."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.errors import DataError
from pytest_riskguard.ltr import TFARO, TSARO, UCRO, GeoRisk, LambdaMART, QueryBaselines
from pytest_riskguard.risk import georisk
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


@pytest.mark.slow
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
    given = np.array(labels, float), np.array(scores, float), [len(labels)]
    pool = baselines(np.random.default_rng(1), given[2], many=2)
    options: dict[str, Any] = {"truncation_level": truncation_level}
    effect = lambda found, query: plain.georisk_effect(found, pool.scores.tolist(), query, 5)  # noqa: E731
    found = GeoRisk(pool, 5, **options).gradients(*given)
    assert_equal(found, slow(*given, effect, 3, **options), within=1e-9)


def test_georisk_of_plain_python_is_that_of_the_gates():
    pool = np.random.default_rng(1).uniform(size=(4, 9))
    expectations = [plain.expected(pool.tolist(), 3, query) for query in range(9)]
    assert plain.georisk(pool[3].tolist(), expectations, 2.0) == pytest.approx(georisk(pool, alpha=2.0)[3])


def test_a_swap_that_ends_at_the_baseline_counts_once():
    labels, scores = np.array([0.0, 1, 0]), np.array([2.0, 1, 0])
    equal = QueryBaselines(("best",), ("q",), np.ones((1, 1)))
    gradient, _ = UCRO(equal, 5, form="crossing", norm=False).gradients(labels, scores, [3])
    expected, _ = slow(
        labels, scores, [3], lambda *_: lambda change: change if change > 0 else 6 * change, 10, norm=False
    )
    np.testing.assert_allclose(gradient, expected)


@settings(deadline=None)
@given(data(), OPTIONS, st.integers(0, 2**32 - 1))
def test_without_extra_weight_of_losses_all_but_georisk_are_lambdamart(rows, options, seed):
    labels, scores, group = rows
    one = baselines(np.random.default_rng(seed), group)
    several = baselines(np.random.default_rng(seed), group, many=3)
    expected = LambdaMART(k=3, **options).gradients(labels, scores, group)
    for objective in (
        UCRO(one, 0, **options),
        UCRO(one, 0, form="crossing", **options),
        TSARO(one, 0, **options),
        TFARO(one, 0, **options),
        TFARO(several.mean(), 0, **options),
    ):
        assert_equal(objective.gradients(labels, scores, group), expected, within=1e-12)


@settings(deadline=None)
@given(data(), st.sampled_from(ALPHAS), st.integers(0, 2**32 - 1))
def test_every_pair_pushes_the_better_document_up(rows, alpha, seed):
    labels, scores, group = rows
    rng = np.random.default_rng(seed)
    one, several = baselines(rng, group), baselines(rng, group, many=3)
    keep = rng.permutation(max(group))[:2]  # two documents of each query: a single pair, whose sign shows
    starts = np.cumsum([0, *group[:-1]])
    chosen = [start + np.sort(keep[keep < size]) for start, size in zip(starts, group, strict=True)]
    chosen = [rows if rows.size else np.array([start]) for rows, start in zip(chosen, starts, strict=True)]
    sizes = [rows.size for rows in chosen]
    labels, scores = labels[np.concatenate(chosen)], scores[np.concatenate(chosen)]
    for objective in (UCRO(one, alpha), TSARO(one, alpha), TFARO(one, alpha), GeoRisk(several, alpha)):
        gradient, hessian = objective.gradients(labels, scores, sizes)
        assert (hessian >= 0).all()
        for query in np.split(np.column_stack([labels, gradient]), np.cumsum(sizes)[:-1]):
            if len(query) == 2 and query[0, 0] != query[1, 0]:
                better, worse = sorted(query.tolist(), reverse=True)
                assert better[1] < 0 < worse[1]


ROWS = (np.array([2.0, 0, 1, 0, 3, 1, 0, 0, 1, 2]), [4, 3, 3])
SOME = np.array([0.3, 0.1, 0.9, 0.5, -0.2, 0.4, 0.0, 1.0, 0.7, 0.2])


def three_queries(**options: Any) -> QueryBaselines:
    return QueryBaselines(("bm25",), ("a", "b", "c"), np.array([[0.9, 0.2, 0.6]]), 3, **options)


@pytest.mark.slow
def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    group = rng.integers(1, 60, 2000)
    labels, scores = rng.integers(0, 5, group.sum()).astype(float), rng.normal(size=group.sum())
    pool = baselines(rng, group.tolist(), many=2, k=10)
    for objective in (LambdaMART(), GeoRisk(pool, 5)):
        found = []
        for processors in (1, 5):
            monkeypatch.setattr("os.cpu_count", lambda processors=processors: processors)
            found.append(objective.gradients(labels, scores, group))
        assert_equal(*found, within=0)


def test_scores_far_apart_are_those_of_plain_python_too():
    labels, scores = np.array([1.0, 0, 2, 0]), np.array([0.0, 0.3, 350.0, 350.2])  # 700 with sigmoid 2
    options: dict[str, Any] = {"sigmoid": 2.0, "norm": False}
    found = LambdaMART(k=3, **options).gradients(labels, scores, [4])
    assert_equal(found, slow(labels, scores, [4], lambda *_: lambda change: change, 3, **options), within=1e-9)


def test_an_objective_can_go_on_to_other_data():
    labels, group = ROWS
    objective = LambdaMART(k=3)
    for other_labels, other_group in (
        (labels, group),
        (labels[::-1].copy(), group),
        (labels[::-1].copy(), [3, 3, 4]),
    ):
        found = objective.gradients(other_labels, SOME, other_group)
        assert_equal(found, LambdaMART(k=3).gradients(other_labels, SOME, other_group), within=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: LambdaMART(k=0).gradients([1, 0], [1, 0], [2]),
            "k must be a whole number of at least 1, got 0",
        ),
        (
            lambda: LambdaMART(truncation_level=0),
            "truncation_level must be None or a whole number of at least 1, got 0",
        ),
        (lambda: LambdaMART(sigmoid=0), "sigmoid must be finite and above 0, got 0"),
        (lambda: LambdaMART(sigmoid=math.inf), "sigmoid must be finite and above 0, got inf"),
        (lambda: UCRO(three_queries(), -1), "alpha must be finite and at least 0, got -1"),
        (lambda: UCRO(three_queries(), 1e39), r"alpha must be at most 1e\+09, got 1e\+39: nothing would be learned"),
        (lambda: UCRO(three_queries(), math.nan), "alpha must be finite and at least 0, got nan"),
        (lambda: LambdaMART().gradients([1, 0], [math.inf, 0], [2]), "scores must be finite, got inf in row 0"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_data_of_other_queries_are_refused():
    labels, _ = ROWS
    with pytest.raises(DataError, match="the data have 2 queries, the baselines 3: make baselines for these data"):
        UCRO(three_queries()).gradients(labels, SOME, [5, 5])
    known = three_queries(group=np.array([4, 3, 3]))
    UCRO(known).gradients(labels, SOME, [4, 3, 3])
    with pytest.raises(DataError, match="query a has 3 documents in the data, but the baselines were scored on 4"):
        UCRO(known).gradients(labels, SOME, [3, 4, 3])
