"""Does it matter if small losses count less? The linear trade-off l(x) beside a smooth one, s(x).

R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019: Table 2, Figures 1 to 4 and
"System Risk Ordering". Here high is good, as everywhere in this package; the paper's figures have the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from scipy.special import ndtr

from pytest_riskguard.errors import UsageError
from pytest_riskguard.inference import interval
from pytest_riskguard.reports import Plot, Section, Table, clean
from pytest_riskguard.risk import SMOOTH, expected_scores, fitted_tradeoff, linear, trisk
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.studies.overlap import rank_biased_overlap
from pytest_riskguard.studies.pool import Pool, ranked

Tradeoff = Callable[[FloatArray], FloatArray]
#: The alpha of the printed s(x), and how far apart the set sizes of Figure 4 are.
PRINTED_ALPHA, STEP = 1.0, 5
#: What orders the systems.
ORDERED = ("URisk", "ZRisk", "GeoRisk")
_NOTES = (
    "l: a loss counts 1 + alpha times. s: a cubic that is flat for small differences, fitted to the ends, to 0 and to "
    "the fences of all differences (quartiles, and 1.5 times their range further out). s AIRS: the paper's, for "
    "alpha 1. URisk, TRisk: against the baseline. R: places. Overlap: rank-biased, phi 0.9, lower bound; residual: "
    "what systems that are not listed could add. High is good; the paper's figures have the other sign, and its "
    "GeoRisk another form, which is an erratum."
)


def study(pool: Pool) -> Section:
    """Every measure with both trade-offs, and how far they order the systems alike."""
    if pool.scores.min() < 0 or pool.scores.max() > 1:
        raise UsageError("a smooth trade-off needs scores from 0 to 1")
    fences = quartile_fences(pool.differences)
    parts, answers, warnings = list[Table | Plot | Section]([_boxes(pool)]), list[str](), pool.warnings
    for alpha in pool.alphas:
        own, at = fitted_tradeoff(*fences, alpha=alpha), f"alpha {alpha:g}"
        tradeoffs: dict[str, Tradeoff] = {"l": partial(_linear, alpha=alpha), "s": own}
        if alpha == PRINTED_ALPHA:
            tradeoffs["s AIRS"] = SMOOTH
        figures = {name: measures(pool, tradeoff) for name, tradeoff in tradeoffs.items()}
        overlaps = {name: [*_overlaps(pool, name, figures)] for name in ORDERED}
        said = ", ".join(f"{name} {found[-1][1]:.3f}" for name, found in overlaps.items())
        answers.append(f"{at}: overlap of the orders by l and by s, 1 for the same order: {said}")
        terms = " ".join(f"{c:+.5f} x^{power}" for c, power in zip(own.coefficients, (3, 2, 1), strict=True))
        answers.append(f"{at}: s(x) = {terms}, from fences at {fences[0]:.5f} and {fences[1]:.5f}")
        if not own.is_increasing:
            warnings = [
                *warnings,
                f"{at}: s(x) falls somewhere, so a larger loss can count for less; do not train on it",
            ]
        parts += [_table(pool, at, figures), _curves(at, alpha, fences, tradeoffs), _quantiles(pool, at, tradeoffs)]
        parts += [_overlap_table(at, overlaps), _overlap_plot(at, overlaps)]
    baseline = clean(pool.systems[pool.baseline], limit=60)
    return Section(f"{pool.title}, against {baseline}", answers, parts, warnings, [_NOTES])


def quartile_fences(values: FloatArray) -> tuple[float, float]:
    """The fences of a boxplot: one and a half times the range of the quartiles below the lower, above the upper."""
    first, third = np.quantile(values, [0.25, 0.75]).tolist()
    return first - 1.5 * (third - first), third + 1.5 * (third - first)


def measures(pool: Pool, tradeoff: Tradeoff) -> dict[str, FloatArray]:
    """URisk and TRisk of each candidate, ZRisk (Eq. 14) and GeoRisk of each system, with any trade-off."""
    tests = [trisk(row, alpha=0) for row in tradeoff(pool.differences)]
    expected = expected_scores(pool.scores)
    root = np.sqrt(np.where(expected > 0, expected, 1.0))
    zrisk = np.sum(tradeoff(pool.scores - expected) / root, axis=1)
    return {
        "URisk": np.array([test.estimate for test in tests]),
        "TRisk": np.array([test.statistic for test in tests], dtype=np.float64),
        "ZRisk": zrisk,
        "GeoRisk": np.sqrt(pool.means * ndtr(zrisk / len(pool.topics))),
    }


def _linear(values: FloatArray, *, alpha: float) -> FloatArray:
    return linear(values.ravel(), alpha=alpha).reshape(values.shape)


Figures = Mapping[str, Mapping[str, FloatArray]]
#: Set size, lower bound and residual.
Overlaps = list[tuple[int, float, float]]


def _table(pool: Pool, at: str, figures: Figures) -> Table:
    """Table 2."""
    columns: dict[str, tuple[str, FloatArray]] = {}
    for measure, form in (("URisk", "R+.4f"), ("TRisk", "+.2f"), ("ZRisk", "R+.3f"), ("GeoRisk", "R.4f")):
        for kind, found in figures.items():
            values = found[measure]
            if len(values) < len(pool.systems):  # a baseline has no risk against itself
                values = np.insert(values, pool.baseline, np.nan)
            columns[f"{measure} {kind}"] = (form, values)
    return ranked(f"Both trade-offs, {at}", pool.systems, columns)


def _overlaps(pool: Pool, measure: str, figures: Figures) -> Iterator[tuple[int, float, float]]:
    """Overlap of the first systems by l and by s, for growing sets (Figure 4)."""
    names = [pool.systems[place] for place in pool.candidates] if measure == "URisk" else [*pool.systems]
    by_l, by_s = ([names[i] for i in np.argsort(-figures[kind][measure], kind="stable")] for kind in ("l", "s"))
    for size in dict.fromkeys([*range(1, len(names), STEP), len(names)]):
        yield size, *rank_biased_overlap(by_l[:size], by_s[:size])


def _overlap_table(at: str, overlaps: Mapping[str, Overlaps]) -> Table:
    rows = [(name, *found[-1]) for name, found in overlaps.items()]
    columns = {"order by": "text", "systems": "d", "overlap": ".3f", "residual": ".3f"}
    return Table(f"System risk ordering, {at}", columns, rows)


def _overlap_plot(at: str, overlaps: Mapping[str, Overlaps]) -> Plot:
    plot = Plot(
        f"Overlap of the orders by l and by s, {at}",
        "systems in the set",
        "rank-biased overlap",
        description="A point is the lower bound, a line reaches to what systems outside the set could add.",
        caption="From the least risky system to the whole pool.",
    )
    for series, (name, found) in enumerate(overlaps.items()):
        for size, lower, residual in found:
            place = size + (series - 1) * 0.4  # apart, so that lines do not hide one another
            plot.point(place, lower, f"{name}, {size}", means=name, low=lower, high=lower + residual, series=series)
    return plot


def _boxes(pool: Pool) -> Plot:
    """Figure 1."""
    names = [*(pool.systems[place] for place in pool.candidates), "all"]
    plot = Plot(
        "Differences from the baseline",
        "difference",
        rows=names,
        description="A box for each system, from the first quartile to the third, with its mean.",
        caption="Box: quartiles; line: all differences inside the fences; points: the mean, and what is beyond.",
        zero=True,
    )
    for row, values in enumerate([*pool.differences, pool.differences.ravel()]):
        low, high = quartile_fences(values)
        first, third = np.quantile(values, [0.25, 0.75]).tolist()
        inside = values[(values >= low) & (values <= high)]
        plot.span(row, float(inside.min()), float(inside.max()), f"{names[row]}, inside the fences")
        plot.span(row, first, third, f"{names[row]}, quartiles", width=10)
        plot.point(float(values.mean()), row, f"{names[row]}, mean", means="mean", series=1)
        if row < len(pool.differences):
            for topic in np.flatnonzero((values < low) | (values > high)):
                plot.point(float(values[topic]), row, f"{names[row]}, topic {pool.topics[topic]}", means="beyond")
    return plot


def _curves(at: str, alpha: float, fences: tuple[float, float], tradeoffs: Mapping[str, Tradeoff]) -> Plot:
    """Figure 2."""
    plot = Plot(
        f"The trade-offs, {at}",
        "difference from the baseline",
        "what it counts",
        description="l is two straight lines, s is flat around 0 and steep at both ends.",
        caption="Points: those that s was fitted to.",
        zero=True,
    )
    x = np.linspace(-1, 1, 81)
    for series, (name, tradeoff) in enumerate(tradeoffs.items()):
        plot.curve(f"{name}(x)", zip(x.tolist(), tradeoff(x).tolist(), strict=True), series=series)
    for place, value in ((-1.0, -1 - alpha), (fences[0], -0.05), (0.0, 0.0), (fences[1], 0.05), (1.0, 1.0)):
        plot.point(place, value, "fitted to", means="fitted to")
    return plot


def _quantiles(pool: Pool, at: str, tradeoffs: Mapping[str, Tradeoff]) -> Plot:
    """Figure 3, of the system with the median mean: quantiles of the exact law of URisk's bootstrap means."""
    middle = pool.differences[(len(pool.differences) - 1) // 2]
    name = pool.systems[pool.candidates[(len(pool.differences) - 1) // 2]]
    plot = Plot(
        f"Bootstrap means against the normal law, {at}: {clean(name, limit=60)}",
        "normal quantile",
        "quantile of the mean, in standard errors",
        description="On a straight line the mean is as good as normal, which TRisk's t-test assumes.",
        caption="A curve that bends at its ends has a longer tail there than the t-test takes into account.",
    )
    z = np.linspace(0.1, 3, 30)
    for series, (kind, tradeoff) in enumerate([("none", lambda x: x), *tradeoffs.items()]):
        x = tradeoff(middle)
        error = float(np.std(x)) / np.sqrt(x.size)
        if error <= 0:
            continue
        ends = [interval(x, method="percentile", level=float(2 * ndtr(one) - 1)) for one in z]
        lower = [(-one, (end.lower - x.mean()) / error) for one, end in zip(z, ends, strict=True)]
        upper = [(one, (end.upper - x.mean()) / error) for one, end in zip(z, ends, strict=True)]
        plot.curve(kind, [(float(a), float(b)) for a, b in (*lower[::-1], *upper)], series=series)
    return plot
