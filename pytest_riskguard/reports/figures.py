"""The figures of a verdict in sentences, which reports show under its headline."""

from __future__ import annotations

from pytest_riskguard.gates.findings import (
    AgainstReference,
    Lineage,
    PoolFigures,
)
from pytest_riskguard.gates.verdict import Family, Verdict
from pytest_riskguard.gates.verdict import Yardstick as ComputedBaseline
from pytest_riskguard.reports.shown import MAX_NAME, Shown
from pytest_riskguard.text import clean, counted, listed, percent, plain, probability, short, signed

#: Intervals that are shown as well as the one that decided.
_REPORTED = ("student_t", "percentile", "bca")
_CORRECTIONS = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}
#: Names of systems that a line shows; others are counted.
_MAX_NAMED = 6


def figures(verdict: Verdict) -> list[str]:
    """One paragraph for each kind of figure."""
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
        _inconclusive(shown) if verdict.outcome == "inconclusive" else None,
        _georisk_loss_or_churn(shown) if verdict.pool is not None else _loss_or_churn(shown),
        _not_shown(shown),
        _counts(verdict),
        _detectable(shown, power) if verdict.outcome == "pass" and power else None,
        _passing_alphas(shown) if verdict.outcome == "pass" else None,
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
        f"last: {means}; in total {signed(newest.cumulative_mean_difference)}, URisk {shown.value(newest.urisk)} "
        f"{shown.limits(lineage.lower, lineage.upper)}"
    ).rstrip()


def _noise(shown: Shown) -> str | None:
    excess, noise = shown.verdict.estimates.urisk, shown.verdict.estimates.noise_urisk
    if noise is None or excess is None:
        return None
    return (
        f"URisk {shown.value(excess + noise)}, of which {shown.value(noise)} is the baseline's own noise (mean URisk "
        f"of its {counted(shown.verdict.replicates, 'replicate')} against it); the excess {shown.value(excess)} is "
        "judged"
    )


def _tests(shown: Shown) -> str | None:
    verdict, estimates = shown.verdict, shown.verdict.estimates
    if estimates.trisk is None or estimates.p_value is None or not verdict.intervals or verdict.pool is not None:
        return None
    return (
        f"TRisk{shown.suffix} {shown.value(estimates.trisk, 3)} (p {probability(estimates.p_value)}); sign-flip p of "
        f"the mean {probability(estimates.sign_flip_p_value)}; {_intervals(shown)}"
    )


def _intervals(shown: Shown) -> str:
    intervals = shown.verdict.intervals
    reported = [interval for interval in intervals if interval.decisive or interval.method in _REPORTED]
    return f"{percent(intervals[0].level)} intervals: {', '.join(map(shown.interval, reported))}"


def _family(verdict: Verdict, family: Family) -> str:
    instead = f" instead of {percent(verdict.level)}" if family.level != verdict.level else ""
    return (
        f"one of a family of {counted(family.size, 'gate')} ({_CORRECTIONS[family.correction]}): p "
        f"{probability(verdict.estimates.decision_p_value)}, adjusted {probability(family.adjusted_p_value)}; judged "
        f"at {percent(family.level)}{instead}"
    )


def _inconclusive(shown: Shown) -> str:
    if shown.verdict.reason == "too_few_topics":
        return "too few topics: intervals are not reliable below 10"
    if shown.has("georisk_vanishes"):
        return "too weak: at this alpha too little GeoRisk is left to compare"
    text = "too weak: the gate could not have detected a loss as small as max_mde"
    smallest = shown.verdict.power.minimum_detectable_effect
    return text if smallest is None else f"{text} (smallest detectable loss at 80% power: {plain(smallest)})"


def _not_shown(shown: Shown) -> str | None:
    """Why the evidence for non-inferiority did not suffice, and how many topics would."""
    verdict = shown.verdict
    if verdict.reason != "not_shown" or verdict.estimates.urisk is None:
        return None
    beyond = f"{'below' if shown.sign < 0 else 'above'} {shown.bound}"
    if verdict.estimates.urisk + verdict.tolerance <= 0:
        return f"not shown: the estimate itself is not {beyond}, so no number of topics would show it"
    text = f"not shown: not enough evidence that it is {beyond}"
    needed = verdict.power.topics_for_tolerance
    if needed is None:
        return text
    return f"{text}; about {needed} topics like these would show it at 80% power (now {verdict.topics.count})"


def _loss_or_churn(shown: Shown) -> str | None:
    verdict, star = shown.verdict, shown.verdict.estimates.alpha_star
    noisy = verdict.estimates.noise_urisk is not None
    mean = "mean, less the baseline's own noise," if noisy else "mean"
    down = "significantly down" if verdict.tolerance == 0 else "significantly down by more than the tolerance"
    if verdict.reason == "loss":
        also = "" if verdict.alpha == 0 else " (the gate fails at alpha 0 too)"
        return f"loss: the {mean if noisy else 'mean itself'} is {down}{also}"
    if not shown.is_churn:
        return None
    weight = short(1 + verdict.alpha)
    costs = f"a loss counts {weight} times here" if verdict.tradeoff == "linear" else "large losses count more here"
    text = f"churn: the {mean} is not {down} (at alpha 0 the gate passes); {costs}"
    if verdict.topics.wins:
        text += ", and wins do not offset it"
    if isinstance(star, float):
        text += f". It passes up to alpha {floored(star)}"
    if verdict.on_churn == "fail":
        text += ". on_churn: warn lets churn pass with a warning"
    return f"{text}."


def _counts(verdict: Verdict) -> str:
    topics = verdict.topics
    return (
        f"{counted(topics.wins, 'win')}, {counted(topics.losses, 'loss', 'losses')} ({topics.losses_over_20_percent} "
        f"of more than 20%), {counted(topics.ties, 'tie')}"
    )


def _detectable(shown: Shown, smallest: float) -> str:
    what = "mean loss" if shown.verdict.on_churn == "warn" else "URisk"
    if shown.verdict.pool is not None:
        what = "difference of GeoRisk" + (" at alpha 0" if shown.verdict.on_churn == "warn" else "")
    return f"smallest detectable {what} at 80% power: {shown.value(-smallest)}"


def _passing_alphas(shown: Shown) -> str | None:
    """What alpha* means for a gate that passes: how much more a loss might count."""
    star = shown.verdict.estimates.alpha_star
    if star is None or shown.has("churn"):
        return None
    if star == "any":
        return "it passes at any alpha, however much a loss counts"
    return f"it passes up to alpha {floored(star)}: losses may count {floored(1 + star)} times before it fails"


def floored(star: float) -> str:
    """alpha* rounded down, so that the alpha printed is one that passes."""
    if star > 1e9:  # such a number has no decimals to round, and times 1000 it may overflow
        return f"{star:.3g}"
    scaled = int(star * 1000) / 1000
    return f"{scaled:.3g}" if scaled < 1 else f"{int(scaled * 100) / 100:.2f}"


def _pool(shown: Shown, pool: PoolFigures) -> list[str]:
    """GeoRisk of both sides, the references beside the one that decided, the rank, other alphas, the pool."""
    return [
        _georisks(shown, pool),
        *([_references(pool)] if len(pool.references) > 1 else []),
        _pool_rank(pool),
        *([_georisk_curve(shown, pool)] if len(pool.curve) > 1 else []),
        f"pool of {len(pool.systems)}: {listed(pool.systems, most=_MAX_NAMED)}",
    ]


def _georisks(shown: Shown, pool: PoolFigures) -> str:
    point = next(point for point in pool.curve if point.alpha == shown.verdict.alpha)
    return (
        f"{shown.georisk_name}: {shown.level_of_risk(point.reference)} -> {shown.level_of_risk(point.candidate)}; "
        f"difference {shown.value(shown.verdict.estimates.georisk_difference or 0.0)}"
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


def _pool_rank(pool: PoolFigures) -> str:
    text = f"rank {pool.rank} of {len(pool.systems)} by GeoRisk; best in {percent(pool.rank_probabilities[0], 1)}"
    if (below := pool.probability_below.get(pool.decided_by)) is not None:
        text += f", below {clean(pool.decided_by, limit=MAX_NAME)} in {percent(below, 1)}"
    return f"{text} of {pool.replicates} replicates"


def _georisk_curve(shown: Shown, pool: PoolFigures) -> str:
    points = ", ".join(
        f"{short(point.alpha)}: {shown.level_of_risk(point.reference)} -> {shown.level_of_risk(point.candidate)}"
        for point in pool.curve
    )
    return f"GeoRisk at each alpha ({clean(pool.decided_by, limit=MAX_NAME)} -> candidate): {points}"


def _georisk_loss_or_churn(shown: Shown) -> str | None:
    """Whether it is a loss or churn."""
    verdict = shown.verdict
    if verdict.reason == "loss":
        return "loss: GeoRisk is significantly lower at alpha 0 too, where a loss counts no more than a win"
    if not shown.is_churn:
        return None
    text = (
        "churn: at alpha 0 GeoRisk is not significantly lower; here a loss counts "
        f"{short(1 + verdict.alpha)} times, and that makes the difference"
    )
    return text if verdict.on_churn == "warn" else f"{text}. on_churn: warn lets churn pass with a warning."
