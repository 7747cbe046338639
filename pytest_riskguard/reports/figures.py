"""The figures of a verdict in sentences, which reports show under its headline."""

from __future__ import annotations

import math

from pytest_riskguard.gates.findings import (
    AgainstReference,
    Lineage,
    PoolFigures,
)
from pytest_riskguard.gates.rankings.label_findings import Judgements, LabelInterval
from pytest_riskguard.gates.verdict import FLIPS, POOL, Family, Verdict
from pytest_riskguard.gates.verdict import Yardstick as ComputedBaseline
from pytest_riskguard.reports.shown import MAX_NAME, OUTCOMES, Shown
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, short, signed

#: Intervals that are shown as well as the one that decided.
_REPORTED = ("student_t", "percentile", "bca")
#: What reports call corrections.
CORRECTIONS = {
    "holm": "Holm",
    "benjamini_hochberg": "Benjamini-Hochberg",
    POOL: "pooled Westfall-Young",
    FLIPS: "joint sign flips",
}
#: Names of systems that a line shows; others are counted.
_MAX_NAMED = 6


def figures(verdict: Verdict) -> list[str]:
    """One paragraph for each kind of figure; those that the verdict has already, if it was put into words."""
    if verdict.figures or verdict.outcome == "incomparable":
        return list(verdict.figures)
    shown, power = Shown(verdict), verdict.power.minimum_detectable_effect
    paragraphs = [
        _means(shown),
        verdict.yardstick and _computed_baseline(verdict.yardstick),
        verdict.lineage and _lineage(shown, verdict.lineage),
        *(_pool(shown, verdict.pool) if verdict.pool is not None else ()),
        _intervals(shown) if verdict.pool is not None else None,
        _noise(shown),
        _tests(shown),
        _asymmetry(shown),
        verdict.family and _family(verdict, verdict.family),
        _counts(verdict),
        _strata(shown),
        *(_labels(shown, verdict.judgements) if verdict.judgements is not None else ()),
        _detectable(shown, power) if verdict.outcome == "pass" and power else None,
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def _means(shown: Shown) -> str | None:
    verdict, estimates = shown.verdict, shown.verdict.estimates
    if estimates.mean_difference is None:
        return None
    return (
        f"{clean(verdict.candidate)} against {shown.opponent}: {'weighted ' * verdict.weighted}mean "
        f"{plain(estimates.baseline_mean)} -> {plain(estimates.candidate_mean)} ({signed(estimates.mean_difference)})"
    )


def _computed_baseline(baseline: ComputedBaseline) -> str:
    word = {"mean": "mean", "median": "median", "max": "best"}[baseline.kind]
    candidate = "including" if baseline.candidate_inside else "excluding"
    return (
        f"the baseline is computed topic by topic: the {word} of {listed(baseline.systems, most=10)}, {candidate} "
        "the candidate"
    )


def _lineage(shown: Shown, lineage: Lineage) -> str:
    means = listed(tuple(plain(run.mean) for run in lineage.runs), most=8)
    newest = lineage.runs[-1]
    return (
        f"{counted(lineage.accepted, 'accepted change')} since {clean(lineage.runs[0].run)}; means so far, candidate "
        f"last: {means}; in total {signed(lineage.in_total)}, URisk {signed(newest.urisk)} "
        f"{shown.limits(lineage.lower, lineage.upper)}"
    ).rstrip()


def _noise(shown: Shown) -> str | None:
    excess, noise = shown.verdict.estimates.urisk, shown.verdict.estimates.noise_urisk
    if noise is None or excess is None:
        return None
    return (
        f"URisk {signed(excess + noise)}, of which {signed(noise)} is the baseline's own noise (mean URisk "
        f"of its {counted(shown.verdict.replicates, 'replicate')} against it); the excess {signed(excess)} is "
        "judged"
    )


def _tests(shown: Shown) -> str | None:
    verdict, estimates = shown.verdict, shown.verdict.estimates
    if estimates.trisk is None or estimates.p_value is None or not verdict.intervals or verdict.pool is not None:
        return None
    one_sided = ""
    if estimates.break_even_p_value is not None:
        one_sided = f"one-sided: break-even p {probability(estimates.break_even_p_value)}; "
    return (
        f"TRisk {signed(estimates.trisk, 3)} (two-sided p {probability(estimates.p_value)}); "
        f"{one_sided}{_intervals(shown)}"
    )


def _asymmetry(shown: Shown) -> str | None:
    """How wins compare with losses in size, and how unequal they could be before a failure were chance."""
    estimates, said = shown.verdict.estimates, []
    if (ratio := estimates.win_loss_ratio) is not None:
        said.append(f"a mean win is {_times(ratio)} times a mean loss")
    if (largest := estimates.stands_up_to_ratio) is not None:
        said.append(f"the failure stands where harmless changes win up to {_times(largest)} times what they lose")
    return "; ".join(said) or None


def _times(ratio: float) -> str:
    """A ratio, rounded down, so that what is said to stand does."""
    if ratio < 0.1:
        return f"{ratio:.1g}"
    return f"{math.floor(ratio):,}" if ratio >= 100 else f"{math.floor(100 * ratio) / 100:.2f}"


def _intervals(shown: Shown) -> str:
    intervals = shown.verdict.intervals
    reported = [interval for interval in intervals if interval.decisive or interval.method in _REPORTED]
    return f"{percent(intervals[0].level)} intervals: {', '.join(map(shown.interval, reported))}"


def _family(verdict: Verdict, family: Family) -> str:
    instead = f" instead of {percent(verdict.level)}" if family.level != verdict.level else ""
    together, budget = "one look of many", ""
    if family.correction != "none":
        together = f"one of a family of {counted(family.size, 'gate')} ({CORRECTIONS[family.correction]})"
    if family.look is not None:
        of = "" if family.look.looks is None else f" of about {family.look.looks}"
        spent = f"may spend {percent(family.look.share)} of the budget"
        budget = f"; look {family.look.number}{of} at this collection {spent}"
    p_value = verdict.estimates.decision_p_value
    found = f"{together}: p {probability(p_value)}, adjusted {probability(family.adjusted_p_value)}"
    if family.draws:
        fails_alone = p_value is not None and p_value <= 1 - verdict.level < family.adjusted_p_value
        return f"{found}; judged alone it would fail" if fails_alone else found
    return f"{found}; judged at {percent(family.level)}{instead}{budget}"


def _counts(verdict: Verdict) -> str:
    topics = verdict.topics
    together = ""
    if topics.clusters:
        like = ""
        if topics.effective is not None:
            like = f", which say as much about this change as {topics.effective:.3g} independent topics"
            if topics.effective >= topics.count:
                like = ", which do not widen this interval"
        together = f"; {counted(topics.count, 'topic')} in {counted(topics.clusters, 'cluster')}{like}"
    return (
        f"{counted(topics.wins, 'win')}, {counted(topics.losses, 'loss', 'losses')}, {counted(topics.ties, 'tie')}"
        f"{together}"
    )


def _strata(shown: Shown) -> str | None:
    """What each stratum says on its own."""
    strata = shown.verdict.topics.strata
    if not strata:
        return None
    said = (f"{clean(name, limit=MAX_NAME)} {signed(urisk)}" for name, urisk in strata.items())
    return f"URisk of each stratum: {'; '.join(said)}"


def _detectable(shown: Shown, smallest: float) -> str:
    what = "mean loss" if shown.verdict.on_churn == "warn" else "URisk"
    if shown.verdict.pool is not None:
        what = "difference of GeoRisk" + (" at alpha 0" if shown.verdict.on_churn == "warn" else "")
    return f"smallest detectable {what} at 80% power: {signed(-smallest)}"


def _labels(shown: Shown, labels: Judgements) -> list[str]:
    """How many documents are unjudged, and what the verdict would be with other judges."""
    found = []
    if labels.candidate or labels.baseline:
        whose = f"{labels.candidate} of the candidate, {labels.baseline} of the baseline"
        found.append(f"unjudged documents in the first {labels.depth} ranks: {whose}")
    if (judges := labels.panels) is not None:
        said = f"judges: {judges.agreeing:.0%} of the panels that could have judged give this outcome"
        if judges.interval is not None:
            said += f"; with judges drawn at random {_drawn(shown, judges.interval)}"
        found.append(said)
    return found


def _drawn(shown: Shown, interval: LabelInterval) -> str:
    """An interval that labels widen, and what the gate would say of it."""
    urisk = f"{signed(interval.urisk)} {shown.limits(interval.lower, interval.upper)}"
    answer = OUTCOMES[interval.outcome] if interval.outcome else "fails unless it is churn"
    return f"URisk is {urisk}, which {answer}; labels are {interval.share:.0%} of the variance"


def floored(star: float) -> str:
    """alpha* rounded down, so that the alpha printed is one that passes."""
    if star > 1e9:  # such a number has no decimals to round, and times 1000 it may overflow
        return f"{star:.3g}"
    scaled = int(star * 1000) / 1000
    return f"{scaled:.3g}" if scaled < 1 else f"{int(scaled * 100) / 100:.2f}"


def _pool(shown: Shown, pool: PoolFigures) -> list[str]:
    """GeoRisk of both sides, the references beside the one that decided, the rank, other alphas, the pool."""
    return [
        _georisks(shown),
        *([_references(pool)] if len(pool.references) > 1 else []),
        _pool_rank(shown, pool),
        *([_georisk_curve(pool)] if len(pool.curve) > 1 else []),
        f"pool of {len(shown.pool)}: {listed(tuple(shown.pool), most=_MAX_NAMED)}",
    ]


def _georisks(shown: Shown) -> str:
    difference = shown.verdict.estimates.georisk_difference or 0.0
    candidate = shown.pool[shown.verdict.candidate]
    return (
        f"{shown.georisk_name}: {plain(candidate - difference)} -> {plain(candidate)}; "
        f"difference {signed(difference)}"
    )


def _references(pool: PoolFigures) -> str:
    failed = sorted((entry for entry in pool.references if not entry.passes), key=lambda entry: entry.p_value)
    of_all = counted(len(pool.references), "reference")
    if not failed:
        return f"not significantly below any of {of_all} (Holm)"
    return f"significantly below {len(failed)} of {of_all} (Holm): " + listed(
        tuple(map(_reference, failed)), most=_MAX_NAMED
    )


def _reference(against: AgainstReference) -> str:
    p_value = probability(against.adjusted_p_value)
    return f"{clean(against.reference)} ({signed(against.georisk_difference)}, adjusted p {p_value})"


def _pool_rank(shown: Shown, pool: PoolFigures) -> str:
    text = f"rank {shown.rank} of {len(shown.pool)} by GeoRisk; best in {percent(pool.rank_probabilities[0], 1)}"
    if (below := pool.probability_below.get(pool.decided_by)) is not None:
        text += f", below {clean(pool.decided_by, limit=MAX_NAME)} in {percent(below, 1)}"
    return f"{text} of {pool.replicates} replicates"


def _georisk_curve(pool: PoolFigures) -> str:
    points = []
    for point in pool.curve:
        both = f"{plain(point.reference)} -> {plain(point.candidate)}"
        points.append(f"{short(point.alpha)}: {both}")
    systems = f"{clean(pool.decided_by, limit=MAX_NAME)} -> candidate"
    return f"GeoRisk at each alpha ({systems}): {', '.join(points)}"
