"""The figures of a verdict as text: their names and signs in the convention asked for, and what they mean."""

from __future__ import annotations

from pytest_riskguard.gates.findings import Family, Lineage, ReportedInterval, Yardstick
from pytest_riskguard.gates.verdict import NAMES, Verdict
from pytest_riskguard.reports import georisk
from pytest_riskguard.text import clean, counted, listed, plain, short, signed

#: Intervals that are shown beside the one that decided.
_BESIDE = ("student_t", "percentile", "bca")
_TOO_FEW = "too few topics: no interval can be trusted below 10"
_TOO_WEAK = "too weak: it could not have seen a loss of the size that max_mde asks for"


def estimate(verdict: Verdict) -> str:
    """The risk and the interval that decided: ``URisk(alpha=1) = -0.1 [-0.2, -0.01]``."""
    value = risk(verdict)
    line = f"{risk_name(verdict)} = {'undefined' if value is None else shown(verdict, value)}"
    interval = verdict.decisive_interval
    return line if interval is None else f"{line} {limits(verdict, interval)}"


def risk(verdict: Verdict) -> float | None:
    """What the verdict is about: URisk, or the difference of two GeoRisks; plus convention."""
    e = verdict.estimates
    return e.georisk_difference if verdict.kind == "georisk_not_worse" else e.urisk


def risk_name(verdict: Verdict) -> str:
    """What that is called, with its parameter, in the convention asked for."""
    if verdict.kind == "georisk_not_worse":
        return georisk.against(verdict)
    sign, parameter = "-" if verdict.convention == "minus" else "", georisk.parameter(verdict)
    weighted = "weighted " if verdict.weighted else ""
    excess = "excess " if verdict.estimates.noise_urisk is not None else ""
    return f"{excess}{weighted}URisk{sign}({parameter})"


def shown(verdict: Verdict, value: float, digits: int = 4) -> str:
    """A URisk, or what is in its unit, with the sign of the convention."""
    if verdict.convention == "minus":
        from pytest_riskguard.risk import minus

        value = minus(value)
    return signed(value, digits)


def limits(verdict: Verdict, interval: ReportedInterval) -> str:
    """``[lower, upper]`` in the convention."""
    return between(verdict, interval.lower, interval.upper)


def between(verdict: Verdict, lower: float, upper: float) -> str:
    """Two limits in the convention."""
    if verdict.convention == "minus":
        from pytest_riskguard.risk import minus_limits

        lower, upper = minus_limits(lower, upper)
    return f"[{signed(lower)}, {signed(upper)}]"


def margin(verdict: Verdict) -> float | None:
    """How far the limit that decided lies from the bound; positive for a pass, None without an interval."""
    limit = deciding_limit(verdict)
    return None if limit is None else limit + verdict.tolerance


def deciding_limit(verdict: Verdict) -> float | None:
    """The limit of the decisive interval that is compared with the bound; plus convention."""
    interval = verdict.decisive_interval
    if interval is None:
        return None
    return interval.lower if verdict.kind == "not_inferior" else interval.upper


def figures(verdict: Verdict) -> list[str]:
    """One paragraph for each kind of figure."""
    e, topics = verdict.estimates, verdict.topics
    lines = []
    if e.candidate_mean is not None and e.baseline_mean is not None and e.mean_difference is not None:
        lines.append(
            f"{clean(verdict.candidate)} against {clean(_other(verdict))}: {'weighted ' * verdict.weighted}mean "
            f"{plain(e.baseline_mean)} -> {plain(e.candidate_mean)} ({signed(e.mean_difference)})"
        )
    if verdict.yardstick is not None:
        lines.append(_yardstick(verdict.yardstick))
    if verdict.lineage is not None:
        lines.append(_lineage(verdict, verdict.lineage))
    if verdict.pool is not None:
        lines += [*georisk.systems(verdict, verdict.pool), _intervals(verdict)]
    if e.noise_urisk is not None and e.urisk is not None:
        lines.append(_noise(verdict, e.urisk, e.noise_urisk))
    if e.trisk is not None and e.p_value is not None and verdict.intervals and verdict.pool is None:
        sign = "-" if verdict.convention == "minus" else ""
        lines.append(
            f"TRisk{sign} {shown(verdict, e.trisk, 3)} (p {probability(e.p_value)}); sign-flip p of the mean "
            f"{probability(e.sign_flip_p_value)}; {_intervals(verdict)}"
        )
    if verdict.family is not None:
        lines.append(_family(verdict, verdict.family))
    if verdict.outcome == "inconclusive":
        lines.append(_TOO_FEW if verdict.reason == "too_few_topics" else _too_weak(verdict))
    if meaning := (georisk.loss_or_churn if verdict.pool else _loss_or_churn)(verdict) or _not_shown(verdict):
        lines.append(meaning)
    lines.append(
        f"{counted(topics.wins, 'win')}, {counted(topics.losses, 'loss', 'losses')} ({topics.losses_over_20_percent} "
        f"of more than 20 %), {counted(topics.ties, 'tie')}"
    )
    if verdict.outcome == "pass" and (seen := verdict.power.minimum_detectable_effect):
        what = "mean loss" if verdict.on_churn == "warn" else "URisk"
        if verdict.pool:
            what = "difference of GeoRisk" + (" at alpha 0" if verdict.on_churn == "warn" else "")
        lines.append(f"this gate sees a {what} of {shown(verdict, -seen)} or worse with 80 % power")
    if verdict.outcome == "pass" and (range_ := _passing_alphas(verdict)):
        lines.append(range_)
    return lines


def _passing_alphas(verdict: Verdict) -> str | None:
    """What alpha* means for a gate that passes: how much more a loss might count."""
    star = verdict.estimates.alpha_star
    if star is None or has(verdict, "churn"):
        return None
    if star == "any":
        return "it passes at any alpha, however much a loss counts"
    return f"it passes up to alpha {_floored(star)}: losses may count {_floored(1 + star)} times before it fails"


def _lineage(verdict: Verdict, lineage: Lineage) -> str:
    means = listed(tuple(plain(run.mean) for run in lineage.runs), most=8)
    newest = lineage.runs[-1]
    text = (
        f"{counted(lineage.accepted, 'accepted change')} since {clean(lineage.runs[0].run)}; means so far, candidate "
        f"last: {means}; in all {signed(newest.cumulative_mean_difference)}, URisk {shown(verdict, newest.urisk)}"
    )
    if lineage.lower is None or lineage.upper is None:
        return text
    return text + f" {between(verdict, lineage.lower, lineage.upper)}"


def _yardstick(yardstick: Yardstick) -> str:
    inside = "with" if yardstick.candidate_inside else "without"
    word = {"mean": "mean", "median": "median", "max": "best"}[yardstick.kind]
    systems = listed(tuple(map(clean, yardstick.systems)), most=10)
    return f"the baseline is computed topic by topic: the {word} of {systems}, {inside} the candidate"


def _noise(verdict: Verdict, excess: float, noise: float) -> str:
    return (
        f"URisk {shown(verdict, excess + noise)}, of which {shown(verdict, noise)} is the baseline's own noise (mean "
        f"URisk of its {counted(verdict.replicates, 'replicate')} against it); judged is the excess "
        f"{shown(verdict, excess)}"
    )


def probability(value: float | None) -> str:
    """A p-value, never as 0."""
    if value is None:
        return "undefined"
    return "< 0.0001" if value < 1e-4 else plain(value)


def _intervals(verdict: Verdict) -> str:
    parts = []
    for interval in verdict.intervals:
        if interval.decisive or interval.method in _BESIDE:
            mark = " (decisive)" if interval.decisive else ""
            name = georisk.method_name(interval.method) if verdict.pool else NAMES[interval.method]
            parts.append(f"{name} {limits(verdict, interval)}{mark}")
    level = verdict.intervals[0].level
    return f"{percent(level)} % intervals: " + ", ".join(parts)


def percent(level: float) -> str:
    """A level in percent, with no more digits than it needs."""
    return f"{100 * level:.6g}"


def _family(verdict: Verdict, family: Family) -> str:
    names = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}
    return (
        f"one of a family of {counted(family.size, 'gate')} ({names[family.correction]}): p "
        f"{probability(verdict.estimates.decision_p_value)}, adjusted {probability(family.adjusted_p_value)}; judged "
        f"at {percent(family.level)} % in place of {percent(verdict.level)} %"
    )


def _too_weak(verdict: Verdict) -> str:
    if has(verdict, "georisk_vanishes"):
        return "too weak: at this alpha hardly any GeoRisk is left to compare"
    seen = verdict.power.minimum_detectable_effect
    return _TOO_WEAK if seen is None else f"{_TOO_WEAK} (the smallest it sees with 80 % power: {plain(seen)})"


def _not_shown(verdict: Verdict) -> str | None:
    """Why the evidence for not-inferiority did not suffice, and how many topics would."""
    if verdict.reason != "not_shown" or verdict.estimates.urisk is None:
        return None
    bound = shown(verdict, -verdict.tolerance)
    side = "below" if verdict.convention == "minus" else "above"
    if verdict.estimates.urisk + verdict.tolerance <= 0:
        return f"not shown: the estimate itself is not {side} {bound}, so no number of topics would show it"
    text = f"not shown: not enough evidence that it is {side} {bound}"
    needed = verdict.power.topics_for_tolerance
    if needed is None:
        return text
    return (
        f"{text}; with topics such as these about {needed} would show it, 4 times of 5 (now {verdict.topics.count})"
    )


def _loss_or_churn(verdict: Verdict) -> str | None:
    star = verdict.estimates.alpha_star
    noisy = verdict.estimates.noise_urisk is not None
    mean = "mean, less the baseline's own noise," if noisy else "mean"
    down = "significantly down" if verdict.tolerance == 0 else "significantly down by more than the tolerance"
    if verdict.reason == "loss":
        also = "" if verdict.alpha == 0 else " (the gate fails at alpha 0 too)"
        return f"loss: the {mean if noisy else 'mean itself'} is {down}{also}"
    if not (verdict.reason == "churn" or has(verdict, "churn")):
        return None
    weight = short(1 + verdict.alpha)
    costs = f"a loss counts {weight} times here" if verdict.tradeoff == "linear" else "large losses count more here"
    text = f"churn: the {mean} is not {down} (at alpha 0 the gate passes); {costs}"
    if verdict.topics.wins:
        text += ", and the wins do not pay for that"
    if isinstance(star, float):
        text += f". It passes up to alpha {_floored(star)}"
    if verdict.on_churn == "fail":
        text += ". on_churn: warn lets churn pass with a warning"
    return text + "."


def has(verdict: Verdict, code: str) -> bool:
    """Whether the verdict carries this warning."""
    return any(warning.code == code for warning in verdict.warnings)


def _floored(star: float) -> str:
    """alpha* rounded down, so that the alpha printed is one that passes."""
    if star > 1e9:  # such a number has no decimals to round; times 1000 it may be no number
        return f"{star:.3g}"
    scaled = int(star * 1000) / 1000
    return f"{scaled:.3g}" if scaled < 1 else f"{int(scaled * 100) / 100:.2f}"


def _other(verdict: Verdict) -> str:
    """What the candidate's scores are set beside: its baseline, or the reference in a pool."""
    return verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by
