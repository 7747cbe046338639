"""How often do gates fail without reason, and how often do intervals hold the truth, where most topics change?

Intervals and rules are those of the package. Only the studentized interval is simulated here, by 4,000 resamples that
all data sets of a cell share: for each data set on its own the package takes far more care, and time.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.stats import skew

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.limits import margin_of, margins_of
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.intervals import intervals
from pytest_riskguard.inference.sign_flip import sign_flip
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.populations import weigh
from tests.benchmarks.calibration.tables import Table, percent, row
from tests.strict import gate_of

Matrix = np.ndarray  # (n_topics, n_simulations)

LEVEL = 0.95
#: Probability that a gate may fail when nothing is wrong: what is above a two-sided interval.
NOMINAL = (1 - LEVEL) / 2
TOPICS = (25, 50, 100, 250)
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
OTHER_TOPICS = (50, 100, 250)
FEW_TOPICS = (12, 20)
#: How many replicates of the baseline a gate may have.
REPLICATED = (0, 1, 3)
REPLICATED_ALPHAS = (1, 5, 10)
#: How unequal weights are: the standard deviation of their logarithms.
UNEVEN = (0.5, 1.0, 1.5)
WEIGHTED_TOPICS = (50, 100, 250)


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


@dataclass(frozen=True)
class Truth:
    """What a population's sample cannot know: E|d|, and the shift that makes URisk 0 at each alpha."""

    mean_size: float
    shifts: dict[float, float]

    @classmethod
    def of(cls, population: Population, *, seed: int, count: int) -> Truth:
        sizes = Sizes(population, seed=seed, count=count)
        return cls(sizes.mean(), {alpha: sizes.shift(alpha) for alpha in ALPHAS})

    def urisk(self, alpha: float, *, equal: bool) -> float:
        """Of two systems that are equally good, or of one that is exactly as good as alpha asks."""
        return -alpha / 2 * self.mean_size if equal else 0.0


@dataclass(frozen=True)
class Cell:
    """One population, one number of topics; every alpha on the same data sets (shifted, unless equal)."""

    population: Population
    truth: Truth
    equal: bool
    n: int
    alphas: tuple[float, ...]
    simulations: int
    seed: int
    methods: tuple[str, ...] = METHODS
    sign_flips: bool = False
    times_for_churn: int = 1

    def rng(self, *what: int) -> np.random.Generator:
        name = zlib.crc32(self.population.name.encode())
        return np.random.default_rng([self.seed, 1, name, self.equal, self.n, *what])

    def batches(self, simulations: int, stream: int) -> Iterator[Callable[[float], Matrix]]:
        """For each batch of data sets: the differences at a given shift."""
        for start in range(0, simulations, AT_ONCE):
            shape = (self.n, min(AT_ONCE, simulations - start))
            yield partial(self._batch, stream, start, shape)

    def _batch(self, stream: int, start: int, shape: tuple[int, int], shift: float) -> Matrix:
        return self.population.draw(self.rng(stream, start), shape, shift=shift)


@dataclass(frozen=True)
class Rates:
    """Shares of data sets, from 0 to 1.

    Attributes
    ----------
    covered, fails : by method
        The interval holds the true URisk; its upper limit is below 0.
    gate, gate_warns : float
        A gate of method ``auto`` fails, with ``on_churn`` at ``fail`` and at ``warn``.
    flips : float
        The sign-flip p-value is 2.5% or less.
    skewness : float
        The median over data sets of the trade-off scores' skewness.
    """

    covered: dict[str, float]
    fails: dict[str, float]
    gate: float
    gate_warns: float
    flips: float
    skewness: float


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
    found = {batch.method: (batch.lower, batch.upper) for batch in intervals(x, methods=exact, level=LEVEL)}
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
    own, student_t = (~(margins_of(gate, limits[method][1]) >= 0) for method in ("bca", "student_t"))
    fails = own & student_t
    for column in np.flatnonzero(own & ~student_t):
        own_noise = np.zeros((0, d.shape[0])) if noise is None else noise[:, :, column]
        fails[column] = not Ruling(gate, Evidence(d[:, column], own_noise)).breaks_even
    return fails


def simulate(cell: Cell) -> dict[float, Rates]:
    """The rates of a cell at each alpha."""
    shared = None
    if "studentized" in cell.methods:
        shared = cell.rng(0).multinomial(cell.n, np.full(cell.n, 1 / cell.n), size=REPLICATES).astype(float)
    found: dict[float, list[dict[str, np.ndarray]]] = {alpha: [] for alpha in cell.alphas}
    for differences in cell.batches(cell.simulations, 1):
        for alpha in cell.alphas:
            found[alpha].append(_outcomes(cell, differences, alpha, shared))
    warns = dict.fromkeys(cell.alphas, math.nan)
    if cell.equal:
        warns = churn_warned(cell)
    rates = {}
    for alpha, parts in found.items():
        of = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        rates[alpha] = Rates(
            covered={method: float(np.mean(of[f"{method} covers"])) for method in cell.methods},
            fails={method: float(np.mean(of[f"{method} fails"])) for method in cell.methods},
            gate=float(np.mean(of["gate"])),
            gate_warns=warns[alpha],
            flips=float(np.mean(of["flips"])) if "flips" in of else math.nan,
            skewness=float(np.median(of["skewness"])),
        )
    if cell.sign_flips:  # one p-value for all alphas
        rates = {alpha: Rates(**{**vars(each), "flips": rates[0].flips}) for alpha, each in rates.items()}
    return rates


def _outcomes(
    cell: Cell, differences: Callable[[float], Matrix], alpha: float, shared: Matrix | None
) -> dict[str, np.ndarray]:
    """What came out of each data set of a batch."""
    d = differences(0.0 if cell.equal else cell.truth.shifts[alpha])
    x = weigh(d, alpha)
    limits, true = limits_of(x, cell.methods, shared), cell.truth.urisk(alpha, equal=cell.equal)
    of = {"gate": gate_fails(d, limits, alpha)}
    for method in cell.methods:
        lower, upper = limits[method]
        of[f"{method} covers"] = (lower <= true + ROUNDING_ERROR) & (true - ROUNDING_ERROR <= upper)
        of[f"{method} fails"] = upper < -ROUNDING_ERROR
    varies = x.std(axis=0) > 0
    of["skewness"] = skew(x[:, varies], axis=0)
    if cell.sign_flips and alpha == 0:
        of["flips"] = np.array([sign_flip(column).p_value <= NOMINAL for column in d.T])
    return of


def churn_warned(cell: Cell) -> dict[float, float]:
    """How often a gate with ``on_churn: warn`` fails two equal systems, at each alpha.

    It fails where it fails at its own alpha and at alpha 0 too, so only the data sets that fail there are looked at
    again.
    """
    simulations = cell.times_for_churn * cell.simulations
    failed = dict.fromkeys(cell.alphas, 0)
    for differences in cell.batches(simulations, 2):
        d = differences(0.0)
        d = d[:, gate_fails(d, limits_of(d, ("student_t", "bca"), None), 0)]
        for alpha in cell.alphas:
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


def rerun(cell: Rerun) -> dict[tuple[float, int], float]:
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
    return {case: fails / cell.simulations for case, fails in failed.items()}


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


@dataclass(frozen=True)
class WeightedRates:
    """Shares of data sets (of those judged, but for ``judged``), and the median effective number of topics."""

    effective: float
    judged: float
    student_t: float
    bca: float
    auto: float


def weigh_topics(cell: Weighted) -> WeightedRates:
    """How often a weighted gate fails, by each interval alone and by its rule."""
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
    rates = np.mean(fails, axis=0)
    return WeightedRates(float(np.median(sizes)), len(fails) / cell.simulations, *map(float, rates))


# --------------------------------------------------------------------------------------------------------------------
# The tables
# --------------------------------------------------------------------------------------------------------------------


def plan(*, simulations: int, seed: int, count: int) -> dict[str, list[Cell]]:
    """All cells, by table."""
    truths = {each.name: Truth.of(each, seed=seed, count=count) for each in (STUDY, *OTHERS)}

    def cells(population: Population, equal: bool, topics: Iterable[int]) -> list[Cell]:
        few, other = topics is FEW_TOPICS, population is not STUDY
        return [
            Cell(
                population,
                truths[population.name],
                equal,
                n,
                OTHER_ALPHAS if other else ALPHAS,
                simulations,
                seed,
                methods=("student_t", "bca") if few or (other and equal) else METHODS,
                sign_flips=equal and not few and (n == 50 or not other),
                times_for_churn=TIMES_FOR_CHURN if population in (STUDY, EVERY_TOPIC) and not few else 1,
            )
            for n in topics
        ]

    return {
        "zero": cells(STUDY, False, TOPICS),
        "equal": cells(STUDY, True, TOPICS),
        "few zero": cells(STUDY, False, FEW_TOPICS),
        "few equal": cells(STUDY, True, FEW_TOPICS),
        "other zero": [cell for each in OTHERS for cell in cells(each, False, OTHER_TOPICS)],
        "other equal": [cell for each in OTHERS for cell in cells(each, True, OTHER_TOPICS)],
    }


Rows = list[tuple[Cell, dict[float, Rates]]]
Reruns = list[tuple[Rerun, dict[tuple[float, int], float]]]
WeightedRows = list[tuple[Weighted, WeightedRates]]


def run(
    plans: dict[str, list[Cell]], reruns: list[Rerun], weighted: list[Weighted], pool: Executor
) -> tuple[dict[str, Rows], Reruns, WeightedRows]:
    """Simulate all cells; how many workers the pool has changes nothing."""
    everything = [(table, cell) for table, cells in plans.items() for cell in cells]
    order = sorted(range(len(everything)), key=lambda i: -everything[i][1].n)  # the longest first
    simulated = pool.map(simulate, [everything[i][1] for i in order])
    noise = list(zip(reruns, pool.map(rerun, reruns), strict=True))
    heavy = list(zip(weighted, pool.map(weigh_topics, weighted), strict=True))
    done = dict(zip(order, simulated, strict=True))
    rows: dict[str, Rows] = {table: [] for table in plans}
    for i, (table, cell) in enumerate(everything):
        rows[table].append((cell, done[i]))
    return rows, noise, heavy


def rate_table(rows: Rows, *, equal: bool) -> Table:
    flips = ["sign-flip"] if equal else []
    last = [] if equal else ["skewness"]
    names = [f"{what} {method}" for what in ("covers", "fails") for method in METHODS]
    lines = [row("topics", "alpha", *names, *flips, *last)]
    for cell, by_alpha in rows:
        for alpha, rates in by_alpha.items():
            shares = [rates.covered[m] for m in METHODS] + [rates.fails[m] for m in METHODS]
            more = [percent(rates.flips)] if equal else [f"{rates.skewness:.2f}"]
            lines.append(row(cell.n, alpha, *map(percent, shares), *more))
    return lines


def gate_table(zero: list[tuple[Cell, dict[float, Rates]]], equal: list[tuple[Cell, dict[float, Rates]]]) -> Table:
    rules = ("URisk 0: bca alone", "URisk 0: student_t alone", "URisk 0: auto")
    churn = ("equal systems: auto, on_churn: fail", "equal systems: auto, on_churn: warn")
    lines = [row("topics", "alpha", *rules, *churn)]
    for (cell, by_alpha), (_, equals) in zip(zero, equal, strict=True):
        for alpha, rates in by_alpha.items():
            shares = (rates.fails["bca"], rates.fails["student_t"], rates.gate)
            more = (equals[alpha].gate, equals[alpha].gate_warns)
            lines.append(row(cell.n, alpha, *map(percent, (*shares, *more))))
    return lines


def other_table(zero: Rows, equal: Rows) -> Table:
    fails = (f"fails {method}" for method in (*METHODS, "auto"))
    lines = [row("differences", "topics", "alpha", *fails, "on_churn: fail", "on_churn: warn", "sign-flip")]
    for (cell, by_alpha), (_, equals) in zip(zero, equal, strict=True):
        for alpha, rates in by_alpha.items():
            shares = [rates.fails[method] for method in METHODS]
            more = [rates.gate, equals[alpha].gate, equals[alpha].gate_warns, equals[alpha].flips]
            lines.append(row(cell.population.name, cell.n, alpha, *map(percent, (*shares, *more))))
    return lines


def rerun_table(reruns: Reruns) -> Table:
    lines = [row("topics", "alpha", "no replicate", *(f"replicates: {count}" for count in REPLICATED[1:]))]
    for cell, fails in reruns:
        for alpha in REPLICATED_ALPHAS:
            lines.append(row(cell.n, alpha, *(percent(fails[alpha, count]) for count in REPLICATED)))
    return lines


def weighted_table(weighted: WeightedRows) -> Table:
    lines = [row("topics", "spread", "effective topics", "judged", "fails student_t", "fails bca", "fails auto")]
    for cell, rates in weighted:
        shares = (rates.judged, rates.student_t, rates.bca, rates.auto)
        lines.append(row(cell.n, cell.spread, f"{rates.effective:.0f}", *map(percent, shares)))
    return lines


def tables(results: dict[str, Rows], reruns: Reruns, weighted: WeightedRows) -> dict[str, Table]:
    """The tables by the names of their files; shares in percent."""
    few, other = results["few zero"], results["other zero"]
    return {
        "urisk-zero": rate_table(results["zero"], equal=False),
        "equal-systems": rate_table(results["equal"], equal=True),
        "whole-gates": gate_table(few + results["zero"], results["few equal"] + results["equal"]),
        "replicates": rerun_table(reruns),
        "weighted-topics": weighted_table(weighted),
        "other-differences": other_table(other, results["other equal"]),
    }


def all_tables(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The tables by the names of their files."""
    plans = plan(simulations=simulations, seed=seed, count=1000 * min(simulations, 4000))
    reruns = [Rerun(n, simulations, seed) for n in TOPICS]
    weighted = [Weighted(n, spread, simulations, seed) for n in WEIGHTED_TOPICS for spread in UNEVEN]
    results, noise, heavy = run(plans, reruns, weighted, pool)
    return tables(results, noise, heavy)


def counted(table: str, column: str, simulations: int) -> int | None:
    """On how many data sets a column was counted: 0 if it names the cell, None if it holds no share."""
    if column in ("differences", "topics", "alpha", "spread"):
        return 0
    return None if column in ("skewness", "effective topics") else simulations
