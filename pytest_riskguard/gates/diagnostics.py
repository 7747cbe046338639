"""How far the trade-off scores, and the law of their mean, are from normal: to look at, deciding nothing."""

from __future__ import annotations

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.verdict import Diagnostics, QuantilePair
from pytest_riskguard.inference import mean_law, qq_points, shapiro_wilk, skewness


def diagnostics(comparison: Comparison) -> Diagnostics | None:
    """None where the scores do not vary, and for a single topic; a collapse has no law to look at."""
    if comparison.n < 2 or comparison.gate.kind == "no_topic_collapse":
        return None
    scores = comparison.evidence.scores(comparison.gate.alpha)
    skew, points, test = skewness(scores), qq_points(scores), shapiro_wilk(scores)
    if skew is None or points is None:
        return None
    return Diagnostics(
        skewness=skew,
        shapiro_wilk_w=None if test is None else test.w,
        shapiro_wilk_p_value=None if test is None else test.p_value,
        law=mean_law(scores).kind,
        quantiles=tuple(
            QuantilePair(float(normal), float(bootstrap))
            for normal, bootstrap in zip(points.normal, points.bootstrap, strict=True)
        ),
    )
