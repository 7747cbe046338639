"""Do confidence intervals agree? Five methods on every system, on all topics and on a fifth of them.

R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019: Figures 1 to 4, and
the question (RQ2) what more topics change. Here low is risky; the paper's URisk- has the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr

from pytest_riskguard.inference import interval
from pytest_riskguard.reports import Plot, Section, Table, clean, counted, listed
from pytest_riskguard.risk import linear
from pytest_riskguard.risk.checks import FloatArray
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

        p = (np.arange(1, 100) - 0.5) / 99
        found = [(shapiro(x).statistic, shapiro(quantiles_of_mean(x, p)).statistic) for x in self.x]
        return np.array(found).reshape(-1, 2)


def study(pool: Pool) -> Section:
    """Figures and tables of the paper; with 125 topics or more for a fifth of them as well."""
    n = len(pool.topics)
    every = {alpha: sample(pool, slice(None), alpha) for alpha in pool.alphas}
    fifths = {alpha: [sample(pool, slice(start, None, FIFTH), alpha) for start in range(FIFTH)] for alpha in every}
    has_fifths = n >= FIFTH * MIN_TOPICS
    parts: list[Table | Plot | Section] = []
    answers = []
    for alpha, whole in every.items():
        samples = [*(fifths[alpha][:1] if has_fifths else []), whole]
        answers += [*_answers(whole)]
        for level in LEVELS:
            parts += [_verdicts(whole, level), _disagreements(whole, level), _limits(samples, level)]
        parts += [_normality(samples)]
    if has_fifths:
        parts.append(_more_topics(every, fifths))
    parts += _example(pool)
    baseline = clean(pool.systems[pool.baseline], limit=60)
    return Section(f"{pool.title}, against {baseline}", answers, parts, pool.warnings, [_NOTES])
