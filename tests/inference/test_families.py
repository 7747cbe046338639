"""P-values of many tests at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.inference.break_even import chances_of_loss
from pytest_riskguard.inference.families import DRAWS, effective_levels, holm, joint_flips, pooled_draws

# near the thresholds as well as anywhere, with ties
p_lists = st.lists(
    st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda k: k / 400), st.sampled_from([0.05, 0.05 / 3, 0.0])),
    min_size=1,
    max_size=12,
)


def test_holm_by_hand():
    # ranks: .005 x 4 = .02, .01 x 3 = .03, .03 x 2 = .06, .04 x 1 = .04, which may not be below .06
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]).tolist() == pytest.approx([1.0, 1.0])


@given(p_lists)
def test_holm_rejects_step_by_step(p):
    # the procedure as Holm describes it, at several levels
    for a in (0.01, 0.05, 0.3):
        rejected = set()
        for step, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
            if p[index] * (len(p) - step) > a:
                break
            rejected.add(index)
        assert rejected == set(np.flatnonzero(holm(p) <= a).tolist())


@given(p_lists, st.randoms())
def test_order_is_irrelevant_and_adjusted_values_keep_it(p, random):
    adjusted = holm(p)
    assert np.all(adjusted >= np.array(p))
    assert np.all(adjusted <= 1)
    order = list(range(len(p)))
    random.shuffle(order)
    assert holm([p[i] for i in order]).tolist() == adjusted[order].tolist()
    assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)


def test_thresholds_by_hand():
    p = [0.01, 0.04, 0.03, 0.005]
    # two rejected at 4 and 3; the others meet the threshold of the first that is not: 0.05/2
    assert effective_levels(p, level=0.95).tolist() == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
    none = [0.3, 0.2, 0.9]
    assert effective_levels(none, level=0.95).tolist() == pytest.approx([0.05 / 3] * 3)
    assert effective_levels([0.001, 0.001, 0.9], level=0.95).tolist() == pytest.approx([0.05 / 3, 0.05 / 3, 0.05])
    p = np.nextafter(0.5 / 3, 1)  # three times as much is 0.5, by rounding
    assert effective_levels([p] * 3, level=0.5).tolist() == [p] * 3
    # a p-value at the threshold is rejected, so the other one is asked for half as much no more
    assert effective_levels([0.25, 0.5], level=0.5).tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: holm([]), "^expected at least one p-value, got none$"),
        (lambda: holm([0.1, None]), "p-values must be numbers from 0 to 1, got nan at position 1"),
        (lambda: holm([2, 0.1, 1.1]), r"got 2.0 at position 0"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --------------------------------------------------------------------------------------------------------------------
# Draws: Westfall and Young's step-down minimum
# --------------------------------------------------------------------------------------------------------------------


def sparse(rng: np.random.Generator, changed: int, n: int, mean: float = 0.0) -> np.ndarray:
    """Scores of n topics, of which so many changed."""
    return np.concatenate([rng.normal(mean, 0.1, changed), np.zeros(n - changed)])


def slow_pooled(scores: list[np.ndarray], bound: float, draws: int) -> np.ndarray:
    """The definition, test by test and draw by draw, with draws of its own."""
    rng = np.random.default_rng(7)

    def statistic(x: np.ndarray, below: float) -> float:
        return float((np.mean(x) - below) / (np.std(x, ddof=1) / np.sqrt(x.size)))

    changes = [x[x != 0] for x in scores]
    pool = np.concatenate([(x - np.mean(x)) * np.sqrt(x.size / (x.size - 1)) for x in changes])
    observed = np.array([statistic(x, bound) for x in scores])
    drawn = np.array(
        [
            [
                statistic(np.concatenate([rng.choice(pool, c.size), np.zeros(x.size - c.size)]), 0.0)
                for x, c in zip(scores, changes, strict=True)
            ]
            for _ in range(draws)
        ]
    )
    p, left, highest = np.zeros(len(scores)), list(range(len(scores))), 0.0
    for i in np.argsort(observed).tolist():
        highest = max(highest, float(np.mean(np.min(drawn[:, left], axis=1) <= observed[i])))
        p[i] = highest
        left.remove(i)
    return p


def test_pooled_draws_are_what_their_definition_says():
    rng = np.random.default_rng(3)
    scores = [sparse(rng, m, 40, mean) for m, mean in ((12, -0.06), (9, -0.03), (15, 0.0), (11, -0.03))]
    slow = slow_pooled(scores, -0.004, 1500)
    assert np.sum((slow > 0.05) & (slow < 0.95)) >= 3
    assert pooled_draws(scores, bound=-0.004) == pytest.approx(slow, abs=4.5 * np.sqrt(0.25 / 1500))


def test_residuals_of_few_changes_are_as_large_as_changes():
    scores = [np.array([*changes, *[0.0] * (20 - len(changes))]) for changes in ((-0.4, 0.5), (-0.4, -1.2, -0.9))]
    assert pooled_draws(scores) == pytest.approx(slow_pooled(scores, 0.0, 6000), abs=4.5 * np.sqrt(0.25 / 6000))


def test_a_single_change_shows_no_law_to_draw_from():
    assert pooled_draws([[-0.1, 0.0], [0.0, 0.0]]).tolist() == [1.0, 1.0]


def test_a_test_without_changes_moves_no_other():
    x = sparse(np.random.default_rng(5), 12, 30, -0.03)
    assert pooled_draws([np.zeros(9), x]).tolist() == [1.0, *pooled_draws([x])]


def test_no_order_of_tests_or_topics_moves_a_p_value():
    rng = np.random.default_rng(1)
    scores = [sparse(rng, m, n, -0.03) for m, n in ((12, 50), (5, 30), (20, 25), (1, 9))]
    scores += [np.array([-0.5, 0.0, 0.5, 0.0]), np.array([-0.5, -0.25, 0.25, 0.5])]  # means alike
    found = pooled_draws(scores)
    assert np.max(found) < 1
    assert pooled_draws([rng.permutation(x) for x in scores[::-1]])[::-1].tolist() == found.tolist()
    d = rng.normal(-0.01, 0.1, (3, 60))
    flips = joint_flips(np.abs(d), 2 * np.abs(d), d < 0, n=80, tolerated=[0.0] * 3)
    d = d[[2, 0, 1]]
    assert (
        joint_flips(np.abs(d), 2 * np.abs(d), d < 0, n=80, tolerated=[0.0] * 3).tolist() == flips[[2, 0, 1]].tolist()
    )


def test_flips_are_what_their_definition_says():
    rng = np.random.default_rng(2)
    gains, lost = rng.exponential(size=30), rng.random(30) < 0.5
    lost, chances = np.array([lost, ~lost]), chances_of_loss(gains, 3 * gains, 6.0)
    uniform = rng.random((5000, 1, 30))
    loses = [*np.where(lost, uniform >= 1 - chances, uniform < chances), lost]
    x = np.append(np.where(loses, -2 * gains, gains), np.zeros((5001, 2, 10)), axis=2)
    t = (x.mean(axis=2) + 6 / 40) / x.std(axis=2)
    order = np.argsort(t[-1])
    p = np.mean(t[:-1].min(axis=1) <= t[-1].min()), np.mean(t[:-1, order[1]] <= t[-1].max())
    found = joint_flips(np.array([gains] * 2), np.array([2 * gains] * 2), lost, n=40, tolerated=[6.0] * 2)
    assert found[order] == pytest.approx(np.maximum.accumulate(p), abs=0.03)
    every = np.ones((1, 99))
    assert joint_flips(every, every, every > 0, n=99, tolerated=[0.0]).tolist() == [1 / (DRAWS + 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pooled_draws([[0.1, np.nan]]), "scores must be finite"),
    ],
)
def test_draws_refuse_what_is_no_test(call, message):
    with pytest.raises(ValueError, match=message):
        call()
