"""What a verdict says beside its answer: nothing here decides."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.decision import FEW_TOPICS, Decision, reaches, rule_for
from pytest_riskguard.gates.verdict import NAMES, Notice, Outcome
from pytest_riskguard.inference import cannot_fail
from pytest_riskguard.risk.paired import CHANGED


def notices(comparison: Comparison, outcome: Outcome, *, rescored: bool) -> tuple[Notice, ...]:
    """The warnings of a verdict, in a fixed order.

    ``rescored`` says that a stored baseline was scored anew.
    """
    found = list(_about_the_data(comparison, rescored=rescored))
    if comparison.enough_topics and comparison.decision is not None and comparison.plain is not None:
        found += _about_the_evidence(comparison, comparison.decision)
        found += _about_the_answer(comparison, comparison.decision, comparison.plain, outcome)
    return tuple(found)


def _about_the_data(comparison: Comparison, *, rescored: bool) -> Iterator[Notice]:
    aligned = comparison.aligned
    for who, missing in (("candidate", aligned.missing_in_candidate), ("baseline", aligned.missing_in_baseline)):
        if missing:
            text = f"the {who} did not answer {_topics(missing)} (they score 0): {', '.join(missing)}"
            yield Notice("missing_topics", text)
    if unknown := aligned.candidate.unknown:
        text = f"the candidate answers {_topics(unknown)} that nobody judged: {', '.join(unknown)}"
        yield Notice("unknown_topics", text)
    if rescored:
        yield Notice(
            "rescored",
            "judgements or scoring library changed since the baseline was stored: it was scored anew from its run",
        )


def _about_the_evidence(comparison: Comparison, decision: Decision) -> Iterator[Notice]:
    student = next(i for i in decision.intervals if i.method == "student_t")
    if comparison.changed == 0:
        yield Notice("no_variation", "no topic changed: both systems score the same everywhere")
    elif student.lower == student.upper:
        yield Notice("no_variation", "every topic changed by the same amount: the mean alone decides")
    if comparison.few_changes and comparison.changed > 0:
        yield Notice("few_changed_topics", _few_changes(comparison))
    if comparison.n < FEW_TOPICS:
        text = f"only {comparison.n} topics: below {FEW_TOPICS} every interval covers less than it says"
        if comparison.gate.method == "auto" and not comparison.few_changes and student.lower < student.upper:
            text += ", so BCa and Student-t must both pass"
        yield Notice("few_topics", text)


def _about_the_answer(
    comparison: Comparison, decision: Decision, plain: Decision, outcome: Outcome
) -> Iterator[Notice]:
    if outcome == "pass" and not decision.passes:
        yield Notice("churn", "fails at this alpha only because losses weigh more; on_churn: warn lets it through")
    if disagreement := _disagreement(comparison, decision):
        yield Notice("methods_disagree", disagreement)
    rule = rule_for(comparison.gate, n_topics=comparison.n, n_changed=comparison.changed)
    better = all(interval.lower > 0 for interval in plain.intervals if interval.method in rule.witnesses)
    if outcome == "pass" and decision.passes and better and not comparison.few_changes:
        yield Notice(
            "refresh_baseline",
            f"the candidate is significantly better (mean {comparison.mean_difference:+.4f}): once it is released, "
            "store it as the baseline",
        )


def _disagreement(comparison: Comparison, decision: Decision) -> str | None:
    """What Student-t says where the gate's own method says the opposite."""
    own = "bca" if comparison.gate.method == "auto" else comparison.gate.method
    upper = {i.method: i.upper for i in decision.intervals}
    says = {m: reaches(upper[m], comparison.gate.tolerance) for m in (own, "student_t")}
    if says[own] == says["student_t"]:
        return None
    word = {True: "passes", False: "fails"}
    return (
        f"by Student-t it {word[says['student_t']]} (upper limit {upper['student_t']:+.3g}), by {NAMES[own]} it "
        f"{word[says[own]]} ({upper[own]:+.3g}); {NAMES[decision.decisive]} decided"
    )


def _few_changes(comparison: Comparison) -> str:
    moved = [
        topic
        for topic, difference in zip(comparison.aligned.candidate.topics, comparison.differences, strict=True)
        if abs(difference) > CHANGED
    ]
    text = f"only {comparison.changed} of {comparison.n} topics changed ({', '.join(moved)})"
    if comparison.gate.method != "student_t":
        text += ": the gate fails only if Student-t agrees"
    if cannot_fail(comparison.changed, comparison.n, level=comparison.gate.level):
        text += f"; with {comparison.changed} changed topics it cannot fail"
    return text


def _topics(topics: tuple[str, ...]) -> str:
    return f"{len(topics)} {'topic' if len(topics) == 1 else 'topics'}"
