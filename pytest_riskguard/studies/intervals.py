"""Do confidence intervals agree? Five methods on every system, on all topics and on a fifth of them.

R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019: Figures 1 to 4, and
the question (RQ2) what more topics change. Here low is risky; the paper's URisk- has the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr

from pytest_riskguard.inference import interval
from pytest_riskguard.reports import Plot, Section, Table, clean, counted, listed
from pytest_riskguard.risk import linear
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray
from pytest_riskguard.studies.pool import Pool

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
LEVELS = (0.95, 0.999)
VERDICTS = ("risky", "better", "neither")
#: The share of systems that Figures 2 to 4 are about: the best by mean score.
KEPT = 0.75
#: One topic in so many is a sample of fewer topics, if that leaves at least so many.
FIFTH, MIN_TOPICS = 5, 25
#: A system that changed fewer topics than this has no interval worth its name, and is left out.
MIN_CHANGED = 10
#: Draws of the studentized interval, as many as in the paper, in parts; and what starts their stream.
DRAWS, PART, SEED = 100_000, 5000, 2019
_NOTES = (
    "A system is risky if the whole interval of URisk is below 0, better if it is above. Limits are medians over the "
    "best three quarters of the systems by mean, with McGill's 95% interval of a median. W: Shapiro-Wilk's, 1 for "
    "normal. Apart: the mean distance of Student-t's limits from BCa's, in standard errors, median over systems. "
    f"Systems that changed fewer than {MIN_CHANGED} topics of a sample are left out. Only studentized is drawn."
)


@dataclass(frozen=True, eq=False)
class Sample:
    """Intervals of all systems on some topics, at one alpha: ``limits`` by level and method, (n_systems, 2)."""

    alpha: float
    topics: int
    names: tuple[str, ...]
    x: FloatArray
    limits: dict[tuple[float, str], FloatArray]

    @property
    def title(self) -> str:
        """Which topics, at which alpha."""
        return f"{counted(self.topics, 'topic')}, alpha {self.alpha:g}"

    def verdicts(self, level: float, method: str) -> list[str]:
        """What the intervals say of each system."""
        lower, upper = self.limits[level, method].T
        return [VERDICTS[place] for place in np.where(upper < 0, 0, np.where(lower > 0, 1, 2))]

    @property
    def kept(self) -> int:
        """How many of the best systems figures are about."""
        return max(round(KEPT * len(self.names)), 1)

    def medians(self, level: float, method: str) -> FloatArray:
        """Median limits of the systems that are kept, each with McGill's interval: shape (2, 3)."""
        limits = self.limits[level, method][: self.kept]
        first, middle, third = np.quantile(limits, [0.25, 0.5, 0.75], axis=0)
        half = 1.57 * (third - first) / np.sqrt(self.kept)
        return np.column_stack([middle - half, middle, middle + half])

    def apart(self, level: float) -> FloatArray:
        """How far Student-t and BCa are apart, in standard errors: shape (n_systems,)."""
        errors = self.x.std(axis=1, ddof=1) / np.sqrt(self.topics)
        gaps: FloatArray = np.abs(self.limits[level, "student_t"] - self.limits[level, "bca"]).mean(axis=1) / errors
        return gaps

    def normality(self) -> FloatArray:
        """Shapiro-Wilk's W of each system's trade-off scores, and of its bootstrap means: shape (n_systems, 2)."""
        from scipy.stats import shapiro  # takes 0.8 s to import

        found = [(shapiro(x).statistic, shapiro(quantiles_of_mean(x, 100)).statistic) for x in self.x]
        return np.array(found).reshape(-1, 2)


def study(pool: Pool) -> Section:
    """Figures and tables of the paper; with 125 topics or more for a fifth of them as well."""
    every = {alpha: sample(pool, slice(None), alpha) for alpha in pool.alphas}
    fifths = dict[float, list[Sample]]()
    if len(pool.topics) >= FIFTH * MIN_TOPICS:
        fifths = {alpha: [sample(pool, slice(k, None, FIFTH), alpha) for k in range(FIFTH)] for alpha in every}
    parts, answers = list[Table | Plot | Section](_example(pool)), list[str]()
    for alpha, whole in every.items():
        samples = [*fifths.get(alpha, [])[:1], whole]
        for level in LEVELS:
            answers.append(_answer(whole, level))
            parts += [_verdicts(whole, level), _disagreements(whole, level), _limits(samples, level)]
    parts += [_normality(every, fifths), *_more_topics(every, fifths)]
    baseline = clean(pool.systems[pool.baseline], limit=60)
    return Section(f"{pool.title}, against {baseline}", answers, parts, pool.warnings, [_NOTES])


def sample(pool: Pool, which: slice, alpha: float) -> Sample:
    """Every interval of each system that changed enough of these topics."""
    differences = pool.differences[:, which]
    enough = np.count_nonzero(np.abs(differences) > ROUNDING_ERROR, axis=1) >= MIN_CHANGED
    names = tuple(pool.systems[place] for place, is_kept in zip(pool.candidates, enough, strict=True) if is_kept)
    x = np.array([linear(row, alpha=alpha) for row in differences[enough]]).reshape(len(names), -1)
    drawn = studentized(x)
    limits = dict[tuple[float, str], FloatArray]()
    for level, method in product(LEVELS, METHODS):
        found = [interval(row, method=method, level=level) for row in x if method != "studentized"]
        ends = np.array([(one.lower, one.upper) for one in found]).reshape(-1, 2)
        limits[level, method] = drawn[level] if method == "studentized" else ends
    return Sample(alpha, differences.shape[1], names, x, limits)


def studentized(x: FloatArray) -> dict[float, FloatArray]:
    """Limits of the bootstrap-t interval (Eq. 4) of each row of x, (n_systems, 2) for each level.

    Drawn, as in the paper, from the same resamples for all systems: hundreds of exact ones would take minutes.
    """
    systems, n = x.shape
    centred = x - x.mean(axis=1, keepdims=True)
    statistics, stream = np.empty((systems, DRAWS)), np.random.default_rng(SEED)
    for start in range(0, DRAWS, PART):
        rows = stream.integers(0, n, (PART, n)) + n * np.arange(PART)[:, None]
        counts = np.bincount(rows.ravel(), minlength=PART * n).reshape(PART, n) / n
        means = centred @ counts.T
        variances = np.maximum(centred**2 @ counts.T - means**2, 0) / (n - 1)
        with np.errstate(divide="ignore", invalid="ignore"):  # resamples that do not vary
            statistics[:, start : start + PART] = np.nan_to_num(means / np.sqrt(variances))
    errors = x.std(axis=1, ddof=1) / np.sqrt(n)
    found = {}
    for level in LEVELS:
        low, high = np.quantile(statistics, [(1 - level) / 2, (1 + level) / 2], axis=1)
        found[level] = np.column_stack([x.mean(axis=1) - high * errors, x.mean(axis=1) - low * errors])
    return found


def quantiles_of_mean(x: FloatArray, count: int) -> FloatArray:
    """So many evenly spaced quantiles, an even number, of the bootstrap law of a mean."""
    p = (np.arange(count // 2) + 0.5) / count
    ends = [interval(x, method="percentile", level=float(1 - 2 * one)) for one in p]
    return np.array([end.lower for end in ends] + [end.upper for end in ends[::-1]])


def _at(one: Sample, level: float) -> str:
    return f"{one.title}, level {100 * level:g}%"


def _answer(whole: Sample, level: float) -> str:
    """How often the methods disagree."""
    said = zip(*(whole.verdicts(level, method) for method in METHODS), strict=True)
    apart = tuple(name for name, verdicts in zip(whole.names, said, strict=True) if len({*verdicts}) > 1)
    which = f": {listed(apart, most=3)}" if apart else ""
    return f"{_at(whole, level)}: methods disagree on {len(apart)} of {counted(len(whole.names), 'system')}{which}"


def _verdicts(whole: Sample, level: float) -> Table:
    rows = []
    for method in METHODS:
        said = whole.verdicts(level, method)
        lower, upper = whole.medians(level, method)[:, 1].tolist()
        width = float(np.median(np.diff(whole.limits[level, method])))
        rows.append((method, *map(said.count, VERDICTS), width, (lower, upper)))
    columns = {"method": "text", **dict.fromkeys(VERDICTS, "d"), "median width": ".4f", "median limits": "+.4f"}
    return Table(f"Verdicts, {_at(whole, level)}", columns, rows)


def _disagreements(whole: Sample, level: float) -> Table:
    """What the methods say, and of which systems."""
    sayings = dict[str, list[str]]()
    for name, *verdicts in zip(whole.names, *(whole.verdicts(level, method) for method in METHODS), strict=True):
        by_verdict = {said: [m for m, one in zip(METHODS, verdicts, strict=True) if one == said] for said in verdicts}
        saying = "; ".join(f"{', '.join(methods)}: {said}" for said, methods in by_verdict.items())
        sayings.setdefault(saying if len(by_verdict) > 1 else f"all: {verdicts[0]}", []).append(name)
    rows = [
        (saying, len(names), "" if saying.startswith("all:") else ", ".join(sorted(names, key=str.lower)))
        for saying, names in sorted(sayings.items(), key=lambda item: -len(item[1]))
    ]
    columns = {"what the methods say": "text", "systems": "d", "which": "text"}
    return Table(f"Agreement, {_at(whole, level)}", columns, rows)


def _limits(samples: Sequence[Sample], level: float) -> Plot:
    """Figures 2 and 4: median limits of the best systems."""
    rows = [(one, method) for method in METHODS for one in samples]
    whole = samples[-1]
    plot = Plot(
        f"Median limits, alpha {whole.alpha:g}, level {100 * level:g}%",
        "URisk",
        rows=[f"{method}, {one.topics} topics" for one, method in rows],
        description="A bar for each method, from the median lower limit to the median upper one.",
        caption="Thin at both ends: McGill's 95% interval of the median.",
        zero=True,
    )
    for row, (one, method) in enumerate(rows):
        medians = one.medians(level, method)
        text, series = f"{method}, {one.topics} topics", int(one is whole)
        plot.span(row, *medians[:, 1].tolist(), f"{text}: median limits", width=9, series=series)
        for (low, _, high), end in zip(medians.tolist(), ("lower", "upper"), strict=True):
            plot.span(row, low, high, f"{text}: McGill's interval of the {end} limit", width=2, series=series + 1)
    return plot


def _normality(every: Mapping[float, Sample], fifths: Mapping[float, Sequence[Sample]]) -> Table:
    """Figure 3."""
    rows = []
    for alpha, whole in every.items():
        for one in (*fifths.get(alpha, [])[:1], whole):
            scores, means = one.normality().T
            rows.append((one.title, float(np.median(scores)), float(scores.min()), float(np.median(means))))
    columns = {"topics": "text", "W of scores": ".3f", "smallest": ".3f", "W of bootstrap means": ".5f"}
    return Table("Shapiro-Wilk's W, medians over systems", columns, rows)


def _more_topics(every: Mapping[float, Sample], fifths: Mapping[float, Sequence[Sample]]) -> Iterator[Table]:
    """RQ2: how far Student-t and BCa are apart on a fifth of the topics, and on all."""
    if not fifths:
        return
    rows = []
    for alpha, level in product(every, LEVELS):
        apart = [float(np.median(one.apart(level))) for one in fifths[alpha] if one.names]
        whole = float(np.median(every[alpha].apart(level)))
        rows.append((f"alpha {alpha:g}, level {100 * level:g}%", apart[0], float(np.median(apart)), whole))
    one, all_topics = fifths[alpha][0].topics, every[alpha].topics
    columns = {
        "": "text",
        f"{one} topics": ".2f",
        "median of five such samples": ".2f",
        f"{all_topics} topics": ".2f",
    }
    yield Table("Student-t and BCa apart, in standard errors", columns, rows)


def _example(pool: Pool) -> Iterator[Plot]:
    """Figure 1: the bootstrap law of URisk of the best system, and its intervals."""
    name, row = pool.systems[pool.candidates[0]], pool.differences[0]
    density = Plot(
        f"Bootstrap law of URisk: {clean(name, limit=60)}",
        "URisk",
        "density",
        description="The law moves to the left and grows wider, and less symmetric, as losses count more.",
        caption="The exact law of the mean of as many topics, drawn with replacement.",
    )
    z = np.linspace(-3, 3, 60)
    rows = [f"alpha {alpha:g}, {method}" for alpha in pool.alphas for method in METHODS if method != "studentized"]
    ends = Plot(
        f"Its {100 * LEVELS[0]:g}% intervals",
        "URisk",
        rows=rows,
        description="An interval for each method and alpha.",
        caption="Methods disagree more as losses count more.",
        zero=True,
    )
    place = 0
    for series, alpha in enumerate(pool.alphas):
        x = linear(row, alpha=alpha)
        levels = [float(2 * ndtr(abs(one)) - 1) for one in z]
        limits = [interval(x, method="percentile", level=level) for level in levels]
        points = np.array([one.lower if at < 0 else one.upper for at, one in zip(z, limits, strict=True)])
        keep = np.flatnonzero(np.diff(points) > ROUNDING_ERROR)
        heights = np.diff(ndtr(z))[keep] / np.diff(points)[keep]
        middles = (points[keep] + points[keep + 1]) / 2
        curve = [(float(at), float(height)) for at, height in zip(middles, heights, strict=True)]
        density.curve(f"alpha {alpha:g}", curve, series=series)
        for method in METHODS:
            if method != "studentized":
                found = interval(x, method=method, level=LEVELS[0])
                ends.span(place, found.lower, found.upper, rows[place], width=5, series=series)
                place += 1
    yield density
    yield ends
