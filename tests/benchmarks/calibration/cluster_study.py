"""How often are gates wrong where topics hang together in clusters?

Every data set has the true URisk that its cell says: 0 for ``not_significantly_risky``, minus the tolerance for
``not_inferior``. The verdict's own evidence and ruling judge it; beside it stands what the same data get topic by
topic.

Topics get their differences from normal variables that correlate within a cluster (which topics change hangs together
likewise). *normal* differences are shifted, so that wins offset the losses at that alpha; *heavy* ones share a scale
within a cluster, as Student's t with 5 degrees of freedom; *lattice* ones are multiples of a tenth, with losses so
rare that they are offset.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import t as student

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate, NotInferior
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration.populations import weigh
from tests.benchmarks.calibration.tables import Place, Study
from tests.strict import gate_of

Array = np.ndarray

HEAVY, LATTICE = "heavy", "lattice"
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


def clustered(place: Place, rng: np.random.Generator, urisk: float) -> Evidence:
    """Clusters of ``size`` topics each, or of 1 to 20; of ``changed`` topics in a hundred the difference is not 0."""
    clusters: int = place["clusters"]
    size, correlation, changed = place["size"], place["correlation"], place["changed"] / 100
    sizes = rng.integers(1, 21, clusters) if size == "1 to 20" else np.full(clusters, size)
    of = np.repeat(np.arange(clusters), sizes)

    def tied() -> Array:
        own, shared = rng.normal(size=of.size), rng.normal(size=clusters)[of]
        return ndtr(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)

    u, alpha = tied(), place["alpha"]
    if place["data"] == LATTICE:
        d = _on_lattice(u, alpha, urisk / changed)
    else:
        scales = np.ones(clusters)
        if place["data"] == HEAVY:
            scales = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, clusters))
        d = SPREAD * (scales[of] * ndtri(u) + _shift(place["data"], alpha, urisk / changed / SPREAD))
    if changed < 1:
        d = np.where(tied() < changed, d, 0.0)
    return Evidence(d, np.zeros((0, d.size)), clusters=of if size != 1 else None)


def wrong(gate: Gate, evidence: Evidence) -> float:
    """Whether the gate decides against the truth; nan where it is inconclusive."""
    ruling = Ruling(gate, evidence)
    if not ruling.enough_topics or ruling.too_few_changes:
        return np.nan
    return float(ruling.passes == gate.must_show)


def simulate(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Shares of data sets: wrong ones of those decided, the undecided, and wrong ones topic by topic."""
    tolerance = TOLERANCE if place["gate"] == NotInferior.kind else 0.0
    gate = gate_of("calibration", place["gate"], alpha=float(place["alpha"]), tolerance=tolerance)
    known, by_topic = [], []
    for number in range(count):
        evidence = clustered(place, rng, -tolerance)
        if np.count_nonzero(evidence.stakes(gate.alpha)[0]) < min(FEWEST, evidence.units):
            continue
        known.append(wrong(gate, evidence))
        if number < OTHERWISE:
            by_topic.append(wrong(gate, replace(evidence, clusters=None)))
    return {"wrong": share(known), "inconclusive": float(np.mean(np.isnan(known))), "by topic": share(by_topic)}


def share(of: list[float]) -> float:
    """The mean of those decided."""
    decided = np.array(of)[~np.isnan(of)]
    return float(np.mean(decided)) if decided.size else np.nan


STUDIES = {"clusters": Study(simulate, 1000, 7, fewer={"by topic": OTHERWISE})}
