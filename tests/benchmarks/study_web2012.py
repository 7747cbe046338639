"""Do parametric and nonparametric intervals disagree? The question of ADCS 2019, asked of the TREC 2012 Web runs.

Run from the checkout: ``python -m tests.benchmarks.study_web2012``; needs the folder of real runs. It prints the
tables that docs/reproduction.md shows.

R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import shapiro

from pytest_riskguard.inference.intervals import METHODS, Interval, intervals
from pytest_riskguard.risk.tradeoff import linear
from pytest_riskguard.risk.urisk import minus
from tests.published import web2012
from tests.published.csv_tables import print_or_write
from tests.shared_data import SHARED

#: The whole weight of a loss, 1 + alpha.
WEIGHTS = (1, 10)
LEVELS = (0.95, 0.999)
#: The share of runs that the paper's Figure 2 is about: the best by mean score.
KEPT = 0.75


@dataclass(frozen=True)
class Setting:
    """The intervals of every run by every method, at one weight of a loss and one level."""

    r: int
    level: float
    found: dict[str, dict[str, Interval]]  # by run, then by method

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
            for interval in intervals(linear(d, alpha=r - 1), methods=METHODS, level=LEVELS):
                found[interval.level].setdefault(run, {})[interval.method] = interval
        for level in LEVELS:
            yield Setting(r, level, found[level])


def interval_table(every: list[Setting], kept: list[str]) -> Iterator[str]:
    yield "| r | level | method | risky | better | neither | median width | median limits of URisk- |"
    yield "|---|---|---|---|---|---|---|---|"
    for setting in every:
        for method in METHODS:
            said = [setting.verdicts(run)[method] for run in setting.found]
            width = np.median([i[method].upper - i[method].lower for i in setting.found.values()])
            shown = [
                (minus(found.upper), minus(found.lower)) for found in (setting.found[run][method] for run in kept)
            ]
            lower, upper = np.median(shown, axis=0)
            yield (
                f"| {setting.r} | {100 * setting.level:g}% | {method} "
                f"| {said.count('risky')} | {said.count('better')} | {said.count('neither')} "
                f"| {width:.4f} | {lower:.4f} to {upper:.4f} |"
            )


def disagreement_table(every: list[Setting]) -> Iterator[str]:
    yield "| r | level | what the methods say | runs | which |"
    yield "|---|---|---|---|---|"
    for setting in every:
        sayings: dict[str, list[str]] = {}
        for run in sorted(setting.found, key=str.lower):
            sayings.setdefault(saying(setting.verdicts(run)), []).append(run)
        for said, runs in sorted(sayings.items(), key=lambda item: -len(item[1])):
            which = "" if said.startswith("all:") else ", ".join(runs)
            yield f"| {setting.r} | {100 * setting.level:g}% | {said} | {len(runs)} | {which} |"


def saying(verdicts: dict[str, str]) -> str:
    """Verdicts with the methods that give them, or that all give one."""
    by_verdict: dict[str, list[str]] = {}
    for method, said in verdicts.items():
        by_verdict.setdefault(said, []).append(method)
    if len(by_verdict) == 1:
        return f"all: {next(iter(by_verdict))}"
    return "; ".join(f"{', '.join(methods)}: {said}" for said, methods in by_verdict.items())


def normality_table(differences: dict[str, np.ndarray]) -> Iterator[str]:
    yield "| r | median W | smallest W | runs with p below 0.05 |"
    yield "|---|---|---|---|"
    for r in WEIGHTS:
        tests = [shapiro(linear(d, alpha=r - 1)) for d in differences.values() if np.ptp(d) > 0]
        w = [test.statistic for test in tests]
        rejected = sum(test.pvalue < 0.05 for test in tests)
        yield f"| {r} | {np.median(w):.3f} | {min(w):.3f} | {rejected} of {len(tests)} |"


def tables(shared: Path) -> dict[str, str]:
    """The three tables, by the name of their file."""
    runs, baseline = web2012.submitted(shared), web2012.indri_casp(shared)
    differences = {run: scores - baseline for run, scores in runs.items()}
    best = sorted(runs, key=lambda run: (-runs[run].mean(), run))
    every = list(settings(differences))
    return {
        "study-intervals": "\n".join(interval_table(every, best[: round(KEPT * len(best))])),
        "study-disagreements": "\n".join(disagreement_table(every)),
        "study-normality": "\n".join(normality_table(differences)),
    }


def main() -> None:
    print_or_write(__doc__, tables(SHARED))


if __name__ == "__main__":
    main()
