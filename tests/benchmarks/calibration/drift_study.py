"""How often does a year of harmless releases raise a false alarm of ``no_drift``, at alpha 0?

Releases are differences from the run that ``no_drift`` compares with; their true mean is 0. They grow: each moves
some topics further, and what it does not move stays. Or, as if systems were drawn anew each time, half of the
variance is common to all.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration.few_changes import LEVEL, fails, p_values
from tests.benchmarks.calibration.populations import REAL, SHIFTED, Pair, pairs_of
from tests.benchmarks.calibration.tables import Place, Study
from tests.strict import gate_of

#: Pairs are left out in which (mean |d|)^2 is less than this part of the mean of d^2.
SPREAD = 0.2
#: Releases of a year, and the levels that the rule is asked at; at level 0.95 Student-t alone is counted.
RELEASES, LEVELS = 26, (0.99, 0.995, 0.998)
GROW = "grows"


@cache
def usable(kind: str) -> list[Pair]:
    """The pairs that such changes are drawn from: those in which few topics hold nearly all of it are left out.

    There every rule fails far too often, in some pairs at one look in two: most samples lack the one large win that
    the small losses are to be set off against.
    """
    found = []
    for pair in pairs_of(REAL):
        d, weights = pair.differences, None
        if kind == SHIFTED:
            d = d + pair.shift(0.0, 0.0)
        elif (wins := pair.wins(0.0, 0.0)) is None:
            continue
        else:
            weights = np.where(d > 0, wins / np.mean(d > 0), (1 - wins) / np.mean(d < 0))
        if np.average(np.abs(d), weights=weights) ** 2 >= SPREAD * np.average(d**2, weights=weights):
            found.append(pair)
    return found


def simulate(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Shares of years with a false alarm, by the level of the gate.

    Each release moves so many percent of the topics; a year has a false alarm where its lowest p-value is one.
    """
    topics, gate, pairs = place["topics"], gate_of("calibration", alpha=0.0), usable(place["kind"])
    by_student_t, rule = np.ones(count), np.ones(count)
    for year in range(count):
        pair = pairs[int(rng.integers(len(pairs)))]
        d = pair.draw(place["kind"], rng, (RELEASES + 1) * topics, alpha=0.0, urisk=0.0, errors=0.0)
        assert d is not None
        common, own = np.split(d.reshape(RELEASES + 1, topics), [1])
        own = np.where(rng.random(own.shape) < place["moved by a release"] / 100, own, 0.0)
        for release in np.cumsum(own, axis=0) if place["the difference"] == GROW else own + common:
            bca, student_t, flips = p_values(Ruling(gate, Evidence.of(release)))
            by_student_t[year] = min(by_student_t[year], student_t)
            rule[year] = min(rule[year], max(bca, min(student_t, flips)))
    return {"Student-t at 0.95": fails(by_student_t, LEVEL)} | {
        f"rule at {level:g}": fails(rule, level) for level in LEVELS
    }


STUDIES = {"no-drift": Study(simulate, 1000, 4)}
