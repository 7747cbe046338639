"""How often are gates wrong where topics hang together in clusters?

Every data set has the true URisk that its cell says: 0 for ``not_significantly_risky``, minus the tolerance for
``not_inferior``. The verdict's own evidence and ruling judge it; beside it stands what the same data get if
clusters are not known: topics one by one.

Topics get their differences from normal variables that correlate within a cluster (which topics change hangs together
likewise). *normal* differences are shifted, so that wins offset the losses at that alpha; *heavy* ones share a scale
within a cluster, as Student's t with 5 degrees of freedom; *lattice* ones are multiples of a tenth, with losses so
rare that they are offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import t as student

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate, NotInferior, NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration.populations import weigh
from tests.benchmarks.calibration.tables import Place, Study
from tests.strict import gate_of

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


def differences(place: Place, u: Array, scales: Array, urisk: float) -> Array:
    """Differences of topics that changed, from uniform variables; ``scales`` are 1 but for heavy data."""
    if place["data"] == LATTICE:
        return _on_lattice(u, place["alpha"], urisk)
    return SPREAD * (scales * ndtri(u) + _shift(place["data"], place["alpha"], urisk / SPREAD))


def scales_of(place: Place, rng: np.random.Generator, count: int) -> Array:
    """How far heavy data spread, one for each of so many topics or clusters."""
    return np.sqrt(FREEDOM / rng.chisquare(FREEDOM, count)) if place["data"] == HEAVY else np.ones(count)


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


def clustered(place: Place, rng: np.random.Generator) -> Evidence:
    """Clusters of ``size`` topics each, or of 1 to 20; of ``changed`` topics in a hundred the difference is not 0."""
    clusters: int = place["clusters"]
    size, correlation = place["size"], place["correlation"]
    sizes = rng.integers(1, 21, clusters) if size == "1 to 20" else np.full(clusters, size)
    of = np.repeat(np.arange(clusters), sizes)

    def tied() -> Array:
        own, shared = rng.normal(size=of.size), rng.normal(size=clusters)[of]
        return ndtr(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)

    urisk = -TOLERANCE if place["gate"] == NotInferior.kind else 0.0
    d = differences(place, tied(), scales_of(place, rng, clusters)[of], urisk * 100 / place["changed"])
    d = np.where(tied() < place["changed"] / 100, d, 0.0) if place["changed"] < 100 else d
    return Evidence(d, np.zeros((0, d.size)), clusters=of if size != 1 else None)


def wrong(gate: Gate, evidence: Evidence) -> bool | None:
    """Whether the gate decides against the truth; None where it is inconclusive."""
    ruling = Ruling(gate, evidence)
    if not ruling.enough_topics or ruling.too_few_changes:
        return None
    return ruling.passes if gate.must_show else not ruling.passes


def simulate(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Shares of data sets: wrong ones of those decided, the undecided, and wrong ones topic by topic."""
    kind = place.get("gate", NotSignificantlyRisky.kind)
    tolerance = TOLERANCE if kind == NotInferior.kind else 0.0
    gate = gate_of("calibration", kind, alpha=float(place["alpha"]), tolerance=tolerance)
    (
        known,
        unknown,
    ) = [], []
    for number in range(count):
        evidence = clustered(place, rng)
        if np.count_nonzero(evidence.stakes(gate.alpha)[0]) < min(FEWEST, evidence.units):
            continue
        known.append(wrong(gate, evidence))
        if number < OTHERWISE:
            unknown.append(wrong(gate, replace(evidence, clusters=None)))
    found = {"wrong": share(known), "inconclusive": float(np.mean([one is None for one in known]))}
    return found | {"by topic": share(unknown)}


def share(of: list[bool | None]) -> float:
    decided = [one for one in of if one is not None]
    return float(np.mean(decided)) if decided else float("nan")


STUDIES = {"clusters": Study(simulate, 1000, 7, fewer={"by topic": OTHERWISE})}
