"""A verdict in one line of at most 80 columns: what happened, without figures, and the figures that decided."""

from __future__ import annotations

from pytest_riskguard.gates.findings import ROUNDING_ERROR
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.wording import groups
from pytest_riskguard.reports.wording.numbers import decimals, from_to, size
from pytest_riskguard.text import clean, fitted, percent, plain, short

#: Columns of a headline with its figures.
MAX_COLUMNS = 80
#: A name is never cut to fewer characters.
_MIN_NAME = 8
#: What is wrong with data that cannot be compared.
_REASONS = {
    "bad_run": "a run cannot be used",
    "bad_qrels": "the judgements cannot be used",
    "bad_topics": "the topics file cannot be used",
    "bad_strata": "the topics do not fit the strata",
    "bad_scores": "the scores cannot be used",
    "bad_baseline": "the baseline cannot be used",
    "missing_input": "something is missing",
    "topics_differ": "the queries differ",
    "no_common_topic": "no queries to judge",
    "ids_do_not_match": "the run's documents are not the judged ones",
    "stale_labels": "judged documents no longer exist",
    "order_as_written": "the run has many equal scores",
    "inputs_changed": "an input changed while it was read",
    "cannot_fail": "no candidate could fail this gate",
}


def headline(verdict: Verdict) -> str:
    """What happened, for a line that goes on with a colon and ``figures``."""
    room = MAX_COLUMNS - len(figures(verdict)) - 2
    template, names = _template(verdict)
    if not names:
        return template
    each = max((room - len(template.format(*[""] * len(names)))) // len(names), _MIN_NAME)
    return template.format(*(fitted(clean(name), each) for name in names))


def _template(verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    """The headline with a place for each name of other people's."""
    shown = Shown(verdict)
    if verdict.outcome == "incomparable":
        return f"cannot be compared: {_REASONS.get(verdict.reason or '', 'the data do not allow it')}", ()
    if verdict.outcome == "inconclusive":
        return _undecided(verdict), ()
    if verdict.reason == "too_slow":
        return "too slow", ()
    if shown.is_identical:
        return "identical to {}", (shown.opponent,)
    if verdict.asked.by_topic:
        return _collapse(verdict)
    if verdict.outcome == "pass" and not shown.is_churn:
        return _passed(verdict)
    return _risky(verdict)


def _undecided(verdict: Verdict) -> str:
    if verdict.reason == "too_few_topics":
        return "too few queries to judge"
    if verdict.reason == "too_few_changes":
        return "too few queries changed to show anything"
    return "too little GeoRisk to compare" if Shown(verdict).has("georisk_vanishes") else "too weak to judge"


def _collapse(verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    topics = groups.lost_topics(verdict)
    if not topics:
        return "no query collapsed", ()
    if len(topics) == 1:
        return "{} collapsed", (topics[0].topic,)
    if len(topics) == 2:
        return "{} and {} collapsed", (topics[0].topic, topics[1].topic)
    return f"{{}} and {groups.number_lost(verdict) - 1} other queries collapsed", (topics[0].topic,)


def _passed(verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    shown = Shown(verdict)
    if not verdict.topics.changed:
        return "nothing changed", ()
    if shown.has("refresh_baseline"):
        # the warning is about the mean, which may rise although the losses weigh too much for URisk
        limits = verdict.decisive_interval
        is_better = limits is None or limits.lower > 0
        return ("significantly better" if is_better else "the mean rose significantly"), ()
    if verdict.kind == "not_inferior":
        return "shown to be good enough", ()
    if verdict.kind == "equivalent":
        return "shown to be equivalent", ()
    if _is_tolerated(verdict):
        return ("tolerated drift" if verdict.asked.looks_back else "tolerated risk"), ()
    if verdict.asked.looks_back:
        return "no significant drift", ()
    if verdict.pool is not None and (shown.risk or 0.0) >= 0:
        return "no riskier than {}", (verdict.pool.decided_by,)
    return "no significant risk", ()


def _is_tolerated(verdict: Verdict) -> bool:
    """Whether only the tolerance lets the gate pass: without it, the interval would lie below the bound."""
    limit = Shown(verdict).deciding_limit
    return verdict.tolerance > 0 and limit is not None and limit < -ROUNDING_ERROR


def _risky(verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    """A failure, or churn that is allowed."""
    topics = groups.lost_topics(verdict)
    group, heaviest = groups.dominant_group(verdict), groups.heaviest(verdict, least=groups.MOST)
    if verdict.kind == "not_inferior":
        return "not shown to be good enough", ()
    if verdict.kind == "equivalent":
        return "not shown to be equivalent", ()
    if verdict.asked.looks_back:
        return "drifted since {}", (verdict.baselines[0],)
    if group is not None and verdict.slice is None:  # the figures of a slice are about all its topics
        return "{}={} queries got worse", (group.tag, group.value)
    if len(topics) == 1:
        return "{} got worse", (topics[0].topic,)
    if heaviest is not None:
        return "{} got much worse", (heaviest.topic,)
    if verdict.slice is not None and topics:
        return "{} queries got worse", (verdict.slice,)
    if verdict.pool is not None:
        return "riskier than {}", (verdict.pool.decided_by,)
    if verdict.estimates.noise_urisk is not None:
        return "worse than the baseline's own noise", ()
    if (verdict.estimates.mean_difference or 0.0) < 0 and (verdict.reason == "loss" or not verdict.topics.wins):
        return "the weighted mean fell" if verdict.weighted else "the mean fell", ()
    return ("losses outweigh wins", ()) if topics else ("significantly risky", ())


def figures(verdict: Verdict) -> str:
    """``URisk -0.39 [-0.65, -0.20]``; of a gate on single topics the worst fall. Empty where there are none."""
    if verdict.outcome == "incomparable":
        return ""
    shown = Shown(verdict)
    if shown.is_identical:
        return ""
    if verdict.asked.by_topic:
        return _fall(verdict)
    if shown.risk is None:
        return ""
    excess = "excess " if verdict.estimates.noise_urisk is not None else ""
    name = f"GeoRisk{shown.suffix} difference" if verdict.asked.is_pool else f"{excess}URisk{shown.suffix}"
    name = f"drift{shown.suffix}" if verdict.asked.looks_back and verdict.alpha == 0 else name
    interval = verdict.decisive_interval
    if interval is None:
        return f"{name} {shown.value(shown.risk, digits_of(verdict))}"
    digits = digits_of(verdict)
    return f"{name} {shown.value(shown.risk, digits)} {shown.limits(interval.lower, interval.upper, digits)}"


def digits_of(verdict: Verdict) -> int:
    """The decimals of the risk and its limits: enough to tell them from 0 and from the bound."""
    risk, interval = Shown(verdict).risk or 0.0, verdict.decisive_interval
    if interval is None:
        return decimals([risk])
    limits = (interval.lower, interval.upper)
    bounds = (0.0 - verdict.tolerance, verdict.tolerance)[: 2 if verdict.asked.side == "both" else 1]
    apart = [(limit, bound) for limit in limits for bound in bounds]
    return decimals((risk, *limits, *bounds), apart=apart)


def _limit(loss: float) -> str:
    """As a person gave it, with at least two decimals: ``0.50``, ``0.125``."""
    return plain(loss, 2) if loss == round(loss, 2) else short(loss)


def _fall(verdict: Verdict) -> str:
    worst = Shown(verdict).worst
    if worst is None:
        return ""
    if not worst.exceeds:
        return f"largest loss {size(worst.difference)}"
    allowed = {
        "max_loss": f"limit {_limit(verdict.max_loss or 0.0)}",
        "max_share": f"limit {percent(verdict.max_share or 0.0)}",
        "protected": "protected",
    }
    return f"{from_to(worst.baseline, worst.candidate)} ({allowed[worst.exceeds[0]]})"
