"""How often do gates fail without reason, and how often do intervals hold the truth, where most topics change?

Intervals and rules are those of the package. Only the studentized interval is simulated here, by 4,000 resamples that
all data sets of a cell share: for each data set on its own the package takes far more care, and time.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy.optimize import brentq
from scipy.stats import skew

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.limits import margin_of
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.break_even import sign_flip
from pytest_riskguard.inference.intervals import intervals
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.populations import weigh
from tests.benchmarks.calibration.tables import Row, Study, places
from tests.strict import gate_of

Matrix = np.ndarray  # (n_topics, n_simulations)

LEVEL = 0.95
#: Probability that a gate may fail when nothing is wrong: what is above a two-sided interval.
NOMINAL = (1 - LEVEL) / 2
ALPHAS = (0, 1, 5, 10)
EXACT = ("student_t", "basic", "percentile", "bca")
METHODS = (*EXACT, "studentized")
#: Resamples of the studentized interval, shared by all data sets of a cell.
REPLICATES = 4000
#: Data sets in memory at once.
AT_ONCE = 500
#: So many times more simulations say what ``on_churn: warn`` does where scores are beta distributed.
TIMES_FOR_CHURN = 5


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
OTHER_ALPHAS = (0, 1, 5)
FEW_TOPICS = (12, 20)
#: How many replicates of the baseline a gate may have.
REPLICATED = (0, 1, 3)
REPLICATED_ALPHAS = (1, 5, 10)


class Sizes:
    """Sizes of the differences of changed topics, many of them, for the truths of a population."""

    def __init__(self, population: Population, *, seed: int, count: int) -> None:
        rng = np.random.default_rng([seed, 0])
        self.sizes = np.sort(np.abs(population.changed(rng, (count,))))
        self.above = np.append(np.cumsum(self.sizes[::-1])[::-1], 0.0)
        self.unchanged = population.unchanged

    def mean(self) -> float:
        """E|d| over all topics."""
        return float(self.above[0] / self.sizes.size) * (1 - self.unchanged)

    def shift(self, alpha: float) -> float:
        """What must be added to the changed differences for a true URisk of 0.

        With d symmetric, 2 E x(d + shift) = 2 shift - alpha E max(|d| - shift, 0).
        """

        def excess(shift: float) -> float:
            first = int(np.searchsorted(self.sizes, shift))
            left = self.above[first] - shift * (self.sizes.size - first)
            return float(2 * shift - alpha * left / self.sizes.size)

        return 0.0 if alpha == 0 else float(brentq(excess, 0.0, self.sizes[-1]))


@cache
def truth(population: Population, seed: int, count: int) -> tuple[float, dict[float, float]]:
    """What a population's sample cannot know: E|d|, and the shift that makes URisk 0 at each alpha."""
    sizes = Sizes(population, seed=seed, count=count)
    return sizes.mean(), {alpha: sizes.shift(alpha) for alpha in ALPHAS}


@dataclass(frozen=True)
class Cell:
    """One population, one number of topics: two equal systems, and changes that make the true URisk 0."""

    population: Population
    n: int
    simulations: int
    seed: int

    def batches(self, simulations: int, equal: bool, stream: int) -> Iterator[Callable[[float], Matrix]]:
        """For each batch of data sets: the differences at a given shift, the same for every alpha."""
        name = zlib.crc32(self.population.name.encode())
        for start in range(0, simulations, AT_ONCE):
            place = (self.seed, 1, name, int(equal), self.n, stream, start)
            yield partial(self._batch, place, (self.n, min(AT_ONCE, simulations - start)))

    def _batch(self, place: tuple[int, ...], shape: tuple[int, int], shift: float) -> Matrix:
        return self.population.draw(np.random.default_rng(place), shape, shift=shift)

    def resamples(self, equal: bool) -> Matrix:
        """Those that all data sets share, as counts of topics."""
        rng = np.random.default_rng([self.seed, 1, zlib.crc32(self.population.name.encode()), equal, self.n, 0])
        return rng.multinomial(self.n, np.full(self.n, 1 / self.n), size=REPLICATES).astype(float)


def studentized(x: Matrix, counts: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the studentized interval of each column, from resamples given as counts of topics.

    R. Benham et al., "Taking risks with confidence", ADCS 2019, Eq. 4. Resamples without variation have no T*.
    """
    n = x.shape[0]
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


def limits_of(x: Matrix, methods: Sequence[str], counts: Matrix | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Lower and upper limits of every column, by method."""
    exact = [method for method in methods if method != "studentized"]
    columns = [intervals(column, methods=exact, level=LEVEL) for column in x.T]
    found = {
        method: (np.array([own[place].lower for own in columns]), np.array([own[place].upper for own in columns]))
        for place, method in enumerate(exact)
    }
    if "studentized" in methods and counts is not None:
        found["studentized"] = studentized(x, counts)
    return found


def gate_fails(
    d: Matrix, limits: dict[str, tuple[np.ndarray, np.ndarray]], alpha: float, *, noise: np.ndarray | None = None
) -> np.ndarray:
    """Whether a gate of method ``auto`` finds each column significantly risky, by the package's own rule.

    ``noise`` (n_replicates, n_topics, n_simulations) are replicates less the baseline.
    """
    gate = gate_of("calibration", level=LEVEL, alpha=alpha)
    own, student_t = (~(limits[method][1] >= -gate.tolerance - ROUNDING_ERROR) for method in ("bca", "student_t"))
    fails = own & student_t
    for column in np.flatnonzero(own & ~student_t):
        own_noise = np.zeros((0, d.shape[0])) if noise is None else noise[:, :, column]
        fails[column] = not Ruling(gate, Evidence(d[:, column], own_noise)).breaks_even
    return fails


def simulate(cell: Cell) -> list[Row]:
    """The rows of a cell at each alpha."""
    few, own = cell.n in FEW_TOPICS, cell.population.name == STUDY.name
    alphas, gates = ALPHAS if own else OTHER_ALPHAS, EXACT[::3]
    zero = {alpha: rates(cell, alpha, gates if few else METHODS, equal=False) for alpha in alphas}
    equal = {alpha: rates(cell, alpha, METHODS if own and not few else gates, equal=True) for alpha in alphas}
    warned, flips = churn_warned(cell, alphas), math.nan
    if not few and (own or cell.n == 50):  # one p-value for all alphas
        flips = flips_fail(cell)
    rows: list[Row] = []
    for alpha in alphas:
        one, other = zero[alpha], equal[alpha]
        place: dict[str, object] = {"topics": cell.n, "alpha": alpha}
        if not own:
            of: dict[str, object] = {"differences": cell.population.name, **place}
            of |= {f"fails {method}": one[f"fails {method}"] for method in (*METHODS, "auto")}
            of |= {"on_churn: fail": other["fails auto"], "on_churn: warn": warned[alpha], "sign-flip": flips}
            rows.append(("other-differences", of))
            continue
        if not few:
            names = [f"{what} {method}" for what in ("covers", "fails") for method in METHODS]
            skewness = f"{one['skewness']:.2f}"
            rows.append(("urisk-zero", {**place, **{name: one[name] for name in names}, "skewness": skewness}))
            rows.append(("equal-systems", {**place, **{name: other[name] for name in names}, "sign-flip": flips}))
        place |= {"URisk 0: bca alone": one["fails bca"], "URisk 0: student_t alone": one["fails student_t"]}
        place |= {"URisk 0: auto": one["fails auto"], "equal systems: auto, on_churn: fail": other["fails auto"]}
        rows.append(("whole-gates", place | {"equal systems: auto, on_churn: warn": warned[alpha]}))
    return rows


def rates(cell: Cell, alpha: float, methods: Sequence[str], *, equal: bool) -> dict[str, float]:
    """Shares of data sets in which an interval holds the true URisk, or lies below 0, and in which a gate fails."""
    mean_size, shifts = truth(cell.population, cell.seed, 1000 * min(cell.simulations, 4000))
    true = -alpha / 2 * mean_size if equal else 0.0
    shared = cell.resamples(equal) if "studentized" in methods else None
    parts: dict[str, list[np.ndarray]] = {}
    for differences in cell.batches(cell.simulations, equal, 1):
        d = differences(0.0 if equal else shifts[alpha])
        x = weigh(d, alpha)
        limits = limits_of(x, methods, shared)
        of = {"fails auto": gate_fails(d, limits, alpha), "skewness": skew(x[:, x.std(axis=0) > 0], axis=0)}
        for method, (lower, upper) in limits.items():
            of[f"covers {method}"] = (lower <= true + ROUNDING_ERROR) & (true - ROUNDING_ERROR <= upper)
            of[f"fails {method}"] = upper < -ROUNDING_ERROR
        for name, each in of.items():
            parts.setdefault(name, []).append(each)
    found = {name: np.concatenate(each) for name, each in parts.items()}
    return {name: float((np.median if name == "skewness" else np.mean)(each)) for name, each in found.items()}


def flips_fail(cell: Cell) -> float:
    """How often the sign-flip p-value of two equal systems is 2.5% or less."""
    columns = (column for draw in cell.batches(cell.simulations, True, 1) for column in draw(0.0).T)
    return float(np.mean([sign_flip(column).p_value <= NOMINAL for column in columns]))


def churn_warned(cell: Cell, alphas: Sequence[int]) -> dict[int, float]:
    """How often a gate with ``on_churn: warn`` fails two equal systems, at each alpha.

    It fails where it fails at its own alpha and at alpha 0 too, so only the data sets that fail there are looked at
    again.
    """
    many = cell.population.name in (STUDY.name, EVERY_TOPIC.name) and cell.n not in FEW_TOPICS
    simulations = (TIMES_FOR_CHURN if many else 1) * cell.simulations
    failed = dict.fromkeys(alphas, 0)
    for differences in cell.batches(simulations, True, 2):
        d = differences(0.0)
        d = d[:, gate_fails(d, limits_of(d, ("student_t", "bca"), None), 0)]
        for alpha in alphas:
            if d.shape[1]:
                again = gate_fails(d, limits_of(weigh(d, alpha), ("student_t", "bca"), None), alpha)
                failed[alpha] += int(np.count_nonzero(again))
    return {alpha: count / simulations for alpha, count in failed.items()}


@dataclass(frozen=True)
class Rerun:
    """A baseline that gives other scores in each run, judged against itself, with replicates of it.

    Scores are those of the study, and every topic moves.
    """

    n: int
    simulations: int
    seed: int

    def batches(self) -> Iterator[Matrix]:
        """Candidate minus baseline, then each replicate minus baseline."""
        for start in range(0, self.simulations, AT_ONCE):
            rng = np.random.default_rng([self.seed, 2, self.n, start])
            m = rng.beta(1.2, 2, (self.n, min(AT_ONCE, self.simulations - start)))
            runs = rng.beta(10 * m, 10 * (1 - m), (2 + max(REPLICATED), *m.shape))
            yield runs[1:] - runs[0]


def rerun(cell: Rerun) -> list[Row]:
    """How often a gate of method ``auto`` fails, by alpha and number of replicates.

    With replicates it must hold at alpha 0 as well.
    """
    failed = {(alpha, count): 0 for alpha in REPLICATED_ALPHAS for count in REPLICATED}
    for differences in cell.batches():
        for alpha, count in failed:
            fails = np.zeros(differences.shape[2], dtype=bool)
            for tested in {alpha, 0.0} if count else {alpha}:
                x = beyond_noise(differences, tested, count)
                noise = differences[1 : 1 + count]
                fails |= gate_fails(differences[0], limits_of(x, ("student_t", "bca"), None), tested, noise=noise)
            failed[alpha, count] += int(fails.sum())
    names = {count: f"replicates: {count}" if count else "no replicate" for count in REPLICATED}
    return [
        (
            "replicates",
            {"topics": cell.n, "alpha": alpha}
            | {name: failed[alpha, count] / cell.simulations for count, name in names.items()},
        )
        for alpha in REPLICATED_ALPHAS
    ]


def beyond_noise(differences: Matrix, alpha: float, count: int) -> Matrix:
    """Trade-off scores of the candidate, less the mean of those that so many replicates have."""
    own = weigh(differences[1 : 1 + count], alpha)
    return weigh(differences[0], alpha) - (own.mean(axis=0) if count else 0.0)


@dataclass(frozen=True)
class Weighted:
    """Topics with lognormal weights, drawn anew for each data set; no system is better, and alpha is 0."""

    n: int
    spread: float
    simulations: int
    seed: int


def weigh_topics(cell: Weighted) -> list[Row]:
    """How often a weighted gate that is judged fails, by each interval alone and by its rule."""
    rng = np.random.default_rng([cell.seed, 3, cell.n, int(10 * cell.spread)])
    gate, sizes, fails = gate_of("calibration", alpha=0, level=LEVEL, weighted=True), [], []
    for _ in range(cell.simulations):
        d = study(rng, (cell.n,)) * (rng.random(cell.n) >= 0.2)
        evidence = Evidence(d, np.zeros((0, cell.n)), rng.lognormal(0.0, cell.spread, cell.n))
        sizes.append(evidence.effective)
        if Ruling(gate, evidence).enough_topics:
            found = intervals(evidence.scores(0), methods=("student_t", "bca"), level=LEVEL)
            alone = [not margin_of(gate, interval.upper) >= 0 for interval in found]
            fails.append((*alone, not Ruling(gate, evidence, alpha=0).passes))
    place: dict[str, object] = {"topics": cell.n, "spread": str(cell.spread)}
    place |= {"effective topics": f"{np.median(sizes):.0f}", "judged": len(fails) / cell.simulations}
    names = [f"fails {method}" for method in ("student_t", "bca", "auto")]
    return [("weighted-topics", place | dict(zip(names, np.mean(fails, axis=0).tolist(), strict=True)))]


def cells(simulations: int, seed: int) -> list[Cell]:
    populations = {population.name: population for population in OTHERS}
    own = dict.fromkeys((STUDY, row["topics"]) for row in places("whole-gates"))
    others = dict.fromkeys((populations[row["differences"]], row["topics"]) for row in places("other-differences"))
    return [Cell(*place, simulations, seed) for place in (*own, *others)]


def reruns(simulations: int, seed: int) -> list[Rerun]:
    return [Rerun(n, simulations, seed) for n in dict.fromkeys(row["topics"] for row in places("replicates"))]


def weights(simulations: int, seed: int) -> list[Weighted]:
    return [Weighted(row["topics"], row["spread"], simulations, seed) for row in places("weighted-topics")]


PLACE = ("differences", "topics", "alpha", "spread")
STUDIES = {
    "intervals": Study(cells, simulate, 4000, PLACE, no_share=("skewness",)),
    "replicates": Study(reruns, rerun, 4000, PLACE),
    "weighted-topics": Study(weights, weigh_topics, 4000, PLACE, no_share=("effective topics",)),
}
