"""A verdict in words: the messages of its warnings and a summary, made only from its own figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from pytest_riskguard.gates.verdict import FIRST_WARNINGS, Findings, Verdict, VerdictWarning
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.shown import METHOD_NAMES
from pytest_riskguard.reports.wording.paragraph import paragraph
from pytest_riskguard.text import clean, counted, listed, named, percent, probability, short

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
    if findings.explanation is None:
        return findings
    return replace(findings, explanation=replace(findings.explanation, summary=paragraph(verdict)))


#: Messages that need only the parameters.
_TEMPLATES = {
    "churn": (
        "the mean itself (alpha 0, tolerance 0) is not significantly down; the gate would fail at this alpha only "
        "because losses weigh more, and on_churn: warn lets it pass"
    ),
    "significantly_better": "the candidate is significantly better (mean {mean_difference:+.4f})",
    "order_as_written": (
        "{system} has equal scores (trec_eval compares 32 bits), which are ranked by document id: {topics} topics "
        "score differently in the order as written, where the mean is {mean_as_written:.4f} instead of {mean:.4f}; "
        "give each rank its own score"
    ),
    "history_unusable": "the earlier runs of {baseline} cannot be read: {problem}",
}


def message(verdict: Verdict, warning: VerdictWarning) -> str:
    """What the warning says, as one sentence without a full stop."""
    parameters = dict(warning.parameters)
    about = str(parameters.pop("about", warning.code))  # what a code that stands for several is about
    if (template := _TEMPLATES.get(about)) is not None:
        return template.format(**parameters)
    return _MESSAGES[about](verdict, **parameters)


def _missing_topics(_: Verdict, *, system: str, topics: Sequence[str]) -> str:
    score = "it scores" if len(topics) == 1 else "they score"
    return f"{system} did not answer {counted(len(topics), 'topic')} ({score} 0): {named(topics)}"


def _free_wins(_: Verdict, *, system: str, topics: Sequence[str], count: int) -> str:
    return (
        f"{system} did not answer {len(topics)} of {counted(count, 'topic')} that the candidate answered, so any "
        f"answer counts as a win there: {listed(tuple(topics), most=5)}"
    )


def _unknown_topics(_: Verdict, *, topics: Sequence[str]) -> str:
    return f"the candidate answers {counted(len(topics), 'topic')} without judgements: {named(topics)}"


def _rank_contradicts_score(_: Verdict, *, system: str, topics: Sequence[str]) -> str:
    return (
        f"the scores of {system} do not fall with the rank in {counted(len(topics), 'topic')} "
        f"({listed(tuple(topics), most=5)}): run files are ranked by score, answers of a live search in the order "
        "returned"
    )


def _unstable_answers(
    _verdict: Verdict,
    *,
    asked: int,
    topics: Sequence[str],
    change: float,
    means: tuple[float, float],
    urisk: tuple[float, float] | None,
) -> str:
    effect = ""
    if urisk is not None:
        before, now = urisk
        effect = f"; with the second answers URisk is {now:+.4f} instead of {before:+.4f}"
    return (
        f"asked twice, the candidate answered {len(topics)} of {counted(asked, 'topic')} differently "
        f"({named(topics)}): their scores change by {change:.4f} on average, their mean from {means[0]:.4f} to "
        f"{means[1]:.4f}{effect}"
    )


def _rescored(verdict: Verdict, *, means: Sequence[tuple[str, float, float]] = ()) -> str:
    baseline = "the baseline" if verdict.pool is None else "a baseline"
    moved = "; ".join(f"mean of {clean(name)} {before:.4f} when stored, {now:.4f} now" for name, before, now in means)
    return (
        f"the judgements or the scoring library changed since {baseline} was stored, so its run was scored again"
        f"{f' ({moved})' if moved else ''}"
    )


def _unbacked_scores(_: Verdict, *, systems: Sequence[str]) -> str:
    names = f"{listed(tuple(systems), most=5)} {'was' if len(systems) == 1 else 'were'}"
    return f"{names} stored without the run (--no-run), so nothing backs the stored scores"


def _topics_changed(_: Verdict, *, systems: Sequence[str]) -> str:
    baseline = systems[0].partition("/")[0]
    return (
        f"the topics file has changed since {baseline} was stored, and this gate is about a slice by its tags; once "
        f"they are reviewed, run `riskguard baseline rescore {baseline}`"
    )


def _topics(topics: Sequence[str]) -> str:
    return f"{counted(len(topics), 'topic')} ({listed(tuple(topics), most=5)})"


def _stale_labels(_: Verdict, *, topics: Sequence[str], documents: int, file: str) -> str:
    verb = "is" if documents == 1 else "are"
    return (
        f"{counted(documents, 'relevant document')} of {_topics(topics)} {verb} no longer in "
        f"{clean(file, limit=200)}; the outcome does not depend on {'it' if len(topics) == 1 else 'them'}"
    )


def _few_effective_topics(
    verdict: Verdict,
    *,
    effective: float,
    clusters: int | None = None,
    strata: int | None = None,
    needed: int | None = None,
) -> str:
    text = f"the weights make {verdict.topics.count} topics count like {effective:.3g} of equal weight"
    if clusters is not None:
        sizes, equal = ("weights", "equal weight") if verdict.weighted else ("sizes", "equal size")
        text = f"by their {sizes}, {clusters} clusters of topics count like {effective:.3g} clusters of {equal}"
    if strata is not None:
        text = (
            f"drawn from {strata} strata as they are, {_units(verdict)} are worth as much as {effective:.3g} drawn "
            "from all queries"
        )
    return text if needed is None else f"{text}; at least {needed} are needed"


def _only_with_student_t(verdict: Verdict) -> str:
    return f"the gate {'passes' if verdict.asked.must_show else 'fails'} only if Student-t agrees"


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
        text += f": {_only_with_student_t(verdict)}"
    return f"{text}; with {counted(len(topics), 'changed topic')} it cannot fail" if cannot_fail else text


def _cannot_fail(verdict: Verdict, *, mean: float, most: float, above: int) -> str:
    baseline, n = verdict.baselines[0], verdict.topics.count
    if verdict.asked.by_topic:
        why = f"{baseline} scores {most:.4g} at most; choose smaller limits"
    elif 2 * above < n:
        why = f"{baseline} scores above 0 on only {counted(above, 'topic')} of {n}; choose another measure"
    else:
        why = f"{baseline} scores {mean:.4g} on average; choose another measure, or a smaller tolerance or level"
    return f"no candidate can fail this gate, not even one that scores 0 on every topic: {why}"


def _outweighed(_: Verdict, *, topics: Sequence[str], share: float) -> str:
    return (
        f"without weights the candidate would be significantly risky: the {counted(len(topics), 'topic')} that lost "
        f"have {100 * share:.2g}% of the weight ({named(topics)})"
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


def _loss_excused(_: Verdict, *, replicate: str, mean: float, baseline_mean: float) -> str:
    return (
        "without the replicates the mean would be significantly down; a loss as large as theirs counts as noise "
        f"(mean {baseline_mean:.4f} for the baseline, {mean:.4f} for {replicate}): make sure that each is a run of "
        "the baseline's own system"
    )


def _methods_disagree(
    verdict: Verdict,
    *,
    method: str,
    limit: float,
    student_t_limit: float,
    student_t_passes: bool,
    decisive: str,
    break_even_p_value: float | None = None,
) -> str:
    student_t, other = ("passes", "fails") if student_t_passes else ("fails", "passes")
    sides = [verdict.asked.side] * 2
    if verdict.asked.side == "both":
        sides = ["upper" if value > 0 else "lower" for value in (student_t_limit, limit)]
    other_side = "" if sides[1] == sides[0] else f"{sides[1]} limit "
    text = (
        f"by Student-t it {student_t} ({sides[0]} limit {student_t_limit:+.3g}), by "
        f"{METHOD_NAMES[method]} it {other} ({other_side}{limit:+.3g}); "
    )
    if break_even_p_value is None:
        return f"{text}{METHOD_NAMES[decisive]} decided"
    return f"{text}the break-even test agrees with {METHOD_NAMES[decisive]} (p {probability(break_even_p_value)})"


def _georisk_vanishes(verdict: Verdict, *, largest: float, largest_at_0: float) -> str:
    return (
        f"the largest GeoRisk of the pool is {largest:.2g} at alpha {short(verdict.alpha)} and "
        f"{largest_at_0:.2g} at alpha 0: losses weigh so much that too little is left to compare, so "
        "the gate does not pass; choose a smaller alpha"
    )


def _rests_on_unjudged(verdict: Verdict, *, documents: int) -> str:
    answer = "failure" if verdict.outcome == "fail" else "answer"
    return f"this {answer} rests on {counted(documents, 'unjudged document')}; judge-next lists those to judge first"


def _rests_on_judges(verdict: Verdict, *, judges: int, agree: int) -> str:
    answer = {"pass": "pass", "fail": "failure"}.get(verdict.outcome, "answer")
    return (
        f"the judges decide: {agree} of {judges} alone give this {answer}; have them agree on what is relevant, or "
        "judge again"
    )


def _slow_slide(verdict: Verdict) -> str:
    lineage = verdict.lineage
    if lineage is None:
        raise ValueError("expected a verdict with the earlier runs of its baseline, found none")
    oldest, newest = lineage.runs[0], lineage.runs[-1]
    return (
        f"passes against {verdict.baselines[0]}, but the mean is significantly below that of {oldest.run}, "
        f"{counted(lineage.accepted, 'accepted change')} ago: {lineage.in_total:+.4f} in total, "
        f"URisk {newest.urisk:+.4f}; store that run as a baseline of its own and compare with both "
        "(baselines: [...])"
    )


_MESSAGES: dict[str, Callable[..., str]] = {
    "missing_topics": _missing_topics,
    "free_wins": _free_wins,
    "unknown_topics": _unknown_topics,
    "unstable_answers": _unstable_answers,
    "rank_contradicts_score": _rank_contradicts_score,
    "rescored": _rescored,
    "unbacked_scores": _unbacked_scores,
    "topics_changed": _topics_changed,
    "stale_labels": _stale_labels,
    "few_effective_topics": _few_effective_topics,
    "no_variation": _no_variation,
    "unseen_changes": _unseen_changes,
    "few_changed_topics": _few_changed_topics,
    "few_topics": _few_topics,
    "outweighed": _outweighed,
    "cannot_fail": _cannot_fail,
    "loss_excused": _loss_excused,
    "methods_disagree": _methods_disagree,
    "georisk_vanishes": _georisk_vanishes,
    "rests_on_unjudged": _rests_on_unjudged,
    "rests_on_judges": _rests_on_judges,
    "slow_slide": _slow_slide,
}
