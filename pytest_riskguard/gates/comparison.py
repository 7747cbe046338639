"""Two systems on the same topics: what the verdict, its warnings and its explanation all need, computed once."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.gates.align import Aligned
from pytest_riskguard.gates.decision import (
    Decision,
    FloatArray,
    changed_topics,
    decide,
    fewest_changes,
)
from pytest_riskguard.gates.spec import FEWEST_TOPICS, Gate
from pytest_riskguard.risk import linear
from pytest_riskguard.risk.checks import mean
from pytest_riskguard.risk.paired import CHANGED


class Comparison:
    """A gate applied to two systems.

    Attributes
    ----------
    gate, aligned
        What was asked, and of which scores.
    differences, x : array, shape (n_topics,)
        Candidate minus baseline (0 where they differ by no more than 1e-12), and the trade-off scores at the gate's
        alpha, in units of the measure.
    n, changed : int
        Topics, and topics whose score changed.
    decision, plain : Decision or None
        The rule at the gate's alpha and at alpha 0; None for a single topic.
    """

    def __init__(self, gate: Gate, aligned: Aligned) -> None:
        self.gate, self.aligned = gate, aligned
        differences = aligned.candidate.values - aligned.baseline.values
        # rounding is no change: otherwise 1 + alpha would multiply it, and a law would look for its steps
        self.differences: FloatArray = np.where(np.abs(differences) > CHANGED, differences, 0.0)
        self.n = self.differences.size
        self.changed = changed_topics(self.differences)
        self.x = linear(self.differences, alpha=gate.alpha)
        self.decision: Decision | None = None
        self.plain: Decision | None = None
        if self.n >= 2:
            self.decision = decide(gate, self.differences, alpha=gate.alpha)
            self.plain = self.decision if gate.alpha == 0 else decide(gate, self.differences, alpha=0.0)

    @property
    def enough_topics(self) -> bool:
        """Whether there are topics enough for any interval."""
        return self.n >= FEWEST_TOPICS

    @property
    def few_changes(self) -> bool:
        """Whether so few topics changed that no interval alone may fail the gate."""
        return self.changed < fewest_changes(self.gate.level)

    @property
    def mean_difference(self) -> float:
        """In units of the measure."""
        return mean(self.differences)
