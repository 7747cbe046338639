"""What stands between differences and the scores whose mean is judged: trade-off, noise, weights."""

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.risk.tradeoff import linear, smooth, tradeoff
from tests.gates.conftest import pair, topic_scores
from tests.strict import gate_of

NONE = np.zeros((0, 40))
RNG = np.random.default_rng(3)
D = RNG.normal(0, 0.2, 40)
NOISE = RNG.normal(0, 0.1, (3, 40))
WEIGHTS = RNG.uniform(0.1, 20, 40)


def test_the_smooth_trade_off_leaves_the_plain_mean_as_it_is():
    evidence = Evidence(D, NONE, kind="smooth")
    assert evidence.scores(1.0).tolist() == smooth(D).tolist()
    assert evidence.scores(0.0).tolist() == D.tolist()


@pytest.mark.parametrize(("loss", "outcome"), [(-1.0, "inconclusive"), (-1.01, "incomparable")])
def test_the_smooth_trade_off_takes_a_difference_of_1_and_none_beyond(loss, outcome):
    assert judge(gate_of("g", tradeoff="smooth"), *pair([loss, 0.1])).outcome == outcome


def test_noise_is_taken_off_topic_by_topic():
    evidence = Evidence(D, NOISE)
    own = np.mean([linear(row, alpha=5) for row in NOISE], axis=0)
    assert evidence.scores(5.0) == pytest.approx(linear(D, alpha=5) - own, abs=1e-15)
    assert evidence.noise_estimate(5.0) == pytest.approx(own.mean(), abs=1e-15)
    assert evidence.estimate(0.0) == pytest.approx(D.mean() - NOISE.mean(), abs=1e-15)


def test_weights_give_the_weighted_mean_and_the_spread_of_its_jackknife():
    evidence = Evidence(D, NONE, WEIGHTS)
    x = linear(D, alpha=1)
    mean = np.average(x, weights=WEIGHTS)
    assert evidence.estimate(1.0) == pytest.approx(mean, abs=1e-15)
    scores = evidence.scores(1.0)
    assert scores.mean() == pytest.approx(mean, abs=1e-15)
    left = np.array([np.average(np.delete(x, i), weights=np.delete(WEIGHTS, i)) for i in range(40)])
    assert scores == pytest.approx(mean + 39 * (left.mean() - left), rel=1e-12)


def test_a_topic_has_changed_where_it_has_a_part_in_the_estimate():
    differences, noise = np.zeros(40), np.zeros((2, 40))
    noise[1, 7] = 0.3  # the baseline moves there, the candidate does not
    assert Evidence(differences, noise).changed(0.0) == 1
    assert Evidence(differences, noise).without(7).changed(0.0) == 0
    noise[:, 3] = 0.1, -0.1  # the mean of the replicates does not move: only their losses have a part
    assert [Evidence(differences, noise).changed(alpha) for alpha in (0.0, 5.0)] == [1, 2]
    differences[9] = noise[0, 9] = noise[1, 9] = -0.7  # candidate and replicates lose alike: no part at all
    assert Evidence(differences, noise).changed(5.0) == 2


@pytest.mark.parametrize("kind", ["not_significantly_risky", "not_inferior"])
def test_a_larger_alpha_never_excuses_a_loss_by_the_baselines_noise(kind):
    """A candidate that lost 0.03 nearly everywhere, against a baseline that moves by 0.2 from run to run."""
    rng = np.random.default_rng(5)
    noise = np.where(rng.random(60) < 0.5, 0.2, -0.2)
    runs = [rng.normal(0.47, 0.02, 60), np.full(60, 0.5), 0.5 + noise, 0.5 - noise]
    candidate, baseline, *others = (topic_scores(f"run{i}", values) for i, values in enumerate(runs))
    gates = [gate_of("g", kind=kind, alpha=alpha) for alpha in (0.0, 5.0)]
    plain, weighed = [judge(gate, candidate, baseline, replicates=others) for gate in gates]
    assert plain.outcome == weighed.outcome == "fail"
    assert weighed.estimates.urisk is not None
    assert weighed.estimates.urisk > 0  # the excess itself says no risk at all
    assert weighed.reason == plain.reason
    assert weighed.estimates.alpha_star is None
    if kind == "not_significantly_risky":
        p = weighed.estimates.decision_p_value
        assert p is not None
        assert p <= 0.05
        assert p <= plain.estimates.decision_p_value


def test_equal_weights_are_none_whatever_their_size():
    both = pair(D)
    bare = judge(gate_of("g"), *both)
    for size in (1.0, 1e308, 5e-324):
        topics = Topics({}, weights=dict.fromkeys(both[0].topics, size))
        verdict = judge(gate_of("g", weighted=True), *both, topics=topics)
        assert verdict.estimates.urisk == pytest.approx(bare.estimates.urisk, abs=1e-15)
        assert [notice.code for notice in verdict.warnings] == [notice.code for notice in bare.warnings]


def test_stakes_are_what_a_topic_adds_as_a_win_and_takes_as_a_loss():
    d = np.array([0.2, 0.0, -0.4])
    gains, losses, lost = Evidence.of(d).stakes(3.0)
    assert (gains.tolist(), losses.tolist(), lost.tolist()) == ([0.2, 0.4], [0.8, 1.6], [False, True])
    smooth = Evidence(d, np.zeros((0, 3)), kind="smooth")
    gains, losses, _ = smooth.stakes(1.0)
    assert gains.tolist() == tradeoff(np.array([0.2, 0.4]), kind="smooth", alpha=1.0).tolist()
    assert losses.tolist() == (-tradeoff(np.array([-0.2, -0.4]), kind="smooth", alpha=1.0)).tolist()
    assert [side.tolist() for side in smooth.stakes(0.0)[:2]] == [[0.2, 0.4], [0.2, 0.4]]
    gains, losses, _ = Evidence(d, np.zeros((0, 3)), np.array([1.0, 1.0, 4.0])).stakes(1.0)
    assert losses.tolist() == (2 * gains).tolist()
    assert gains == pytest.approx([0.1, 0.8], rel=1e-15)


def between(
    candidate: list[float], baseline: list[float], *others: list[float], tradeoff: str = "linear"
) -> Evidence:
    systems = tuple(topic_scores(str(place), values) for place, values in enumerate((candidate, baseline, *others)))
    return Evidence.between(Aligned(systems, ((),) * len(systems)), tradeoff=tradeoff)


def test_differences_of_two_systems_and_of_each_replicate():
    evidence = between([0.5, 0.25, 0.75], [0.25, 0.5, 0.75 - 1e-13], [0.25, 0.75, 0.75], [0.5, 0.5, 0.5])
    assert evidence.differences.tolist() == [0.25, -0.25, 0.0]
    assert evidence.noise == pytest.approx(np.array([[0.0, 0.25, 0.0], [0.25, 0.0, -0.25]]), abs=2e-13)
    assert (evidence.n, evidence.noisy, evidence.weights, evidence.kind) == (3, True, None, "linear")
    reach = [between([0.5], [score]).largest_loss for score in (1.0 + 1e-13, 1.5)]  # percentages are beyond
    assert reach == [1.0, np.inf]
    with pytest.raises(DataError, match=r"'t00001' differ by 1\.5"):
        between([0.5, 0.5], [0.5, 0.5], [0.5, 2.0], tradeoff="smooth")


def test_what_rounding_leaves_of_equal_candidate_and_noise_is_no_change_at_any_alpha():
    lost = np.full(3, -0.3)
    assert Evidence(lost, lost[None, :] + 5e-13).changed(100.0) == 0
    assert Evidence(lost, lost[None, :] + 1.5e-12).changed(0.0) == 3


def test_the_effective_number_of_topics_is_kishs():
    uneven = Evidence(np.array([-0.1, 0.1, 0.0]), np.zeros((0, 3)), np.array([1.0, 1.0, 2.0]))
    assert uneven.effective == pytest.approx(16 / 6, rel=1e-15)
    assert uneven.changed(0.0) == 2
    assert Evidence.of(D).effective == 40.0
    assert not Evidence(D, NONE, np.linspace(1, 2, 40)).uneven
