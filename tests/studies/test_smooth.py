"""``riskguard study smooth``: its figures, computed by other means."""

import re

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp

from pytest_riskguard.risk import expected_scores, georisk, zrisk
from pytest_riskguard.studies.intervals import quantiles_of_mean
from pytest_riskguard.studies.overlap import rank_biased_overlap
from tests.studies.pools import LEVEL, MATRIX, ORDER, SCORES, TOPICS, agree, weighted, write

BASE = "kin2"
JUDGED = [name for name in ORDER if name != BASE]
DIFFERENCES = {name: SCORES[name] - SCORES[BASE] for name in JUDGED}
FIRST, THIRD = np.quantile([*DIFFERENCES.values()], [0.25, 0.75])
FENCES = FIRST - 1.5 * (THIRD - FIRST), THIRD + 1.5 * (THIRD - FIRST)
AT = "alpha {}"
TWO = ("URisk and TRisk with both trade-offs, " + AT, "ZRisk and GeoRisk with both trade-offs, " + AT)


def cubic(alpha):
    """The cubic through five points by least squares, without its constant."""
    fitted = np.polyfit([-1, FENCES[0], 0, FENCES[1], 1], [-1 - alpha, -0.05, 0, 0.05, 1], 3)
    return np.poly1d([*fitted[:3], 0])


AIRS = np.poly1d([1.38426, -0.51659, 0.11578, 0])


def by(tradeoff):
    """Every measure of every system that has one."""
    expected = expected_scores(MATRIX)
    z = (tradeoff(MATRIX - expected) / np.sqrt(expected)).sum(axis=1)
    geo = np.sqrt(MATRIX.mean(axis=1) * norm.cdf(z / 40))
    return {
        "URisk": {name: tradeoff(row).mean() for name, row in DIFFERENCES.items()},
        "TRisk": {name: ttest_1samp(tradeoff(row), 0).statistic for name, row in DIFFERENCES.items()},
        "ZRisk": dict(zip(ORDER, z, strict=True)),
        "GeoRisk": dict(zip(ORDER, geo, strict=True)),
    }


@pytest.mark.parametrize("alpha", [1, 3])
def test_every_measure_with_both_tradeoffs(figures, alpha):
    found = figures(f"smooth --baseline {BASE} --alpha {alpha}")
    kinds = {"l": by(lambda x: weighted(x, alpha)), "s": by(cubic(alpha))} | (
        {"s AIRS": by(AIRS)} if alpha == 1 else {}
    )
    for part, measures in zip(TWO, (("URisk", "TRisk"), ("ZRisk", "GeoRisk")), strict=True):
        table = found[part.format(alpha)]
        for name in measures:
            for kind, values in kinds.items():
                agree(table, f"{name} {kind}", values[name], ranked=name != "TRisk")
        assert (f"{measures[0]} s AIRS" in table[BASE]) == (alpha == 1)
    # with l they are those of everywhere else
    table = found[TWO[1].format(alpha)]
    assert [table[name]["ZRisk l"] for name in ORDER] == pytest.approx([*zrisk(MATRIX, alpha=alpha)])
    assert [table[name]["GeoRisk l"] for name in ORDER] == pytest.approx([*georisk(MATRIX, alpha=alpha)])


def test_overlap_of_the_orders_for_growing_sets(figures):
    found = figures(f"smooth --baseline {BASE}")["Overlap of the orders by l and by s, alpha 1"]
    l, s = by(lambda x: weighted(x, 1)), by(cubic(1))  # noqa: E741
    for measure, sizes in (("URisk", [1, 6, 7]), ("ZRisk", [1, 6, 8]), ("GeoRisk", [1, 6, 8])):
        orders = [sorted(kind[measure], key=kind[measure].get, reverse=True) for kind in (l, s)]
        assert [*found[measure]] == [f"{size}" for size in sizes]
        for size, (value, low, high) in zip(sizes, found[measure].values(), strict=True):
            lower, residual = rank_biased_overlap(*(order[:size] for order in orders))
            assert (value, low, high) == pytest.approx((lower, lower, lower + residual))


def test_answers_have_the_overlaps_the_fences_and_a_warning_where_s_falls(done, figures, folder):
    text = " ".join(done(f"study smooth --scores pool.csv --baseline {BASE} --alpha 1 --alpha 9").split())
    for alpha in (1, 9):
        terms = " ".join(f"{c:+.5f} {p}" for c, p in zip(cubic(alpha).coeffs, ("x^3", "x^2", "x"), strict=False))
        assert f"alpha {alpha}: s(x) = {terms}, from fences at {FENCES[0]:.5f} and {FENCES[1]:.5f}" in text
    overlaps = figures(f"smooth --baseline {BASE} --alpha 9")["Overlap of the orders by l and by s, alpha 9"]
    last = ", ".join(f"{name} {[*points.values()][-1][0]:.3f}" for name, points in overlaps.items())
    assert f"alpha 9: overlap of the orders by l and by s, 1 for the same order: {last}" in text
    warned = re.findall(r"alpha (\d): s\(x\) = [^:]*fences at \S+ and \S+; it falls somewhere", text)
    falls = [alpha for alpha in (1, 9) if cubic(alpha).deriv()(np.linspace(-1, 1, 2001)).min() < 0]
    assert warned == [str(alpha) for alpha in falls]
    # fences like those of the paper
    steps = np.where(np.arange(40) < 10, -0.0411, np.where(np.arange(40) < 20, 0.0922, 0.03))
    write(folder / "mild.csv", {"base": 0.4 + 0 * LEVEL, "new": 0.4 + steps})
    assert "falls" not in done("study smooth --scores mild.csv")


def test_boxes(figures):
    boxes = figures(f"smooth --baseline {BASE}")["Differences from the baseline"]
    for place, (name, values) in enumerate([*DIFFERENCES.items(), ("all", np.ravel([*DIFFERENCES.values()]))]):
        first, third = np.quantile(values, [0.25, 0.75])
        low, high = first - 1.5 * (third - first), third + 1.5 * (third - first)
        inside = values[(values >= low) & (values <= high)]
        for what, ends in (("quartiles", {first, third}), ("inside the fences", {inside.min(), inside.max()})):
            assert [*map(float, boxes[f"{name}, {what}"])] == pytest.approx(sorted(ends))
            assert {*boxes[f"{name}, {what}"].values()} == {place}
        assert [*map(float, boxes[f"{name}, mean"])] == pytest.approx([values.mean()])
        if name != "all":
            beyond = {f"{name}, topic {t}" for t, v in zip(TOPICS, values, strict=True) if not low <= v <= high}
            assert {row for row in boxes if row.startswith(f"{name}, topic")} == beyond
    assert "near, topic 17" in boxes


def test_quantiles_of_bootstrap_means_of_the_median_system(figures):
    curves = figures(f"smooth --baseline {BASE}")[f"Bootstrap means against the normal law, alpha 1: {JUDGED[3]}"]
    for kind, tradeoff in {"none": np.array, "l": lambda x: weighted(x, 1), "s": cubic(1), "s AIRS": AIRS}.items():
        x, z = tradeoff(DIFFERENCES[JUDGED[3]]), [*map(float, curves[kind])]
        assert (z[0], z[-1], len(z)) == (-3, 3, 60)
        quantiles = (quantiles_of_mean(x, np.array(z)) - x.mean()) / (x.std() / 40**0.5)
        assert [*curves[kind].values()] == pytest.approx([*quantiles], abs=1e-9)


def test_the_tradeoffs_and_what_s_was_fitted_to(figures):
    found = figures(f"smooth --baseline {BASE} --alpha 1 --alpha 2")
    for alpha, names in ((1, ["l(x)", "s(x)", "s AIRS(x)"]), (2, ["l(x)", "s(x)"])):
        curves = found[f"The trade-offs, alpha {alpha}"]
        points = curves.pop("fitted to")
        fitted = dict(zip([-1, FENCES[0], 0, FENCES[1], 1], [-1 - alpha, -0.05, 0, 0.05, 1], strict=True))
        assert [*map(float, points)] == pytest.approx([*fitted])
        assert [*points.values()] == pytest.approx([*fitted.values()])
        assert [*curves] == names
        for name, tradeoff in zip(names, (lambda x, a=alpha: weighted(x, a), cubic(alpha), AIRS), strict=False):
            x = np.array([*map(float, curves[name])])
            assert (x.min(), x.max()) == (-1, 1)
            assert [*curves[name].values()] == pytest.approx([*tradeoff(x)], abs=1e-12)


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (1.5, "a smooth trade-off needs scores from 0 to 1"),
        (-0.9, "a smooth trade-off needs scores from 0 to 1"),
        (0, "a smooth trade-off needs fences from -1 to 1 around 0; found 0 and 0"),
    ],
)
def test_scores_that_have_no_such_tradeoff_are_refused(refused, folder, move, words):
    write(folder / "odd.csv", {"a": 0.8 * LEVEL, "b": 0.8 * LEVEL + move * (np.arange(40) == 3)})
    refused("study smooth --scores odd.csv", words)
