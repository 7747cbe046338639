"""``riskguard study smooth``: its figures, computed by other means."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp

from pytest_riskguard.risk import expected_scores, georisk, zrisk
from pytest_riskguard.studies.intervals import quantiles_of_mean
from pytest_riskguard.studies.overlap import rank_biased_overlap
from tests.studies.pools import (
    BASE,
    DIFFERENCES,
    JUDGED,
    LEVEL,
    MATRIX,
    TOPICS,
    agree,
    approx,
    by_name,
    weighted,
    write,
)

ASKED = f"smooth --baseline {BASE}"


def fences(values):
    """One and a half times the distance of the quartiles further out, and the quartiles."""
    first, third = np.quantile(values, [0.25, 0.75])
    return first - 1.5 * (third - first), third + 1.5 * (third - first), first, third


LOW, HIGH, *_ = fences([*DIFFERENCES.values()])


AIRS = np.poly1d([1.38426, -0.51659, 0.11578, 0])


def points(alpha) -> tuple[list[float], list[float]]:
    return [-1, LOW, 0, HIGH, 1], [-1 - alpha, -0.05, 0, 0.05, 1]


def tradeoffs(alpha):
    """l; the cubic through five points by least squares, without its constant, or where that falls the paper's."""
    own = np.poly1d([*np.polyfit(*points(alpha), deg=3)[:3], 0])
    falls = own.deriv()(np.linspace(-1, 1, 2001)).min() < 0
    return {"l": partial(weighted, alpha=alpha), "s": AIRS if falls else own}


def measures(tradeoff):
    expected = expected_scores(MATRIX)
    z = (tradeoff(MATRIX - expected) / np.sqrt(expected)).sum(axis=1)
    return {
        "URisk": {name: tradeoff(row).mean() for name, row in DIFFERENCES.items()},
        "TRisk": {name: ttest_1samp(tradeoff(row), 0).statistic for name, row in DIFFERENCES.items()},
        "ZRisk": by_name(z),
        "GeoRisk": by_name(np.sqrt(MATRIX.mean(axis=1) * norm.cdf(z / 40))),
    }


@pytest.mark.parametrize("alpha", [1, 3])
def test_every_measure_with_both_tradeoffs(figures, alpha):
    found = figures(f"{ASKED} --alpha {alpha}")
    risk, geo = (
        found[f"{names} with both trade-offs, alpha {alpha}"] for names in ("URisk and TRisk", "ZRisk and GeoRisk")
    )
    for kind, tradeoff in tradeoffs(alpha).items():
        for name, values in measures(tradeoff).items():
            agree(risk if name in ("URisk", "TRisk") else geo, f"{name} {kind}", values, ranked=name != "TRisk")
    # with l they are those of everywhere else
    agree(geo, "ZRisk l", by_name(zrisk(MATRIX, alpha=alpha)))
    agree(geo, "GeoRisk l", by_name(georisk(MATRIX, alpha=alpha)))


def test_answers_have_overlaps_for_growing_sets_and_what_s_is(done, figures, folder):
    found, text = (
        figures(f"{ASKED} --alpha 9"),
        " ".join(done(f"study {ASKED} --alpha 1 --alpha 9 --scores pool.csv").split()),
    )
    l, s = (measures(one) for one in tradeoffs(9).values())  # noqa: E741
    last = []
    for measure, sizes in (("URisk", (1, 6, 7)), ("ZRisk", (1, 6, 8)), ("GeoRisk", (1, 6, 8))):
        orders = [sorted(kind[measure], key=kind[measure].get, reverse=True) for kind in (l, s)]
        shown = found["Overlap of the orders by l and by s, alpha 9"][measure]
        assert [*shown] == [f"{size}" for size in sizes]
        for size, overlap in zip(sizes, shown.values(), strict=True):
            lower, residual = rank_biased_overlap(*(order[:size] for order in orders))
            assert overlap == approx((lower, lower, lower + residual))
        last.append(f"{measure} {lower:.3f} to {lower + residual:.3f}")
    assert f"alpha 9: overlap of the orders by l and by s, at most 1: {', '.join(last)}" in text
    for alpha, what in ((1, "fitted to"), (9, "of AIRS 2019; none that rises everywhere fits")):
        own = tradeoffs(alpha)["s"]
        assert (own is AIRS) == (alpha == 9)
        terms = " ".join(f"{own[power]:+.5f} {name}" for power, name in ((3, "x^3"), (2, "x^2"), (1, "x")))
        assert f"s(x) = {terms}, {what} the fences {LOW:.5f} and {HIGH:.5f}" in text
    write(folder / "alike.csv", {"a": 0.8 * LEVEL, "b": 0.8 * LEVEL + 0.1 * (np.arange(40) == 3)})
    assert "none that rises everywhere fits the fences 0.00000 and 0.00000" in " ".join(
        done("study smooth --scores alike.csv").split()
    )


def test_boxes(figures):
    boxes = figures(ASKED)["Differences from the baseline"]
    for name, values in [*DIFFERENCES.items(), ("all", np.ravel([*DIFFERENCES.values()]))]:
        low, high, *quartiles = fences(values)
        inside = [value for value in values if low <= value <= high]
        for what, ends in (("quartiles", quartiles), ("inside the fences", (min(inside), max(inside)))):
            assert boxes[f"{name}, {what}"][""] == approx((*ends,))
        assert boxes[f"{name}, mean"][""] == approx(values.mean())
        beyond = {f"{name}, topic {t}" for t, v in zip(TOPICS, values, strict=False) if not low <= v <= high}
        assert {row for row in boxes if row.startswith(f"{name}, topic")} == beyond or name == "all"
    assert "near, topic 17" in boxes


def test_curves_of_tradeoffs_and_of_the_median_systems_quantiles(figures):
    found = figures(f"{ASKED} --alpha 1 --alpha 2")
    x = DIFFERENCES[JUDGED[3]]
    for alpha in (1, 2):
        curves = found[f"The trade-offs, alpha {alpha}"]
        fitted = curves.pop("fitted to")
        assert [*map(float, fitted), *fitted.values()] == approx([*points(alpha)[0], *points(alpha)[1]])
        means = found[f"Bootstrap means against the normal law, alpha {alpha}: {JUDGED[3]}"]
        assert [*curves] == [f"{name}(x)" for name in tradeoffs(alpha)]
        assert [*means] == ["none", *tradeoffs(alpha)]
        for kind, tradeoff in {"none": np.array, **tradeoffs(alpha)}.items():
            values, z = tradeoff(x), np.array([*map(float, means[kind])])
            assert (z[0], z[-1], z.size) == (-3, 3, 60)
            quantiles = (quantiles_of_mean(values, z) - values.mean()) / (values.std() / 40**0.5)
            assert [*means[kind].values()] == approx([*quantiles], abs=1e-9)
            at = np.linspace(-1, 1, 81)
            assert kind == "none" or [*curves[f"{kind}(x)"].values()] == approx([*tradeoff(at)], abs=1e-12)


@pytest.mark.parametrize("move", [1.5, -0.9])
def test_scores_that_have_no_such_tradeoff_are_refused(refused, folder, move):
    write(folder / "odd.csv", {"a": 0.8 * LEVEL, "b": 0.8 * LEVEL + move * (np.arange(40) == 3)})
    refused("study smooth --scores odd.csv", "a smooth trade-off needs scores from 0 to 1")


def test_of_an_even_number_the_better_of_the_two_in_the_middle_is_drawn(figures, folder):
    write(folder / "five.csv", {f"s{i}": LEVEL * (10 - i) / 10 for i in range(5)})
    parts = figures("smooth --baseline s4", scores="five.csv")
    assert "Bootstrap means against the normal law, alpha 1: s1" in parts
