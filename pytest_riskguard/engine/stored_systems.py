"""What an answer owes to stored baselines: replicates that excuse a loss, and everything that changed since."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_riskguard.baselines.entry import mean_score
from pytest_riskguard.baselines.scored import Scored
from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.verdict import Verdict, warning
from pytest_riskguard.risk import mean_test
from pytest_riskguard.risk.checks import ROUNDING_ERROR

#: Below this p-value of the mean difference a replicate is unlikely to be another run of the same system.
UNLIKELY = 0.001


def worse(baseline: TopicScores, replicates: Sequence[TopicScores]) -> TopicScores | None:
    """The first replicate whose mean is too far below the baseline's for a run of the same system."""
    for replicate in replicates:
        test = mean_test(replicate.values - baseline.values)
        is_worse = test.estimate < -ROUNDING_ERROR
        if is_worse and (test.p_value is None or test.p_value < UNLIKELY):  # None: every topic lost as much
            return replicate
    return None


def rests_on_replicate(replicate: TopicScores, baseline: TopicScores) -> DataError:
    """The error to raise where only the noise of such a replicate lets the candidate pass."""
    name, _, number = replicate.name.rpartition("/replicates/")
    means = f"{mean_score(replicate):.4f}, that of {name} {mean_score(baseline):.4f}"
    return DataError(
        f"passes only because replicates of {name} count as its noise, and the mean of replicate {number} is far "
        f"below the baseline's ({means}), hardly another run of the same system; if it comes from another system, "
        f"run `riskguard baseline remove {name} --replicate {number}`",
        reason="bad_baseline",
    )


def warned_of_stored(verdict: Verdict, stored: Sequence[Scored]) -> Verdict:
    """The verdict with the warnings about stored baselines and replicates, which decide nothing."""
    if verdict.outcome == "incomparable":
        return verdict
    means = tuple((s.scores.name, s.stored_mean, s.scores.mean) for s in stored if s.stored_mean is not None)
    if means and verdict.slice is None:
        verdict = verdict.detailed("rescored", means=means)
    if unbacked := tuple(scored.scores.name for scored in stored if not scored.backed):
        verdict = verdict.warned(warning("unbacked_scores", systems=unbacked))
    if unnamed := tuple(scored.scores.name for scored in stored if not scored.named):
        verdict = verdict.warned(warning("old_format", systems=unnamed))
    if changed := tuple(scored.scores.name for scored in stored if scored.topics_changed):
        of_topics = verdict.topics  # a finding, which takes time: most verdicts are not asked for it here
        used = {
            "the tags": verdict.slice,
            "the weights": verdict.weighted,
            "the strata": of_topics.strata,
            "the clusters": of_topics.clusters,
        }
        if uses := next((what for what, is_used in used.items() if is_used), None):
            verdict = verdict.warned(warning("topics_changed", systems=changed, uses=uses))
    gone = tuple(sorted({topic for scored in stored for topic in scored.gone}))
    emptied = tuple(sorted({topic for scored in stored for topic in scored.emptied}))
    rephrased = tuple(sorted({topic for scored in stored for topic in scored.rephrased}))
    if gone or emptied or rephrased:
        verdict = verdict.warned(warning("judgements_shrank", gone=gone, emptied=emptied, rephrased=rephrased))
    return verdict
