"""A gate applied to a pool of systems: who they are, which of them are references, and the gate's answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import STRATUM, Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import NO_TOPICS, Aligned, clusters_of, on_one_list, refuse_unanswered
from pytest_riskguard.gates.kinds import ANY, MEDIAN, Gate, NotSignificantlyRisky
from pytest_riskguard.gates.limits import detects_max_mde
from pytest_riskguard.gates.pool.against_references import CANDIDATE, PoolRulings, ReferenceRuling
from pytest_riskguard.gates.ruling import Answer, Comparison
from pytest_riskguard.inference.power import minimum_detectable_effect
from pytest_riskguard.risk import expected_scores, georisk

#: Where the largest GeoRisk is less than this share of the largest at alpha 0, a pass says nothing.
LITTLE = 0.01


@frozen
class Reference:
    """What the candidate's GeoRisk is compared with: a ``row`` of the pool, or the ``median`` of its baselines.

    Scores of the median are the mean of the one or two baselines that have the middle values.
    """

    name: str
    row: int | str
    scores: TopicScores


class PoolComparison(PoolRulings):
    """A ``georisk_not_worse`` gate applied to a pool: the rulings on it, and whose scores they are of.

    ``level`` and ``together`` are as in ``PoolRulings``. ``DataError`` if the systems cannot be compared, or have
    scores that GeoRisk is not defined for; ``ValueError`` for a reference that is not a baseline, two baselines of
    one name, or topics in strata.
    """

    def __init__(
        self,
        gate: Gate,
        candidate: TopicScores,
        baselines: Sequence[TopicScores],
        *,
        level: float | None = None,
        together: int = 1,
        topics: Topics | None = None,
    ) -> None:
        self.topics = topics or NO_TOPICS
        if self.topics.shares and gate.slice is None:
            raise ValueError(
                f"{gate.kind}: GeoRisk is not defined for strata with shares; ask about one stratum (`slice: "
                f"{STRATUM}={next(iter(self.topics.shares))}`), or ask another kind of gate"
            )
        systems, self.missing = on_one_list(gate, (candidate, *baselines))
        for baseline in systems[1:]:
            refuse_unanswered(gate, candidate, baseline)
        scores = np.array([system.values for system in systems])
        clusters = clusters_of(self.topics, systems[0].topics)
        level = gate.level if level is None else level
        super().__init__(gate, scores, (), level=level, together=together, clusters=clusters)
        self.candidate, self.baselines = systems[0], systems[1:]
        self.names = _distinct([system.name for system in systems])
        self._refuse_scores()
        self.references = self._references()
        self.rows = tuple(reference.row for reference in self.references)

    def _refuse_scores(self) -> None:
        smooth = self.gate.tradeoff == "smooth"
        wrong = (self.scores < 0) | (self.scores > 1 if smooth else False)
        if smooth and not np.any(wrong):
            wrong = np.abs(self.scores - expected_scores(self.scores)) > 1
        if not np.any(wrong):
            return
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        expected = (
            "from 0 to 1, and within 1 of what the pool leads to expect (tradeoff: smooth)"
            if smooth
            else "that are not negative"
        )
        raise DataError(
            f"{self.names[row]}: the score of topic {self.candidate.topics[column]!r} is "
            f"{self.scores[row, column]:g}, expected scores {expected} for GeoRisk",
            reason="bad_scores",
        )

    @cached_property
    def vanished(self) -> bool:
        """Whether losses weigh so much that too little GeoRisk is left to compare."""
        return self.largest(self.gate.alpha) < LITTLE * self.largest(0.0)

    def largest(self, alpha: float) -> float:
        """The largest GeoRisk of the pool."""
        kind = self.gate.tradeoff if alpha == self.gate.alpha else "linear"
        return float(np.max(georisk(self.scores, alpha=alpha, kind=kind)))

    def _references(self) -> tuple[Reference, ...]:
        """The references that the gate names; a baseline called ``any`` or ``median`` comes before these words."""
        asked, names = self.gate.reference, self.names[1:]
        rows = {name: row for row, name in enumerate(names, start=1)}
        baselines = tuple(Reference(name, row, self.baselines[row - 1]) for name, row in rows.items())
        if asked is None or asked in rows:
            return (baselines[0 if asked is None else rows[asked] - 1],)
        if asked == ANY:
            return baselines
        if asked == MEDIAN:
            name = " and ".join(self.names[row] for row in self.middle)
            middle = replace(
                self.baselines[self.middle[0] - 1], name=name, values=np.mean(self.scores[self.middle], axis=0)
            )
            return (Reference(MEDIAN, MEDIAN, middle),)
        raise ValueError(
            f"reference: {asked!r} is not a baseline of this gate; expected {', '.join(names)}, any or median"
        )

    def pair(self, reference: Reference, *, asked: bool = False) -> Comparison:
        """Candidate and reference as two systems: what changed between them, wins and losses.

        With ``asked``, the gate's interval, trade-off and ``on_churn`` apply too, but not its tolerance, which is
        in units of GeoRisk.
        """
        own = self.gate
        gate = NotSignificantlyRisky(own.name, alpha=own.alpha, level=own.level, tolerance=0.0, on_churn="fail")
        if asked:
            gate = replace(gate, method=own.method, tradeoff=own.tradeoff, on_churn=own.on_churn)
        aligned = Aligned(
            self.candidate,
            reference.scores,
            self.missing[CANDIDATE],
            tags=self.topics.tags,
            clusters=self.clusters,
            topics=self.topics,
        )
        return Comparison(gate, aligned)

    @cached_property
    def minimum_detectable_effect(self) -> float | None:
        """The smallest fall of GeoRisk, tolerance included, that fails the gate with 80 % power, by the jackknife.

        Where churn is let through, the larger of this and of what is seen at alpha 0 and tolerance 0. None for too
        few topics.
        """
        if not self.enough_topics:
            return None
        asked = [(self.rulings[self.deciding], self.gate.tolerance)]
        if self.gate.on_churn == "warn":
            asked.append((self.plain[self.deciding], 0.0))
        return max(tolerance + self._detectable(ruling) for ruling, tolerance in asked)

    def _detectable(self, ruling: ReferenceRuling) -> float:
        error = ruling.difference.standard_error
        if error == 0:
            return 0.0
        critical = max((ruling.deciding.upper - ruling.difference.estimate) / error, 0.0)
        deviation = error * math.sqrt(self.units)
        return minimum_detectable_effect(deviation, self.units, level=ruling.level, critical=critical)

    @cached_property
    def identical(self) -> bool:
        """Whether the candidate is the same run as every reference, none of which is a median."""
        singles = [reference for reference in self.references if not isinstance(reference.row, str)]
        return len(singles) == len(self.references) and all(self.pair(single).identical for single in singles)

    @cached_property
    def answer(self) -> Answer:
        """The outcome, and the reason if it is not a pass."""
        if self.identical:
            return "pass", None
        if not self.enough_topics:
            return "inconclusive", "too_few_topics"
        if not self.passes:
            return "fail", "loss" if self.loses else "churn"
        if self.vanished or not detects_max_mde(self.gate, self.minimum_detectable_effect):
            return "inconclusive", "too_weak"
        return "pass", None

    @property
    def reference(self) -> Reference:
        """The reference that the verdict is about; the first where there are too few topics to decide."""
        return self.references[self.deciding if self.enough_topics else 0]

    @cached_property
    def decided(self) -> Comparison:
        """The candidate and the reference that the verdict is about, as two systems."""
        return self.pair(self.reference)

    @property
    def reference_rows(self) -> list[int]:
        """The rows of the scores of this reference: for the median, of the one or two baselines in the middle."""
        return self.middle if isinstance(self.reference.row, str) else [self.reference.row]


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names of the pool's systems; a candidate with the name of a baseline has ``(candidate)`` added."""
    candidate, *baselines = names
    for place, name in enumerate(baselines):
        if name in baselines[:place]:
            raise ValueError(f"two baselines of a pool are called {name!r}; give each its own name")
    return (f"{candidate} (candidate)" if candidate in baselines else candidate, *baselines)
