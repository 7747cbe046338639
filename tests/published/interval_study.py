"""Do parametric and nonparametric intervals disagree? The question of ADCS 2019, asked of the TREC 2012 Web runs.

R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, section 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import shapiro

from pytest_riskguard.inference.intervals import METHODS, Interval
from pytest_riskguard.risk.tradeoff import linear
from tests.inference.laws import intervals
from tests.published import web2012
from tests.published.tables import as_csv
from tests.published.web2012 import minus

#: The whole weight of a loss, 1 + alpha.
WEIGHTS = (1, 10)
LEVELS = (0.95, 0.999)
#: The share of runs that the paper's Figure 2 is about: the best by mean score.
KEPT = 0.75
VERDICTS = ("risky", "better", "neither")


@dataclass(frozen=True)
class Setting:
    """The intervals of every run by every method, at one weight of a loss and one level."""

    r: int
    level: float
    found: dict[str, dict[str, Interval]]  # by run, then by method

    @property
    def place(self) -> tuple[object, ...]:
        return self.r, f"{100 * self.level:g}%"

    def verdicts(self, run: str) -> dict[str, str]:
        return {method: verdict(interval) for method, interval in self.found[run].items()}


def verdict(interval: Interval) -> str:
    """What an interval of URisk says of a run."""
    if interval.upper < 0:
        return "risky"
    return "better" if interval.lower > 0 else "neither"


def settings(differences: dict[str, np.ndarray]) -> Iterator[Setting]:
    for r in WEIGHTS:
        found: dict[float, dict[str, dict[str, Interval]]] = {level: {} for level in LEVELS}
        for run, d in differences.items():
            for level in LEVELS:
                every = intervals(linear(d, alpha=r - 1), methods=METHODS, level=level)
                found[level][run] = {interval.method: interval for interval in every}
        for level in LEVELS:
            yield Setting(r, level, found[level])


def interval_table(every: list[Setting], kept: list[str]) -> Iterator[tuple[object, ...]]:
    yield "r", "level", "method", *VERDICTS, "median width", "median limits of URisk-"
    for setting in every:
        for method in METHODS:
            said = [setting.verdicts(run)[method] for run in setting.found]
            width = np.median([i[method].upper - i[method].lower for i in setting.found.values()])
            shown = [
                (minus(found.upper), minus(found.lower)) for found in (setting.found[run][method] for run in kept)
            ]
            lower, upper = np.median(shown, axis=0)
            yield *setting.place, method, *map(said.count, VERDICTS), f"{width:.4f}", f"{lower:.4f} to {upper:.4f}"


def disagreement_table(every: list[Setting]) -> Iterator[tuple[object, ...]]:
    yield "r", "level", "what the methods say", "runs", "which"
    for setting in every:
        sayings: dict[str, list[str]] = {}
        for run in sorted(setting.found, key=str.lower):
            sayings.setdefault(saying(setting.verdicts(run)), []).append(run)
        for said, runs in sorted(sayings.items(), key=lambda item: -len(item[1])):
            which = "" if said.startswith("all:") else ", ".join(runs)
            yield *setting.place, said, len(runs), which


def saying(verdicts: dict[str, str]) -> str:
    """Verdicts with the methods that give them, or that all give one."""
    by_verdict: dict[str, list[str]] = {}
    for method, said in verdicts.items():
        by_verdict.setdefault(said, []).append(method)
    if len(by_verdict) == 1:
        return f"all: {next(iter(by_verdict))}"
    return "; ".join(f"{', '.join(methods)}: {said}" for said, methods in by_verdict.items())


def normality_table(differences: dict[str, np.ndarray]) -> Iterator[tuple[object, ...]]:
    yield "r", "median W", "smallest W", "runs with p below 0.05"
    for r in WEIGHTS:
        tests = [shapiro(linear(d, alpha=r - 1)) for d in differences.values() if np.ptp(d) > 0]
        w = [test.statistic for test in tests]
        rejected = sum(test.pvalue < 0.05 for test in tests)
        yield r, f"{np.median(w):.3f}", f"{min(w):.3f}", f"{rejected} of {len(tests)}"


def tables(shared: Path) -> dict[str, str]:
    """The three tables, by the name of their file."""
    runs, baseline = web2012.submitted(shared), web2012.indri_casp(shared)
    differences = {run: scores - baseline for run, scores in runs.items()}
    best = sorted(runs, key=lambda run: (-runs[run].mean(), run))
    every = list(settings(differences))
    return {
        "study-intervals": as_csv(interval_table(every, best[: round(KEPT * len(best))])),
        "study-disagreements": as_csv(disagreement_table(every)),
        "study-normality": as_csv(normality_table(differences)),
    }
