"""How often are gates wrong where topics hang together in clusters, or were drawn from strata with known shares?

Every data set has the true URisk that its cell says: 0 for ``not_significantly_risky``, minus the tolerance for
``not_inferior``. The verdict's own evidence and ruling judge it; beside it stands what the same data get if the
structure is not known: topics one by one, or the shares of strata taken for weights.

Topics get their differences from normal variables that correlate within a cluster (which topics change hangs together
likewise). *normal* differences are shifted, so that wins offset the losses at that alpha; *heavy* ones share a scale
within a cluster, as Student's t with 5 degrees of freedom; *lattice* ones are multiples of a tenth, with losses so
rare that they are offset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import t as student

from pytest_riskguard.gates.alignment import Strata
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate, NotInferior
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration.populations import weigh
from tests.benchmarks.calibration.tables import Row, Study, places
from tests.strict import NotSignificantlyRisky

Array = np.ndarray

NORMAL, HEAVY, LATTICE = "normal", "heavy", "lattice"
#: The standard deviation of differences, the freedom of heavy ones, the sizes on a lattice and how common each is.
SPREAD, FREEDOM = 0.15, 5
STEPS, COMMON = np.arange(1, 6) / 10, np.array([0.4, 0.25, 0.2, 0.1, 0.05])
#: A population that integrals are taken over.
QUANTILES = (np.arange(40_000) + 0.5) / 40_000
#: How many changes a data set must have at least to be counted.
FEWEST = 6
TOLERANCE = 0.02
#: On so many data sets of a cell it is counted what happens topic by topic.
OTHERWISE = 300


@dataclass(frozen=True)
class Cell:
    """Data sets of one kind; of ``changed`` topics in a hundred the difference is not 0."""

    data: str
    changed: int
    alpha: int
    simulations: int
    seed: int

    def rng(self, *place: int) -> np.random.Generator:
        """A generator of the cell's own."""
        words = "".join(map(str, (self.data, type(self).__name__))).encode()
        return np.random.default_rng([self.seed, self.changed, self.alpha, *place, *words])

    def differences(self, u: Array, scales: Array, urisk: float) -> Array:
        """Differences of topics that changed, from uniform variables; ``scales`` are 1 but for heavy data."""
        if self.data == LATTICE:
            return _on_lattice(u, self.alpha, urisk)
        return SPREAD * (scales * ndtri(u) + _shift(self.data, self.alpha, urisk / SPREAD))


@cache
def _shift(data: str, alpha: int, urisk: float) -> float:
    """What makes the URisk of standard differences what it should be."""
    z = student.ppf(QUANTILES, FREEDOM) if data == HEAVY else ndtri(QUANTILES)
    return float(brentq(lambda shift: np.mean(weigh(z + shift, alpha)) - urisk, -5, 5))


def _on_lattice(u: Array, alpha: int, urisk: float) -> Array:
    """Losses and wins of the same sizes, losses as likely as the URisk asks: the lowest values of u are losses."""
    mean = float(STEPS @ COMMON)
    lost = (mean - urisk) / ((2 + alpha) * mean)
    steps, common = np.concatenate([-STEPS[::-1], STEPS]), np.concatenate([lost * COMMON[::-1], (1 - lost) * COMMON])
    return steps[np.minimum(np.searchsorted(np.cumsum(common), u), steps.size - 1)]


@dataclass(frozen=True)
class ClusterCell(Cell):
    """``clusters`` of ``size`` topics each, or of 1 to 20 (``size`` 0)."""

    clusters: int
    size: int
    correlation: float
    side: str = "upper"

    def evidence(self, rng: np.random.Generator) -> Evidence:
        """A data set; without topics that may change, all do."""
        sizes = np.full(self.clusters, self.size) if self.size else rng.integers(1, 21, self.clusters)
        of = np.repeat(np.arange(self.clusters), sizes)

        def tied() -> Array:
            own, shared = rng.normal(size=of.size), rng.normal(size=self.clusters)[of]
            return ndtr(np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * own)

        scales = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, self.clusters))[of] if self.data == HEAVY else np.ones(1)
        urisk = -TOLERANCE if self.side == "lower" else 0.0
        d = self.differences(tied(), scales, urisk * 100 / self.changed)
        d = np.where(tied() < self.changed / 100, d, 0.0) if self.changed < 100 else d
        return Evidence(d, np.zeros((0, d.size)), clusters=of if self.size != 1 else None)

    @property
    def gate(self) -> Gate:
        """The gate whose false decisions are counted."""
        if self.side == "lower":
            return NotInferior("g", alpha=self.alpha, tolerance=TOLERANCE)
        return NotSignificantlyRisky("g", alpha=self.alpha)


#: Shares of all queries; standard deviations of differences in strata, and their means, as a share of these.
SHARES, DEVIATIONS, APART = np.array([0.6, 0.3, 0.1]), np.array([0.5, 1.0, 2.0]), 0.3
#: How many of a hundred topics are drawn from each stratum.
DRAWS = {"as shares": (60, 30, 10), "alike": (34, 33, 33), "Neyman": (37, 38, 25), "too few": (80, 14, 6)}


@dataclass(frozen=True)
class StrataCell(Cell):
    """Topics in three strata; with ``apart`` the first one's URisk is above 0 and the others' below."""

    topics: int
    drawn: str
    apart: bool = False

    def evidence(self, rng: np.random.Generator) -> Evidence:
        """A data set."""
        counts = np.maximum(np.round(self.topics * np.array(DRAWS[self.drawn]) / 100).astype(int), 2)
        counts[0] = self.topics - counts[1:].sum()
        numbers, parts = np.repeat(np.arange(3), counts), []
        up = APART * SPREAD / 2
        urisks = np.array([up, -up, -up * 3]) * self.apart  # weighted by shares they add up to 0
        for count, deviation, urisk in zip(counts, DEVIATIONS, urisks, strict=True):
            scales = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, count)) if self.data == HEAVY else np.ones(1)
            if self.data == LATTICE:
                d = self.differences(rng.random(count), scales, urisk)
            else:
                d = deviation * self.differences(rng.random(count), scales, urisk / deviation)
            parts.append(np.where(rng.random(count) < self.changed / 100, d, 0.0))
        d = np.concatenate(parts)
        names = ("head", "torso", "tail")
        return Evidence(d, np.zeros((0, d.size)), strata=Strata(names, SHARES, numbers))

    @property
    def gate(self) -> Gate:
        """The gate whose false decisions are counted."""
        return NotSignificantlyRisky("g", alpha=self.alpha)


def wrong(gate: Gate, evidence: Evidence) -> bool | None:
    """Whether the gate decides against the truth; None where it is inconclusive."""
    ruling = Ruling(gate, evidence)
    if not ruling.enough_topics:
        return None
    if gate.side == "lower":
        return None if ruling.too_few_changes else ruling.passes
    # the gate's own interval takes longest, and matters only where one of the others fails
    return not ((ruling.reaches("student_t") and ruling.breaks_even) or ruling.passes)


def simulate(cell: ClusterCell | StrataCell) -> list[Row]:
    """Shares of a cell's data sets: wrong ones of those decided, the undecided, and wrong ones without structure."""
    place = (
        (cell.clusters, cell.size, int(100 * cell.correlation), len(cell.side))
        if isinstance(cell, ClusterCell)
        else (cell.topics, *DRAWS[cell.drawn], int(cell.apart))
    )
    rng, gate = cell.rng(*place), cell.gate
    found: list[tuple[bool | None, bool | None]] = []
    for number in range(cell.simulations):
        evidence = cell.evidence(rng)
        if np.count_nonzero(evidence.stakes(cell.alpha)[0]) < min(FEWEST, evidence.units):
            continue
        if evidence.strata is None:
            other = replace(evidence, clusters=None)
        else:
            other = replace(evidence, strata=None, weights=evidence.strata.weights)
        counted_too = evidence.strata is not None or number < OTHERWISE
        found.append((wrong(gate, evidence), wrong(gate, other) if counted_too else None))
    known, unknown = (np.array([one for one in each if one is not None]) for each in zip(*found, strict=True))
    shares = {"wrong": share(known), "inconclusive": 1 - len(known) / len(found)}
    data: dict[str, object] = {"data": cell.data, "changed": cell.changed, "alpha": cell.alpha}
    if isinstance(cell, ClusterCell):
        size = {"clusters": cell.clusters, "size": cell.size or "1 to 20", "correlation": str(cell.correlation)}
        return [("clusters", {"gate": gate.kind, **data, **size, **shares, "by topic": share(unknown)})]
    drawn = {"topics": cell.topics, "drawn": cell.drawn, "means": "apart" if cell.apart else "0"}
    return [("strata", {**data, **drawn, **shares, "as weights": share(unknown)})]


def share(of: Array) -> float:
    return float(np.mean(of)) if of.size else float("nan")


def cells(simulations: int, seed: int) -> list[ClusterCell | StrataCell]:
    """Clusters of many numbers, sizes and correlations; three strata, drawn in several ways."""
    found: list[ClusterCell | StrataCell] = []
    for row in places("clusters"):
        size = 0 if row["size"] == "1 to 20" else row["size"]
        side = "lower" if row["gate"] == NotInferior.kind else "upper"
        place = (row["data"], row["changed"], row["alpha"], simulations, seed, row["clusters"])
        found.append(ClusterCell(*place, size, row["correlation"], side))
    for row in places("strata"):
        place = (row["data"], row["changed"], row["alpha"], simulations, seed, row["topics"])
        found.append(StrataCell(*place, row["drawn"], row["means"] == "apart"))
    return found


PLACE = ("gate", "data", "changed", "alpha", "clusters", "size", "correlation", "topics", "drawn", "means")
STUDIES = {"parts": Study(cells, simulate, 1000, PLACE, fewer={"by topic": OTHERWISE})}
