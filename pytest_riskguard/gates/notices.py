"""What a verdict says beside its answer: nothing here decides."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.ruling import FEW_TOPICS, limit_of, margin_of, own_method
from pytest_riskguard.gates.verdict import NAMES, Notice, Outcome

#: Intervals that take the law of the mean for Student's.
PARAMETRIC = ("student_t",)
#: From this many topics on the paper finds parametric and nonparametric intervals alike (ADCS 2019).
ENOUGH_FOR_STUDENT = 250
#: With fewer changed topics an interval that decides alone fails harmless changes more often than it says.
ENOUGH_CHANGES = 25


def notices(comparison: Comparison, outcome: Outcome, *, rescored: bool) -> tuple[Notice, ...]:
    """The warnings of a verdict, in a fixed order.

    ``rescored`` says that a stored baseline was scored anew.
    """
    found = list(_about_the_data(comparison, rescored=rescored))
    found += _about_the_weights(comparison)
    if comparison.ruling.has_intervals and comparison.ruling.enough_topics:
        found += _about_the_evidence(comparison)
        found += _about_the_answer(comparison, outcome)
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


def _about_the_weights(comparison: Comparison) -> Iterator[Notice]:
    evidence = comparison.evidence
    if not evidence.uneven or comparison.gate.kind == "no_topic_collapse":
        return
    text = f"the weights make {comparison.n} topics count like {evidence.effective:.3g} of equal weight"
    if evidence.effective < MIN_TOPICS <= comparison.n:
        yield Notice("few_effective_topics", f"{text}: fewer than {MIN_TOPICS} are not judged")
    elif comparison.ruling.enough_topics:
        verb = "passes" if comparison.gate.kind == "not_inferior" else "fails"
        agree = "" if own_method(comparison.gate) == "student_t" else f": the gate {verb} only if Student-t agrees"
        yield Notice("few_effective_topics", text + agree)


def _about_the_evidence(comparison: Comparison) -> Iterator[Notice]:
    ruling = comparison.ruling
    student = ruling.interval("student_t")
    flat = student.lower == student.upper
    if comparison.changed == 0:
        yield Notice("no_variation", _nothing_changed(comparison))
    elif flat:
        text = "every topic changed by the same amount, but for rounding: the mean alone decides"
        yield Notice("no_variation", text)
    if ruling.few_changes and comparison.changed > 0:
        yield Notice("few_changed_topics", _few_changes(comparison))
    if comparison.n < FEW_TOPICS:
        text = f"only {comparison.n} topics: below {FEW_TOPICS} every interval covers less than it says"
        if comparison.gate.method == "auto" and not ruling.few_changes and not flat:
            text += ", so BCa and Student-t must both pass"
        yield Notice("few_topics", text)
    if comparison.gate.method in PARAMETRIC and comparison.n < ENOUGH_FOR_STUDENT and not flat:
        yield Notice(
            "parametric_interval",
            f"{NAMES[comparison.gate.method]} takes the mean of {comparison.n} topics for all but normal; below "
            f"about {ENOUGH_FOR_STUDENT} topics a nonparametric interval is the safer choice (method: auto)",
        )


def _about_the_answer(comparison: Comparison, outcome: Outcome) -> Iterator[Notice]:
    ruling = comparison.ruling
    if ruling.passes and not ruling.holds:
        side = "shown to be no loss" if comparison.gate.kind == "not_inferior" else "free of a significant loss"
        yield Notice(
            "loss_within_noise",
            f"at this alpha the baseline's own noise outweighs it, but the mean itself, less that of the replicates, "
            f"is not {side}; a loss that counts more cannot make up for that",
        )
    if outcome == "fail" and not ruling.passes and _alone(comparison):
        yield Notice(
            "sparse_changes",
            f"only {comparison.changed} of {comparison.n} topics changed: with so few, intervals other than "
            "Student-t's fail a harmless change more often than their level says, up to four times as often",
        )
    if outcome == "pass" and not ruling.passes:
        yield Notice("churn", "fails at this alpha only because losses weigh more; on_churn: warn lets it through")
    if disagreement := _disagreement(comparison):
        yield Notice("methods_disagree", disagreement)
    better = all(ruling.plain.interval(method).lower > 0 for method in ruling.plain.rule.witnesses)
    if outcome == "pass" and ruling.passes and better and not ruling.few_changes:
        yield Notice(
            "refresh_baseline",
            f"the candidate is significantly better (mean {comparison.mean_difference:+.4f}): once it is released, "
            "store it as the baseline",
        )


def _disagreement(comparison: Comparison) -> str | None:
    """What Student-t says where the gate's own method says the opposite."""
    gate, ruling, own = comparison.gate, comparison.ruling, own_method(comparison.gate)
    limits = {method: limit_of(gate, ruling.interval(method)) for method in (own, "student_t")}
    says = {method: margin_of(gate, limit) >= 0 for method, limit in limits.items()}
    if says[own] == says["student_t"]:
        return None
    word = {True: "passes", False: "fails"}
    side = "lower" if gate.kind == "not_inferior" else "upper"
    return (
        f"by Student-t it {word[says['student_t']]} ({side} limit {limits['student_t']:+.3g}), by "
        f"{NAMES[own]} it {word[says[own]]} ({limits[own]:+.3g}); {NAMES[ruling.decisive]} decided"
    )


def _alone(comparison: Comparison) -> bool:
    """Whether on few changes an interval decided that Student-t does not bear out."""
    return (
        comparison.gate.kind == "not_significantly_risky"
        and comparison.changed < ENOUGH_CHANGES
        and not comparison.ruling.few_changes
        and not comparison.evidence.uneven
        and _disagreement(comparison) is not None
        and comparison.ruling.decisive != "student_t"
    )


def _nothing_changed(comparison: Comparison) -> str:
    text = "no topic changed: both systems score the same everywhere"
    if comparison.gate.kind != "not_inferior":
        return text
    # the largest share that none of n topics would show, at this confidence
    share = 1 - ((1 - comparison.gate.level) / 2) ** (1 / comparison.n)
    return f"{text}; of all topics there are up to {share:.2g} ({share:.0%}) may still change"


def _few_changes(comparison: Comparison) -> str:
    gate = comparison.gate
    topics = comparison.aligned.candidate.topics
    has_moved = comparison.evidence.moved(gate.alpha)
    moved = [topic for topic, changed in zip(topics, has_moved, strict=True) if changed]
    text = f"only {comparison.changed} of {comparison.n} topics changed ({', '.join(moved)})"
    if (effective := comparison.evidence.effective_changes(gate.alpha)) < comparison.changed:
        text += f", whose weights make them count like {effective}"
    if gate.kind == "not_inferior":
        return text if gate.method == "student_t" else f"{text}: the gate passes only if Student-t agrees"
    if gate.method != "student_t":
        text += ": the gate fails only if Student-t agrees"
    if comparison.ruling.cannot_fail:
        text += f"; with {comparison.changed} changed topics it cannot fail"
    return text


def _topics(topics: tuple[str, ...]) -> str:
    return f"{len(topics)} {'topic' if len(topics) == 1 else 'topics'}"
