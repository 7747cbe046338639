"""ZRisk and GeoRisk: laws, degenerate pools, errors, and a slow version that follows the paper cell by cell."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from pytest_riskguard import risk
from pytest_riskguard.risk.georisk import z_scores
from pytest_riskguard.risk.tradeoff import smooth

scores = st.integers(0, 1000).map(lambda k: k / 1000)
pools = st.tuples(st.integers(2, 8), st.integers(1, 12)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(st.just(0.0), scores))
)
alphas = st.floats(0, 100)

#: Two systems of four topics whose scores are other ways to divide the same totals.
CROSSED = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])


def phi(z: float) -> float:
    """The standard normal law, without loss of digits in its lower tail."""
    return math.erfc(-z / math.sqrt(2)) / 2


def slow_parts(pool: np.ndarray, *, alpha: float, kind: str) -> list[list[float]]:
    """Each cell by itself, from Eq. 5 and 6 of SIGIR 2016, and s(x) of AIRS 2019 for the smooth kind."""
    rows = pool.tolist()
    total = math.fsum(map(math.fsum, rows))
    parts: list[list[float]] = []
    for row in rows:
        parts.append([])
        for j, x in enumerate(row):
            e = math.fsum(row) * math.fsum(other[j] for other in rows) / total if total else 0.0
            d = x - e
            if e == 0:
                part = 0.0
            elif kind == "smooth":
                part = (1.38426 * d**3 - 0.51659 * d**2 + 0.11578 * d) / math.sqrt(e)
            else:
                part = d / math.sqrt(e) * (1 + alpha if d < 0 else 1)
            parts[-1].append(part)
    return parts


def fits_the_cubic(pool: np.ndarray) -> bool:
    return bool(np.all(np.abs(pool - risk.expected_scores(pool)) <= 1))


@given(pools, alphas, st.sampled_from(["linear", "smooth"]))
def test_every_figure_is_that_of_the_slow_version(pool, alpha, kind):
    if kind == "smooth":
        assume(fits_the_cubic(pool))
        alpha = 1.0
    parts = slow_parts(pool, alpha=alpha, kind=kind)
    zrisk = [math.fsum(row) for row in parts]
    topics = pool.shape[1]
    georisk = [
        math.sqrt(math.fsum(row) / topics * phi(z / topics)) for row, z in zip(pool.tolist(), zrisk, strict=True)
    ]
    close: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-10}  # of sums whose terms may reach 100 times their size
    assert_allclose(risk.topic_contributions(pool, alpha=alpha, kind=kind), parts, **close)
    assert_allclose(risk.zrisk(pool, alpha=alpha, kind=kind), zrisk, **close)
    assert_allclose(risk.georisk(pool, alpha=alpha, kind=kind), georisk, rtol=1e-9, atol=1e-12)


def test_two_systems_by_hand():
    # both totals are 1 and every topic's is 0.5, so 0.25 is expected of each score: its root is 0.5
    assert risk.expected_scores(CROSSED) == pytest.approx(np.full((2, 4), 0.25))
    assert z_scores(CROSSED)[0] == pytest.approx([0.3, 0.1, -0.1, -0.3])
    assert risk.zrisk(CROSSED, alpha=0) == pytest.approx([0, 0], abs=1e-15)
    assert risk.zrisk(CROSSED, alpha=5) == pytest.approx([-2.0, -2.0])
    # -2 over four topics; Phi(-0.5) = 0.308538
    assert risk.georisk(CROSSED, alpha=5) == pytest.approx([math.sqrt(0.25 * 0.30853754)] * 2)


@pytest.mark.parametrize("kind", ["linear", "smooth"])
def test_order_moves_no_bit_of_a_large_pool(kind):
    rng = np.random.default_rng(20160717)
    pool = rng.random((200, 1000)) ** 3
    systems, topics = rng.permutation(200), rng.permutation(1000)
    computed = risk.georisk(pool, alpha=1, kind=kind)
    assert risk.georisk(pool[systems][:, topics], alpha=1, kind=kind).tobytes() == computed[systems].tobytes()
    assert pool[0, topics].sum() != pool[0].sum()  # a plain sum is moved by that order


@given(pools, st.integers(0, 12), alphas)
def test_a_topic_on_which_nobody_scores_counts_in_c_alone(pool, place, alpha):
    place = min(place, pool.shape[1])
    longer = np.insert(pool, place, 0.0, axis=1)
    assert not risk.topic_contributions(longer, alpha=alpha)[:, place].any()
    zrisk, topics = risk.zrisk(pool, alpha=alpha), pool.shape[1] + 1
    assert risk.zrisk(longer, alpha=alpha).tobytes() == zrisk.tobytes()
    georisk = np.sqrt(pool.sum(axis=1) / topics * [phi(z / topics) for z in zrisk])
    assert_allclose(risk.georisk(longer, alpha=alpha), georisk, rtol=1e-9, atol=1e-12)


@given(pools, alphas)
def test_a_system_that_scores_nothing_has_no_georisk_and_moves_no_other(pool, alpha):
    larger = np.vstack([pool, np.zeros(pool.shape[1])])
    assert not z_scores(larger)[-1].any()
    assert risk.georisk(larger, alpha=alpha)[-1] == 0
    assert risk.zrisk(larger, alpha=alpha)[:-1].tobytes() == risk.zrisk(pool, alpha=alpha).tobytes()


@pytest.mark.parametrize("kind", ["linear", "smooth"])
def test_a_pool_that_scores_nothing_at_all_is_zero_throughout(kind):
    nothing = np.zeros((3, 4))
    for curves in (
        risk.expected_scores(nothing),
        z_scores(nothing),
        risk.topic_contributions(nothing, alpha=1, kind=kind),
        risk.zrisk(nothing, alpha=1, kind=kind),
        risk.georisk(nothing, alpha=1, kind=kind),
    ):
        assert not curves.any()
        assert not np.signbit(curves).any()


def test_scores_whose_products_are_below_the_smallest_float_have_their_z():
    # the first system alone scores on the first topic: e = x^2/N, far below the smallest float, and z = sqrt(N)
    pool = [[1e-200, 0.0], [0.0, 1.0]]
    assert z_scores(pool)[0, 0] == pytest.approx(1.0)


BAD = [
    ([0.1, 0.2], r"scores must have two axes \(systems, topics\), got shape \(2,\)"),
    ([[0.1, 0.2]], "scores must hold at least 2 systems, got 1"),
    (np.zeros((2, 0)), "scores must hold at least 1 topics, got 0"),
    (
        [[0.1, 0.2], [0.3, -0.4]],
        r"at least 0 for ZRisk and GeoRisk, got -0.4 for system 1, topic 1 \(counted from 0\)",
    ),
    ([[0.1, math.nan], [0.3, 0.4]], r"scores must be finite .*, got nan for system 0, topic 1"),
    (
        [[0.1, 0.2], [0.3, 1e101]],
        r"at most 1e\+100 in size, got 1e\+101 for system 1, topic 1",
    ),
]


@pytest.mark.parametrize(("pool", "message"), BAD)
@pytest.mark.parametrize(
    "kernel",
    [
        risk.expected_scores,
        z_scores,
        lambda pool: risk.zrisk(pool, alpha=1),
        lambda pool: risk.georisk(pool, alpha=1, kind="smooth"),
        lambda pool: risk.topic_contributions(pool, alpha=1),
    ],
)
def test_pools_that_have_no_zrisk_are_refused(kernel, pool, message):
    with pytest.raises(ValueError, match=message):
        kernel(pool)


@pytest.mark.parametrize(
    ("kind", "alpha", "message"),
    [
        ("cubic", 1.0, "tradeoff must be one of linear, smooth, got 'cubic'"),
        ("smooth", 5.0, "fitted for alpha 1 and has no other: expected alpha 1, got 5.0"),
        ("linear", -1.0, "alpha must be finite and at least 0, got -1.0"),
        ("linear", 1e300, r"at most 1e\+100 in size"),
    ],
)
def test_weights_of_a_loss_are_those_of_the_trade_off(kind, alpha, message):
    for kernel in (risk.zrisk, risk.georisk, risk.topic_contributions):
        with pytest.raises(ValueError, match=message):
            kernel(CROSSED, alpha=alpha, kind=kind)


def test_the_cubic_is_not_asked_beyond_where_it_was_fitted():
    # all the points of two systems of one, so 4/3 is expected of the second topic of the first
    pool = [[1.0, 0.0, 1.0], [0.0, 4.0, 0.0]]
    with pytest.raises(ValueError, match=r"less expected scores must be from -1 to 1 .* got -1.3\d+ for system 0"):
        risk.zrisk(pool, alpha=1, kind="smooth")
    assert risk.zrisk(pool, alpha=5)[0] < 0


def test_scores_as_far_as_one_from_the_expected_ones_have_a_cubic():
    # 1 is expected everywhere
    parts = risk.topic_contributions([[2.0, 0.0], [0.0, 2.0]], alpha=1, kind="smooth")
    up, down = smooth([1.0, -1.0])
    assert_allclose(parts, [[up, down], [down, up]], rtol=1e-14)
    with pytest.raises(
        ValueError,
        match=r"^scores less expected scores must be from -1 to 1 for the smooth trade-off, got 1.25 for system 0",
    ):
        risk.topic_contributions([[2.5, 0.0], [0.0, 2.5]], alpha=1, kind="smooth")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: risk.topic_contributions([[1e90, 0.0], [0.0, 1e90]], alpha=1e300),
            r"^z weighted by 1 \+ alpha must be finite .*, got -inf for system 0, topic 1 \(counted from 0\)$",
        ),
        (
            lambda: risk.topic_contributions([[0.5, 0.0], [0.0, 0.5]], alpha=1e101),
            r"^z weighted by 1 \+ alpha must be finite and at most 1e\+100 in size, got -\d\.?\d*e\+100 for system 0",
        ),
        (
            lambda: risk.zrisk([[1e90, 0.0], [0.0, 1e90]], alpha=1e290),
            r"^ZRisk must be finite .*, got -inf$",
        ),
        (lambda: risk.zrisk([[0.1, None], [0.2, 0.3]], alpha=1), "^scores must be finite .*, got nan for system 0"),
        (lambda: risk.zrisk(CROSSED, alpha=math.nan), "^alpha must be finite and at least 0, got nan$"),
    ],
)
def test_what_overflows_or_is_missing_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
