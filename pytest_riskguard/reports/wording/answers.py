"""What a gate answered, in words: one function for each kind of question, and the phrases that sentences share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pytest_riskguard.gates.findings import ResponsibleTopic
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.risk.urisk import COUNTED
from pytest_riskguard.text import counted, sentence, signed

#: How many collapsed topics are named; the others are counted.
MAX_NAMED = 3
#: The longest name, of a topic, a tag or a system, that a sentence repeats whole.
MAX_NAME = 60


def answer(verdict: Verdict) -> str:
    """The outcome, and the figures it is based on."""
    where = "" if verdict.slice is None else f" on {line(verdict.slice)}"
    if verdict.outcome == "inconclusive":
        return f"Inconclusive{where}. {_undecided(verdict)} {_tally(verdict)}"
    word = "Fails" if verdict.outcome == "fail" else "Passes"
    if verdict.outcome == "pass" and Shown(verdict).has("churn"):
        word += " with a warning"
    shown = Shown(verdict)
    if shown.is_identical:
        return f"{word}{where}. The candidate is {shown.identical}: no ranking changed."
    return f"{word}{where}. {_ANSWERS[verdict.kind](verdict)}"


def _undecided(verdict: Verdict) -> str:
    if verdict.reason == "too_few_topics":
        if verdict.topics.count < MIN_TOPICS:
            few = "1 topic is" if verdict.topics.count == 1 else f"{verdict.topics.count} topics are"
            return f"{few} too few; at least {MIN_TOPICS} are needed."
        return f"The weights leave less evidence than {MIN_TOPICS} topics of equal weight."
    if Shown(verdict).has("georisk_vanishes"):
        return "At this alpha too little GeoRisk is left to compare."
    seen = verdict.power.minimum_detectable_effect
    if seen is None:
        return "Nothing significant was found, but this gate could not have detected any loss."
    return (
        f"Nothing significant was found, but the smallest detectable loss at 80% power is {size(seen)}, more than "
        "max_mde allows."
    )


def _tally(verdict: Verdict) -> str:
    """Wins and losses, without comment."""
    topics, against = verdict.topics, ""
    if verdict.pool is not None:
        against = f" against {opponent(verdict)}"
    if topics.wins == topics.losses == 0:
        return (
            f"No score changed by more than 0.000001{against}." if topics.changed else f"No score changed{against}."
        )
    return f"{topics.losses} of {counted(topics.count, 'topic')} lost and {topics.wins} won{against}."


def _balance(verdict: Verdict, value: float) -> str:
    """Losses against wins, the heavier side first; ``value`` is positive if the wins are heavier."""
    topics, by_weight = verdict.topics, "by weight, " if verdict.weighted else ""
    losses = f"losses on {topics.losses}"
    wins = f"wins on {topics.wins}"
    of = f" of {counted(topics.count, 'topic')}"
    if topics.wins == topics.losses == 0:
        return "no score changed by more than 0.000001" if topics.changed else "no score changed"
    if topics.losses == 0:
        return f"{wins}{of}, and no loss"
    if topics.wins == 0:
        return f"{losses}{of}, and no win"
    if abs(value) <= ROUNDING_ERROR:
        return f"{by_weight}losses on {topics.losses}{of}{times(verdict)} balance {wins}"
    if value < 0:
        return f"{by_weight}{losses}{of}{times(verdict)} outweigh {wins}"
    return f"{by_weight}{wins}{of} outweigh {losses}{times(verdict).rstrip(',')}"


def _risky(verdict: Verdict) -> str:
    estimate, noise = verdict.estimates.urisk or 0.0, verdict.estimates.noise_urisk
    text = _balance(verdict, estimate + (noise or 0.0))
    shown, churn = Shown(verdict), Shown(verdict).is_churn
    if noise is not None:
        return sentence(f"{text}. {_beyond_noise(verdict, estimate, noise)}{_plain(verdict, churn=churn)}")
    if verdict.outcome == "fail" and estimate >= 0:  # an interval that does not contain its own estimate
        return sentence(f"{text}, but the interval still lies below the bound")
    if verdict.topics.losses == 0 or estimate >= 0:
        if verdict.outcome == "fail":
            text += f", but {risk_name(verdict)} is {shown.value(estimate)}, which is significantly risky"
        return sentence(text)
    tolerated = f"more than the tolerated {size(verdict.tolerance)}" if verdict.tolerance > 0 else ""
    if verdict.outcome == "pass" and not churn:
        return sentence(f"{text}, but the risk is not significant{tolerated and f'ly {tolerated}'}")
    if tolerated:
        text += f", by significantly {tolerated}"
    return sentence(text + _plain(verdict, churn=churn))


def _plain(verdict: Verdict, *, churn: bool) -> str:
    """What the gate would say at alpha 0, where that differs from the question asked."""
    # Only such gates say how many times a loss counts.
    is_known = verdict.asked.is_tested and not verdict.asked.is_pool and verdict.tradeoff == "linear"
    condition = f"if losses counted {'once' if is_known else 'no more than wins'},"
    if churn:
        allowed = ", and churn is allowed" if verdict.outcome == "pass" else ""
        return f"; {condition} it would pass{allowed}"
    if verdict.outcome == "fail" and verdict.alpha > 0:
        return f"; {condition} it would also fail"
    return ""


def _beyond_noise(verdict: Verdict, estimate: float, noise: float) -> str:
    """URisk compared with that of the baseline's replicates."""
    shown, side = Shown(verdict), "worse" if estimate < 0 else "better"
    replicates = f"the baseline's own {counted(verdict.replicates, 'replicate')}"
    if abs(estimate) <= ROUNDING_ERROR:
        return f"{risk_name(verdict)} is {shown.value(noise)}, the same as for {replicates}"
    text = (
        f"{risk_name(verdict)} is {shown.value(estimate + noise)}, against {shown.value(noise)} for {replicates}: "
        f"{side} by {size(estimate)}"
    )
    if estimate < 0:
        text += _significantly(verdict)
    return text


def _significantly(verdict: Verdict) -> str:
    return ", significantly" if verdict.outcome == "fail" or Shown(verdict).is_churn else ", not significantly"


def _not_inferior(verdict: Verdict) -> str:
    interval = verdict.decisive_interval
    if interval is None:
        return _tally(verdict)
    plain = verdict.alpha == 0 and verdict.estimates.noise_urisk is None
    minus = verdict.convention == "minus" and not plain
    name = f"the {'weighted ' * verdict.weighted}mean difference" if plain else risk_name(verdict)
    bound, lowest = (
        signed(value) if plain else Shown(verdict).value(value) for value in (0.0 - verdict.tolerance, interval.lower)
    )
    side, end = ("below", "most") if minus else ("above", "least")
    if verdict.outcome == "pass":
        return f"{sentence(f'{name} is shown to be {side} {bound}: it is at {end} {lowest}')} {_tally(verdict)}"
    far = "high" if minus else "low"
    text = f"{name} is not shown to be {side} {bound}: it may be as {far} as {lowest}"
    return f"{sentence(text)} {_tally(verdict)}"


def _collapse(verdict: Verdict) -> str:
    collapsed, n = lost_topics(verdict), counted(verdict.topics.count, "topic")
    if collapsed:
        falls = [_fall(topic) for topic in collapsed[:MAX_NAMED]]
        more = len(collapsed) - MAX_NAMED
        named = row(falls) if more <= 0 else f"{', '.join(falls)} and {counted(more, 'other')}"
        return f"{len(collapsed)} of {n} lost more than allowed: {named}."
    if not verdict.topics.losses:
        return f"None of {n} lost." if verdict.topics.count != 1 else "The only topic did not lose."
    worst = min(verdict.responsible_topics, key=lambda topic: round(topic.difference, 12))
    losses = counted(verdict.topics.losses, "loss", "losses")
    return f"None of {n} lost more than allowed; the largest of {losses} is {_fall(worst)}."


def _fall(topic: ResponsibleTopic) -> str:
    return f"{line(topic.topic)} by {size(topic.difference)}"


def _georisk(verdict: Verdict) -> str:
    if verdict.pool is None:
        return _tally(verdict)
    difference, against = verdict.estimates.georisk_difference or 0.0, opponent(verdict)
    churn = Shown(verdict).is_churn
    if difference == 0:
        text = f"by GeoRisk the candidate is as risky as {against}"
    else:
        side = "riskier" if difference < 0 else "less risky"
        text = f"by GeoRisk the candidate is {size(difference)} {side} than {against}"
    if difference < 0:
        text += _significantly(verdict)
        if verdict.tolerance > 0:
            text += f" more than the tolerated {size(verdict.tolerance)}"
    failed = sum(not comparison.passes for comparison in verdict.pool.references)
    if verdict.outcome == "fail" and len(verdict.pool.references) > 1:
        text += f" (riskier than {failed} of {len(verdict.pool.references)} references)"
    return f"{sentence(text + _plain(verdict, churn=churn))} {_tally(verdict)}"


def line(text: str) -> str:
    """Other people's text on one line, short enough for a sentence; reports escape it."""
    joined = " ".join(text.split())
    return joined if len(joined) <= MAX_NAME else joined[: MAX_NAME - 1] + "…"


def row(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *others, final = (line(name) for name in names)
    return f"{', '.join(others)} and {final}" if others else final


def size(value: float) -> str:
    """How large a number is, without its sign: four decimals, or powers of ten where decimals would not show it."""
    value = abs(value)
    if not math.isfinite(value):
        return "undefined"
    return f"{value:.1e}" if value >= 1e9 or 0 < value < 0.00005 else f"{value:.4f}"


def percent(share: float) -> str:
    """A share in whole percent; 0% and 100% only where they are exact."""
    rounded = round(100 * share)
    if rounded == 100 and share < 1 - ROUNDING_ERROR:
        return "over 99%"
    return "under 1%" if rounded == 0 and share > 0 else f"{rounded}%"


def lost_topics(verdict: Verdict) -> tuple[ResponsibleTopic, ...]:
    """The topics that an answer counts: those that lost, or for a gate on single topics those that collapsed."""
    if verdict.asked.by_topic:
        return Shown(verdict).collapsed
    return tuple(topic for topic in verdict.responsible_topics if topic.difference < -COUNTED)


def times(verdict: Verdict) -> str:
    """How losses count, as a clause between commas; empty where they count as wins do."""
    if verdict.tradeoff == "smooth":
        return ", larger ones counted more,"
    if verdict.alpha == 0:
        return ""
    return ", each counted twice," if verdict.alpha == 1 else f", each counted {1 + verdict.alpha:.12g} times,"


def opponent(verdict: Verdict) -> str:
    """What the candidate of a pool was compared with."""
    name = verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by
    return line(name) if name in verdict.baselines else f"the {line(name)} baseline"


def risk_name(verdict: Verdict) -> str:
    """The name of URisk in the verdict's convention."""
    return f"URisk{Shown(verdict).suffix}"


_ANSWERS: dict[str, Callable[[Verdict], str]] = {
    "not_significantly_risky": _risky,
    "not_inferior": _not_inferior,
    "no_topic_collapse": _collapse,
    "georisk_not_worse": _georisk,
}
