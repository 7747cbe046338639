"""The figures of a verdict in sentences, which reports show under its headline."""

from __future__ import annotations

from pytest_riskguard.gates.findings import (
    AgainstReference,
    Judgements,
    Lineage,
    PoolFigures,
)
from pytest_riskguard.gates.verdict import FLIPS, POOL, Family, Verdict
from pytest_riskguard.gates.verdict import Yardstick as ComputedBaseline
from pytest_riskguard.reports.shown import MAX_NAME, Shown
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, signed

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
        verdict.family and _family(verdict, verdict.family),
        _counts(verdict),
        _strata(shown),
        verdict.judgements and _labels(verdict.judgements),
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


def _labels(labels: Judgements) -> str | None:
    """How many documents are unjudged."""
    if not (labels.candidate or labels.baseline):
        return None
    whose = f"{labels.candidate} of the candidate, {labels.baseline} of the baseline"
    return f"unjudged documents in the first {labels.depth} ranks: {whose}"


def floored(star: float) -> str:
    """alpha* rounded down, so that the alpha printed is one that passes."""
    if star > 1e9:  # such a number has no decimals to round, and times 1000 it may overflow
        return f"{star:.3g}"
    scaled = int(star * 1000) / 1000
    return f"{scaled:.3g}" if scaled < 1 else f"{int(scaled * 100) / 100:.2f}"


def _pool(shown: Shown, pool: PoolFigures) -> list[str]:
    """GeoRisk of both sides, the references beside the one that decided, the rank, the pool."""
    return [
        _georisks(shown),
        *([_references(pool)] if len(pool.references) > 1 else []),
        f"rank {shown.rank} by GeoRisk in a pool of {len(shown.pool)}: {listed(tuple(shown.pool), most=_MAX_NAMED)}",
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
