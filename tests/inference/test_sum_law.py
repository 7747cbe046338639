"""The law of a sum: of bootstrap means and of bets, against enumeration, whole numbers and draws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import bdtr, log_ndtr, ndtr, ndtri
from scipy.stats import binom

from pytest_riskguard.inference import sum_law
from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.inference.intervals import interval
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.inference.sum_law import MAX_VALUES, SumLaw, condensed, lattice_step
from tests.inference.laws import (
    all_multisets,
    between_atoms,
    changed_topics_law,
    convolved,
    counted,
    met_in_the_middle,
    resampled,
)
from tests.inference.made_up_scores import made_up


def sparse(n: int, changed: int, *, seed: int) -> np.ndarray:
    x = np.zeros(n)
    x[:changed] = np.random.default_rng(seed).normal(size=changed)
    return np.where(x < 0, 2 * x, x)


@pytest.mark.parametrize("n", [5, 6, 7])
def test_every_multiset_of_few_topics_is_accounted_for(n):
    rng = np.random.default_rng(n)
    for x in (rng.normal(size=n), rng.integers(-3, 4, size=n) / 10, sparse(n, 3, seed=n)):
        law = Sample.of(x)
        for point, below in between_atoms(*all_multisets(x), gap=1e-9):
            assert float(ndtr(law.score(point))) == pytest.approx(below, abs=1e-12)


@pytest.mark.parametrize(("n", "changed"), [(50, 1), (225, 2), pytest.param(225, 3, marks=pytest.mark.slow)])
def test_every_way_to_draw_few_changed_topics_is_accounted_for(n, changed):
    x = sparse(n, changed, seed=changed)
    for point, below in between_atoms(*changed_topics_law(x[:changed], n, 22), gap=1e-9):
        assert float(ndtr(Sample.of(x).score(point))) == pytest.approx(below, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 225])
def test_halves_of_six_changed_topics_have_every_way_and_the_grid_lies_within_a_step(n):
    x = sparse(n, 6, seed=n)
    means, masses = changed_topics_law(x[:6], n, 16)  # but for a share of 1e-4 of the replicates
    sample, below = Sample.of(x), np.cumsum(masses)
    law, left_out = sample, 1 - float(below[-1])
    assert law.sums.by_vectors is not None
    for place in np.flatnonzero(np.diff(means) > 1e-9)[:: means.size // 40].tolist():
        between = (means[place] + means[place + 1]) / 2
        assert below[place] - 1e-9 <= float(ndtr(law.score(between))) <= below[place] + left_out + 1e-9
        atom = float(means[place])
        assert float(ndtr(law.score(atom))) >= below[place] - 1e-9
        assert float(ndtr(law.score(atom, inclusive=False))) <= below[place] - masses[place] + left_out + 1e-9
    unit = float(np.std(x)) / math.sqrt(n)
    for p in (0.01, 0.3, 0.7, 0.99):
        value = law.sums.steps.quantiles(p) / n
        low, high = means[np.minimum(np.searchsorted(below, [p - left_out, p]), means.size - 1)]
        assert low - 1e-3 * unit <= value <= high + 1e-3 * unit


@pytest.mark.parametrize("changed", [13, 20, 45])
def test_laws_of_a_dozen_to_fifty_draws_lie_within_a_thousandth_of_a_far_finer_grid(changed, monkeypatch):
    rng, p = np.random.default_rng(changed), np.array([5e-5, 0.0005, 0.025, 0.5, 0.975, 0.9995])
    x, steps = np.zeros(250), [0.5, 1, 1 / 3, 0.2]  # all but a lattice
    x[:changed] = rng.choice(steps, changed) - rng.choice(steps, changed) + 1e-3 * rng.normal(size=changed)
    law = Sample.of(x).sums
    found = law.steps.quantiles(p)
    assert law.steps.sums.size <= 2**15 + 2
    monkeypatch.setattr(sum_law, "GRID_POINTS", 2**20)
    monkeypatch.setattr(sum_law, "VERY_FEW", 250)
    monkeypatch.setattr(sum_law, "COARSE", {})
    fine = sum_law.SumLaw(law.values, law.chances, law.times, same=law.same).steps
    assert fine.sums.size >= 2**20
    assert np.all(np.abs(found - fine.quantiles(p)) <= 1e-3 * law.plain.deviation)


@pytest.mark.parametrize("kind", ["dense", "nearly a lattice", "some changed", "one far out"])
def test_a_grid_agrees_with_resamples(kind):
    rng = np.random.default_rng(11)
    x = {
        "dense": rng.normal(size=60),
        "nearly a lattice": np.concatenate([rng.integers(-5, 6, size=46) / 10, rng.normal(size=4)]),
        "some changed": sparse(100, 15, seed=1),
        "one far out": np.append(rng.normal(size=49) * 0.1, -2.0),
    }[kind]
    means, near = resampled(x, 100_000, seed=2), 4e-4 * float(np.std(x)) / math.sqrt(x.size)
    for p in (0.0005, 0.025, 0.5, 0.975, 0.9995):
        value, noise = float(Sample.of(x).sums.steps.quantiles(p)) / x.size, 4.5 * math.sqrt(p * (1 - p) / 1e5)
        value += Sample.of(x).mode
        assert np.searchsorted(means, value + near, side="right") / means.size >= p - noise
        assert np.searchsorted(means, value - near, side="left") / means.size <= p + noise


@pytest.mark.parametrize(("alpha", "at_the_mean", "upper"), [(4.47, 0.47771, -0.167625), (5.03, 0.47858, -0.188625)])
def test_few_changes_on_a_fine_lattice_have_its_own_law(alpha, at_the_mean, upper):
    """Many resamples have the sample's own mean; where only some of them stay on it, BCa's limits move by 0.03 SE."""
    losses = np.array([-0.75] * 2 + [-0.5] * 3 + [-0.25] * 2) * (1 + alpha)
    x = np.concatenate([losses, [0.25] * 3, [0.5], np.zeros(29)])
    assert Sample.of(x).sums.mid == pytest.approx(at_the_mean, abs=1e-5)
    assert interval(x, method="bca").upper == pytest.approx(upper, abs=1e-12)


@pytest.mark.parametrize("changed", [6, 9])
def test_the_replicates_without_changes_stay_where_they_are(changed):
    """At level 0.999 the replicate that draws none of six losses is the upper limit: 0 passes a gate, -1e-8 fails."""
    x = np.append(
        np.zeros(225 - changed), [-0.4, -0.31, -0.22, -0.13, -1e-6, -0.000002, -0.51, -0.62, -0.7][:changed]
    )
    law, none = Sample.of(x), (1 - changed / 225) ** 225
    z = -float(ndtri(none / 2))
    assert law.at_scores([z]).tolist() == [0.0]
    assert log_ndtr(-law.score(0.0, inclusive=False)) == pytest.approx(math.log(none), rel=1e-5)
    assert log_ndtr(-law.score(-1e-12)) == pytest.approx(math.log(none), rel=1e-5)


def test_very_many_scores_are_condensed_with_their_moments():
    x = np.sort(np.random.default_rng(1).normal(size=3 * MAX_VALUES) ** 3)
    values, shares = condensed(x, np.full(x.size, 1 / x.size))
    assert values.size < x.size
    assert [np.sum(shares * values**k) for k in range(4)] == pytest.approx([np.mean(x**k) for k in range(4)])
    assert condensed(x[:10], np.ones(10))[0] is not None


def off(sample: Sample, value: float, *, inclusive: bool, below: float, above: float) -> float:
    """How far the smaller of two tails is off, as a share of it; they are given as logarithms."""
    score = sample.score(value, inclusive=inclusive)
    smaller = min(below, above)
    return abs(float(log_ndtr(score if below < above else -score)) - smaller)


LATTICES = {
    "clustered": [-51, -38, -27, -49, -49, -38, 61, -49, -50, -49, -16, -38, -51, -38, -49, -49, -50, -38, -38, -49],
    "tenths": np.random.default_rng(5).integers(-10, 11, size=20).tolist(),
    "few changes": [0] * 90 + np.random.default_rng(6).integers(-8, 9, size=10).tolist(),
    "one far out": [0] * 48 + [1, -30],
    "two values": [-1] * 9 + [1],
}


@pytest.mark.parametrize("name", LATTICES)
def test_every_step_of_a_lattice_out_to_the_last_has_its_probability(name):
    steps = LATTICES[name]
    n, sample = len(steps), Sample.of(np.array(steps) / 10)
    sums, ways = counted(steps)
    assert sum(ways) == n**n
    below, every = 0, max(1, len(sums) // 100)
    for place, (total, here) in enumerate(zip(sums, ways, strict=True)):
        for inclusive, up_to in ((False, below), (True, below + here)):
            if 0 < up_to < n**n and here and place % every == 0:
                shares = {"below": math.log(up_to), "above": math.log(n**n - up_to)}
                shares = {side: log - n * math.log(n) for side, log in shares.items()}
                assert off(sample, total / 10 / n, inclusive=inclusive, **shares) < 3e-6
        below += here


def test_two_scores_are_binomial_in_any_number():
    for n, count in ((11, 3), (200, 7), (5000, 2500)):
        law = Sample.of(np.append(np.zeros(n - count), np.full(count, 1 / 3)))
        for drawn in (0, 1, count // 2, 2 * count, min(n - 1, 4 * count)):
            p = float(bdtr(drawn, n, count / n))
            if 1e-300 < p < 1 - 1e-7:
                assert log_ndtr(law.score((drawn + 0.5) / 3 / n)) == pytest.approx(math.log(p), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("n", [60, *(pytest.param(n, marks=pytest.mark.slow) for n in (1500, 6000))])
def test_three_changed_topics_keep_their_digits_in_the_far_tail(n):
    """Two of them make the law so skew that it is far wider when tilted: limits of BCa at 99.99 % lie there."""
    changed = np.array([-0.0612, -0.1701, 0.017])
    sample = Sample.of(np.append(np.zeros(n - 3), changed))
    means, masses = changed_topics_law(changed, n, 60)
    logs = np.logaddexp.accumulate(np.log(np.maximum(masses, 1e-300)))
    near = 2e-3 * sample.standard_error
    for k in np.flatnonzero(np.diff(means) > 2 * near):
        score = sample.score((means[k] + means[k + 1]) / 2)
        if -9.9 < score < -5.6:
            assert log_ndtr(score) == pytest.approx(float(logs[k]), rel=1e-3)
    for score in (-6.0, -7.1, -8.3, -9.7):
        limit = sample.at_scores(np.array([score]))[0]
        below, up_to = (logs[np.searchsorted(means, limit + side * near) - 1] for side in (-1, 1))
        assert below - 0.01 <= log_ndtr(score) <= up_to + 0.01


@given(st.integers(0, 10**6), st.lists(st.floats(-15, 15), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_quantile_is_where_the_law_reaches_its_score(seed, scores):
    sample = Sample.of(made_up(seed))
    if sample.constant:
        return
    law, z = sample, np.sort(scores)
    values = law.at_scores(z)
    # single sums stand out in halves, and in a far tail on a grid, of which limits are good to a step
    near = 4 * sample.same + (0.0 if law.sums.by_vectors is None else 2e-3 * sample.standard_error)
    near += 4e-4 * sample.standard_error if np.max(np.abs(z)) > 5.6 else 0.0
    assert np.all(np.diff(values) >= -sample.same)
    for score, value in zip(z.tolist(), values.tolist(), strict=True):
        slack = 1e-5 * max(1.0, abs(score))
        assert law.score(value + near) >= score - slack or value >= sample.x[-1] - sample.same
        assert law.score(value - near, inclusive=False) <= score + slack or value <= sample.x[0] + sample.same
        assert (law.at_scores(np.array([score])) == value).all()


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_law_rises_from_one_end_of_the_scores_to_the_other(seed):
    sample = Sample.of(made_up(seed))
    if sample.constant:
        return
    law, edge = sample, 10 * sample.same
    about = sample.mean + np.arange(-9, 10) * sample.standard_error
    values = np.sort(np.concatenate([np.linspace(sample.x[0], sample.x[-1], 25), about]))
    scores = np.clip([law.score(value) for value in values.tolist()], -99, 99)
    assert np.all(np.diff(scores) >= -1e-6 * np.abs(scores[1:]))
    assert law.score(sample.x[0] - edge) == law.score(sample.x[0], inclusive=False) == -math.inf
    assert law.score(sample.x[-1] + edge, inclusive=False) == law.score(sample.x[-1]) == math.inf
    assert law.at_scores(np.array([-math.inf, math.inf])).tolist() == [sample.x[0], sample.x[-1]]


@pytest.mark.parametrize(
    ("values", "step"), [([0.3, -0.2, 0.5], 0.1), ([1 / 3, 2 / 3], 1 / 3), ([0.1, math.pi], None), ([], None)]
)
def test_values_may_have_a_common_step(values, step):
    assert lattice_step(np.array(values)) == (step if step is None else pytest.approx(step, rel=1e-9))


# bets


def p_of(sizes: np.ndarray, alpha: float, lost: np.ndarray) -> float:
    return break_even(sizes, (1 + alpha) * sizes, lost)


M = 30
HARD = ["one huge", "three huge", "powers", "twelve orders of magnitude", "close to a lattice", "two sizes", "smooth"]


def hard_sizes(kind: str, m: int) -> np.ndarray:
    rng = np.random.default_rng(9)
    return {
        "one huge": np.append(rng.exponential(size=m - 1) * 0.01, 5.0),
        "three huge": np.append(rng.exponential(size=m - 3) * 0.01, [5.0, 7.0, 11.0]),
        "powers": 1.37 ** -np.arange(float(m)),
        "twelve orders of magnitude": 10 ** -np.linspace(0, 12, m),
        "close to a lattice": rng.integers(1, 4, size=m) / 10 + 1e-7 * rng.random(m),
        "two sizes": np.repeat([0.1, 0.2718], m // 2),
        "smooth": rng.exponential(size=m),
    }[kind]


WAYS = [(alpha, counted) for alpha in (0.0, 1.0, 10.0, 1e6) for counted in (True, False)]


@pytest.mark.parametrize(("alpha", "counted_at_all"), WAYS)
@pytest.mark.parametrize("kind", HARD)
def test_p_is_never_below_the_exact_one_and_hardly_above(kind, alpha, counted_at_all, monkeypatch):
    """Thirty topics are counted; here the line is asked as well, which is for more."""
    if not counted_at_all:
        monkeypatch.setattr(sum_law, "COUNTED", 0)
    rng = np.random.default_rng(int(alpha))
    sizes = hard_sizes(kind, M)
    for share in (1 / (2 + alpha), 0.4):
        lost = rng.random(M) < share
        lost[rng.integers(M)] = True
        chances = np.full(M, 1 / (2 + alpha))
        exact, p = met_in_the_middle(sizes, chances, lost), p_of(sizes, alpha, lost)
        assert exact * (1 - 1e-9) <= p
        if kind == "close to a lattice":  # sums that only the seventh digit tells apart may count as equal
            exact = met_in_the_middle(np.rint(10 * sizes), chances, lost)
        assert p <= exact * (1.01 if counted_at_all else 1.05) + 1e-13


@pytest.mark.parametrize("losses", [1, 20])
@pytest.mark.parametrize("alpha", [1.0, 10.0, 1e6])
@pytest.mark.parametrize("m", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_sizes_of_all_magnitudes_have_the_law_of_a_fine_lattice(m, alpha, losses):
    """The sum varies as its few largest bets do, so that the others' frequencies are many."""
    rng = np.random.default_rng([m, losses])
    steps, lost = np.ceil(10 ** rng.uniform(0, 4, size=m)).astype(np.int64), np.zeros(m, dtype=np.bool_)
    lost[np.argsort(steps)[m // 2 : m // 2 + losses]] = True
    if alpha < 10:
        lost = rng.random(m) < 1 / (2 + alpha)
    at_least = np.cumsum(convolved(steps, np.full(m, 1 / (2 + alpha)))[::-1])[::-1]
    off_it = steps + 1e-6 * rng.random(m) * ~lost  # so that it is no lattice
    observed = int(steps[lost].sum())
    slack = 1e-5 + 0.6 * (at_least[observed] - at_least[observed + 1])
    assert at_least[observed] - slack <= p_of(off_it, alpha, lost) <= at_least[observed] * 1.005


@pytest.mark.parametrize("share", [0.3, 1.0, 2.0, 2.9])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("m", [60])
def test_a_lattice_is_exact_in_every_tail(m, alpha, share):
    rng = np.random.default_rng([m, int(alpha), int(10 * share)])
    steps = rng.integers(2, 20, size=m)
    lost = rng.random(m) < min(share / (2 + alpha), 0.97)
    lost[0], lost[1] = True, False
    masses = convolved(steps, np.full(m, 1 / (2 + alpha)))
    assert p_of(steps / 7, alpha, lost) == pytest.approx(math.fsum(masses[int(steps[lost].sum()) :]), rel=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("m", [60, 400])
def test_sums_that_only_the_ninth_digit_tells_apart_count_as_equal(m, alpha):
    """Only wins are off the lattice, upwards: all patterns with as many points as observed are above it."""
    rng = np.random.default_rng(m)
    steps = rng.integers(1, 4, size=m)
    lost = rng.random(m) < 1.2 / (2 + alpha)
    exact = convolved(steps, np.full(m, 1 / (2 + alpha)))[int(steps[lost].sum()) :].sum()
    p = p_of(steps + 1e-9 * rng.uniform(1, 2, size=m) * ~lost, alpha, lost)
    assert exact * (1 - 1e-7) <= p <= exact * 1.05


@pytest.mark.parametrize("chance", [1e-6, 0.1, 0.5, 0.999])
@pytest.mark.parametrize("n", [1, 2, 30, 1000])
def test_the_number_of_losses_is_binomial(n, chance):
    expected = binom.pmf(np.arange(n + 1), n, chance)
    assert sum_law.binomial(n, chance) == pytest.approx(expected, rel=1e-9, abs=1e-290)
    reached = sum_law.most_drawn(np.array([1 - chance, chance]), n)
    assert reached == int(np.argmax(binom.sf(np.arange(n + 1), n, chance) < 1e-13))


def test_phi_is_the_product_over_kinds_wherever_it_is_something():
    """A lattice that one size breaks repeats itself: frequencies between are passed over, those are not."""
    rng, points = np.random.default_rng(4), 2**12
    sizes = np.append(128.0 * rng.integers(1, 4, size=400), 181.0)
    chances, times = rng.uniform(0.1, 0.9, size=401), rng.integers(1, 4, size=401).astype(np.float64)
    law = SumLaw(np.column_stack([0 * sizes, sizes]), np.column_stack([1 - chances, chances]), times, same=0.0)
    phi = law.phi(law.plain, 1.0, points)
    for k in range(points // 2):
        expected = np.prod((1 - chances + chances * np.exp(-2j * math.pi * k * sizes / points)) ** times)
        assert phi[k] == pytest.approx(complex(expected), rel=1e-9, abs=1e-13)
    assert np.max(np.abs(phi[points // 4 :])) > 0.1
    assert np.count_nonzero(np.abs(phi) > 1e-13) < points / 4
