"""The way in for plain Python tests: scores in, a verdict or a ``RiskyError`` out."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, cast

from pytest_riskguard import run_context
from pytest_riskguard.errors import DataError, RiskyError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import (
    Convention,
    Gate,
    GeoRiskNotWorse,
    Method,
    Missing,
    NotInferior,
    NoTopicCollapse,
    NotSignificantlyRisky,
    Response,
    Tradeoff,
    gate_of,
)
from pytest_riskguard.gates.pool.judge import judge_pool
from pytest_riskguard.gates.verdict import Verdict, incomparable
from pytest_riskguard.reports.terminal import explain
from pytest_riskguard.run_context import record

#: What pytest puts before each line of a failed test: "E" and the indentation of a statement in a method.
_INDENT = 12

Scores = Mapping[str, float] | TopicScores
Pool = Mapping[str, Scores] | Sequence[TopicScores]


def assert_not_significantly_risky(
    candidate: Scores,
    baseline: Scores,
    *,
    alpha: float = 1.0,
    level: float = 0.95,
    method: Method = "auto",
    tolerance: float = 0.0,
    tradeoff: Tradeoff = "linear",
    convention: Convention = "plus",
    on_churn: Response = "fail",
    on_inconclusive: Response = "fail",
    max_mde: float | None = None,
    missing: Missing = "refuse",
    weights: Mapping[str, float] | None = None,
    replicates: Sequence[Scores] = (),
) -> Verdict:
    """Pass when the candidate is not significantly risky against the baseline; else raise ``RiskyError``.

    Parameters
    ----------
    candidate, baseline : mapping topic -> score, or TopicScores
        The same topics on both sides, in the same measure.
    alpha : float
        A loss counts ``1 + alpha`` times. At alpha > 0 losses that wins do pay for in the mean can still fail the
        gate: that is churn, see ``on_churn``.
    level : float
        Confidence of the two-sided interval of URisk.
    method : {"auto", "student_t", "basic", "studentized", "percentile", "bca"}
        ``auto``: BCa from 25 topics; below, BCa and Student-t must both pass.
    tolerance : float
        URisk may be this much below 0, in units of the measure.
    tradeoff : {"linear", "smooth"}
        How a difference becomes a trade-off score; the smooth one holds at alpha 1, for differences from -1 to 1.
    convention : {"plus", "minus"}
        Whether a risk is shown as a negative or as a positive number.
    on_churn : {"fail", "warn"}
        What churn does: fail the test, or pass with a warning.
    on_inconclusive : {"fail", "warn"}
        The same for a comparison that is too small or too weak to judge.
    max_mde : float, optional
        The gate is inconclusive when it could not have seen a loss of this size (units of the measure).
    missing : {"refuse", "zero"}
        What a topic means that only one side has.
    weights : mapping topic -> weight, optional
        Above 0, for every topic: means and intervals are then weighted (a topic's traffic, say).
    replicates : sequence of mapping topic -> score, or TopicScores
        Other runs of the baseline's system, where it is not deterministic: what is judged is then the candidate's
        URisk beyond theirs.

    Returns
    -------
    Verdict
        With the evidence, also when it passes.

    Raises
    ------
    RiskyError
        An ``AssertionError`` whose ``verdict`` says why: fail, inconclusive or incomparable.
    ValueError
        An option outside its range.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval
    systems", SIGIR 2014 (URisk, TRisk); R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with
    confidence", ADCS 2019 (bootstrap intervals); R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of
    risk", AIRS 2019 (the smooth trade-off, the minus convention).
    """
    __tracebackhide__ = True
    gate = NotSignificantlyRisky(
        name=current_test() or "not_significantly_risky",
        alpha=alpha,
        level=level,
        method=method,
        tolerance=tolerance,
        tradeoff=tradeoff,
        convention=convention,
        weighted=weights is not None,
        on_churn=on_churn,
        on_inconclusive=on_inconclusive,
        max_mde=max_mde,
        missing=missing,
    )
    return demand(ask(gate, candidate, baseline, weights=weights, replicates=replicates))


def assert_georisk_not_worse(
    candidate: Scores,
    baselines: Pool,
    *,
    reference: str | None = None,
    alpha: float = 1.0,
    level: float = 0.95,
    method: Method = "auto",
    tolerance: float = 0.0,
    tradeoff: Tradeoff = "linear",
    convention: Convention = "plus",
    on_churn: Response = "fail",
    on_inconclusive: Response = "fail",
    max_mde: float | None = None,
    missing: Missing = "refuse",
) -> Verdict:
    """Pass when the candidate's GeoRisk is not significantly below the reference's; else raise ``RiskyError``.

    The pool is the candidate and the baselines: each of them is part of everybody's GeoRisk.

    Parameters
    ----------
    candidate : mapping topic -> score, or TopicScores
        None below 0.
    baselines : mapping name -> scores, or sequence of TopicScores
        One at least, all on the candidate's topics and in its measure.
    reference : str, optional
        The name of a baseline (default: the first), ``"any"`` to fail when the candidate is significantly below one
        of them (Holm's method over all), or ``"median"`` for the median GeoRisk of the baselines.
    method : {"auto", "student_t", "percentile", "bca"}
        ``student_t`` is that of the jackknife.
    tolerance : float
        GeoRisk may be this much below the reference's.

    All else is as for ``assert_not_significantly_risky``.

    Raises
    ------
    RiskyError
        As there.
    ValueError
        An option outside its range, a reference that is no baseline, no baseline at all, two of one name.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines",
    SIGIR 2016 (GeoRisk). The papers do not test it; docs/explanation/georisk.md says how it is done here.
    """
    __tracebackhide__ = True
    gate = GeoRiskNotWorse(
        name=current_test() or "georisk_not_worse",
        alpha=alpha,
        level=level,
        method=method,
        tolerance=tolerance,
        tradeoff=tradeoff,
        convention=convention,
        on_churn=on_churn,
        on_inconclusive=on_inconclusive,
        max_mde=max_mde,
        missing=missing,
        reference=reference,
    )
    return demand(ask_pool(gate, candidate, baselines))


def assert_not_inferior(
    candidate: Scores,
    baseline: Scores,
    *,
    tolerance: float,
    alpha: float = 1.0,
    level: float = 0.95,
    method: Method = "auto",
    tradeoff: Tradeoff = "linear",
    convention: Convention = "plus",
    on_inconclusive: Response = "fail",
    missing: Missing = "refuse",
    weights: Mapping[str, float] | None = None,
    replicates: Sequence[Scores] = (),
) -> Verdict:
    """Pass when the candidate is shown to be no worse than the tolerance; else raise ``RiskyError``.

    The burden of proof lies on the candidate: the lower limit of URisk's interval must be above ``-tolerance``, so
    that too little evidence fails. At alpha 0 URisk is the mean difference. The verdict says how many topics would
    be enough.

    Parameters
    ----------
    tolerance : float
        How much below 0 the truth may lie, in units of the measure; at 0 the candidate must be shown to be better.

    All else is as for ``assert_not_significantly_risky``.
    """
    __tracebackhide__ = True
    gate = NotInferior(
        name=current_test() or "not_inferior",
        alpha=alpha,
        level=level,
        method=method,
        tolerance=tolerance,
        tradeoff=tradeoff,
        convention=convention,
        weighted=weights is not None,
        on_inconclusive=on_inconclusive,
        missing=missing,
    )
    return demand(ask(gate, candidate, baseline, weights=weights, replicates=replicates))


def assert_no_topic_collapse(
    candidate: Scores,
    baseline: Scores,
    *,
    max_loss: float | None = 0.5,
    max_share: float | None = None,
    protected: Sequence[str] = (),
    missing: Missing = "refuse",
) -> Verdict:
    """Pass when no single topic loses more than it may; else raise ``RiskyError``.

    No statistics: one topic beyond a limit fails, however many others win.

    Parameters
    ----------
    candidate, baseline : mapping topic -> score, or TopicScores
        The same topics on both sides, in the same measure.
    max_loss : float or None
        The largest loss that is let through, in units of the measure.
    max_share : float or None
        The largest share of the baseline's score that may be lost, from 0 to 1.
    protected : sequence of str
        Topics that may not lose at all.
    missing : {"refuse", "zero"}
        What a topic means that only one side has.

    Returns
    -------
    Verdict
        With every loss, also when it passes.

    Raises
    ------
    RiskyError
        An ``AssertionError`` whose ``verdict`` names the topics.
    ValueError
        An option outside its range, no limit at all, a protected topic that there is not.
    """
    __tracebackhide__ = True
    gate = NoTopicCollapse(
        name=current_test() or "no_topic_collapse",
        max_loss=max_loss,
        max_share=max_share,
        protected=tuple(protected),
        missing=missing,
    )
    return demand(ask(gate, candidate, baseline))


def check(
    kind: str,
    candidate: Scores,
    baseline: Scores | Pool,
    *,
    weights: Mapping[str, float] | None = None,
    replicates: Sequence[Scores] = (),
    **options: Any,
) -> Verdict:
    """The verdict without the exception; ``options`` are those of the assertion of that kind.

    For ``georisk_not_worse`` the baseline is a pool, as ``assert_georisk_not_worse`` takes it.
    """
    options.setdefault("weighted", weights is not None)
    gate = gate_of(current_test() or kind, kind, **options)
    if gate.is_pool:
        if weights is not None or replicates:
            raise ValueError(f"{'replicates' if weights is None else 'weights'} have no meaning for {kind}")
        return ask_pool(gate, candidate, cast(Pool, baseline))
    return ask(gate, candidate, cast(Scores, baseline), weights=weights, replicates=replicates)


def ask(
    gate: Gate,
    candidate: Scores,
    baseline: Scores,
    *,
    weights: Mapping[str, float] | None = None,
    replicates: Sequence[Scores] = (),
) -> Verdict:
    """The verdict of a gate on scores given as they are."""
    topics = None if weights is None else Topics({}, weights=_checked(weights))
    try:
        ours, theirs = _scores(candidate, "candidate"), _scores(baseline, "baseline")
        others = [_scores(scores, f"replicate {i}") for i, scores in enumerate(replicates, start=1)]
        return record(
            judge(gate, ours, theirs, replicates=others, topics=topics, report=run_context.current().report_wanted)
        )
    except DataError as error:
        return record(incomparable(gate, error, measure=None, candidate="candidate", baselines=("baseline",)))


def ask_pool(gate: Gate, candidate: Scores, baselines: Pool) -> Verdict:
    """The verdict of a gate over a pool on scores given as they are."""
    named = _named(baselines)
    try:
        ours = _scores(candidate, "candidate")
        theirs = [_scores(scores, name) for name, scores in named]
        return record(judge_pool(gate, ours, theirs, report=run_context.current().report_wanted))
    except DataError as error:
        names = tuple(name for name, _ in named)
        return record(incomparable(gate, error, measure=None, candidate="candidate", baselines=names))


def _named(baselines: Pool) -> list[tuple[str, Scores]]:
    """Baselines with their names; a mapping of topics to numbers is a single system, and no pool."""
    if isinstance(baselines, Mapping):
        return [(str(name), scores) for name, scores in baselines.items()]
    if isinstance(baselines, Sequence) and all(isinstance(each, TopicScores) for each in baselines):
        return [(each.name, each) for each in baselines]
    raise TypeError(
        f"baselines: expected a mapping name -> scores or a list of TopicScores, found {type(baselines).__name__}"
    )


def _checked(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights by topic, whose names are compared as text, as those of scores are."""
    checked: dict[str, float] = {}
    for topic, weight in weights.items():
        usable = isinstance(weight, Real) and not isinstance(weight, bool)
        if not (usable and math.isfinite(weight) and weight > 0):
            raise ValueError(f"weights: expected a number above 0 for topic {str(topic)!r}, found {weight!r}")
        if str(topic) in checked:
            raise ValueError(f"weights: topic {str(topic)!r} appears twice")
        checked[str(topic)] = float(weight)
    return checked


def _scores(scores: Scores, name: str) -> TopicScores:
    if isinstance(scores, TopicScores):
        return scores
    if isinstance(scores, Mapping):
        return TopicScores.from_mapping(scores, name=name)
    raise TypeError(f"{name}: expected a mapping topic -> score or TopicScores, found {type(scores).__name__}")


def demand(verdict: Verdict, *, options: str = "", problem: str | None = None) -> Verdict:
    """Hand a verdict that passed on; raise ``RiskyError`` for any other.

    ``options`` are those that pytest needs to run this test again; ``problem`` is as ``explain`` takes it.
    """
    __tracebackhide__ = True
    if not verdict.passed:
        test, screen = current_test(), run_context.current().screen
        reproduce = None
        if test is not None:
            reproduce = command(test, options=options)
            screen = replace(screen, width=screen.width - _INDENT)
        raise RiskyError(explain(verdict, screen, reproduce=reproduce, problem=problem), verdict)
    return verdict


def command(test: str, *, options: str = "") -> str:
    """The command that runs one test again from where the user stands."""
    return " ".join(filter(None, ["pytest", options, shlex.quote(run_context.current().locate(test))]))


def current_test() -> str | None:
    """The node id of the test that pytest runs in this process, if any."""
    running = os.environ.get("PYTEST_CURRENT_TEST")
    return running.rpartition(" (")[0] if running else None
