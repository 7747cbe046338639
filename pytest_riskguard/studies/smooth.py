"""Does it matter if small losses count less? The linear trade-off l(x) beside a smooth one, s(x).

R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019: Table 2, Figures 1 to 4 and
"System Risk Ordering". Here high is good, as everywhere in this package; the paper's figures have the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from scipy.special import ndtr

from pytest_riskguard.errors import UsageError
from pytest_riskguard.reports import Plot, Section, Table, clean
from pytest_riskguard.risk import SMOOTH, expected_scores, fitted_tradeoff, trisk
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.studies.intervals import quantiles_of_mean
from pytest_riskguard.studies.overlap import rank_biased_overlap
from pytest_riskguard.studies.pool import Pool, ranked

Tradeoff = Callable[[FloatArray], FloatArray]
#: How far apart the set sizes of Figure 4 are.
STEP = 5
#: What is shown of each measure; TRisk orders no systems, since each has an error of its own.
FORMS = {"URisk": "R+.4f", "TRisk": "+.2f", "ZRisk": "R+.3f", "GeoRisk": "R.4f"}
_NOTES = (
    "l: a loss counts 1 + alpha times. s: a cubic that is flat for small differences, fitted to the ends, to 0 and "
    "to the fences of all differences (quartiles, and 1.5 times their range further out), if it rises everywhere. "
    "URisk, TRisk: against the baseline. R: places. Overlap: rank-biased, phi 0.9, from its lower bound to what "
    "systems outside the pool could add. High is good; the paper's figures have the other sign, and its GeoRisk "
    "another form, which is an erratum."
)


def study(pool: Pool) -> Section:
    """Every measure with both trade-offs, and how far they order the systems alike."""
    if pool.scores.min() < 0 or pool.scores.max() > 1:
        raise UsageError("a smooth trade-off needs scores from 0 to 1")
    low, high, *_ = quartile_fences(pool.differences)
    parts, answers = list[Table | Plot | Section](), list[str]()
    for alpha in pool.alphas:
        at, own, found = f"alpha {alpha:g}", SMOOTH, "of AIRS 2019; none that rises everywhere fits"
        if -1 < low < 0 < high < 1 and (fitted := fitted_tradeoff(low, high, alpha=alpha)).is_increasing:
            own, found = fitted, "fitted to"
        tradeoffs: dict[str, Tradeoff] = {"l": partial(_linear, alpha=alpha), "s": own}
        figures = {name: measures(pool, tradeoff) for name, tradeoff in tradeoffs.items()}
        tables = [
            ranked(
                f"{' and '.join(names)} with both trade-offs, {at}",
                pool.systems,
                {f"{name} {kind}": (FORMS[name], figures[kind][name]) for name in names for kind in figures},
            )
            for names in (("URisk", "TRisk"), ("ZRisk", "GeoRisk"))
        ]
        overlaps, last = _overlaps(figures, at)
        answers.append(f"{at}: overlap of the orders by l and by s, at most 1: {last}")
        terms = " ".join(f"{c:+.5f} {power}" for c, power in zip(own.coefficients, ("x^3", "x^2", "x"), strict=True))
        answers.append(f"{at}: s(x) = {terms}, {found} the fences {low:.5f} and {high:.5f}")
        parts += [*tables, _curves(at, alpha, (low, high), tradeoffs), _quantiles(pool, at, tradeoffs), overlaps]
    return Section(pool.title, answers, [*parts, _boxes(pool)], pool.warnings, [_NOTES])


def quartile_fences(values: FloatArray) -> list[float]:
    """The fences of a boxplot, one and a half times the range of the quartiles further out, and the quartiles."""
    first, third = np.quantile(values, [0.25, 0.75]).tolist()
    return [first - 1.5 * (third - first), third + 1.5 * (third - first), first, third]


def measures(pool: Pool, tradeoff: Tradeoff) -> dict[str, FloatArray]:
    """URisk and TRisk of each candidate, ZRisk (Eq. 14) and GeoRisk of each system, with any trade-off."""
    tests = [trisk(row, alpha=0) for row in tradeoff(pool.scores - pool.scores[pool.baselines[0]])]
    expected = expected_scores(pool.scores)
    zrisk = np.sum(tradeoff(pool.scores - expected) / np.sqrt(np.where(expected > 0, expected, 1.0)), axis=1)
    found = np.array([(test.estimate, test.statistic) for test in tests], dtype=np.float64)
    found[pool.baselines[0]] = np.nan  # which has no risk against itself
    georisk = np.sqrt(pool.means * ndtr(zrisk / len(pool.topics)))
    return dict(zip(FORMS, (*found.T, zrisk, georisk), strict=True))


def _linear(values: FloatArray, *, alpha: float) -> FloatArray:
    return np.where(values < 0, (1 + alpha) * values, values)


def _overlaps(figures: Mapping[str, Mapping[str, FloatArray]], at: str) -> tuple[Plot, str]:
    """Figure 4: overlap of the first systems by l and by s, for growing sets; and the last of each measure."""
    plot = Plot(
        f"Overlap of the orders by l and by s, {at}",
        "systems in the set",
        "rank-biased overlap",
        caption="A point: the lower bound; the line above it: what systems outside the set could add.",
    )
    last = list[str]()
    for series, measure in enumerate(("URisk", "ZRisk", "GeoRisk")):
        values = [figures[kind][measure] for kind in ("l", "s")]
        by_l, by_s = ([i for i in np.argsort(-one, kind="stable") if not np.isnan(one[i])] for one in values)
        for size in dict.fromkeys([*range(1, len(by_l), STEP), len(by_l)]):
            lower, residual = rank_biased_overlap(by_l[:size], by_s[:size])
            plot.point(size, lower, measure, means=measure, low=lower, high=lower + residual, series=series)
        last.append(f"{measure} {lower:.3f} to {lower + residual:.3f}")
    return plot, ", ".join(last)


def _boxes(pool: Pool) -> Plot:
    """Figure 1."""
    names = [*pool.names, "all"]
    plot = Plot(
        "Differences from the baseline",
        "difference",
        rows=names,
        caption="Box: quartiles; line: all inside the fences; points: the mean and, of each system, what is beyond.",
        zero=True,
    )
    for row, (name, values) in enumerate(zip(names, [*pool.differences, pool.differences.ravel()], strict=True)):
        low, high, first, third = quartile_fences(values)
        inside = (values >= low) & (values <= high)
        plot.span(row, values[inside].min(), values[inside].max(), f"{name}, inside the fences")
        plot.span(row, first, third, f"{name}, quartiles", width=10)
        for place in np.flatnonzero(~inside) if name != "all" else ():
            plot.point(values[place], row, f"{name}, topic {pool.topics[place]}", means="beyond")
        plot.point(values.mean(), row, f"{name}, mean", means="mean", series=1)
    return plot


def _curves(at: str, alpha: float, fences: tuple[float, float], tradeoffs: Mapping[str, Tradeoff]) -> Plot:
    """Figure 2."""
    title, caption = f"The trade-offs, {at}", "Points: the ends, 0 and the fences, to which s is fitted."
    plot = Plot(title, "difference from the baseline", "what it counts", caption=caption, zero=True)
    x = np.linspace(-1, 1, 81)
    for series, (name, tradeoff) in enumerate(tradeoffs.items()):
        plot.curve(f"{name}(x)", x, tradeoff(x), series=series)
    for place, value in ((-1, -1 - alpha), (fences[0], -0.05), (0, 0), (fences[1], 0.05), (1, 1)):
        plot.point(place, value, "fitted to")
    return plot


def _quantiles(pool: Pool, at: str, tradeoffs: Mapping[str, Tradeoff]) -> Plot:
    """Figure 3, of the system with the median mean: quantiles of the exact law of the bootstrap means."""
    middle, z = (len(pool.names) - 1) // 2, np.linspace(-3, 3, 60)
    plot = Plot(
        f"Bootstrap means against the normal law, {at}: {clean(pool.names[middle], limit=60)}",
        "normal quantile",
        "quantile of the mean, in standard errors",
        caption="A curve that bends at its ends has a longer tail there than TRisk's t-test takes into account.",
    )
    no_tradeoff: Tradeoff = np.array
    for series, (kind, tradeoff) in enumerate({"none": no_tradeoff, **tradeoffs}.items()):
        x = tradeoff(pool.differences[middle])
        scale = x.std() / np.sqrt(x.size) or 1.0
        plot.curve(kind, z, (quantiles_of_mean(x, z) - x.mean()) / scale, series=series)
    return plot
