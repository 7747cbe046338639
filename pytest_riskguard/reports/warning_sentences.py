"""What the warnings of a verdict say, and the verdict with its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pytest_riskguard.gates.verdict import FIRST_WARNINGS, Findings, Verdict, VerdictWarning
from pytest_riskguard.gates.warning_codes import SAID
from pytest_riskguard.reports.details import figures
from pytest_riskguard.reports.words import METHODS, line, paragraph
from pytest_riskguard.text import clean, counted, named, percent, probability

__all__ = ["worded"]


def worded(verdict: Verdict) -> Verdict:
    """The verdict with its texts. Call this once, when the verdict is complete.

    Warnings about inputs that a reader must see come first. A warning that already has a message keeps it: one read
    from a report has no parameters to make a message from. The summary is always rewritten; an incomparable verdict
    has none.
    """
    return verdict.with_findings(lambda findings: _worded(verdict, findings))


def _worded(verdict: Verdict, findings: Findings) -> Findings:
    warnings = tuple(
        warning if warning.message else replace(warning, message=message(verdict, warning))
        for warning in sorted(findings.warnings, key=lambda warning: warning.code not in FIRST_WARNINGS)
    )
    findings = replace(findings, warnings=warnings, figures=tuple(figures(verdict)))
    if verdict.outcome == "incomparable":
        return findings
    summary = f"{line(verdict)}. {paragraph(verdict)}"
    return replace(findings, summary=summary)


def message(verdict: Verdict, warning: VerdictWarning) -> str:
    """What the warning says, as one sentence without a full stop; ``SAID`` has those that parameters alone say."""
    parameters = dict(warning.parameters)
    about = str(parameters.pop("about", warning.code))  # what a code that stands for several is about
    if (template := SAID.get(about)) is None:
        return _MESSAGES[about](verdict, **parameters)
    texts: dict[str, Any] = {}
    for name, value in parameters.items():
        texts[name] = value
        if isinstance(value, list | tuple):
            texts |= {
                name: named(value),
                f"{name}_number": len(value),
                f"{name}_counted": counted(len(value), "topic"),
            }
    return template.format(**texts)


def _rescored(verdict: Verdict, *, means: Sequence[tuple[str, float, float]] = ()) -> str:
    baseline = "the baseline" if verdict.pool is None else "a baseline"
    moved = "; ".join(f"mean of {clean(name)} {before:.4f} when stored, {now:.4f} now" for name, before, now in means)
    return (
        f"the judgements or the scoring library changed since {baseline} was stored, so its run was scored again"
        f"{f' ({moved})' if moved else ''}"
    )


def _topics_changed(_: Verdict, *, systems: Sequence[str]) -> str:
    baseline = systems[0].partition("/")[0]
    return (
        f"the topics file has changed since {baseline} was stored, and this gate is about a slice by its tags; once "
        "they are reviewed, rescore the baseline"
    )


def _few_effective_topics(
    verdict: Verdict, *, effective: float, clusters: int = 0, strata: int = 0, needed: int | None = None
) -> str:
    cause = "strata" if strata else "sizes" if clusters and not verdict.weighted else "weights"
    text = f"the {cause} make {_units(verdict)} count like {effective:.3g} of equal weight"
    return text if needed is None else f"{text}; at least {needed} are needed"


def _no_variation(verdict: Verdict, *, reference: str | None = None) -> str:
    if reference is not None:
        return f"no topic differs from {reference}"
    if verdict.topics.changed:
        return "every topic changed by the same amount, apart from rounding: the mean alone decides"
    return "no topic changed: both systems score the same everywhere"


def _unseen_changes(verdict: Verdict, *, change: Literal["loss", "win"], share: float, size: float) -> str:
    verb, plural = ("lost", "losses") if change == "loss" else ("gained", "gains")
    level = verdict.level if verdict.family is None else verdict.family.level
    return (
        f"no query {verb} {size:.2g} or more, but at level {percent(level)} (one-sided {percent((1 - level) / 2)}) "
        f"{plural} as large in up to {100 * share:.2g}% of queries cannot be excluded, and would overturn this pass"
    )


def _few_changed_topics(
    verdict: Verdict,
    *,
    topics: Sequence[str],
    needs_student_t: bool = False,
    reference: str | None = None,
    cannot_fail: bool = False,
) -> str:
    of_all, names = f"only {len(topics)} of {verdict.topics.count} topics", named(topics)
    if reference is not None:
        return f"{of_all} differ from {reference} ({names})"
    text = f"{of_all} changed ({names})"
    if needs_student_t:
        text += f": the gate {'passes' if verdict.asked.must_show else 'fails'} only if Student-t agrees"
    return f"{text}; with {counted(len(topics), 'changed topic')} it cannot fail" if cannot_fail else text


def _cannot_fail(verdict: Verdict, *, mean: float, most: float, above: int) -> str:
    return (
        f"no candidate can fail this gate, not even one that scores 0 on every topic: {verdict.baselines[0]} scores "
        f"above 0 on {above} of {counted(verdict.topics.count, 'topic')}, {mean:.4g} on average and {most:.4g} at "
        "most; choose another measure, or a smaller tolerance, level or limit"
    )


def _units(verdict: Verdict) -> str:
    """What varies independently: topics, or clusters of them."""
    clusters = verdict.topics.clusters
    return f"{clusters} clusters of topics" if clusters else f"{verdict.topics.count} topics"


def _few_topics(verdict: Verdict, *, enough: int | None = None) -> str:
    text = f"only {_units(verdict)}"
    if enough is None:
        return f"{text}: with so few, gates on GeoRisk fail more harmless changes than their level allows"
    return f"{text}: below {enough}, every interval covers less than its nominal level"


def _methods_disagree(
    _verdict: Verdict,
    *,
    method: str,
    limit: float,
    student_t_limit: float,
    student_t_passes: bool,
    decisive: str,
    break_even_p_value: float | None = None,
) -> str:
    student_t, other = ("passes", "fails") if student_t_passes else ("fails", "passes")
    agrees = ""
    if break_even_p_value is not None:
        agrees = f", with which the break-even test agrees (p {probability(break_even_p_value)})"
    return (
        f"by Student-t it {student_t} (limit {student_t_limit:+.3g}), by {METHODS[method]} it {other} (limit "
        f"{limit:+.3g}); {METHODS[decisive]} decided{agrees}"
    )


def _slow_slide(verdict: Verdict) -> str:
    lineage = verdict.lineage
    assert lineage is not None
    oldest, newest = lineage.runs[0], lineage.runs[-1]
    return (
        f"passes against {verdict.baselines[0]}, but the mean is significantly below that of {oldest.run}, "
        f"{counted(lineage.accepted, 'accepted change')} ago: {lineage.in_total:+.4f} in total, "
        f"URisk {newest.urisk:+.4f}; store that run as a baseline of its own and compare with both "
        "(baselines: [...])"
    )


_MESSAGES: dict[str, Callable[..., str]] = {
    "rescored": _rescored,
    "topics_changed": _topics_changed,
    "few_effective_topics": _few_effective_topics,
    "no_variation": _no_variation,
    "unseen_changes": _unseen_changes,
    "few_changed_topics": _few_changed_topics,
    "few_topics": _few_topics,
    "cannot_fail": _cannot_fail,
    "methods_disagree": _methods_disagree,
    "slow_slide": _slow_slide,
}
