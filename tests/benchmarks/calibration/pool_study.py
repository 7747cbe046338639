"""How often is one of several equally good systems found significantly riskier than another?

System 0 is the candidate, system 1 the reference. They are exchangeable on the topics that changed and the same on
the others, so that the true difference of their GeoRisks is 0. Counted is how often the upper limit of
GeoRisk(candidate) - GeoRisk(reference) lies below 0: nominally in 2.5% of the pools. By the gate's rule BCa and
Student-t must both fail.

Intervals are those of the package with 2,000 replicates, fewer than it takes. Scores of a topic share a difficulty m
drawn from Beta(1.2, 2) and are Beta(10 m, 10 (1 - m)) for each system (the study's population), Beta(m, 1 - m) with
heavier tails, or m moved by a normal number of deviation 0.1 and clipped to [0, 1].
"""

from collections.abc import Mapping

import numpy as np

from pytest_riskguard.inference.georisk import georisk_difference
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.tables import Place, Study

LEVEL = 0.95
REPLICATES = 2000
#: Systems of pools in which few topics changed.
FEW = 5
METHODS = {"percentile": "percentile", "BCa": "bca", "Student-t": "student_t"}
#: The sum of the parameters of a system's beta distribution.
CONCENTRATIONS = {"beta scores, as in the study": 10, "beta scores, heavier tails": 1}


def drawn(population: str, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Scores of systems (rows) on topics."""
    m = rng.beta(1.2, 2, shape[1])
    if population in CONCENTRATIONS:
        concentration = CONCENTRATIONS[population]
        return rng.beta(concentration * m, concentration * (1 - m), shape)
    return np.clip(m + 0.1 * rng.normal(size=shape), 0, 1)


def simulate(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """The share of pools that each method fails; with ``changed``, so many topics differ between the two systems."""
    fails = np.zeros((count, len(METHODS)), dtype=bool)
    for number in range(count):
        scores = drawn(place["population"], rng, (place.get("systems", FEW), place["topics"]))
        if "changed" in place:
            scores[1, place["changed"] :] = scores[0, place["changed"] :]
        found = georisk_difference(
            scores, candidate=0, reference=1, alpha=float(place["alpha"]), replicates=REPLICATES
        )
        upper = [found.interval(method=method, level=LEVEL).upper for method in METHODS.values()]
        fails[number] = np.array(upper) < -ROUNDING_ERROR
    shares = dict(zip(METHODS, fails.mean(axis=0).tolist(), strict=True))
    return {**shares, "rule": float(np.mean(fails[:, 1:].all(axis=1)))}


STUDIES = {"georisk": Study(simulate, 6000, 4), "georisk-few-changes": Study(simulate, 1000, 4)}
