"""A gate applied to two systems: what the verdict, its warnings and its explanation all need, computed once."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.collapse import collapsed
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.risk.checks import FloatArray

Answer = tuple[Literal["pass", "fail", "inconclusive"], str | None]


class Comparison:
    """A gate applied to two systems.

    Attributes
    ----------
    gate, aligned
        What was asked, and of which scores.
    evidence : Evidence
        Differences over topics, the baseline's noise, the weights.
    ruling : Ruling
        What the gate's rule says of them.
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
        self.evidence = Evidence.between(aligned, tradeoff=gate.tradeoff)
        self.ruling = Ruling(gate, self.evidence)
        self.n, self.changed = self.evidence.n, self.evidence.changed(gate.alpha)

    @property
    def differences(self) -> FloatArray:
        """Candidate minus baseline, shape (n_topics,), in units of the measure."""
        return self.evidence.differences

    @property
    def mean_difference(self) -> float:
        """In units of the measure, weighted where the gate is; the baseline's own noise is not taken off."""
        return self.evidence.mean(self.differences)

    @cached_property
    def collapsed(self) -> dict[int, tuple[str, ...]]:
        """The topics that lost more than they may, by index, each with the limits that it exceeds."""
        return collapsed(self.gate, self.aligned, self.differences)

    @cached_property
    def answer(self) -> Answer:
        """The outcome, and the reason where it is no pass."""
        if self.gate.side is None:
            return ("fail", "collapse") if self.collapsed else ("pass", None)
        ruling = self.ruling
        if not ruling.enough_topics:
            return "inconclusive", "too_few_topics"
        if not ruling.holds:
            if self.gate.side == "lower":
                return "fail", "not_shown"
            if not ruling.plain.passes:
                return "fail", "loss"
            if self.gate.on_churn != "warn":
                return "fail", "churn"
        return ("pass", None) if ruling.detects_max_mde else ("inconclusive", "too_weak")

    @property
    def p_value(self) -> float | None:
        """The smallest ``1 - level`` at which the gate fails; None for questions without one, and too few topics."""
        if not self.gate.is_tested or not self.ruling.enough_topics:
            return None
        return self.ruling.p_value
