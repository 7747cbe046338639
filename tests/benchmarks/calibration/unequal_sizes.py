"""How often do gates err where wins and losses are of unequal size?

Every changed topic is a bet, with a win 3 or 10 times as large as the loss, or the other way round, and the larger of
the two from a real pair of systems. At the boundary, a true URisk of minus the tolerance, ``not_inferior`` and
``equivalent`` should pass 2.5% and ``not_significantly_risky``, which tolerates nothing here, should fail 2.5%. How
many good candidates pass with the warning of losses that no topic showed says what it would cost to fail them.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import stdtrit

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Equivalent, Gate, NotInferior, NotSignificantlyRisky, gate_of
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration.few_changes import LEVEL, flip_p, moments
from tests.benchmarks.calibration.populations import BETS, REAL, UNEVEN, draw, weigh
from tests.benchmarks.calibration.tables import Table, percent, row
from tests.shared_data import SHARED

Array = np.ndarray

#: Topics, changed topics: of gates that want proof, of those that want proof of both sides, and of the others.
PROOF_SIZES = ((25, 25), (100, 30), (50, 50), (100, 100))
EQUIVALENT_SIZES = ((25, 25), (50, 50), (100, 100))
RISK_SIZES = ((100, 6), (50, 10), (50, 50))  # with losses that are larger they fail less
#: Of good candidates, of which all topics change.
GOOD_TOPICS, GOOD_TOLERANCES = (25, 50, 100, 250), (0.02, 0.05)
TOLERANCE = 0.02
#: Half of the largest loss that the measures allow, as in the gate's warning.
PLAUSIBLE = 0.5
PLACE = ("gate", "changed", "topics", "alpha", "tolerance", "true URisk", "kind")


@dataclass(frozen=True)
class Cell:
    """Data sets of one kind, for a gate of one kind."""

    gate: type[Gate]
    kind: str
    topics: int
    changed: int
    alpha: float
    tolerance: float
    urisk: float
    simulations: int
    seed: int

    def draw(self) -> Array:
        """The differences of changed topics, a row for each data set."""
        words = "".join((self.gate.kind, self.kind)).encode()
        place = [self.topics, self.changed, int(self.alpha), int(1e4 * self.tolerance), int(self.urisk < 0)]
        rng, shape = np.random.default_rng([self.seed, *place, *words]), (self.simulations, self.changed)
        return draw(REAL, self.kind, rng, shape, alpha=self.alpha, urisk=self.urisk * self.topics / self.changed)


@dataclass(frozen=True)
class Shares:
    """Shares of data sets: those decided wrongly (good candidates: that pass), and those that pass with a warning."""

    rule: float
    warned: float


def simulate(cell: Cell) -> Shares:
    """How often the gate fails, if it wants proof of a loss, else how often it passes, and so with the warning."""
    d = cell.draw()
    means, errors = moments(weigh(d, cell.alpha), cell.topics)
    reach = stdtrit(cell.topics - 1, (1 + LEVEL) / 2) * errors
    if cell.gate is NotSignificantlyRisky:
        suspected = [i for i in np.flatnonzero(means < 0) if means[i] + reach[i] < 0 or flips_fail(d[i], cell.alpha)]
        return Shares(sum(not ruling(d[i], cell).passes for i in suspected) / len(d), 0.0)
    farthest = np.abs(means) + reach if cell.gate is Equivalent else reach - means
    passes = [each for each in (ruling(d[i], cell) for i in np.flatnonzero(farthest < cell.tolerance)) if each.passes]
    warned = [each for each in passes if each.unseen_losses(plausible=PLAUSIBLE) is not None]
    return Shares(len(passes) / len(d), len(warned) / len(d))


def flips_fail(d: Array, alpha: float) -> bool:
    """Whether the break-even test finds a loss."""
    return flip_p(d, alpha) <= 1 - LEVEL + 1e-12


def ruling(d: Array, cell: Cell) -> Ruling:
    """The gate's own ruling on a data set."""
    asked = gate_of("calibration", cell.gate.kind, alpha=cell.alpha, tolerance=cell.tolerance, level=LEVEL)
    return Ruling(asked, Evidence.of(np.concatenate([d, np.zeros(cell.topics - d.size)])))


def cells(simulations: int, seed: int) -> Iterator[Cell]:
    """At the boundary, for each gate; then good candidates, which change nothing on average."""
    of = simulations, seed
    for (n, m), alpha, kind in product(RISK_SIZES, (0, 1), UNEVEN[2:]):
        yield Cell(NotSignificantlyRisky, kind, n, m, alpha, 0.0, 0.0, *of)
    for (n, m), alpha, kind in product(PROOF_SIZES, (0, 1, 5), UNEVEN):
        yield Cell(NotInferior, kind, n, m, alpha, 0.0, 0.0, *of)
    for (n, m), kind in product(EQUIVALENT_SIZES, UNEVEN):
        yield Cell(Equivalent, kind, n, m, 0, TOLERANCE, -TOLERANCE, *of)
    for n, alpha, tolerance in product(GOOD_TOPICS, (0, 1), GOOD_TOLERANCES):
        yield Cell(NotInferior, BETS, n, n, alpha, tolerance, 0.0, *of)


def all_tables(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The table by the name of its file; none without the folder ``shared``."""
    if not SHARED.is_dir():
        return {}
    every = list(cells(simulations, seed))
    lines = [row(*PLACE, "rule", "warned")]
    for cell, of in zip(every, pool.map(simulate, every), strict=True):
        place = (
            cell.gate.kind,
            cell.changed,
            cell.topics,
            cell.alpha,
            f"{cell.tolerance:g}",
            f"{cell.urisk:g}",
            cell.kind,
        )
        lines.append(row(*place, percent(of.rule), percent(of.warned)))
    return {"unequal-sizes": lines}


def counted(table: str, column: str, simulations: int) -> int | None:
    """On how many data sets a column was counted; 0 for those that say which cell it is."""
    return 0 if column in PLACE else simulations
