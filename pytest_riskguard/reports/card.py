"""The facts of a verdict that every report shows: who lost, where, what decided; ``words`` says them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from pytest_riskguard.data.measures import DEFAULT_DEPTH, MAX_DEPTH, cutoff_of
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import COUNTED, ROUNDING_ERROR, Exhibits, ResponsibleTopic, Slice, TopicDocuments
from pytest_riskguard.gates.kinds import NoTopicCollapse, limit_of
from pytest_riskguard.gates.verdict import Verdict, VerdictWarning

#: What a verdict means for a change; what a tone looks like in a text.
Tone = Literal["stop", "caution", "go"]
MARKS: dict[Tone, str] = {"stop": "✗", "caution": "!", "go": "✓"}
#: What became of a query that lost: no results, its costliest relevant document left the ranks that count, or fell.
Fate = Literal["empty", "gone", "lower"]
#: A group is worth a sentence when it has this share of the loss ...
MIN_GROUP_SHARE = 1 / 3
#: ... and exceeds by this much the share of all topics with the tag, which is what chance would give.
MIN_EXCESS_SHARE = 0.2
#: A topic is worth the headline when it alone has most of the loss.
MOST = 0.5
#: A pass is weak if it would fail at a level of 50 % already (a risk is then three times as likely as a gain), or if
#: it could miss a loss of that share of the baseline's mean.
MAX_WEAK_P_VALUE, MAX_UNSEEN_SHARE = 0.5, 0.25
#: What became of so large a part of the queries that were examined points to the cause, the gravest first.
MIN_FATE = 0.25


@frozen
class Card:
    """What reports show of a verdict.

    ``worst`` are the topics that explain the outcome, most harmful first: those that lost, of a gate on single topics
    those that lost more than they may, and where wins stand in the way of a pass, those that won.
    """

    verdict: Verdict

    def has(self, code: str) -> bool:
        """Whether the verdict carries this warning."""
        return any(warning.code == code for warning in self.verdict.warnings)

    def left_out(self, name: str) -> int:
        """How many topics a list of the verdict leaves out."""
        return self.verdict.topics.left_out.get(name, 0)

    @property
    def suspicion(self) -> VerdictWarning | None:
        """The mistake that seems to be behind a failure, or to hide one."""
        return next((warning for warning in self.verdict.warnings if warning.code == "suspicious_run"), None)

    # ---- the answer

    @cached_property
    def tone(self) -> Tone:
        """Whether a verdict stops a change, lets it go, or lets it go with care."""
        if not self.verdict.passed:
            return "stop"
        careful = self.verdict.outcome == "inconclusive" or self.is_churn or self.leans_down
        return "caution" if careful or self.unseen_loss is not None or self.suspicion is not None else "go"

    @cached_property
    def is_churn(self) -> bool:
        """Whether only the weight of losses fails the gate, or would if ``on_churn`` did not allow it."""
        return self.verdict.reason == "churn" or self.has("churn")

    @property
    def is_identical(self) -> bool:
        """Whether the candidate passes because it is the run that it is compared with."""
        verdict = self.verdict
        return verdict.outcome == "pass" and verdict.baseline in verdict.identical_to

    @property
    def explains_topics(self) -> bool:
        """Whether topics explain the outcome: a failure, or churn that is allowed."""
        return self.verdict.outcome == "fail" or self.has("churn")

    # ---- what decided

    @property
    def risk(self) -> float | None:
        """What the verdict is about: URisk, or the difference of two GeoRisks."""
        estimates = self.verdict.estimates
        return estimates.georisk_difference if self.verdict.asked.is_pool else estimates.urisk

    @property
    def deciding_limit(self) -> float | None:
        """The limit of the decisive interval that is compared with the bound."""
        interval = self.verdict.decisive_interval
        return None if interval is None else limit_of(self.verdict.asked, interval)

    @cached_property
    def explained_by_wins(self) -> bool:
        """Whether wins stand in the way of a pass: of a gate that asks for both limits, the upper one decides."""
        return self.verdict.asked.side == "both" and (self.deciding_limit or 0.0) > 0

    @cached_property
    def leans_down(self) -> bool:
        """Whether a gate passes though the estimate is so far on the wrong side that a risk is likelier than none."""
        p_value, risk = self.verdict.estimates.decision_p_value, self.risk or 0.0
        if not self._is_tested_pass or self.is_churn:
            return False
        likely = risk < 0 and p_value is not None and p_value <= MAX_WEAK_P_VALUE
        cannot_fail = self.verdict.power.minimum_detectable_effect is None
        return likely or (cannot_fail and risk < 0.0 - self.verdict.tolerance)

    @cached_property
    def unseen_loss(self) -> float | None:
        """The smallest loss of the mean that a gate detects that passed, if that is a large part of the mean.

        None where the mean is significantly up: there is no loss to see.
        """
        verdict = self.verdict
        smallest, mean = verdict.power.minimum_detectable_effect, verdict.estimates.baseline_mean
        if smallest is None or mean is None or verdict.asked.is_pool or verdict.tradeoff != "linear":
            return None
        if not self._is_tested_pass or self.is_churn or self.has("significantly_better"):
            return None
        loss = smallest if verdict.on_churn == "warn" else smallest / (1 + verdict.alpha)
        return loss if math.isfinite(loss) and loss > MAX_UNSEEN_SHARE * abs(mean) else None

    @property
    def _is_tested_pass(self) -> bool:
        return self.verdict.outcome == "pass" and self.verdict.asked.is_tested and not self.is_identical

    # ---- topics

    @property
    def columns(self) -> Exhibits:
        """Every topic, or where no report is written those responsible."""
        return self.verdict.exhibits or Exhibits.of(self.verdict.responsible_topics)

    @cached_property
    def worst(self) -> tuple[ResponsibleTopic, ...]:
        """The topics that a report lists."""
        responsible = self.verdict.responsible_topics
        if self.verdict.asked.by_topic:
            exceeding = (topic for topic in responsible if topic.exceeds)
            return tuple(sorted(exceeding, key=lambda topic: round(topic.difference, 12)))
        # the topics after these changed too little to print, unless there is nothing else to look at
        return responsible if self.changed == 0 and self.explains_topics else responsible[: self.changed]

    @property
    def changed(self) -> int:
        """How many topics count as having changed for the worse; where wins stand in the way, for the better."""
        return self.verdict.topics.wins if self.explained_by_wins else self.verdict.topics.losses

    @property
    def more(self) -> int:
        """How many topics ``worst`` would hold beyond those that the verdict names."""
        if not self.left_out("responsible_topics"):
            return 0
        if (count := self.verdict.estimates.collapsed) is not None:
            return count - len(self.worst)
        return max(self.changed - len(self.verdict.responsible_topics), 0)

    @cached_property
    def lost(self) -> tuple[ResponsibleTopic, ...]:
        """Those of the worst that an answer counts."""
        if self.verdict.asked.by_topic:
            return self.worst
        sign = -1 if self.explained_by_wins else 1
        return tuple(topic for topic in self.verdict.responsible_topics if sign * topic.difference < -COUNTED)

    @property
    def count(self) -> int:
        """How many topics lost, with those that a verdict on very many topics does not name."""
        return len(self.lost) + self.more

    @property
    def largest_loss(self) -> ResponsibleTopic | None:
        """The worst topic, which need not have lost more than it may."""
        topics = self.worst or self.verdict.responsible_topics
        return min(topics, key=lambda topic: round(topic.difference, 12), default=None)

    @property
    def may_collapse(self) -> int:
        """How many topics may lose more than the others; 0 for other kinds of gates."""
        gate = self.verdict.asked
        return gate.most(self.verdict.topics.count) if isinstance(gate, NoTopicCollapse) else 0

    @property
    def unanswered(self) -> int:
        """How many topics the candidate did not answer."""
        return len(self.verdict.topics.missing_in_candidate) + self.left_out("missing_in_candidate")

    @cached_property
    def decisive_topics(self) -> frozenset[str]:
        """The topic without which a gate that failed would pass, where one is enough."""
        flips = () if self.verdict.asked.by_topic else self.verdict.estimates.flip_set or ()
        return frozenset(flips if len(flips) + self.left_out("flip_set") == 1 else ())

    # ---- where

    @cached_property
    def group(self) -> Slice | None:
        """The slice that tells most: its share of the loss is far above its share of the topics."""
        best, largest_excess = None, MIN_EXCESS_SHARE
        for part in self.verdict.slices:
            members = self.members(part)
            share = len(members) / max(self.count, 1) if self.verdict.asked.by_topic else self.share(part)
            excess = share - part.count / self.verdict.topics.count
            if len(members) > 1 and share >= MIN_GROUP_SHARE - ROUNDING_ERROR and excess > largest_excess:
                best, largest_excess = part, excess
        return best

    def members(self, part: Slice) -> frozenset[str]:
        """The topics of a slice that an answer counts."""
        return frozenset(topic.topic for topic in self.lost).intersection(part.responsible)

    def share(self, part: Slice) -> float:
        """The share of the loss that the topics of a slice have."""
        within = {*part.responsible}
        return math.fsum(topic.share or 0.0 for topic in self.verdict.responsible_topics if topic.topic in within)

    @property
    def slices(self) -> list[Slice]:
        """Slices that are significantly risky, others, and those too small to say; by URisk among themselves."""
        return sorted(
            self.verdict.slices, key=lambda part: (not part.risky, part.risky is None, round(part.urisk, 12))
        )

    @property
    def fates(self) -> Counter[Fate]:
        """What became of the queries that lost, or of their most telling group, as far as it was examined."""
        if self.explained_by_wins:
            return Counter()
        topics = {topic.topic for topic in self.lost} if self.group is None else self.members(self.group)
        empty = topics.intersection(self.verdict.topics.missing_in_candidate)
        found = Counter[Fate](filter(None, map(self._fate, topics - empty)))
        found["empty"] = len(empty)
        return +found

    @property
    def ranks_searched(self) -> int:
        """How many ranks of each system are searched for unjudged documents."""
        return min(cutoff_of(self.verdict.measure) or DEFAULT_DEPTH, MAX_DEPTH)

    @cached_property
    def documents(self) -> Mapping[str, TopicDocuments]:
        """What both systems returned for the topics that were examined."""
        documents = self.verdict.documents
        return {} if documents is None else {topic.topic: topic for topic in documents.topics}

    def _fate(self, topic: str) -> Fate | None:
        moved = self.documents[topic].moved if topic in self.documents else []
        if not moved or moved[0].effect >= 0 or moved[0].baseline_rank is None:
            return None
        return "gone" if moved[0].candidate_rank is None else "lower"
