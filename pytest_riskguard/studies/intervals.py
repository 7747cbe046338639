"""Do confidence intervals agree? Five methods on every system, on all topics and on a fifth of them.

R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019: Figures 1 to 4, and
the question (RQ2) what more topics change. Here low is risky; the paper's URisk- has the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from pytest_riskguard.errors import UsageError
from pytest_riskguard.inference import Interval, interval
from pytest_riskguard.reports import Plot, Section, Table, clean, counted, listed
from pytest_riskguard.risk import linear
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray
from pytest_riskguard.studies.pool import Pool

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
#: Those whose distance RQ2 is about; of samples after the first fifth only these are needed.
APART = ("student_t", "bca")
LEVELS = (0.95, 0.999)
VERDICTS = ("risky", "better", "neither")
#: The share of systems that Figures 2 to 4 are about: the best by mean score.
KEPT = 0.75
#: Every so many topics are a sample of fewer, if it has at least so many.
FIFTH, MIN_TOPICS = 5, 25
#: A system that changed fewer topics than this, or all by the same, has no interval worth its name and is left out.
MIN_CHANGED = 10
#: Draws of the studentized interval, as many as in the paper, in parts; and what starts their stream.
DRAWS, PART, SEED = 100_000, 5000, 2019
_NOTES = (
    "A system is risky if the whole interval of URisk is below 0, better if it is above. Limits are medians over the "
    "best three quarters of the systems by mean, with McGill's 95% interval of a median. W: Shapiro-Wilk's, 1 for "
    "normal. Apart: the mean distance of Student-t's limits from BCa's, in standard errors, median over systems. "
    f"Systems that changed fewer than {MIN_CHANGED} topics of a sample, or all by the same, are left out. "
    f"Fifths of the topics are studied too, if each has {MIN_TOPICS} topics and a system. Only studentized limits "
    "are simulated."
)


@dataclass(frozen=True, eq=False)
class Sample:
    """The systems on some topics: trade-off scores, (n_systems, n_topics), and limits, (n_systems, 2)."""

    names: tuple[str, ...]
    x: FloatArray
    limits: dict[tuple[float, str], FloatArray]

    @property
    def topics(self) -> str:
        """How many topics."""
        return counted(self.x.shape[1], "topic")

    @property
    def kept(self) -> int:
        """How many of the best systems figures are about."""
        return max(round(KEPT * len(self.names)), 1)

    def verdicts(self, level: float, method: str) -> list[str]:
        """What the intervals say of each system."""
        return [
            "risky" if upper < 0 else "better" if lower > 0 else "neither"
            for lower, upper in self.limits[level, method]
        ]

    def medians(self, level: float, method: str) -> list[list[float]]:
        """Median limits of the systems that are kept, each between the ends of McGill's interval."""
        limits = self.limits[level, method][: self.kept]
        first, middle, third = np.quantile(limits, [0.25, 0.5, 0.75], axis=0)
        half = 1.57 * (third - first) / np.sqrt(len(limits))
        return [*np.column_stack([middle - half, middle, middle + half]).tolist()]

    def apart(self, level: float) -> float:
        """How far Student-t and BCa are apart, in standard errors: the median over systems."""
        one, other = (self.limits[level, method] for method in APART)
        gaps = np.abs(one - other).mean(axis=1)
        return float(np.median(gaps / _errors(self.x)))


def study(pool: Pool) -> Section:
    """Figures and tables of the paper; for fifths of the topics too, if each has enough and enough that changed."""
    changed, fifths = np.abs(pool.differences) > ROUNDING_ERROR, range(FIFTH)
    most_changed = min(changed[:, k::FIFTH].sum(axis=1).max() for k in fifths)
    if len(pool.topics) < FIFTH * MIN_TOPICS or most_changed < MIN_CHANGED:
        fifths = range(0)
    samples = {
        alpha: [
            *(sample(pool, alpha, slice(k, None, FIFTH), APART if k else METHODS) for k in fifths),
            sample(pool, alpha, slice(None)),
        ]
        for alpha in pool.alphas
    }
    parts, answers = list[Table | Plot | Section](_example(pool)), list[str]()
    for (alpha, found), level in product(samples.items(), LEVELS):
        whole, at = found[-1], f"alpha {alpha:g}, level {100 * level:g}%"
        said = zip(*(whole.verdicts(level, method) for method in METHODS), strict=True)
        apart = tuple(name for name, verdicts in zip(whole.names, said, strict=True) if len({*verdicts}) > 1)
        which = f": {listed(apart, most=3)}" if apart else ""
        answers.append(f"{at}: methods disagree on {len(apart)} of {counted(len(whole.names), 'system')}{which}")
        parts += [_verdicts(whole, level, at), _limits([*found[:1], *found[1:][-1:]], level, at)]
    if out := tuple(name for name in pool.names if name not in whole.names):
        pool.warnings.append(f"Left out, since too few topics changed, or all by the same: {listed(out, most=5)}.")
    return Section(pool.title, answers, [*parts, *_more_topics(samples)], pool.warnings, [_NOTES])


def sample(pool: Pool, alpha: float, which: slice, methods: Sequence[str] = METHODS) -> Sample:
    """Intervals of each system that changed enough of these topics."""
    rows = {
        name: linear(row[which], alpha=alpha)
        for name, row in zip(pool.names, pool.differences, strict=True)
        if np.count_nonzero(np.abs(row[which]) > ROUNDING_ERROR) >= MIN_CHANGED
        and np.ptp(row[which]) > ROUNDING_ERROR
    }
    if not rows:
        raise UsageError(f"no system changed {MIN_CHANGED} topics or more, which an interval needs")
    x = np.array([*rows.values()])
    limits = studentized(x) if "studentized" in methods else {}
    for level, method in product(LEVELS, methods):
        if method != "studentized":
            found = [interval(row, method=method, level=level) for row in x]
            limits[level, method] = np.array([(one.lower, one.upper) for one in found])
    return Sample(tuple(rows), x, limits)


def _errors(x: FloatArray) -> FloatArray:
    return np.asarray(x.std(axis=1, ddof=1) / np.sqrt(x.shape[1]))


def studentized(x: FloatArray) -> dict[tuple[float, str], FloatArray]:
    """Limits of the bootstrap-t interval (Eq. 4) of each row of x.

    Drawn, as in the paper, from the same resamples for all systems: hundreds of exact ones would take minutes.
    """
    systems, n = x.shape
    centred, means = x - x.mean(axis=1, keepdims=True), x.mean(axis=1)
    statistics, stream = np.empty((systems, DRAWS)), np.random.default_rng(SEED)
    for start in range(0, DRAWS, PART):
        drawn = stream.integers(0, n, (PART, n)) + n * np.arange(PART)[:, None]
        shares = np.bincount(drawn.ravel(), minlength=PART * n).reshape(PART, n).T / n
        moved = centred @ shares
        with np.errstate(divide="ignore", invalid="ignore"):  # resamples that do not vary
            found = moved / np.sqrt((centred**2 @ shares - moved**2) / (n - 1))
        statistics[:, start : start + PART] = np.nan_to_num(found)
    limits = {}
    for level in LEVELS:
        low, high = np.quantile(statistics, [(1 - level) / 2, (1 + level) / 2], axis=1) * _errors(x)
        limits[level, "studentized"] = np.column_stack([means - high, means - low])
    return limits


def quantiles_of_mean(x: FloatArray, z: FloatArray) -> FloatArray:
    """Quantiles of the bootstrap law of a mean, at normal quantiles that mirror one another around 0."""
    above = z[z.size // 2 :]
    ends = [interval(x, method="percentile", level=level) for level in (2 * ndtr(above) - 1).tolist()]
    return np.array([end.lower for end in ends[::-1]] + [end.upper for end in ends])


def _verdicts(whole: Sample, level: float, at: str) -> Table:
    rows = []
    for method in METHODS:
        said, limits = whole.verdicts(level, method), whole.limits[level, method]
        medians = tuple(middle for _, middle, _ in whole.medians(level, method))
        rows.append((method, *map(said.count, VERDICTS), float(np.median(np.diff(limits))), medians))
    columns = {"method": "text", **dict.fromkeys(VERDICTS, "d"), "median width": ".4f", "median limits": "+.4f"}
    return Table(f"Verdicts, {at}", columns, rows)


def _limits(samples: Sequence[Sample], level: float, at: str) -> Plot:
    """Figures 2 and 4: median limits of the best systems."""
    rows = [(f"{method}, {one.x.shape[1]}", one.medians(level, method)) for method in METHODS for one in samples]
    plot = Plot(
        f"Median limits, {at}",
        "URisk",
        rows=[name for name, _ in rows],
        caption="Each method, on so many topics. Wide: from the median lower limit to the upper. Thin, at its ends: "
        "McGill's intervals of the medians.",
        zero=True,
    )
    for place, (name, ends) in enumerate(rows):
        series = place % len(samples)
        plot.span(place, ends[0][1], ends[1][1], name, width=9, series=series)
        for end, (low, _, high) in zip(("lower", "upper"), ends, strict=True):
            plot.span(place, low, high, f"{name}, {end} limit", series=series + 2)
    return plot


def _more_topics(samples: dict[float, list[Sample]]) -> Iterator[Table]:
    """Figure 3, and RQ2: how far from normal, and how far apart, on a fifth of the topics and on all."""
    from scipy.stats import shapiro  # takes 0.8 s to import

    z = ndtri((np.arange(100) + 0.5) / 100)
    normality, apart = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for alpha, found in samples.items():
        for one in [*found[:1], *found[1:][-1:]]:
            w = [[shapiro(values).statistic for values in (x, quantiles_of_mean(x, z))] for x in one.x[: one.kept]]
            of_scores, of_means = np.median(w, axis=0).tolist()
            normality.append((f"alpha {alpha:g}, {one.topics}", of_scores, of_means))
        for level in LEVELS if found[1:] else ():
            *fifths, whole = (one.apart(level) for one in found)
            apart.append((f"alpha {alpha:g}, level {100 * level:g}%", fifths[0], float(np.median(fifths)), whole))
    columns = {"": "text", "trade-off scores": ".3f", "bootstrap means": ".5f"}
    yield Table("Shapiro-Wilk's W, medians over systems", columns, normality)
    if apart:
        names = (found[0].topics, f"median of {FIFTH} such samples", found[-1].topics)
        yield Table("Student-t and BCa apart", {"": "text", **dict.fromkeys(names, ".2f")}, apart)


def _example(pool: Pool) -> Iterator[Plot]:
    """Figure 1: the bootstrap law of URisk of the best system, and its intervals below."""
    plot = Plot(
        f"Bootstrap law of URisk: {clean(pool.names[0], limit=60)}",
        "URisk",
        "density",
        caption=f"Bars: {100 * LEVELS[0]:g}% intervals, from the top {', '.join(METHODS)}.",
        zero=True,
    )
    z, curves, spans = np.linspace(-3, 3, 60), list[FloatArray](), list[tuple[str, int, Interval]]()
    for series, alpha in enumerate(pool.alphas):
        x = linear(pool.differences[0], alpha=alpha)
        points = quantiles_of_mean(x, z)
        moves = np.diff(points) > ROUNDING_ERROR
        heights = np.diff(ndtr(z))[moves] / np.diff(points)[moves]
        plot.curve(f"alpha {alpha:g}", ((points[1:] + points[:-1]) / 2)[moves], heights, series=series)
        curves.append(heights)
        for method in METHODS:
            spans.append((f"alpha {alpha:g}, {method}", series, interval(x, method=method, level=LEVELS[0])))
    step = max(heights.max(initial=0) for heights in curves) / 20
    for place, (text, series, found) in enumerate(spans, 1):
        plot.span(-step * place, found.lower, found.upper, text, width=3, series=series)
    yield plot
