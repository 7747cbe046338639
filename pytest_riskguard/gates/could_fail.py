"""Could a gate ever fail? Asked of its options alone, of how many topics changed, and of the scores.

A gate that lets everything through says nothing: its options are refused where they are the reason, and a warning
says so where the data are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_riskguard.data.measures import least_and_greatest
from pytest_riskguard.errors import DataError, Remedy
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MIN_TOPICS, POLICY, Gate, NotInferior, NotSignificantlyRisky, options_of
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import VerdictWarning, warning
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum
from pytest_riskguard.text import counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.gates.comparison import Comparison

#: Lesser losses as a share of the largest, and the least of all, where it is asked what could fail.
LESSER, LEAST = (0.7, 0.5, 0.3, 0.1, 0.01), 1e-6
#: The loss that the smooth trade-off weighs most beside a win as large.
WORST_SMOOTH = 0.289
#: So many of its answers are kept: power and warnings of a verdict ask for the same.
MAX_KEPT = 256
#: A loss of topics with less than this share of all weight is refused if it would fail the gate without weights ...
MIN_SHARE = 0.01
#: ... and with less than this, it is named.
LITTLE_SHARE = 0.1
#: Topics that lost less than this share of the average loser are not counted among the topics that lost.
NEXT_TO_NOTHING = 0.1


# ---- with these options


def refuse_options(gate: Gate, span: float) -> None:
    """``ValueError``, beginning with the option at fault, if no scores with this span could fail the gate.

    ``span``: 1 for a measure in [0, 1], infinity for one without a greatest value.
    """
    if gate.by_topic:  # no topic can lose more than the measure spans, or than its whole score
        most = {"max_loss": span, "max_share": 1.0 if span < math.inf else span}
    else:  # GeoRisk is at most the square root of the greatest score
        most = dict.fromkeys(("tolerance", "max_mde"), math.sqrt(span) if gate.is_pool else span * (1 + gate.alpha))
    given = {name: value for name in most if (value := getattr(gate, name)) is not None}
    if gate.by_topic and (gate.protected or any(value < most[name] for name, value in given.items())):
        return
    for name, value in given.items():
        if value >= most[name]:
            useless = "it would have no effect" if name == "max_mde" else "the gate could never fail"
            raise ValueError(
                f"{name}: {value:g} is at least the most that can be lost ({most[name]:g}), so {useless}; choose a "
                "smaller one, or leave it out"
            )


# ---- with so few changes


@lru_cache(maxsize=MAX_KEPT)
def could_fail(gate: Gate, changed: int, n: int, *, largest_loss: float) -> bool:
    """Whether any scores of so many changed topics of n would fail a gate that asks for an upper limit.

    A topic can lose up to ``largest_loss``, in units of the measure; if that is infinite no tolerance matters. What
    fails most easily is that all of them lose: the break-even test then asks only how many they are, Student-t finds
    most in equal losses, and BCa in losses each of which is small beside the one before. So the whole rule is asked
    for equal losses and for some that are not. With fewer topics than a verdict needs, it is asked as if there were
    enough.
    """
    losses, scales = np.zeros(max(n, MIN_TOPICS)), (largest_loss,)
    if largest_loss == math.inf:
        gate, scales = gate.with_options(tolerance=0.0), (1.0,)
    for scale in scales if gate.tradeoff == "linear" else (1.0, WORST_SMOOTH):
        for sizes in _sizes(changed):
            losses[:changed] = -scale * sizes
            if not Ruling(gate, Evidence.of(losses, kind=gate.tradeoff)).lets_through:
                return True
    return False


def _sizes(changed: int) -> Iterator[FloatArray]:
    """Sizes of losses of which the largest is 1: all equal, all but one, and each as a share of the one before."""
    places = np.arange(changed)
    yield np.ones(changed)
    for ratio in LESSER:
        yield np.where(places == 0, 1.0, ratio)
        yield np.maximum(ratio**places, LEAST)


def cannot_fail(ruling: Ruling) -> bool:
    """Whether no losses of this many changed topics would fail the gate; see ``could_fail``.

    Not known where units count differently, by weights or clusters of several sizes.
    """
    changed, evidence = ruling.bets[0].size, ruling.evidence
    units = evidence.units
    if changed == 0 or units < 2 or units - evidence.effective > ROUNDING_ERROR * units:
        return False
    if ruling.enough_topics and not ruling.lets_through:  # it does fail
        return False
    return not could_fail(ruling.gate, changed, units, largest_loss=evidence.largest_loss)


def few_changes(ruling: Ruling) -> bool:
    """Whether so few topics or clusters changed that the break-even test finds no loss even if all lost.

    Where churn only warns, it is asked at alpha 0 as well.
    """
    bets = ((asked.highest_p, *asked.bets) for asked in ruling.conditions)
    return any(float(np.prod(gains / (gains + losses))) > highest for highest, gains, losses, _ in bets)


# ---- with these scores


def doubts(comparison: Comparison) -> Iterator[VerdictWarning]:
    """Warnings that an answer which is no failure says little; ``DataError`` where it says nothing."""
    of_pair = () if comparison.gate.is_pool else (_excused, _outweighed)
    for doubt in of_pair[:1] if comparison.answer[0] == "fail" else (*of_pair, _unfailing):
        if (found := doubt(comparison)) is not None:
            yield found


def _excused(comparison: Comparison) -> VerdictWarning | None:
    """The warning that replicates excuse a loss of the mean; None if they do not.

    Runs of one system have the same mean except by chance: replicates are there to excuse churn. ``DataError``
    (``bad_baseline``) where the gate would fail without replicates and one of them is the candidate's own run.
    """
    aligned = comparison.aligned
    candidate, baseline, replicates = aligned.candidate, aligned.baseline, aligned.replicates
    alone = replace(aligned, systems=aligned.systems[:2])
    if not replicates or not comparison.fails(aligned=alone):
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
                    "if it is not another run of the same system, store the baseline without it, with {} and {}",
                    f"remove {baseline.name}",
                    f"add {baseline.name} RUN",
                ),
            )
    of_mean = replace(comparison.gate.as_kind(NotSignificantlyRisky), alpha=0.0, tradeoff="linear")
    if comparison.alone[0] == "fail" or not comparison.fails(of_mean, aligned=alone):
        return None
    lowest = min(replicates, key=lambda replicate: replicate.mean)
    return warning("loss_excused", replicate=lowest.name, mean=lowest.mean, baseline_mean=baseline.mean)


def _outweighed(comparison: Comparison) -> VerdictWarning | None:
    """The warning that weights hide a loss because its topics weigh next to nothing; None if they do not.

    Without weights the candidate would be significantly risky. ``DataError`` (``cannot_fail``) where the topics that
    lost have less than ``MIN_SHARE`` of all weight.
    """
    gate, aligned = comparison.gate, comparison.aligned
    if aligned.weights is None:
        return None
    losses, weights = np.maximum(0.0, -comparison.differences), aligned.weights / np.max(aligned.weights)
    lost = losses > NEXT_TO_NOTHING * exact_sum(losses) / max(int(np.count_nonzero(losses)), 1)
    share = float(np.sum(weights[lost]) / np.sum(weights))
    unweighted = replace(gate.as_kind(NotSignificantlyRisky), weighted=False)
    if share >= LITTLE_SHARE or not comparison.fails(unweighted, aligned=replace(aligned, weights=None)):
        return None
    topics = tuple(topic for topic, loses in zip(comparison.topics, lost, strict=True) if loses)
    if share < MIN_SHARE:
        raise DataError(
            f"weights: without them the candidate is significantly risky, but the {counted(len(topics), 'topic')} "
            f"that lost ({listed(topics, most=5)}) have {100 * share:.2g}% of the weight, so their loss does not "
            "count",
            reason="cannot_fail",
            remedy=f"give them a larger weight (at least {100 * MIN_SHARE:g}% in all), or leave them out of the "
            "judgements",
        )
    return warning("outweighed", topics=topics, share=share)


def _unfailing(comparison: Comparison) -> VerdictWarning | None:
    """The warning that not even a candidate that scores 0 everywhere would fail the gate; None if it would.

    ``DataError`` (``cannot_fail``) if options are the reason, larger than any default and than in the default
    policy, or every score is 0 already. Only for measures whose least score is 0.
    """
    aligned, baseline, gate = comparison.aligned, comparison.pair.aligned.baseline, comparison.gate
    if baseline.measure is None or least_and_greatest(baseline.measure)[0] != 0:
        return None
    if not any(np.any(system.values) for system in aligned.systems):
        raise DataError(
            f"every score of every system is 0, so {baseline.measure} says nothing about these runs and no gate "
            "could fail",
            reason="cannot_fail",
            remedy="choose a measure that the judgements support",
        )
    if gate.is_pool and (gate.tolerance == 0 or comparison.answer[0] != "pass"):
        return None  # all draws again
    if not (gate.by_topic or comparison.ruling.enough_topics):
        return None
    gate = gate.as_kind(NotInferior) if gate.side == "both" else gate
    nothing = replace(aligned.candidate, values=np.zeros_like(baseline.values))
    silent = replace(aligned, systems=(nothing, *aligned.systems[1:]))
    if comparison.fails(gate, aligned=silent):
        return None
    names = ["max_loss", "allowed"] if gate.by_topic else ["tolerance", "level"]
    if not gate.by_topic and gate.level != comparison.own_level:  # a family chose it
        names.remove("level")
    defaults = {name: options_of(type(gate))[name].default for name in names}
    usual = [defaults, *(own for _, kind, own in POLICY if kind == gate.kind)]
    larger = [name for name in names if (getattr(gate, name) or 0) > max(known.get(name, 0) for known in usual)]
    mean, most = comparison.pair.evidence.mean(baseline.values), float(np.max(baseline.values))
    at_defaults = replace(gate, **{name: defaults[name] for name in larger})
    if larger and gate.slice is None and comparison.fails(at_defaults, aligned=silent):
        raise DataError(
            f"{' and '.join(f'{name} {getattr(gate, name):g}' for name in larger)}: even a candidate that scores 0 "
            f"on every topic would pass, since {baseline.name} scores {mean:.4f} on average and {most:.4f} at most",
            reason="cannot_fail",
            remedy=f"choose a smaller {' and '.join(larger)}",
        )
    return warning("cannot_fail", mean=mean, most=most, above=int(np.count_nonzero(baseline.values > 0)))
