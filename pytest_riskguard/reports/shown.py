"""A verdict as text: names, signs, limits, flags and words, each formatted in this one place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import IfJudged, ReportedInterval, ResponsibleTopic, Slice
from pytest_riskguard.gates.kinds import NoTopicCollapse
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.text import clean, counted, percent, short, signed

#: Names of intervals as people write them.
METHOD_NAMES = {
    "student_t": "Student-t",
    "basic": "basic",
    "studentized": "studentized",
    "percentile": "percentile",
    "bca": "BCa",
}
#: Longest name of a topic, a slice or a system in a line.
MAX_NAME = 60
#: What a gate requires, by its kind.
_REQUIRED = {
    "not_significantly_risky": "not significantly risky",
    "georisk_not_worse": "GeoRisk not worse",
    "not_inferior": "non-inferior",
    "equivalent": "equivalent",
    "no_drift": "no significant drift",
    "no_topic_collapse": "no topic collapses",
}
#: Outcomes that are verbs in a sentence.
OUTCOMES = {"pass": "passes", "fail": "fails"}
#: Limits of ``no_topic_collapse`` that a topic exceeds, as marks beside it.
_LIMIT_MARKS = {"max_loss": "loss", "max_share": "share", "protected": "protected"}
_CASES = {
    "irrelevant": "none of them is relevant (as scored)",
    "relevant": "all have their topic's highest grade",
    "candidate_relevant": "only the candidate's are relevant",
    "baseline_relevant": "only the baseline's are relevant",
    "lowest": "they are judged as is worst for the candidate, topic by topic",
    "highest": "they are judged as is best for the candidate, topic by topic",
    "other": "they are judged in another way that was tried",
}


@frozen
class Shown:
    """What reports say about a verdict."""

    verdict: Verdict

    def has(self, code: str) -> bool:
        """Whether the verdict carries this warning."""
        return any(warning.code == code for warning in self.verdict.warnings)

    @property
    def is_churn(self) -> bool:
        """Whether only the weight of losses fails the gate, or would if ``on_churn`` did not allow it."""
        return self.verdict.reason == "churn" or self.has("churn")

    # ---- signs and numbers

    def limits(self, lower: float | None, upper: float | None, digits: int = 4) -> str:
        """``[lower, upper]``; empty where there are none."""
        if lower is None or upper is None:
            return ""
        return f"[{signed(lower, digits)}, {signed(upper, digits)}]"

    def interval(self, interval: ReportedInterval) -> str:
        """``BCa [-0.2, -0.01] (decisive)``."""
        mark = " (decisive)" if interval.decisive else ""
        return f"{self.method_name(interval.method)} {self.limits(interval.lower, interval.upper)}{mark}"

    def method_name(self, method: str) -> str:
        """The name of an interval; over a pool Student-t has its error from the jackknife."""
        jackknife = " (jackknife)" if self.verdict.pool is not None and method == "student_t" else ""
        return f"{METHOD_NAMES[method]}{jackknife}"

    # ---- names

    @property
    def parameter(self) -> str:
        """What follows a risk in brackets: ``alpha=5``, ``smooth``."""
        if self.verdict.tradeoff == "smooth":
            return "smooth"
        return f"alpha={short(self.verdict.alpha)}"

    @property
    def urisk(self) -> str:
        """``excess weighted URisk-``."""
        excess = "excess " if self.verdict.estimates.noise_urisk is not None else ""
        weighted = "weighted " if self.verdict.weighted else ""
        return f"{excess}{weighted}URisk"

    @property
    def urisk_name(self) -> str:
        """``excess weighted URisk-(alpha-hat=6)``."""
        return f"{self.urisk}({self.parameter})"

    @property
    def georisk_name(self) -> str:
        """``GeoRisk(alpha=5)``."""
        return f"GeoRisk({self.parameter})"

    @property
    def opponent(self) -> str:
        """What the candidate's scores are compared with: its baseline, or the reference in a pool."""
        return clean(self._baseline, limit=MAX_NAME)

    @property
    def part_of_topics(self) -> str:
        """``intent=code, 30 topics in 12 clusters``; or the number of topics alone."""
        part = "" if self.verdict.slice is None else f"{clean(self.verdict.slice, limit=MAX_NAME)}, "
        topics = self.verdict.topics
        groups = [counted(topics.clusters, "cluster")] if topics.clusters else []
        groups += [f"{len(topics.strata)} strata"] if topics.strata else []
        within = f" in {' and '.join(groups)}" if groups else ""
        return f"{part}{counted(topics.count, 'topic')}{within}"

    # ---- what decided

    @property
    def risk(self) -> float | None:
        """What the verdict is about: URisk, or the difference of two GeoRisks."""
        estimates = self.verdict.estimates
        return estimates.georisk_difference if self.verdict.asked.is_pool else estimates.urisk

    @property
    def deciding_limit(self) -> float | None:
        """The limit of the decisive interval that is compared with the bound."""
        interval, side = self.verdict.decisive_interval, self.verdict.asked.side
        if interval is None:
            return None
        if side == "both":  # the one that lies further from 0
            return interval.lower if abs(interval.lower) >= abs(interval.upper) else interval.upper
        return interval.lower if side == "lower" else interval.upper

    @property
    def explained_by_wins(self) -> bool:
        """Whether wins stand in the way of a pass: of a gate that asks for both limits, the upper one decides."""
        return self.verdict.asked.side == "both" and (self.deciding_limit or 0.0) > 0

    # ---- the answer

    @property
    def is_identical(self) -> bool:
        """Whether the candidate passes because it is the run that it is compared with."""
        verdict = self.verdict
        return verdict.outcome == "pass" and verdict.yardstick is None and self._baseline in verdict.identical_to

    @property
    def _baseline(self) -> str:
        pool = self.verdict.pool
        return self.verdict.baselines[0] if pool is None else pool.decided_by

    @property
    def identical(self) -> str:
        """``identical to the baseline prod``; empty if the candidate is not a baseline's run."""
        names = [clean(name, limit=MAX_NAME) for name in self.verdict.identical_to]
        if not names:
            return ""
        return f"identical to the baseline{'s' if len(names) > 1 else ''} {', '.join(names)}"

    @property
    def pool(self) -> Mapping[str, float]:
        """The GeoRisk of each system of the pool."""
        return self.verdict.estimates.georisk or {}

    @property
    def rank(self) -> int:
        """The candidate's rank by GeoRisk; 1 is best."""
        own = self.pool[self.verdict.candidate]
        return 1 + sum(value > own for value in self.pool.values())

    @property
    def required(self) -> str:
        """What the gate asks of the candidate."""
        if self.may_collapse:
            allowed = counted(self.may_collapse, "topic")
            return f"at most {allowed} {'collapses' if self.may_collapse == 1 else 'collapse'}"
        return _REQUIRED[self.verdict.kind]

    @property
    def collapse(self) -> str:
        """The topic that fell furthest."""
        fallen = f"{clean(worst.topic, limit=MAX_NAME)} {signed(worst.difference)}" if (worst := self.worst) else ""
        if self.collapsed:
            number = len(self.collapsed) + self.more_losers
            return f"{counted(number, 'topic')} collapsed: worst {fallen}"
        return f"no topic collapsed: {f'largest loss {fallen}' if fallen else 'no loss'}"

    @property
    def allowed(self) -> str:
        """What a topic may lose."""
        verdict, most, said = self.verdict, [], []
        if verdict.max_loss is not None:
            most.append(short(verdict.max_loss))
        if verdict.max_share is not None:
            most.append(f"{percent(verdict.max_share)} of the baseline's score")
        if most:
            said.append(f"a query may lose at most {' and at most '.join(most)}")
        if self.may_collapse:
            said.append(f"{counted(self.may_collapse, 'query', 'queries')} may lose more")
        if verdict.protected:
            said.append(f"{counted(len(verdict.protected), 'entry is', 'entries are')} protected")
        return "; ".join(said)

    @property
    def may_collapse(self) -> int:
        """How many topics may lose more than the others; 0 for other kinds of gates."""
        gate = self.verdict.asked
        return gate.most(self.verdict.topics.count) if isinstance(gate, NoTopicCollapse) else 0

    # ---- topics

    @property
    def collapsed(self) -> tuple[ResponsibleTopic, ...]:
        """Topics that lost more than they may, largest loss first."""
        return _worst_first(tuple(topic for topic in self.verdict.responsible_topics if topic.exceeds))

    @property
    def worst(self) -> ResponsibleTopic | None:
        """The largest loss of a topic that collapsed, else of any topic."""
        return next(iter(self.collapsed or _worst_first(self.verdict.responsible_topics)), None)

    @property
    def extreme(self) -> str:
        """What the first of the topics that a failure lists are: the worst, or the largest wins."""
        return "largest" if self.explained_by_wins else "worst"

    @property
    def losers(self) -> tuple[ResponsibleTopic, ...]:
        """The topics that a failure lists, most harmful first."""
        if self.verdict.asked.by_topic:
            return self.collapsed
        # the topics after these changed too little to print, unless there is nothing else to look at
        responsible, losses = self.verdict.responsible_topics, self._counted
        return responsible if losses == 0 and self.explains_topics else responsible[:losses]

    @property
    def _counted(self) -> int:
        """How many topics count as having changed for the worse; where wins stand in the way, for the better."""
        return self.verdict.topics.wins if self.explained_by_wins else self.verdict.topics.losses

    @property
    def more_losers(self) -> int:
        """How many topics a failure would list beyond those that the verdict names."""
        if not self.left_out("responsible_topics"):
            return 0
        if (count := self.verdict.estimates.collapsed) is not None:
            return count - len(self.collapsed)
        return max(self._counted - len(self.verdict.responsible_topics), 0)

    def left_out(self, name: str) -> int:
        """How many topics a list of the verdict leaves out."""
        return self.verdict.topics.left_out.get(name, 0)

    @property
    def unanswered(self) -> int:
        """How many topics the candidate did not answer."""
        return len(self.verdict.topics.missing_in_candidate) + self.left_out("missing_in_candidate")

    @property
    def explains_topics(self) -> bool:
        """Whether topics explain the outcome: a failure, or churn that is allowed."""
        return self.verdict.outcome == "fail" or self.has("churn")

    @cached_property
    def decisive_topics(self) -> frozenset[str]:
        """The topics without any one of which a gate that failed would pass."""
        explanation = self.verdict.explanation if self.verdict.outcome == "fail" else None
        return frozenset() if explanation is None else frozenset(explanation.pivotal_topics)

    @staticmethod
    def marks(topic: ResponsibleTopic | None, *, flagged: bool, flips: bool) -> str:
        """The marks of a topic: the limits it exceeds, or whether it is flagged or flips the verdict."""
        if topic is not None and topic.exceeds:
            return ", ".join(_LIMIT_MARKS[limit] for limit in topic.exceeds)
        return ", ".join(mark for mark, on in (("flagged", flagged), ("flips it", flips)) if on)

    @property
    def slices_by_risk(self) -> tuple[Slice, ...]:
        """Slices that are significantly risky, others, and those too small to say; by URisk among themselves."""
        parts = () if self.verdict.explanation is None else self.verdict.explanation.slices
        return tuple(sorted(parts, key=lambda part: (not part.risky, part.risky is None, round(part.urisk, 12))))

    @property
    def slices_are_tested(self) -> bool:
        """Whether slices have an interval, given enough topics: those of a gate on single topics have none."""
        return not self.verdict.asked.by_topic

    @staticmethod
    def case(case: IfJudged) -> str:
        """What this case assumes about the unjudged documents."""
        return _CASES.get(case.case, clean(case.case, limit=MAX_NAME))


def _worst_first(topics: tuple[ResponsibleTopic, ...]) -> tuple[ResponsibleTopic, ...]:
    return tuple(sorted(topics, key=lambda topic: round(topic.difference, 12)))
