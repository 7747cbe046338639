"""``riskguard study georisk``: its figures, computed by other means."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm

from tests.studies.pools import (
    BASE,
    DIFFERENCES,
    LEVEL,
    MATRIX,
    ORDER,
    SCORES,
    TOPICS,
    agree,
    approx,
    by_name,
    trisk,
    urisk,
    weighted,
    write,
)

MEAN = MATRIX.mean(axis=0)
ALPHAS = (0, 1, 5, 20)


def z(scores):
    """Distances of scores from what is expected of them (Eq. 5), standardised."""
    expected = chi2_contingency(scores, correction=False).expected_freq
    return (scores - expected) / np.sqrt(expected)


def zrisk(alpha):
    return weighted(z(MATRIX), alpha).sum(axis=1)


def geo(alpha):
    return by_name(np.sqrt(MATRIX.mean(axis=1) * norm.cdf(zrisk(alpha) / 40)))


@pytest.mark.parametrize("baseline", ["", f" --baseline {BASE}"])
def test_all_measures_side_by_side(figures, baseline):
    found = figures(f"georisk{baseline}")
    for alpha in ALPHAS:
        table = found[f"All measures, alpha {alpha}"]
        agree(table, "mean", by_name(MATRIX.mean(axis=1)))
        agree(table, "T*", {name: trisk(SCORES[name] - MEAN, alpha) for name in ORDER})
        agree(table, "ZRisk", by_name(zrisk(alpha)))
        agree(table, "GeoRisk", geo(alpha))
        for name, measure in (("URisk", urisk), ("TRisk", trisk)) if baseline else ():
            agree(table, name, {other: measure(row, alpha) for other, row in DIFFERENCES.items()})
    assert [*table] == ORDER
    assert ("TRisk" in table[BASE], "z with one baseline" in found) == (bool(baseline),) * 2


def test_the_answers_are_the_best_by_georisk_and_g_squared(done, table):
    text = " ".join(done("study georisk --scores pool.csv").split())
    for alpha in ALPHAS:
        best = sorted(ORDER, key=lambda name: -geo(alpha)[name])[:3]
        assert f"alpha {alpha}: GeoRisk is highest for {', '.join(best)}" in text
    test = chi2_contingency(MATRIX, correction=False)
    assert f"G² is {test.statistic:.2f} with {test.dof} degrees of freedom" in text


def test_curves_profiles_and_scores(figures):
    found = figures("georisk")
    for alpha in range(21):
        at = {name: curve[f"{alpha}"] for name, curve in found["GeoRisk over alpha"].items()}
        assert at == approx(geo(alpha))
    assert len(found["GeoRisk over alpha"]["near"]) == 21
    for name, scores in (SCORES | {"Mean": MEAN}).items():
        assert found["Scores"][name] == approx(dict(zip(TOPICS, scores, strict=True)))
        if name in SCORES:  # the hardest first
            assert [*found["Profiles over topics"][name].values()] == approx([*scores[np.argsort(MEAN)]])


def test_with_one_baseline_z_is_that_of_a_pool_of_two(figures):
    table = figures(f"georisk --baseline {BASE}")["z with one baseline"]
    for name in DIFFERENCES:
        of_pair = z(np.array([SCORES[name], SCORES[BASE]]))
        for row, values in zip((f"{name} against {BASE}", f"{BASE} against {name}"), of_pair, strict=True):
            assert table[row] == approx({"ZRisk": values.sum()} | dict(zip(TOPICS, values, strict=True)))


def test_charts_have_the_eight_best_systems(figures, folder):
    write(folder / "many.csv", {f"s{i}": LEVEL * (10 - i) / 10 for i in range(10)})
    shown = figures("georisk", scores="many.csv")["Profiles over topics"]
    assert [*shown] == [f"s{i}" for i in range(8)]


def test_negative_scores_are_refused(refused, folder):
    write(folder / "low.csv", {"a": LEVEL, "b": LEVEL - 1})
    refused("study georisk --scores low.csv", "ZRisk and GeoRisk need scores of at least 0")
