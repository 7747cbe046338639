"""A verdict in one line of at most 80 columns, without the name of a statistic: who got worse, how much, what may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_riskguard.gates.findings import ROUNDING_ERROR, ResponsibleTopic
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.wording import sentences
from pytest_riskguard.reports.wording.sentences import (
    as_given,
    digits_of,
    from_to,
    leans_down,
    limits_of,
    more_than,
    share,
    size,
    times,
    too_few_to_show,
    unseen,
)
from pytest_riskguard.text import clean, columns, counted, fitted, percent, plain, short, signed

#: Columns of a line.
MAX_COLUMNS = 80
#: A name is never cut to fewer characters, and other facts leave it so many.
_MIN_NAME, _NAME = 8, 24
#: A loss of the mean is spread over all queries if this share of them lost, none more than so many times the mean.
_NEARLY_ALL, _ALIKE = 0.9, 4
#: ... and it is a little up to this share of the baseline's mean.
_A_LITTLE = 0.2


class _Line(NamedTuple):
    """What happened, with a place for each name of other people's; facts follow as far as there is room for them."""

    text: str
    names: tuple[str, ...] = ()
    facts: Sequence[str] = ()


def line(verdict: Verdict) -> str:
    """What happened, to whom, how much, and what may."""
    said = _said(verdict)
    names = [clean(name) for name in said.names]
    text, joint = said.text.format(*(fitted(name, _NAME) for name in names)), "; "
    facts = ""
    for fact in filter(None, said.facts):
        if columns(f"{text}{facts}{joint}{fact}") <= MAX_COLUMNS:
            facts, joint = f"{facts}{joint}{fact}", ", "
    bare = columns(said.text.format(*[""] * len(names)))
    each = max((MAX_COLUMNS - bare - columns(facts)) // max(len(names), 1), _MIN_NAME)
    return said.text.format(*(fitted(name, each) for name in names)) + facts


def _said(verdict: Verdict) -> _Line:
    shown = Shown(verdict)
    if verdict.outcome == "incomparable":
        return _Line("cannot be compared: {}", (verdict.problem or verdict.reason or "the data do not allow it",))
    if verdict.outcome == "inconclusive":
        return _undecided(verdict)
    if shown.is_identical:
        return _Line("identical to {}", (shown.opponent,))
    if verdict.asked.by_topic:
        return _collapse(verdict)
    if verdict.kind in ("not_inferior", "equivalent"):
        return _shown(verdict)
    if verdict.outcome == "pass" and not shown.is_churn:
        return _passed(verdict)
    return _lost(verdict)


def _undecided(verdict: Verdict) -> _Line:
    topics = verdict.topics
    if verdict.reason == "too_few_topics":
        if topics.count < MIN_TOPICS:
            few = f"{topics.count} judged {'query is' if topics.count == 1 else 'queries are'} too few"
            return _Line(few, (), [f"at least {MIN_TOPICS} are needed"])
        return _Line("too few queries to judge", (), [f"{topics.count} say less than {MIN_TOPICS} of equal weight"])
    if verdict.reason == "too_few_changes":
        return _Line("too few queries changed to show anything", (), [f"{topics.changed} of {topics.count}"])
    if Shown(verdict).has("georisk_vanishes"):
        return _Line("at this alpha too little is left to compare")
    seen = verdict.power.minimum_detectable_effect
    most = verdict.max_mde
    may = (
        [] if seen is None or most is None else [f"losses below {size(seen)} go unseen, and max_mde is {short(most)}"]
    )
    return _Line("too weak to judge", (), may)


# ---- single queries


def _collapse(verdict: Verdict) -> _Line:
    topics, count = sentences.lost_topics(verdict), sentences.number_lost(verdict)
    allowed = Shown(verdict).may_collapse
    exceeded = {limit for topic in topics for limit in topic.exceeds}
    may = f"{'at most ' * (verdict.outcome == 'fail')}{allowed} may" if allowed else "none may"
    if not topics:
        worst = Shown(verdict).worst
        most = [] if worst is None or worst.difference >= 0 else [f"the largest loss is {size(worst.difference)}"]
        return _Line(f"no query lost {more_than(verdict, limits_of(verdict), 1)}", (), most)
    if exceeded == {"protected"}:
        names = tuple(topic.topic for topic in topics[:1])
        moved = from_to(topics[0].baseline, topics[0].candidate)
        if count == 1:
            return _Line("{} is protected and lost", names, [moved])
        return _Line(f"{count} protected queries lost", (), ["none may"])
    text = f"{count} of {_all(verdict)}"
    if verdict.outcome == "fail" and not allowed:
        if count == 1:
            moved = f"{from_to(topics[0].baseline, topics[0].candidate)}"
            return _Line("{} lost {}", (topics[0].topic, size(topics[0].difference)), [moved, _none_may(verdict)])
        if not Shown(verdict).more_losers and all(topic.candidate == 0 for topic in topics):
            return _Line(f"{text} lost everything", (), [_none_may(verdict), _of_group(verdict)])
    if not allowed and len(exceeded) > 1:
        may = f"the worst fell {from_to(topics[0].baseline, topics[0].candidate)}"
    return _Line(f"{text} lost {more_than(verdict, exceeded, count)}", (), [may, _of_group(verdict)])


def _none_may(verdict: Verdict) -> str:
    limits = limits_of(verdict) - {"protected"}
    return f"none may lose {more_than(verdict, limits, 1)}" if len(limits) == 1 else "none may"


def _of_group(verdict: Verdict) -> str:
    """``all 10 are kind=code``."""
    group = sentences.dominant_group(verdict)
    if group is None or Shown(verdict).more_losers:
        return ""
    members, count = sentences.number_of_members(verdict, group), sentences.number_lost(verdict)
    return f"{f'all {count}' if members == count else members} are {sentences.tagged(group)}"


# ---- all queries together


def _all(verdict: Verdict) -> str:
    return counted(verdict.topics.count, "query", "queries")


def _counts(verdict: Verdict, *, lost_first: bool = True) -> list[str]:
    """``12 of 30 queries lost``, ``none gained``."""
    topics = verdict.topics
    numbers = [("lost", topics.losses), ("gained", topics.wins)]
    (one, first), (other, second) = numbers if lost_first else numbers[::-1]
    return [f"{first or 'none'} of {_all(verdict)} {one}", f"{second or 'none'} {other}"]


def _means(verdict: Verdict) -> str:
    """``0.58 -> 0.65``; empty where there are none."""
    before, after = verdict.estimates.baseline_mean, verdict.estimates.candidate_mean
    return "" if before is None or after is None else from_to(before, after)


def _mean(verdict: Verdict) -> str:
    """``the mean rose 0.58 -> 0.65``; it stayed where two decimals show no change."""
    before, difference = verdict.estimates.baseline_mean, verdict.estimates.mean_difference
    if not (means := _means(verdict)) or before is None or difference is None:
        return ""
    name = _mean_name(verdict)
    if not round(difference, 2) and plain(before, 2) == plain(before + difference, 2):
        return f"{name} stayed at {plain(before, 2)}"
    return f"{name} {'rose' if difference > 0 else 'fell'} {means}"


def _small(difference: float) -> str:
    return size(difference) if abs(difference) >= 0.0001 else "less than 0.0001"


def _mean_name(verdict: Verdict) -> str:
    return "the weighted mean" if verdict.weighted else "the mean"


def _tolerated(verdict: Verdict) -> str:
    return f"{short(verdict.tolerance)} tolerated" if verdict.tolerance > 0 else ""


def _shown(verdict: Verdict) -> _Line:
    """A gate for which the candidate bears the burden of proof."""
    interval, passed, same = verdict.decisive_interval, verdict.outcome == "pass", verdict.kind == "equivalent"
    text = f"{'' if passed else 'not '}shown to be {'equivalent' if same else 'good enough'}"
    if interval is None:
        return _Line(text)
    lower, upper, most = interval.lower, interval.upper, verdict.tolerance
    loss, gain = max(-lower, 0.0), max(upper, 0.0)
    if passed:
        if same:
            return _Line(text, (), [f"the mean moved by at most {size(max(loss, gain))}", f"{short(most)} may"])
        if lower > 0:
            return _Line(text, (), [f"better by at least {size(lower)}", *_counts(verdict, lost_first=False)])
        return _Line(text, (), [f"the loss is at most {size(loss)}", f"{short(most)} may be lost"])
    beyond = max(loss, gain) if same else loss
    if beyond <= most:
        return _Line(text, (), ["so few changes could look this good by chance"])
    what = "gain" if same and gain > loss else "loss"
    allowed = f"{short(most)} is allowed" if most else "none is allowed"
    return _Line(text, (), [f"a {what} of {size(beyond)} cannot be excluded", allowed])


def _passed(verdict: Verdict) -> _Line:
    shown, difference = Shown(verdict), verdict.estimates.mean_difference or 0.0
    name, means, counts = _mean_name(verdict), _means(verdict), _counts(verdict)
    if verdict.topics.wins == verdict.topics.losses == 0:
        as_before = "no score moved by more than 0.000001" if difference else f"{_all(verdict)} score as before"
        return _Line("nothing changed", (), [as_before])
    if shown.has("significantly_better"):
        return _Line(f"{name} rose {means}, more than chance explains", (), _counts(verdict, lost_first=False))
    if verdict.estimates.noise_urisk is not None and leans_down(verdict):
        return _Line("not shown to be worse than the baseline's own noise", (), counts)
    upper = shown.deciding_limit
    if (
        verdict.pool is None
        and verdict.tolerance > 0
        and upper is not None
        and upper < -ROUNDING_ERROR
        and difference < 0
    ):
        within = "less than" if -difference < verdict.tolerance else "not shown to be more than"
        return _Line(
            f"{name} fell by {_small(difference)}, {within} the tolerated {short(verdict.tolerance)}", (), counts
        )
    if verdict.asked.looks_back:
        return _Line("no drift shown", (), [_mean(verdict), *counts])
    if verdict.pool is not None:
        than = "no riskier than {}" if (shown.risk or 0.0) >= 0 else "not shown to be riskier than {}"
        return _Line(than, (verdict.pool.decided_by,), [*counts, _mean(verdict)])
    if leans_down(verdict):
        if difference < 0:
            return _Line(f"{name} fell {means}, as much as chance may explain", (), counts)
        weighed = f"losses counted {times(verdict)}" if verdict.tradeoff == "linear" else "larger losses"
        return _Line(f"{weighed} outweigh gains, but not beyond chance", (), counts)
    if (loss := unseen(verdict)) is not None:
        return _Line(f"no harm shown, but a loss of {size(loss)} may go unseen", (), counts)
    return _Line("no sign of harm", (), [*counts, _mean(verdict)])


def _lost(verdict: Verdict) -> _Line:
    """A failure, or churn that is allowed."""
    topics, difference = sentences.lost_topics(verdict), verdict.estimates.mean_difference or 0.0
    group, heaviest = sentences.dominant_group(verdict), sentences.heaviest(verdict, least=sentences.MOST)
    counts, mean, tolerated = _counts(verdict), _mean(verdict), _tolerated(verdict)
    if verdict.asked.looks_back:
        return _Line("drifted since {}", (verdict.baselines[0],), [mean, *counts, tolerated])
    if Shown(verdict).is_churn and too_few_to_show(verdict):
        return _Line("too few changes to show a lower mean", (), counts)
    if group is not None and verdict.slice is None:  # the figures of a slice are about all its topics
        lost = f"{sentences.number_of_members(verdict, group)} of {group.tagged} lost"
        return _Line("{}={} queries got worse", (group.tag, group.value), [lost, mean, tolerated])
    if len(topics) == 1:
        return _Line("{} got worse", (topics[0].topic,), [_fall(topics[0]), *counts])
    if heaviest is not None:
        whole = f"{share(heaviest.share or 0.0)} of the loss"
        return _Line("{} got much worse", (heaviest.topic,), [_fall(heaviest), whole, *counts])
    if verdict.slice is not None and topics:
        return _Line("{} queries got worse", (verdict.slice,), [*counts, mean])
    if verdict.pool is not None:
        return _Line("riskier than {}", (verdict.pool.decided_by,), [*counts, mean])
    if verdict.estimates.noise_urisk is not None:
        return _Line("worse than the baseline's own noise", (), [mean, *counts])
    if difference < 0 and (verdict.reason == "loss" or not verdict.topics.wins):
        means = _means(verdict)
        fell = (
            f"{_mean_name(verdict)} fell {means}" if means else f"{_mean_name(verdict)} fell by {_small(difference)}"
        )
        if _is_everywhere(verdict, topics, difference):
            every = "every query" if verdict.topics.losses == verdict.topics.count else "nearly every query"
            return _Line(f"{every} lost a little", (), [fell, tolerated])
        return _Line(fell, (), [*counts, tolerated])
    weighed = f"losses counted {times(verdict)}" if verdict.tradeoff == "linear" else "larger losses"
    return _Line(f"{weighed} outweigh gains", (), [*counts, mean])


def _fall(topic: ResponsibleTopic) -> str:
    return from_to(topic.baseline, topic.candidate)


def _is_everywhere(verdict: Verdict, topics: Sequence[ResponsibleTopic], difference: float) -> bool:
    """Whether nearly all queries lost a little, and none of them much more than the mean."""
    if -difference > _A_LITTLE * abs(verdict.estimates.baseline_mean or 0.0):
        return False
    worst = max((-topic.difference for topic in topics), default=0.0)
    return verdict.topics.losses >= _NEARLY_ALL * verdict.topics.count and worst <= -_ALIKE * difference


# ---- for tables and tools


def estimate(verdict: Verdict) -> str:
    """``URisk -0.39 [-0.65, -0.20]``; of a gate on single topics the worst fall, or how many lost more than they may.

    Empty where there are none.
    """
    if verdict.outcome == "incomparable":
        return ""
    shown = Shown(verdict)
    if shown.is_identical:
        return ""
    if verdict.asked.by_topic:
        return _largest(verdict)
    if shown.risk is None:
        return ""
    excess = "excess " if verdict.estimates.noise_urisk is not None else ""
    name = "GeoRisk difference" if verdict.asked.is_pool else f"{excess}URisk"
    name = "drift" if verdict.asked.looks_back and verdict.alpha == 0 else name
    interval = verdict.decisive_interval
    if interval is None:
        return f"{name} {signed(shown.risk, digits_of(verdict))}"
    digits = digits_of(verdict)
    return f"{name} {signed(shown.risk, digits)} {shown.limits(interval.lower, interval.upper, digits)}"


def _largest(verdict: Verdict) -> str:
    worst = Shown(verdict).worst
    if worst is None:
        return ""
    if may := Shown(verdict).may_collapse:
        return f"{verdict.estimates.collapsed} lost {more_than(verdict, limits_of(verdict))}, {may} may"
    if not worst.exceeds:
        return f"largest loss {size(worst.difference)}"
    allowed = {
        "max_loss": f"limit {as_given(verdict.max_loss or 0.0)}",
        "max_share": f"limit {percent(verdict.max_share or 0.0)}",
        "protected": "protected",
    }
    return f"{from_to(worst.baseline, worst.candidate)} ({allowed[worst.exceeds[0]]})"
