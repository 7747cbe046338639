"""Whether a gate that did not fail could have failed at all: weights, noise and options that let everything pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_riskguard.data.measures import least_and_greatest
from pytest_riskguard.errors import DataError, Remedy
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.kinds import OPTIONS, POLICY, NotInferior, NotSignificantlyRisky, options_of
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.verdict import VerdictWarning, warning
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum
from pytest_riskguard.text import counted

#: A loss of topics with less than this share of all weight is refused if it would fail the gate without weights ...
MIN_SHARE = 0.01
#: ... and with less than this, it is named.
LITTLE_SHARE = 0.1
#: Topics that lost less than this share of the average loser are not counted among the topics that lost.
NEXT_TO_NOTHING = 0.1
#: Intervals whose upper limit lies below 0 as soon as enough topics lose and none wins.
_EDGED = ("auto", "bca", "percentile")


def doubts(comparison: Comparison) -> Iterator[VerdictWarning]:
    """Warnings that an answer which is no failure says little; ``DataError`` where it says nothing."""
    if isinstance(comparison, PoolComparison):
        _refuse_pool(comparison)
        return
    if excused := _excused(comparison):
        yield excused
    if comparison.answer[0] == "fail":
        return
    for doubt in (_outweighed(comparison), _unfailing(comparison)):
        if doubt is not None:
            yield doubt


def _outweighed(comparison: Comparison) -> VerdictWarning | None:
    """The warning that weights hide a loss because its topics weigh next to nothing; None if they do not.

    Without weights the candidate would be significantly risky. ``DataError`` (``cannot_fail``) where the topics that
    lost have less than ``MIN_SHARE`` of all weight.
    """
    gate, weights = comparison.gate, comparison.aligned.weights
    if weights is None or gate.by_topic or comparison.identical:
        return None
    losses = np.maximum(0.0, -comparison.differences)
    lost = losses > NEXT_TO_NOTHING * exact_sum(losses) / max(int(np.count_nonzero(losses)), 1)
    share = float(np.sum(weights[lost] / np.max(weights)) / np.sum(weights / np.max(weights)))
    unweighted = replace(gate.as_kind(NotSignificantlyRisky), weighted=False)
    if share >= LITTLE_SHARE or not comparison.fails(gate=unweighted, weights=None):
        return None
    topics = tuple(topic for topic, loses in zip(comparison.topics, lost, strict=True) if loses)
    if share < MIN_SHARE:
        raise DataError(
            f"weights: without them the candidate is significantly risky, but the {counted(len(topics), 'topic')} "
            f"that lost ({', '.join(topics[:5])}{', ...' * (len(topics) > 5)}) have {100 * share:.2g}% of the "
            "weight, so their loss does not count",
            reason="cannot_fail",
            remedy=f"give them a larger weight (at least {100 * MIN_SHARE:g}% in all), or leave them out of the "
            "judgements",
        )
    return warning("outweighed", topics=topics, share=share)


def _excused(comparison: Comparison) -> VerdictWarning | None:
    """The warning that replicates excuse a loss of the mean; None if they do not.

    Runs of one system have the same mean except by chance: replicates are there to excuse churn. ``DataError``
    (``bad_baseline``) where the gate would fail without replicates and one of them is the candidate's own run.
    """
    candidate, baseline = comparison.aligned.candidate, comparison.aligned.baseline
    replicates = comparison.aligned.replicates
    if not replicates or comparison.identical or not comparison.fails(replicates=()):
        return None
    for replicate in replicates:
        same_run = candidate.digest is not None and candidate.digest == replicate.digest
        if same_run or np.all(np.abs(candidate.values - replicate.values) <= ROUNDING_ERROR):
            number = replicate.name.rpartition("/")[2]
            raise DataError(
                f"{candidate.name} is the run stored as replicate {number} of {baseline.name}, or scores the same "
                f"on every topic, so its whole loss would count as noise of {baseline.name}",
                reason="bad_baseline",
                remedy=Remedy(
                    "if that replicate is not another run of the same system, run {}",
                    f"remove {baseline.name} --replicate {number}",
                ),
            )
    of_mean = replace(comparison.gate.as_kind(NotSignificantlyRisky), alpha=0.0, tradeoff="linear")
    if comparison.alone[0] == "fail" or not comparison.fails(gate=of_mean, replicates=()):
        return None
    lowest = min(replicates, key=lambda replicate: replicate.mean)
    return warning("loss_excused", replicate=lowest.name, mean=lowest.mean, baseline_mean=baseline.mean)


def _unfailing(comparison: Comparison) -> VerdictWarning | None:
    """The warning that not even a candidate that scores 0 everywhere would fail the gate; None if it would.

    ``DataError`` (``cannot_fail``) if an option is the reason, larger than any default and than in the default
    policy, or every score is 0 already. Only for measures whose least score is 0.
    """
    aligned, baseline = comparison.aligned, comparison.aligned.baseline
    gate = comparison.gate if comparison.gate.side != "both" else comparison.gate.as_kind(NotInferior)
    if not _is_from_0(baseline.measure):
        return None
    _refuse_without_scores(baseline.measure, aligned.candidate.values, baseline.values)
    if _has_an_edge(comparison) or not (gate.by_topic or comparison.ruling.enough_topics):
        return None
    silent = replace(aligned.candidate, values=np.zeros_like(baseline.values))
    if comparison.fails(gate=gate, candidate=silent):
        return None
    mean, most = comparison.evidence.mean(baseline.values), float(np.max(baseline.values))
    options = ["max_loss", "allowed"] if gate.by_topic else ["tolerance", "level"]
    if not gate.by_topic and gate.level != comparison.own_level:  # a family chose it
        options.remove("level")
    defaults = {name: options_of(type(gate))[name].default for name in options}
    usual = [defaults, *(own for _, kind, own in POLICY if kind == gate.kind)]
    most_usual = {name: max(known[name] for known in usual if name in known) for name in options}
    larger = [name for name in options if (getattr(gate, name) or 0) > most_usual[name] and gate.slice is None]
    for names in [*([name] for name in larger), *([larger] if len(larger) > 1 else [])]:
        if comparison.fails(gate=replace(gate, **{name: defaults[name] for name in names}), candidate=silent):
            asked = " and ".join(f"{name} {getattr(gate, name):g}" for name in names)
            raise DataError(
                f"{asked}: even a candidate that scores 0 on every topic would pass, since {baseline.name} scores "
                f"{mean:.4f} on average and {most:.4f} at most",
                reason="cannot_fail",
                remedy=f"choose a smaller {' and '.join(names)}",
            )
    return warning("cannot_fail", mean=mean, most=most, above=int(np.count_nonzero(baseline.values > 0)))


def _has_an_edge(comparison: Comparison) -> bool:
    """Whether a gate can certainly fail, without another interval: nothing is tolerated, and many topics can lose."""
    gate, evidence = comparison.gate, comparison.evidence
    is_plain = gate.tolerance == 0 and gate.level <= OPTIONS["level"].default
    is_own = evidence.counts_alike and not (gate.by_topic or evidence.noisy)
    can_lose = int(np.count_nonzero(comparison.aligned.baseline.values > 0))
    # the break-even test fails if all of these lose: at alpha 0 with 2^-m on one side, at higher alphas with less
    return is_plain and is_own and gate.method in _EDGED and 2.0 ** (1 - can_lose) <= 1 - gate.level


def _is_from_0(measure: str | None) -> bool:
    return measure is not None and least_and_greatest(measure)[0] == 0


def _refuse_without_scores(measure: str | None, *values: FloatArray) -> None:
    """``DataError`` (``cannot_fail``) where every score of every system is 0: nothing can be lost."""
    if not any(np.any(scores) for scores in values):
        raise DataError(
            f"every score of every system is 0, so {measure} says nothing about these runs and no gate could fail",
            reason="cannot_fail",
            remedy="choose a measure that the judgements support",
        )


def _refuse_pool(comparison: PoolComparison) -> None:
    """``DataError`` (``cannot_fail``) if every score is 0, or GeoRisk cannot fall by more than the tolerance.

    It is at least 0, and at most the square root of the mean score.
    """
    gate, candidate = comparison.gate, comparison.candidate
    if not _is_from_0(candidate.measure):
        return
    _refuse_without_scores(candidate.measure, comparison.scores)
    for reference in comparison.references:
        most = math.sqrt(float(np.mean(reference.scores.values)))
        if gate.tolerance >= most > 0:
            raise DataError(
                f"tolerance {gate.tolerance:g}: GeoRisk cannot fall that far, since GeoRisk of {reference.name} is "
                f"at most {most:.4f}",
                reason="cannot_fail",
                remedy="choose a smaller tolerance",
            )
    if gate.tolerance == 0 or comparison.answer[0] != "pass":
        return
    silent = replace(candidate, values=np.zeros_like(candidate.values))
    if comparison.of(silent).answer[0] == "pass":
        raise DataError(
            f"tolerance {gate.tolerance:g}: even a candidate that scores 0 on every topic would pass, "
            f"since GeoRisk of {comparison.reference.name} is no larger",
            reason="cannot_fail",
            remedy="choose a smaller tolerance",
        )
