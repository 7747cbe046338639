"""``riskguard study georisk``: its figures, computed by other means."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm

from tests.studies.pools import LEVEL, MATRIX, ORDER, SCORES, TOPICS, agree, trisk, urisk, weighted, write

MEAN = MATRIX.mean(axis=0)
ALPHAS = (0, 1, 5, 20)


def z(scores):
    """Distances of scores from what is expected of them (Eq. 5), standardised."""
    expected = chi2_contingency(scores, correction=False).expected_freq
    return (scores - expected) / np.sqrt(expected)


def geo(alpha):
    zrisk = weighted(z(MATRIX), alpha).sum(axis=1)
    return dict(zip(ORDER, np.sqrt(MATRIX.mean(axis=1) * norm.cdf(zrisk / 40)), strict=True))


@pytest.mark.parametrize("baseline", ["", "kin2"])
def test_all_measures_side_by_side(figures, baseline):
    found = figures(f"georisk {baseline and '--baseline '}{baseline}")
    parts = (z(MATRIX) ** 2).sum(axis=1)
    for alpha in ALPHAS:
        table = found[f"All measures, alpha {alpha}"]
        assert [*table] == ORDER
        agree(table, "mean", {name: SCORES[name].mean() for name in ORDER})
        agree(table, "T*", {name: trisk(SCORES[name] - MEAN, alpha) for name in ORDER})
        agree(table, "ZRisk", dict(zip(ORDER, weighted(z(MATRIX), alpha).sum(axis=1), strict=True)))
        agree(table, "GeoRisk", geo(alpha))
        agree(table, "G²", dict(zip(ORDER, parts, strict=True)), ranked=False)
        for name, measure in (("URisk", urisk), ("TRisk", trisk)) if baseline else ():
            others = {name: SCORES[name] - SCORES[baseline] for name in ORDER if name != baseline}
            agree(table, name, {other: measure(row, alpha) for other, row in others.items()})
        assert ("TRisk" in table["kin2"]) == bool(baseline)
    assert ("z with one baseline" in found) == bool(baseline)


@pytest.mark.usefixtures("table")
def test_the_answers_are_the_best_by_georisk_and_g_squared(done):
    text = " ".join(done("study georisk --scores pool.csv").split())
    for alpha in ALPHAS:
        best = sorted(ORDER, key=lambda name: -geo(alpha)[name])[:3]
        assert f"alpha {alpha}: GeoRisk is highest for {', '.join(best)}" in text
    test = chi2_contingency(MATRIX, correction=False)
    assert f"G² is {test.statistic:.2f} with {test.dof} degrees of freedom" in text


def test_curves_and_profiles(figures):
    found = figures("georisk")
    for alpha in range(21):
        at = {name: curve[f"{alpha}"] for name, curve in found["GeoRisk over alpha"].items()}
        assert at == pytest.approx(geo(alpha))
    assert len(found["GeoRisk over alpha"]["near"]) == 21
    hardest = np.argsort(MEAN, kind="stable")
    shown = found["Profiles over topics"]
    assert [*shown["mean"].values()] == pytest.approx([*MEAN[hardest]])
    for name in ORDER:
        assert [*shown[name].values()] == pytest.approx([*SCORES[name][hardest]])
        assert found["Scores"][name] == pytest.approx(dict(zip(TOPICS, SCORES[name], strict=True)))
    assert found["Scores"]["Mean"] == pytest.approx(dict(zip(TOPICS, MEAN, strict=True)))


def test_with_one_baseline_z_is_that_of_a_pool_of_two(figures):
    table = figures("georisk --baseline kin2")["z with one baseline"]
    for name in set(ORDER) - {"kin2"}:
        of_pair = z(np.array([SCORES[name], SCORES["kin2"]]))
        for row, values in zip((f"{name} against kin2", f"kin2 against {name}"), of_pair, strict=True):
            assert table[row] == pytest.approx({"ZRisk": values.sum()} | dict(zip(TOPICS, values, strict=True)))
    assert len(table) == 2 * len(ORDER) - 2


def test_charts_have_the_eight_best_systems(figures, folder):
    write(folder / "many.csv", {f"s{i}": LEVEL * (10 - i) / 10 for i in range(10)})
    shown = figures("georisk", scores="many.csv")["Profiles over topics"]
    assert [*shown] == [*(f"s{i}" for i in range(8)), "mean"]


def test_negative_scores_are_refused(refused, folder):
    write(folder / "low.csv", {"a": LEVEL, "b": LEVEL - 1})
    refused("study georisk --scores low.csv", "ZRisk and GeoRisk need scores of at least 0")
