"""How often do gates err at the boundary: ones that want proof of no loss, and others where bets are uneven?

A data set is some real differences, or bets whose wins and losses are alike or of unequal size, the larger of the two
from a real pair of systems. At the boundary, a true URisk of minus the tolerance (or for ``equivalent`` of the
tolerance), ``not_inferior`` and ``equivalent`` should pass 2.5% at most and ``not_significantly_risky``, which
tolerates nothing here, should fail 2.5%. How many good candidates pass with the warning of losses that no topic
showed says what it would cost to fail them. The gate's own ruling is asked only where Student-t or the break-even
test leaves it a chance to err.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import KINDS, Equivalent, Gate, NotInferior, NotSignificantlyRisky, gate_of
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration.few_changes import LEVEL, flip_p, moments
from tests.benchmarks.calibration.populations import REAL, SHIFTED, draw, weigh
from tests.benchmarks.calibration.tables import Row, Study, places

Array = np.ndarray

#: Half of the largest loss that the measures allow, as in the gate's warning.
PLAUSIBLE = 0.5


@dataclass(frozen=True)
class Cell:
    """Data sets of one kind, for a gate of one kind; they are drawn from a stream of their own."""

    table: str
    gate: type[Gate]
    kind: str
    topics: int
    changed: int
    alpha: int
    tolerance: float
    urisk: float
    simulations: int
    stream: tuple[int, ...]

    def draw(self) -> Array:
        """The differences of changed topics, a row for each data set."""
        rng, shape = np.random.default_rng(self.stream), (self.simulations, self.changed)
        return draw(REAL, self.kind, rng, shape, alpha=self.alpha, urisk=self.urisk * self.topics / self.changed)

    def ruling(self, d: Array) -> Ruling:
        """The gate's own ruling on a data set."""
        asked = gate_of("calibration", self.gate.kind, alpha=self.alpha, tolerance=self.tolerance, level=LEVEL)
        return Ruling(asked, Evidence.of(np.concatenate([d, np.zeros(self.topics - d.size)])))


def simulate(cell: Cell) -> list[Row]:
    """How often the gate fails, if it wants proof of a loss, else how often it passes, and so with the warning.

    *inconclusive* are data sets in which too few topics changed to show it.
    """
    d = cell.draw()
    means, errors = moments(weigh(d, cell.alpha), cell.topics)
    reach = stdtrit(cell.topics - 1, (1 + LEVEL) / 2) * errors
    place: dict[str, object] = {"changed": cell.changed, "topics": cell.topics, "alpha": cell.alpha}
    place |= {"tolerance": f"{cell.tolerance:g}", "true URisk": f"{cell.urisk:g}", "kind": cell.kind}
    shares: dict[str, object]
    if cell.gate is NotSignificantlyRisky:
        suspected = [i for i in np.flatnonzero(means < 0) if means[i] + reach[i] < 0 or flips_fail(d[i], cell.alpha)]
        shares = {"rule": sum(not cell.ruling(d[i]).passes for i in suspected) / len(d), "warned": 0.0}
    else:
        farthest = np.abs(means) + reach if cell.gate is Equivalent else reach - means
        passes = [each for each in map(cell.ruling, d[farthest < cell.tolerance]) if each.passes]
        warned = sum(each.unseen_losses(plausible=PLAUSIBLE) is not None for each in passes)
        shares = {"rule": len(passes) / len(d), "warned": warned / len(d)}
    if cell.table == "unequal-sizes":
        return [(cell.table, {"gate": cell.gate.kind, **place, **shares})]
    if cell.gate is Equivalent:
        size = {"changed": cell.changed, "topics": cell.topics, "tolerance": f"{cell.tolerance:g}"}
        return [(cell.table, {**size, "true mean": f"{cell.urisk:g}", "rule": shares["rule"]})]
    inconclusive = float(np.mean([cell.ruling(each).too_few_changes for each in d]))
    return [(cell.table, {**place, "rule": shares["rule"], "inconclusive": inconclusive})]


def flips_fail(d: Array, alpha: float) -> bool:
    """Whether the break-even test finds a loss."""
    return flip_p(d, alpha) <= 1 - LEVEL + 1e-12


def one_side(simulations: int, seed: int) -> Iterator[Cell]:
    """``not_inferior`` at minus the tolerance."""
    for row in places("not-inferior"):
        n, m, alpha, tolerance = (row[name] for name in ("topics", "changed", "alpha", "tolerance"))
        stream = (seed, n, m, 10 * alpha, int(1e4 * tolerance), len(row["kind"]))
        yield Cell(
            "not-inferior", NotInferior, row["kind"], n, m, alpha, tolerance, 0.0 - tolerance, simulations, stream
        )


def both_sides(simulations: int, seed: int) -> Iterator[Cell]:
    """``equivalent`` at the tolerance, on either side."""
    for row in places("equivalent"):
        n, m, tolerance, mean = (row[name] for name in ("topics", "changed", "tolerance", "true mean"))
        stream = (seed, n, m, int(1e4 * tolerance), 2 if mean > 0 else 0)
        yield Cell("equivalent", Equivalent, SHIFTED, n, m, 0, tolerance, mean, simulations, stream)


def uneven(simulations: int, seed: int) -> Iterator[Cell]:
    """At the boundary, for each gate; then good candidates, which change nothing on average."""
    for row in places("unequal-sizes"):
        gate, kind, urisk = KINDS[row["gate"]], row["kind"], row["true URisk"]
        n, m, alpha, tolerance = (row[name] for name in ("topics", "changed", "alpha", "tolerance"))
        stream = (seed, n, m, alpha, int(1e4 * tolerance), int(urisk < 0), *(gate.kind + kind).encode())
        yield Cell("unequal-sizes", gate, kind, n, m, alpha, tolerance, urisk, simulations, stream)


PLACE = ("gate", "changed", "topics", "alpha", "tolerance", "true URisk", "true mean", "kind")
STUDIES = {
    "not-inferior": Study(one_side, simulate, 2000, PLACE),
    "equivalent": Study(both_sides, simulate, 4000, PLACE),
    "unequal-sizes": Study(uneven, simulate, 1000, PLACE),
}
