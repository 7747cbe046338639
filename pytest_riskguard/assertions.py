"""The way in for plain Python tests: scores in, a verdict or a ``RiskyError`` out."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from pytest_riskguard.errors import DataError, RiskyError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.judge import incomparable, judge
from pytest_riskguard.gates.spec import Gate, Kind, Method, Missing, Response
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.recorder import record
from pytest_riskguard.reports.detail import CURRENT
from pytest_riskguard.reports.terminal import explain

#: What pytest puts before each line of a failed test: "E" and the indentation of a statement in a method.
_INDENT = 12

Scores = Mapping[str, float] | TopicScores


def assert_not_significantly_risky(
    candidate: Scores,
    baseline: Scores,
    *,
    alpha: float = 1.0,
    level: float = 0.95,
    method: Method = "auto",
    tolerance: float = 0.0,
    on_churn: Response = "fail",
    on_inconclusive: Response = "fail",
    max_mde: float | None = None,
    missing: Missing = "refuse",
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
    method : {"auto", "bca", "percentile", "student_t"}
        ``auto``: BCa from 25 topics; below, BCa and Student-t must both pass.
    tolerance : float
        URisk may be this much below 0, in units of the measure.
    on_churn : {"fail", "warn"}
        What churn does: fail the test, or pass with a warning.
    on_inconclusive : {"fail", "warn"}
        The same for a comparison that is too small or too weak to judge.
    max_mde : float, optional
        The gate is inconclusive when it could not have seen a loss of this size (units of the measure).
    missing : {"refuse", "zero"}
        What a topic means that only one side has.

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
    confidence", ADCS 2019 (bootstrap intervals).
    """
    __tracebackhide__ = True
    gate = Gate(
        name=current_test() or "not_significantly_risky",
        alpha=alpha,
        level=level,
        method=method,
        tolerance=tolerance,
        on_churn=on_churn,
        on_inconclusive=on_inconclusive,
        max_mde=max_mde,
        missing=missing,
    )
    return demand(ask(gate, candidate, baseline))


def check(kind: str, candidate: Scores, baseline: Scores, **options: Any) -> Verdict:
    """The verdict without the exception; ``options`` are those of the assertion of that kind."""
    return ask(Gate(name=current_test() or kind, kind=cast(Kind, kind), **options), candidate, baseline)


def ask(gate: Gate, candidate: Scores, baseline: Scores) -> Verdict:
    """The verdict of a gate on scores given as they are."""
    try:
        return record(judge(gate, _scores(candidate, "candidate"), _scores(baseline, "baseline")))
    except DataError as error:
        return record(incomparable(gate, error, measure=None, candidate="candidate", baselines=("baseline",)))


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
        test, detail = current_test(), CURRENT
        reproduce = None
        if test is not None:
            reproduce = command(test, options=options)
            detail = replace(CURRENT, width=CURRENT.width - _INDENT)
        raise RiskyError(explain(verdict, detail=detail, reproduce=reproduce, problem=problem), verdict)
    return verdict


def command(test: str, *, options: str = "") -> str:
    """The command that runs one test again from where the user stands."""
    return " ".join(filter(None, ["pytest", options, shlex.quote(CURRENT.locate(test))]))


def current_test() -> str | None:
    """The node id of the test that pytest runs in this process, if any."""
    running = os.environ.get("PYTEST_CURRENT_TEST")
    return running.rpartition(" (")[0] if running else None
