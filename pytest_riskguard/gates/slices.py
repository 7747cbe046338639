"""The comparison on part of the topics: those that carry one value of a tag."""

from __future__ import annotations

from dataclasses import replace

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import enough_topics, rule_of
from pytest_riskguard.gates.evidence import BoolArray, Evidence
from pytest_riskguard.gates.explanation import Slice
from pytest_riskguard.gates.groups import Tagged
from pytest_riskguard.gates.significance import p_value_of
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.inference import holm, interval
from pytest_riskguard.risk import counts


def slices(comparison: Comparison, tags: tuple[Tagged, ...], *, flagged: BoolArray) -> tuple[Slice, ...]:
    """The gate's question about the topics of each value, as if there were no others.

    Each slice has its interval by the rule for its own number of topics and changes, with its own weights and the
    replicates' noise on its own topics. What is tested is always a loss: whether the slice is significantly below
    ``-tolerance``, for ``not_inferior`` too, where the gate itself asks for evidence of the contrary. A gate that
    asks about single topics tests no mean, so its slices have estimates only.

    Parameters
    ----------
    comparison : Comparison
    tags : tuple of Tagged
        By tag, then value.
    flagged : array of bool, shape (n_topics,)
        Topics that TR_i flags among all topics.
    """
    gate = replace(comparison.gate, kind="not_significantly_risky") if _tests(comparison.gate) else None
    found = [_slice(comparison, each, gate, flagged) for each in tags]
    p_values = {place: each.p_value for place, each in enumerate(found) if each.p_value is not None}
    if p_values:
        for place, adjusted in zip(p_values, holm(list(p_values.values())).tolist(), strict=True):
            risky = adjusted <= 1 - comparison.gate.level
            found[place] = replace(found[place], adjusted_p_value=adjusted, risky=risky)
    return tuple(found)


def _tests(gate: Gate) -> bool:
    return gate.kind != "no_topic_collapse"


def _slice(comparison: Comparison, each: Tagged, gate: Gate | None, flagged: BoolArray) -> Slice:
    evidence, aligned, alpha = comparison.evidence.only(each.places), comparison.aligned, comparison.gate.alpha
    ours, theirs = aligned.candidate.values[each.places], aligned.baseline.values[each.places]
    tally = counts(ours, theirs)
    lower, upper, p_value = _tested(gate, evidence) if gate is not None else (None, None, None)
    return Slice(
        tag=each.tag,
        value=each.value,
        count=evidence.n,
        changed=evidence.changed(alpha),
        wins=tally.wins,
        losses=tally.losses,
        candidate_mean=evidence.mean(ours),
        baseline_mean=evidence.mean(theirs),
        mean_difference=evidence.mean(evidence.differences),
        urisk=evidence.estimate(alpha),
        lower=lower,
        upper=upper,
        p_value=p_value,
        adjusted_p_value=None,
        risky=None,
        flagged=tuple(aligned.candidate.topics[int(i)] for i in each.places if flagged[i]),
    )


def _tested(gate: Gate, evidence: Evidence) -> tuple[float | None, float | None, float | None]:
    """Limits and p-value by the gate's rule; none for too few topics."""
    if not enough_topics(evidence):
        return None, None, None
    rule, x = rule_of(gate, evidence, alpha=gate.alpha), evidence.scores(gate.alpha)
    intervals = {method: interval(x, method=method, level=gate.level) for method in rule.witnesses}
    decisive = intervals[rule.decisive({method: found.upper for method, found in intervals.items()})]
    return decisive.lower, decisive.upper, p_value_of(gate, evidence)
