"""How often do gates fail without reason, and how often do intervals hold the truth, where most topics change?

Intervals and rules are those of the package. Only the studentized interval is simulated here, by 4,000 resamples that
all data sets of a row share: for each data set on its own the package takes far more care, and time.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import skew

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.ruling import Ruling, margin_of
from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.populations import weigh
from tests.benchmarks.calibration.tables import Place, Study
from tests.inference.laws import intervals
from tests.strict import gate_of

Matrix = np.ndarray  # (n_simulations, n_topics)

LEVEL = 0.95
#: Probability that a gate may fail when nothing is wrong: what is above a two-sided interval.
NOMINAL = (1 - LEVEL) / 2
EXACT = ("student_t", "basic", "percentile", "bca")
METHODS = (*EXACT, "studentized")
#: Resamples of the studentized interval, and how many data sets are resampled at once.
REPLICATES, AT_ONCE = 4000, 500
#: Sizes that stand for all there are.
MANY = 1_000_000
#: With so many topics the p-value of the sign-flip test is counted for the other populations.
FLIPPED = 50


@dataclass(frozen=True)
class Population:
    """Where differences come from: symmetric around 0, so that neither system is better.

    Attributes
    ----------
    name : str
        As the tables call it.
    changed : callable
        Differences of topics that changed, of the shape asked for.
    unchanged : float
        Probability that a topic does not change.
    """

    name: str
    changed: Callable[[np.random.Generator, tuple[int, ...]], Matrix]
    unchanged: float

    def draw(self, rng: np.random.Generator, shape: tuple[int, int], *, shift: float = 0.0) -> Matrix:
        """Differences, those of changed topics shifted."""
        d = self.changed(rng, shape) + shift
        return np.where(rng.random(shape) < self.unchanged, 0.0, d)


def beta_scores(rng: np.random.Generator, shape: tuple[int, ...], *, concentration: float) -> Matrix:
    """Two systems' scores on a topic are beta distributed around the topic's own difficulty, Beta(1.2, 2)."""
    m = rng.beta(1.2, 2, shape)
    a, b = concentration * m, concentration * (1 - m)
    return rng.beta(a, b) - rng.beta(a, b)


def study(rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
    return beta_scores(rng, shape, concentration=10)


def low_concentration(rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
    return beta_scores(rng, shape, concentration=1)


def laplace(rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
    return rng.laplace(scale=0.1, size=shape)


def student_t3(rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
    return 0.1 * rng.standard_t(3, shape)


STUDY = Population("beta scores, 20 % unchanged", study, 0.2)
EVERY_TOPIC = Population("beta scores, every topic moves", study, 0.0)
OTHERS = (
    EVERY_TOPIC,
    Population("heavier tails: concentration 1", low_concentration, 0.2),
    Population("heavier tails: Laplace", laplace, 0.2),
    Population("heavier tails: Student-t, 3 df", student_t3, 0.2),
    Population("sparse: 20 % of topics change", study, 0.8),
    Population("sparse: 10 % of topics change", study, 0.9),
)
POPULATIONS = {population.name: population for population in (STUDY, *OTHERS)}


@cache
def truth(population: Population, alpha: float, count: int = MANY) -> tuple[float, float]:
    """What a population's sample cannot know: E|d|, and the shift of changed topics that makes URisk 0.

    With d symmetric, 2 E x(d + shift) = 2 shift - alpha E max(|d| - shift, 0).
    """
    sizes = np.abs(population.changed(np.random.default_rng(0), (count,)))
    mean = float(np.mean(sizes)) * (1 - population.unchanged)
    if alpha == 0:
        return mean, 0.0
    shift = brentq(
        lambda s: 2 * s - alpha * np.mean(np.maximum(sizes - s, 0.0)), 0.0, float(np.max(sizes)), xtol=1e-9
    )
    return mean, float(shift)


def studentized(x: Matrix, counts: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the studentized interval of each data set, from resamples given as counts of topics.

    R. Benham et al., "Taking risks with confidence", ADCS 2019, Eq. 4. Resamples without variation have no T*.
    """
    x, n = x.T, x.shape[1]
    mean, spread = x.mean(axis=0), x.std(axis=0)
    y = (x - mean) / np.where(spread > 0, spread, 1.0)
    moved = counts @ y / n
    variance = counts @ y**2 / n - moved**2
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(variance > 1e-12, moved / np.sqrt(variance / (n - 1)), np.nan)
    t.sort(axis=0)  # NaN last
    valid = np.count_nonzero(~np.isnan(t), axis=0)
    columns = np.arange(x.shape[1])

    def quantile(p: float) -> np.ndarray:
        return t[np.maximum(np.ceil(p * valid).astype(int) - 1, 0), columns]

    error = spread / math.sqrt(n - 1)
    lower, upper = mean - quantile(1 - NOMINAL) * error, mean - quantile(NOMINAL) * error
    constant = spread == 0
    return np.where(constant, mean, lower), np.where(constant, mean, upper)


def rates(d: Matrix, alpha: float, true: float, rng: np.random.Generator) -> dict[str, float]:
    """Shares of data sets in which each interval holds the true URisk, or lies below 0; the median skewness."""
    x, n = weigh(d, alpha), d.shape[1]
    exact = [intervals(one, methods=EXACT, level=LEVEL) for one in x]
    limits = {
        method: (np.array([own[i].lower for own in exact]), np.array([own[i].upper for own in exact]))
        for i, method in enumerate(EXACT)
    }
    counts = rng.multinomial(n, np.full(n, 1 / n), size=REPLICATES).astype(float)
    parts = [studentized(x[start : start + AT_ONCE], counts) for start in range(0, len(x), AT_ONCE)]
    limits["studentized"] = (np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]))
    found = {}
    for method, (lower, upper) in limits.items():
        holds = (lower <= true + ROUNDING_ERROR) & (true - ROUNDING_ERROR <= upper)
        found[f"covers {method}"] = float(np.mean(holds))
        found[f"fails {method}"] = float(np.mean(upper < -ROUNDING_ERROR))
    found["skewness"] = float(np.median(skew(x[x.std(axis=1) > 0], axis=1)))
    return found


def gates_fail(d: Matrix, alpha: float) -> tuple[float, float]:
    """How often a gate of method ``auto`` fails, and how often at alpha 0 as well, as ``on_churn: warn`` asks."""
    gate, both, alone = gate_of("calibration", level=LEVEL, alpha=alpha), 0, 0
    for one in d:
        ruling = Ruling(gate, Evidence.of(one))
        fails = not ruling.passes
        alone += fails
        both += fails and not ruling.at(0.0).passes
    return alone / len(d), both / len(d)


def flips_fail(d: Matrix) -> float:
    """How often the sign-flip p-value is 2.5% or less."""
    return float(
        np.mean([break_even(size := np.abs(one[one != 0]), size, one[one != 0] < 0) <= NOMINAL for one in d])
    )


def of_zero(place: Place, rng: np.random.Generator, count: int) -> Matrix:
    """Data sets whose true URisk is 0."""
    population = POPULATIONS[place.get("differences", STUDY.name)]
    return population.draw(rng, (count, place["topics"]), shift=truth(population, float(place["alpha"]))[1])


def of_equals(place: Place, rng: np.random.Generator, count: int) -> Matrix:
    """Data sets of two equal systems."""
    return POPULATIONS[place.get("differences", STUDY.name)].draw(rng, (count, place["topics"]))


def urisk_zero(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Where the true URisk is 0."""
    found = rates(of_zero(place, rng, count), place["alpha"], 0.0, rng)
    return {**found, "skewness": f"{found['skewness']:.2f}"}


def equal_systems(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Where two systems are equal; the p-value of the sign-flip test is the same for every alpha."""
    d, alpha = of_equals(place, rng, count), place["alpha"]
    return {**rates(d, alpha, -alpha / 2 * truth(STUDY, alpha)[0], rng), "sign-flip": flips_fail(d)}


def whole_gates(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Whole gates beside single intervals."""
    alpha, zero = place["alpha"], of_zero(place, rng, count)
    upper = np.array(
        [[i.upper for i in intervals(one, methods=("bca", "student_t"), level=LEVEL)] for one in weigh(zero, alpha)]
    )
    bca, student_t = np.mean(upper < -ROUNDING_ERROR, axis=0).tolist()
    found: dict[str, object] = {"URisk 0: bca alone": bca, "URisk 0: student_t alone": student_t}
    found["URisk 0: auto"], _ = gates_fail(zero, alpha)
    names = ("equal systems: auto, on_churn: fail", "equal systems: auto, on_churn: warn")
    return found | dict(zip(names, gates_fail(of_equals(place, rng, count), alpha), strict=True))


def other_differences(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Intervals and gates on other differences."""
    alpha, zero, equal = place["alpha"], of_zero(place, rng, count), of_equals(place, rng, count)
    found: dict[str, object] = {**rates(zero, alpha, 0.0, rng)}
    found["fails auto"], _ = gates_fail(zero, alpha)
    found["on_churn: fail"], found["on_churn: warn"] = gates_fail(equal, alpha)
    return found | {"sign-flip": flips_fail(equal) if place["topics"] == FLIPPED else math.nan}


def replicates(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """How often a gate on a system and itself fails, by the number of replicates of the baseline.

    Scores are those of the study, every topic moves, and each run has other scores.
    """
    gate, n = gate_of("calibration", level=LEVEL, alpha=float(place["alpha"])), place["topics"]
    failed = {"no replicate": 0, "replicates: 1": 0, "replicates: 3": 0}
    for _ in range(count):
        m = rng.beta(1.2, 2, n)
        candidate, baseline, *others = rng.beta(10 * m, 10 * (1 - m), (5, n))
        noise = np.array(others) - baseline
        for name, number in zip(failed, (0, 1, 3), strict=True):
            failed[name] += not Ruling(gate, Evidence(candidate - baseline, noise[:number])).holds
    return {name: number / count for name, number in failed.items()}


def weighted_topics(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """How often a weighted gate that is judged fails, by each interval alone and by its rule.

    Topics have lognormal weights, drawn anew for each data set; no system is better, and alpha is 0.
    """
    n, sizes, fails = place["topics"], [], []
    gate = gate_of("calibration", alpha=0, level=LEVEL, weighted=True)
    for _ in range(count):
        d = study(rng, (n,)) * (rng.random(n) >= 0.2)
        evidence = Evidence(d, np.zeros((0, n)), np.asarray(rng.lognormal(0.0, place["spread"], n)))
        sizes.append(evidence.effective)
        ruling = Ruling(gate, evidence)
        if ruling.enough_topics:
            found = intervals(evidence.scores(0), methods=("student_t", "bca"), level=LEVEL)
            fails.append((*(not margin_of(gate, one.upper) >= 0 for one in found), not ruling.passes))
    shares = dict(zip(("student_t", "bca", "auto"), np.mean(fails, axis=0).tolist(), strict=True))
    of: dict[str, object] = {"effective topics": f"{np.median(sizes):.0f}", "judged": len(fails) / count}
    return of | {f"fails {method}": share for method, share in shares.items()}


STUDIES = {
    "urisk-zero": Study(urisk_zero, 4000, 2, no_share=("skewness",)),
    "equal-systems": Study(equal_systems, 4000, 2),
    "whole-gates": Study(whole_gates, 4000, 2),
    "other-differences": Study(other_differences, 4000, 3),
    "replicates": Study(replicates, 4000, 2),
    "weighted-topics": Study(weighted_topics, 4000, 2, no_share=("effective topics",)),
}
