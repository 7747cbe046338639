"""How often does a year of harmless changes raise a false alarm: of a budget's looks, and of ``no_drift``?

Each look is at a change of its own whose true URisk is 0, so a year of L looks has a false alarm with probability
1 - (1 - q)^L, where q is that of one look at the level that the budget leaves it. If all changes of a year are like
one pair of runs, fewer years have one. p-values are those of ``Ruling.p_value_of_look`` without BCa's, which could
only make them larger. Pairs in which few topics hold nearly all of the change are left out: see ``usable``.

Releases are differences from the run that ``no_drift`` compares with. They grow: each moves some topics further, and
what it does not move stays. Or, as if systems were drawn anew each time, half of the variance is common to all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.special import stdtr

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.ruling import LOSSES_WEIGH, STRETCH, STRETCHED_BELOW, Ruling, stretched
from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.inference.many_looks import share_of_next_look
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.few_changes import LEVEL, fails, p_values
from tests.benchmarks.calibration.populations import REAL, REWEIGHTED, SHIFTED, Pair, pairs_of, weigh
from tests.benchmarks.calibration.tables import Place, Study
from tests.strict import gate_of

Array = np.ndarray

#: Looks of a year for which the docs promise a share of years, and for which they promise a number of false alarms.
BOUNDED, EXPECTED = (20, 50), (100, 200, 1000)
#: Pairs are left out in which (mean |d|)^2 is less than this part of the mean of d^2.
SPREAD = 0.2
#: How much larger than the probability itself Chernoff's bound of it may be, and above which p-value of Student-t no
#: break-even test is asked: with a single change far larger than all others that is 0.32.
CHERNOFF, PLAUSIBLE = 15.0, 0.35
#: The tilts by which Chernoff's bound is sought, in units of one over the standard deviation.
TILTS = (1.5, 2.5, 3.5, 5.0, 8.0, 14.0, 30.0)
#: Releases of a year, and the levels that the rule is asked at; at level 0.95 Student-t alone is counted.
RELEASES, DRIFT_LEVELS = 26, (0.99, 0.995, 0.998)
GROW = "grows"


def highest_p(looks: int) -> float:
    """The two-sided p-value at which one of so many looks fails."""
    return (1 - LEVEL) * share_of_next_look(0, looks=looks)


def usable(kind: str, alpha: float) -> list[Pair]:
    """The pairs that such changes are drawn from: those in which few topics hold nearly all of it are left out.

    There every rule fails far too often, in some pairs at one look in two: most samples lack the one large win that
    the small losses are to be set off against.
    """
    found = []
    for pair in pairs_of(REAL):
        d, weights = pair.differences, None
        if kind == SHIFTED:
            d = d + pair.shift(alpha, 0.0)
        if kind == REWEIGHTED:
            if (wins := pair.wins(alpha, 0.0)) is None:
                continue
            weights = np.where(d > 0, wins / np.mean(d > 0), (1 - wins) / np.mean(d < 0))
        if np.average(np.abs(d), weights=weights) ** 2 >= SPREAD * np.average(d**2, weights=weights):
            found.append(pair)
    return found


def drawn(place: Place, rng: np.random.Generator, count: int) -> Iterator[Array]:
    """Differences of changed topics, a row for each data set, those of a pair together."""
    kind, alpha, changed = place["kind"], float(place["alpha"]), place["changed"]
    pairs = usable(kind, alpha)
    for pair, some in zip(pairs, rng.multinomial(count, [1 / len(pairs)] * len(pairs)), strict=True):
        if some == 0:
            continue
        d = pair.draw(kind, rng, some * changed, alpha=alpha, urisk=0.0, errors=0.0)
        assert d is not None
        yield d.reshape(some, changed)


def student_t_p(x: Array, topics: int) -> Array:
    """Student-t's two-sided p-values of scores of changed topics, a row for each data set; 1 for means above 0."""
    means = x.sum(axis=1) / topics
    squares = np.maximum((x * x).sum(axis=1) - topics * means**2, 0.0)  # topics that did not change add zeros
    errors = np.sqrt(squares / (topics - 1) / topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 0, (means + ROUNDING_ERROR) / errors, np.sign(means) * math.inf)
    p, low = np.ones(len(x)), np.flatnonzero(t < 0)
    p[low] = 2 * stdtr(topics - 1, t[low])
    return p


def may_be_low(d: Array, alpha: float, p: float, student_t: Array) -> Array:
    """The places of data sets that may have a one-sided break-even p-value this low, given those of Student-t."""
    places = np.flatnonzero(student_t <= PLAUSIBLE)
    for tilts, near in ((TILTS[2:3], 3.0), (TILTS, 0.0)):  # one tilt first, which nearly all are far from already
        places = places[_chernoff(d[places], alpha, tilts) <= math.log(CHERNOFF * p) + near]
    return places


def _chernoff(d: Array, alpha: float, tilts: Sequence[float]) -> Array:
    """The logarithm of an upper bound of each break-even p-value, the least by these tilts."""
    chance, sizes, lost = 1 / (2 + alpha), (2 + alpha) * np.abs(d), -weigh(d, alpha).sum(axis=1)
    spread = np.sqrt(chance * (1 - chance) * np.sum(sizes**2, axis=1))
    lowest = np.zeros(len(d))
    for steps in tilts:
        tilt = (steps / np.maximum(spread, 1e-300))[:, None]
        moved = np.minimum(tilt * sizes, 700.0)
        grown = np.log1p(chance * np.expm1(moved))
        lowest = np.minimum(lowest, np.sum(grown - chance * moved, axis=1) - tilt[:, 0] * lost)
    return np.where(lost > 0, lowest, 0.0)


def look_p(d: Array, topics: int, alpha: float, *, highest: float) -> Array:
    """p-values of looks at data sets, without those that are above ``highest``."""
    student_t = student_t_p(weigh(d, alpha), topics)
    if alpha < LOSSES_WEIGH:
        places = np.flatnonzero(student_t <= highest)
        return np.array([max(student_t[i], stretched(flip_p(d[i], alpha))) for i in places])
    unstretched = STRETCHED_BELOW * (highest / STRETCHED_BELOW) ** (1 / STRETCH)
    return np.array([stretched(flip_p(d[i], alpha)) for i in may_be_low(d, alpha, unstretched / 2, student_t)])


def flip_p(d: Array, alpha: float) -> float:
    """Twice the p-value of the break-even test, at most 1."""
    sizes = np.abs(d[np.abs(d) > ROUNDING_ERROR])
    lost = d[np.abs(d) > ROUNDING_ERROR] < 0
    return min(1.0, 2 * break_even(sizes, (1 + alpha) * sizes, lost))


def look(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Shares of years with a false alarm, and numbers of false alarms to expect."""
    alpha, highest = float(place["alpha"]), highest_p(BOUNDED[0])
    found = [look_p(d, place["topics"], alpha, highest=highest) for d in drawn(place, rng, count)]
    low = np.concatenate([np.zeros(0), *found])

    def fails(looks: int) -> float:
        """How likely one of so many looks fails."""
        return np.count_nonzero(low <= highest_p(looks) * (1 + 1e-12)) / count

    row: dict[str, object] = {}
    for looks in BOUNDED:
        row[f"years of {looks}"] = f"{-100 * math.expm1(looks * math.log1p(-fails(looks))):.2f}"
    return row | {f"alarms in {looks}": f"{looks * fails(looks):.3f}" for looks in EXPECTED}


def drift(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Shares of years with a false alarm at alpha 0, by the level of the gate; at 0.95 by Student-t alone.

    Each release moves so many percent of the topics; a year has a false alarm where its lowest p-value is one.
    """
    topics, gate, pairs = place["topics"], gate_of("calibration", alpha=0.0), usable(place["kind"], 0.0)
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
        f"rule at {level:g}": fails(rule, level) for level in DRIFT_LEVELS
    }


NUMBERS = (*(f"years of {looks}" for looks in BOUNDED), *(f"alarms in {looks}" for looks in EXPECTED))
STUDIES = {
    "year": Study(look, 1_000_000, 4, no_share=NUMBERS),
    "no-drift": Study(drift, 1000, 4),
}
