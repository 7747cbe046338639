"""``riskguard study risk``: its figures, computed by other means."""

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from pytest_riskguard.reports import listed
from pytest_riskguard.studies.risk import exploratory
from tests.studies.pools import ORDER, SCORES, TOPICS, agree, trisk, weighted

AGAINST = "kin2"
JUDGED = [name for name in ORDER if name != AGAINST]
LIMIT = student.ppf(0.975, 39)
ALPHAS = (0, 1, 5, 10)


def x(name, alpha):
    return weighted(SCORES[name] - SCORES[AGAINST], alpha)


def leave_one_out(values):
    """Estimates without each topic, and the jackknife's standard error (Eq. 16)."""
    n = len(values)
    left = np.array([np.delete(values, place).mean() for place in range(n)])
    return left, np.sqrt((n - 1) / n * np.sum((left - left.mean()) ** 2))


def test_urisk_its_errors_and_trisk(figures):
    found = figures(f"risk --baseline {AGAINST}")
    for alpha in ALPHAS:
        table, xs = found[f"Risk, alpha {alpha}"], {name: x(name, alpha) for name in JUDGED}
        assert [*table] == JUDGED
        agree(table, "mean", {name: SCORES[name].mean() for name in JUDGED}, ranked=False)
        agree(table, "URisk", {name: row.mean() for name, row in xs.items()})
        agree(table, "SE", {name: row.std(ddof=1) / 40**0.5 for name, row in xs.items()}, ranked=False)
        agree(table, "SE_J", {name: leave_one_out(row)[1] for name, row in xs.items()}, ranked=False)
        agree(table, "TRisk", {name: ttest_1samp(row, 0).statistic for name, row in xs.items()})
        agree(table, "p", {name: ttest_1samp(row, 0).pvalue for name, row in xs.items()}, ranked=False)


def test_the_curve_is_trisk_at_every_half(figures):
    curves = figures(f"risk --baseline {AGAINST}")["TRisk over alpha"]
    assert curves.pop("critical value") == pytest.approx({"-inf": LIMIT, "inf": LIMIT})  # of the upper line
    assert [*curves] == JUDGED
    for name, curve in curves.items():
        assert [*map(float, curve)] == [half / 2 for half in range(31)]
        for alpha, value in curve.items():
            assert value == pytest.approx(trisk(SCORES[name] - SCORES[AGAINST], float(alpha)))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_tj_is_the_difference_that_a_topic_makes_by_leaving_it_out(alpha):
    values = x("stranger", alpha)
    tr, tj = exploratory(SCORES["stranger"] - SCORES[AGAINST], alpha=alpha)
    left, error = leave_one_out(values)
    np.testing.assert_allclose(tr, values / values.std(ddof=1))  # Eq. 21
    # Eq. 23 has (n - 1) (left - mean) / SE_J: the other sign, and sqrt(n) times as much
    np.testing.assert_allclose(tj, -39 * (left - values.mean()) / error / 40**0.5)
    assert [one.tolist() for one in exploratory(np.full(5, 0.1), alpha=alpha)] == [[0] * 5] * 2


def test_topics_that_stand_out_are_named_the_farthest_first(figures):
    found = figures(f"risk --baseline {AGAINST}")
    for alpha in ALPHAS:
        for name, row in found[f"Topics that stand out (TR_i, TJ_i), alpha {alpha}"].items():
            tr = x(name, alpha) / x(name, alpha).std(ddof=1)
            tj = tr - tr.mean()
            for what, side in (("losses", -1), ("wins", 1)):
                out = [k for k in np.argsort(-abs(tr)) if max(side * tr[k], side * tj[k]) > LIMIT]
                said = ", ".join(f"{TOPICS[k]} ({tr[k]:+.1f}, {tj[k]:+.1f})" for k in out)
                assert (row[what] or "") == said
    assert all(found["Topics that stand out (TR_i, TJ_i), alpha 0"]["near"].values())


def test_bars_are_tj_of_each_topic_in_the_order_of_names(figures):
    found = figures(f"risk --baseline {AGAINST} --alpha 2")
    parts = [part for part in found if part.startswith("TJ_i of each topic: ")]
    assert [part.rpartition(" ")[2] for part in parts] == JUDGED
    for part, name in zip(parts, JUDGED, strict=True):
        tr = x(name, 2) / x(name, 2).std(ddof=1)
        for place, topic in enumerate(TOPICS):
            assert found[part][f"alpha 2, topic {topic}"] == pytest.approx({f"{place + 1}": tr[place] - tr.mean()})
        assert found[part][""] == pytest.approx({"-inf": LIMIT, "inf": LIMIT})


@pytest.mark.usefixtures("table")
def test_the_answer_counts_those_that_are_significant(done):
    text = " ".join(done(f"study risk --scores pool.csv --baseline {AGAINST}").split())
    for alpha in ALPHAS:
        ratios = {name: trisk(SCORES[name] - SCORES[AGAINST], alpha) for name in JUDGED}
        risky = tuple(name for name in JUDGED if ratios[name] < -LIMIT)
        which = f" ({listed(risky, most=5)})" if risky else ""
        better = sum(value > LIMIT for value in ratios.values())
        assert f"alpha {alpha}: {len(risky)} significantly risky{which}, {better} significantly better" in text
