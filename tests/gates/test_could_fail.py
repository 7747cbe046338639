"""Could a gate ever fail with so few changed topics? Warnings, power and plans have one answer."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.gates.could_fail import cannot_fail, could_fail, few_changes
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.judge import compare
from pytest_riskguard.gates.kinds import Gate, NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.warnings import warnings
from tests.gates.conftest import pair


def gate_of(**options: Any) -> Gate:
    """A gate that tolerates nothing and fails for churn too, unless these options say otherwise."""
    return NotSignificantlyRisky("g", **{"tolerance": 0.0, "on_churn": "fail", **options})


def fewest(gate: Gate, n: int, *, largest_loss: float = math.inf) -> int | None:
    return next((m for m in range(1, n + 1) if could_fail(gate, m, n, largest_loss=largest_loss)), None)


def losses(m: int, n: int, *, sizes: np.ndarray | None = None) -> np.ndarray:
    d = np.zeros(n)
    d[:m] = -1.0 if sizes is None else -sizes
    return d


def many_sizes(m: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Sizes of m losses, of which the largest is 1: alike, falling, a few large ones, by chance; wins among them."""
    yield np.ones(m)
    for ratio in (0.9, 0.5, 0.2, 0.05, 0.001):
        yield np.maximum(ratio ** np.arange(m), 1e-7)
        for large in {1, 2, m // 2, m - 1} & set(range(1, m)):
            yield np.append(np.ones(large), np.full(m - large, ratio))
    for _ in range(6):
        for sizes in (rng.uniform(1e-6, 1, m), 10.0 ** -rng.uniform(0, 5, m)):
            yield sizes / np.max(sizes)
        won = np.append(1.0, np.where(rng.random(m - 1) < 0.2, -1, 1) * 10.0 ** -rng.uniform(0, 5, m - 1))
        yield won


@pytest.mark.slow
@pytest.mark.parametrize(("n", "on_churn"), [(10, "fail"), (25, "warn"), (100, "fail")])
@pytest.mark.parametrize(("tolerance", "largest_loss"), [(0.0, math.inf), (0.005, 1.0)])
def test_no_losses_whatever_fail_a_gate_that_is_said_not_to_fail(n, on_churn, tolerance, largest_loss):
    rng = np.random.default_rng(n)
    for alpha, level in ((0, 0.95), (1, 0.9), (1, 0.999), (5, 0.95), (10, 0.99)):
        gate = gate_of(alpha=alpha, level=level, on_churn=on_churn, tolerance=tolerance)
        needed = fewest(gate, n, largest_loss=largest_loss) or n + 1
        m = needed - 1
        tried = many_sizes(m, rng) if m < 6 else islice(many_sizes(m, rng), 12)  # laws of many sizes take long
        rulings = (Ruling(gate, Evidence.of(losses(m, n, sizes=sizes))) for sizes in tried)
        assert m == 0 or all(ruling.lets_through for ruling in rulings), (alpha, level, m)


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"alpha": 0}, 4),  # Student-t: the root of 4 (n - 1)/(n - 4) is beyond its critical value
        ({"alpha": 1}, 4),
        ({"alpha": 5}, 3),  # break-even: 7^-2 < 0.025, but BCa's p is 0.070 at least with two
        ({"alpha": 10}, 3),
        ({"alpha": 5, "level": 0.9}, 2),
        ({"alpha": 5, "method": "student_t"}, 4),
        ({"alpha": 5, "method": "percentile"}, 4),  # (1 - 3/n)^n of resamples have none of three losses
        ({"alpha": 5, "on_churn": "warn"}, 4),  # the mean alone must fail as well
        ({"alpha": 5, "on_churn": "warn", "level": 0.9}, 3),
        ({"tradeoff": "smooth"}, 3),  # a loss of 0.29 takes 4.6 times what such a win adds
        ({"alpha": 5, "tolerance": 0.5}, 3),  # nobody knows how much a topic can lose
    ],
)
def test_the_fewest_changes_with_which_a_gate_could_fail(options, needed):
    gate = gate_of(**options)
    assert fewest(gate, 100) == needed
    assert all(could_fail(gate, m, 100, largest_loss=math.inf) for m in range(needed, 30))
    assert not could_fail(gate, 1, 6, largest_loss=math.inf)  # asked as if there were enough topics for a verdict


@pytest.mark.parametrize(("largest_loss", "needed"), [(1.0, 11), (3.0, 6)])
def test_the_more_a_topic_can_lose_the_fewer_losses_exceed_a_tolerance(largest_loss, needed):
    assert fewest(gate_of(alpha=1, tolerance=0.1), 100, largest_loss=largest_loss) == needed


def test_two_changes_at_alpha_5_are_warned_of_and_three_are_not():
    # the break-even test can fail with two, BCa cannot: there was no warning
    for m, stuck in ((2, True), (3, False)):
        comparison = compare(gate_of(alpha=5), *pair(0.4 * losses(m, 100)))
        assert (comparison.answer[0] == "pass") is stuck
        assert cannot_fail(comparison.ruling) is stuck
        found = {w.code: w.parameters for w in warnings(comparison)}
        assert ("few_changed_topics" in found) is stuck
        if stuck:
            assert found["few_changed_topics"]["cannot_fail"]
            assert not found["few_changed_topics"]["needs_student_t"]


@pytest.mark.parametrize(("options", "stuck"), [({}, False), ({"on_churn": "warn"}, True)])
def test_where_churn_only_warns_the_mean_must_be_able_to_fail(options, stuck):
    comparison = compare(gate_of(alpha=5, **options), *pair(0.3 * losses(3, 100)))
    assert cannot_fail(comparison.ruling) is few_changes(comparison.ruling) is stuck
    assert (comparison.answer[0] == "pass") is stuck


def test_clusters_of_one_size_count_and_others_are_not_known():
    differences = 0.5 * losses(4, 40)

    def ruled(clusters: list[int]) -> Ruling:
        return Ruling(
            gate_of(alpha=0),
            Evidence(differences, np.zeros((0, 40)), clusters=np.array(clusters)),
        )

    in_pairs = [i // 2 for i in range(40)]
    assert cannot_fail(ruled(in_pairs))  # two of 20 clusters lost
    assert not cannot_fail(ruled([0, *(1 + i // 2 for i in range(39))]))
