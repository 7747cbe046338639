"""``riskguard study risk``: its figures, computed by other means."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from pytest_riskguard.reports import listed
from pytest_riskguard.studies.risk import exploratory
from tests.studies.pools import BASE, DIFFERENCES, JUDGED, SCORES, TOPICS, agree, approx, trisk, weighted

LIMIT = student.ppf(0.975, 39)
ALPHAS = (0, 1, 5, 10)
ASKED = f"risk --baseline {BASE}"


def leave_one_out(values):
    """Estimates without each topic, and the jackknife's standard error (Eq. 16)."""
    left = np.array([np.delete(values, place).mean() for place in range(40)])
    return left, np.sqrt(39 / 40 * np.sum((left - left.mean()) ** 2))


def standardised(name, alpha):
    """TR_i, and TJ_i by leaving topics out: Eq. 23 has the other sign, and sqrt(n) times as much."""
    values = weighted(DIFFERENCES[name], alpha)
    left, error = leave_one_out(values)
    return values / values.std(ddof=1), -39 * (left - values.mean()) / error / 40**0.5


def test_urisk_its_errors_and_trisk(figures):
    found = figures(ASKED)
    for alpha in ALPHAS:
        table = found[f"Risk, alpha {alpha}"]
        xs = {name: weighted(row, alpha) for name, row in DIFFERENCES.items()}
        assert [*table] == JUDGED
        agree(table, "mean", {name: SCORES[name].mean() for name in xs}, ranked=False)
        agree(table, "URisk", {name: row.mean() for name, row in xs.items()})
        agree(table, "SE", {name: row.std(ddof=1) / 40**0.5 for name, row in xs.items()}, ranked=False)
        agree(table, "SE_J", {name: leave_one_out(row)[1] for name, row in xs.items()}, ranked=False)
        agree(table, "TRisk", {name: trisk(row, alpha) for name, row in DIFFERENCES.items()})
        agree(table, "p", {name: ttest_1samp(row, 0).pvalue for name, row in xs.items()}, ranked=False)


def test_the_curve_is_trisk_at_every_half(figures):
    curves = figures(ASKED)["TRisk over alpha"]
    assert [*curves] == JUDGED
    for name, curve in curves.items():
        assert curve == approx({f"{half / 2:g}": trisk(DIFFERENCES[name], half / 2) for half in range(31)})


@pytest.mark.parametrize("alpha", ALPHAS)
def test_tj_is_the_difference_that_a_topic_makes_by_leaving_it_out(alpha):
    found = exploratory(DIFFERENCES["stranger"], alpha=alpha)
    np.testing.assert_allclose(found, standardised("stranger", alpha))
    assert not np.any(exploratory(np.full(5, 0.1), alpha=alpha))


def test_topics_that_stand_out_are_named_the_farthest_first(figures):
    found = figures(ASKED)
    for alpha in ALPHAS:
        table = found[f"Topics that stand out (TR_i, TJ_i), alpha {alpha}"]
        for name, row in table.items():
            tr, tj = standardised(name, alpha)
            for what, side in (("losses", -1), ("wins", 1)):
                out = [k for k in np.argsort(-abs(tr)) if max(side * tr[k], side * tj[k]) > LIMIT]
                said = tuple(f"{TOPICS[k]} ({tr[k]:+.1f}, {tj[k]:+.1f})" for k in out)
                assert (row[what] or "") == listed(said, most=4)
        assert all(table["near"].values()) or alpha > 0


def test_bars_are_tj_of_each_topic_in_the_order_of_names(figures):
    found = figures(f"{ASKED} --alpha 2")
    parts = [part for part in found if part.startswith("TJ_i of each topic: ")]
    assert [part.rpartition(" ")[2] for part in parts] == JUDGED
    for part, name in zip(parts, JUDGED, strict=True):
        for place, value in enumerate(standardised(name, 2)[1], 1):
            assert found[part][f"alpha 2, topic {place}"] == approx({f"{place}": value})


def test_the_answer_counts_those_that_are_significant(done, table):
    text = " ".join(done(f"study {ASKED} --scores pool.csv").split())
    for alpha in ALPHAS:
        ratios = {name: trisk(row, alpha) for name, row in DIFFERENCES.items()}
        risky = tuple(name for name in JUDGED if ratios[name] < -LIMIT)
        which = f" ({listed(risky, most=5)})" if risky else ""
        better = sum(value > LIMIT for value in ratios.values())
        assert f"alpha {alpha}: {len(risky)} significantly risky{which}, {better} significantly better" in text
