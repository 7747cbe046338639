"""How often do gates err at the boundary, and see a real loss, by the number of topics that changed?

A data set is n differences, of which m are not 0: some real differences, or bets whose wins and losses are alike or
of unequal size. At the boundary, a true URisk of minus the tolerance (or for ``equivalent`` of the tolerance), the
gate's own rule should err in 2.5% of them at most. Beside that rule stand those it was compared with.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Equivalent, NotInferior, NotSignificantlyRisky
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.intervals import upper_p_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.populations import REAL, SHIFTED, draw
from tests.benchmarks.calibration.tables import Place, Study
from tests.strict import gate_of

Array = np.ndarray

LEVEL = 0.95
#: How far below 0 a loss is that a gate should see, in standard errors of the data set.
LOSS = 3.0
#: Half of the largest loss that the measures allow, as in the gate's warning.
PLAUSIBLE = 0.5
#: The table shown counts BCa alone and the lower level on so many data sets.
FEWER = {"BCa": 1000, "rule at 0.9": 1000}


def of_changes(d: Array, topics: int) -> Evidence:
    """Differences of changed topics among so many."""
    return Evidence.of(np.concatenate([d, np.zeros(topics - d.size)]))


def p_values(ruling: Ruling) -> tuple[float, float, float]:
    """Two-sided p-values of BCa, Student-t and the break-even test; 1 where the mean did not fall."""
    if not ruling.sample.mean < -ROUNDING_ERROR:
        return 1.0, 1.0, 1.0
    bca, student_t = (
        upper_p_value(ruling.sample, method=method, bound=-ROUNDING_ERROR) for method in ("bca", "student_t")
    )
    return bca, student_t, min(1.0, 2 * ruling.break_even)


def fails(p: Array, level: float) -> float:
    """The share of data sets that fail at a level."""
    return float(np.mean(p <= 1 - level + 1e-12))


def by_rules(place: Place, rng: np.random.Generator, count: int, *, errors: float = 0.0) -> Mapping[str, object]:
    """Shares that fail by each rule, where URisk lies so many standard errors below 0."""
    alpha, shape = float(place["alpha"]), (count, place["changed"])
    d = draw(place.get("data", REAL), place.get("kind", SHIFTED), rng, shape, alpha=alpha, errors=errors)
    gate = gate_of("calibration", alpha=alpha)
    bca, student_t, flips = np.array([p_values(Ruling(gate, of_changes(one, place["topics"]))) for one in d]).T
    rule = np.maximum(bca, np.minimum(student_t, flips))
    found: dict[str, object] = {
        name: fails(p, LEVEL)
        for name, p in {
            "BCa": bca,
            "Student-t": student_t,
            "flips": flips,
            "rule": rule,
            "BCa and Student-t": np.maximum(bca, student_t),
            "BCa and flips": np.maximum(bca, flips),
            "Student-t or flips": np.minimum(student_t, flips),
        }.items()
    }
    found["rule at 0.9"] = fails(rule, 0.9)
    return found | {f"rule at {level}": f"{100 * fails(rule, level):.2f}" for level in (0.99, 0.999)}


def at_the_boundary(
    place: Place, rng: np.random.Generator, count: int, *, kind: str = NotSignificantlyRisky.kind
) -> Mapping[str, object]:
    """How often the gate errs (*rule*); a gate that wants proof errs when it passes, and may pass with a warning.

    *inconclusive* are data sets in which too few topics changed to show it.
    """
    alpha, topics, changed = float(place.get("alpha", 0)), place["topics"], place["changed"]
    gate = gate_of("calibration", place.get("gate", kind), alpha=alpha, tolerance=float(place["tolerance"]))
    urisk = float(place["true URisk"] if "true URisk" in place else place["true mean"])
    of = place.get("kind", SHIFTED)
    d = draw(REAL, of, rng, (count, changed), alpha=alpha, urisk=urisk * topics / changed)
    rulings = [Ruling(gate, of_changes(one, topics)) for one in d]
    if not gate.must_show:
        return {"rule": float(np.mean([not ruling.passes for ruling in rulings])), "warned": 0.0}
    passes = [ruling for ruling in rulings if ruling.passes]
    warned = sum(ruling.unseen_losses(plausible=PLAUSIBLE) is not None for ruling in passes)
    inconclusive = float(np.mean([ruling.too_few_changes for ruling in rulings]))
    return {"rule": len(passes) / count, "warned": warned / count, "inconclusive": inconclusive}


STUDIES = {
    "few-changes": Study(by_rules, 10_000, 5, fewer=FEWER),
    "losses-seen": Study(partial(by_rules, errors=LOSS), 10_000, 3, fewer=FEWER),
    "not-inferior": Study(partial(at_the_boundary, kind=NotInferior.kind), 2000, 6),
    "equivalent": Study(partial(at_the_boundary, kind=Equivalent.kind), 4000, 4),
    "unequal-sizes": Study(at_the_boundary, 1000, 7),
}
