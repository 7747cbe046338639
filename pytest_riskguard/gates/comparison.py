"""Two systems on the same topics: what the verdict, its warnings and its explanation all need, computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.decision import (
    Decision,
    cannot_fail_at_all,
    decide,
    enough_topics,
    fewest_changes,
    holds_at_zero_too,
)
from pytest_riskguard.gates.evidence import Evidence, FloatArray
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.rounding import ROUNDING_ERROR


class Comparison:
    """A gate applied to two systems.

    Attributes
    ----------
    gate, aligned
        What was asked, and of which scores.
    evidence : Evidence
        Differences over topics, the baseline's noise, the weights.
    n, changed : int
        Topics, and topics that have a part in the estimate at the gate's alpha: without replicates of the baseline
        those whose score changed.

    Raises
    ------
    DataError
        ``bad_scores``: differences that the smooth trade-off is not defined for.
    """

    def __init__(self, gate: Gate, aligned: Aligned) -> None:
        self.gate, self.aligned = gate, aligned
        baseline = aligned.baseline.values
        noise = [_differences(replicate.values, baseline) for replicate in aligned.replicates]
        self.evidence = Evidence(
            _differences(aligned.candidate.values, baseline),
            np.array(noise).reshape(len(noise), baseline.size),
            aligned.weights,
            gate.tradeoff,
        )
        self.n, self.changed = self.evidence.n, self.evidence.changed(gate.alpha)
        if gate.tradeoff == "smooth":
            self._refuse_wide_differences()

    def _refuse_wide_differences(self) -> None:
        sizes = np.max(np.abs(np.vstack([self.evidence.differences, self.evidence.noise])), axis=0)
        worst = int(np.argmax(sizes))
        if sizes[worst] > 1:
            raise DataError(
                f"scores of topic {self.aligned.candidate.topics[worst]!r} differ by {sizes[worst]:g}; the smooth "
                "trade-off is for differences up to 1 (tradeoff: linear takes any)",
                reason="bad_scores",
            )

    @property
    def differences(self) -> FloatArray:
        """Candidate minus baseline, shape (n_topics,), in units of the measure."""
        return self.evidence.differences

    @cached_property
    def decision(self) -> Decision | None:
        """The rule at the gate's alpha; None for a single topic, or where no interval is asked about."""
        return self._decided(self.gate.alpha)

    @cached_property
    def plain(self) -> Decision | None:
        """The rule at alpha 0."""
        return self.decision if self.gate.alpha == 0 else self._decided(0.0)

    def _decided(self, alpha: float) -> Decision | None:
        if self.n < 2 or self.gate.kind == "no_topic_collapse":
            return None
        return decide(self.gate, self.evidence, alpha=alpha)

    @property
    def holds(self) -> bool:
        """Whether the rule is met: at the gate's alpha, and at alpha 0 where the baseline's noise is taken off."""
        if self.decision is None or self.plain is None:
            return False
        return self.decision.passes and (self.plain.passes or not holds_at_zero_too(self.gate, self.evidence))

    @property
    def enough_topics(self) -> bool:
        """Whether there are topics enough for any interval, their weights considered."""
        return enough_topics(self.evidence)

    @property
    def few_changes(self) -> bool:
        """Whether so few topics changed, their weights considered, that no interval alone may answer."""
        return self.evidence.effective_changes(self.gate.alpha) < fewest_changes(self.gate.level)

    @property
    def cannot_fail(self) -> bool:
        """Whether no values of this many changed topics would fail the gate; never claimed of weighted topics."""
        return cannot_fail_at_all(self.gate, self.evidence)

    @property
    def mean_difference(self) -> float:
        """In units of the measure, weighted where the gate is; the baseline's own noise is not taken off."""
        return self.evidence.mean(self.differences)


def _differences(candidate: FloatArray, baseline: FloatArray) -> FloatArray:
    differences = candidate - baseline
    # rounding is no change: otherwise 1 + alpha would multiply it, and a law would look for its steps
    return np.where(np.abs(differences) > ROUNDING_ERROR, differences, 0.0)
