"""Assertions for plain Python tests: scores in, a verdict or a ``RiskyError`` out.

Each assertion takes the options of its kind of gate; its signature and its help list them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, TypeVar, Unpack, get_type_hints

from pytest_riskguard import run_context
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.engine.in_memory import Judgements, System, topics_in_memory, verdict_on
from pytest_riskguard.errors import DataError, RiskyError
from pytest_riskguard.gates.kinds import (
    OPTIONS,
    Equivalent,
    Gate,
    GeoRiskNotWorse,
    Method,
    Missing,
    NoDrift,
    NotInferior,
    NoTopicCollapse,
    NotSignificantlyRisky,
    Response,
    Tradeoff,
    gate_of,
    options_of,
)
from pytest_riskguard.gates.option_types import OptionTypeError, lists_options
from pytest_riskguard.gates.verdict import Commands, Verdict, incomparable
from pytest_riskguard.reports.terminal.failure import explain
from pytest_riskguard.reports.terminal.layout import command, report_hint
from pytest_riskguard.run_context import record

#: What pytest puts before each line of a failed test: "E" and the indentation of a statement in a method.
_INDENT = 12

Pool = Mapping[str, System] | Sequence[TopicScores | Run]


class _EveryKind(TypedDict, total=False):
    alpha: float
    level: float
    tradeoff: Tradeoff
    missing: Missing


class BurdenOptions(_EveryKind, total=False):
    """Options of kinds that an interval decides, but for the tolerance that must be given."""

    method: Method
    on_inconclusive: Response


class RiskOptions(BurdenOptions, total=False):
    """Options of ``not_significantly_risky``."""

    tolerance: float
    on_churn: Response
    max_mde: float | None


class GeoRiskOptions(RiskOptions, total=False):
    """Options of ``georisk_not_worse``."""

    reference: str | None


class CollapseOptions(_EveryKind, total=False):
    """Options of ``no_topic_collapse``."""

    max_loss: float | None
    max_share: float | None
    allowed: float
    protected: Sequence[str]


class OfData(TypedDict, total=False):
    """What an assertion takes beside the options of its kind."""

    qrels: Judgements | None
    measure: str | None


class OfMeans(OfData, total=False):
    """The same for kinds that ask about means."""

    weights: Mapping[str, float] | None
    clusters: Mapping[str, str] | None
    strata: Mapping[str, str] | None
    shares: Mapping[str, float] | None
    replicates: Sequence[System]


class _Risk(RiskOptions, OfMeans, total=False): ...


class _GeoRisk(GeoRiskOptions, OfData, total=False): ...


class _Burden(BurdenOptions, OfMeans, total=False): ...


class _Collapse(CollapseOptions, OfData, total=False): ...


Function = TypeVar("Function", bound=Callable[..., Verdict])


def _asks(kind: type[Gate], beside: type = OfMeans) -> Callable[[Function], Function]:
    """Give an assertion the signature and the documentation of its kind's options."""
    options = {name: known for name, known in options_of(kind).items() if known.in_assertions}
    return lists_options(options, beside=get_type_hints(beside))


@_asks(NotSignificantlyRisky)
def assert_not_significantly_risky(candidate: System, baseline: System, **options: Unpack[_Risk]) -> Verdict:
    """Pass when the candidate is not significantly risky against the baseline; else raise ``RiskyError``.

    Parameters
    ----------
    candidate, baseline : mapping topic -> score, TopicScores, series or frame of scores; or rankings
        Scores: the same topics on both sides, in the same measure. Rankings are what ``run`` takes or returns.
    qrels : path, or data, optional
        The judgements that rankings are scored with; as ``read_qrels`` takes or returns them.
    measure : str, optional
        What rankings are scored with, such as ``nDCG@10``; or the column, where a frame has several.
    weights : mapping topic -> weight, optional
        Above 0, for every topic: means and intervals are then weighted (a topic's traffic, say).
    clusters : mapping topic -> name, optional
        Topics of one cluster hang together (variants of a query): intervals and tests then count clusters.
    strata, shares : mapping topic -> stratum and mapping stratum -> share, optional
        For topics drawn stratum by stratum: every topic's stratum, and how much of all queries each stratum is, 1
        together. Means of strata are then added up by these shares. Not together with weights.
    replicates : sequence, each as the baseline
        Other runs of the baseline's system, where it is not deterministic: what is judged is then the candidate's
        URisk beyond theirs.
    {options}

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
    risk", AIRS 2019 (the smooth trade-off).
    """
    __tracebackhide__ = True
    return demand(check(NotSignificantlyRisky.kind, candidate, baseline, **options))


@_asks(GeoRiskNotWorse, OfData)
def assert_georisk_not_worse(candidate: System, baselines: Pool, **options: Unpack[_GeoRisk]) -> Verdict:
    """Pass when the candidate's GeoRisk is not significantly below the reference's; else raise ``RiskyError``.

    The pool is the candidate and the baselines; each of its systems affects the GeoRisk of all of them.

    Parameters
    ----------
    candidate : as for ``assert_not_significantly_risky``
        Scores of at least 0.
    baselines : mapping name -> scores or rankings, or sequence of TopicScores or of what ``run`` returns
        At least one, all on the candidate's topics and in its measure.
    qrels, measure
        As for ``assert_not_significantly_risky``.
    {options}

    Raises
    ------
    RiskyError
        As for ``assert_not_significantly_risky``.
    ValueError
        An option outside its range, a reference that is not a baseline, no baseline at all, two with the same name.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines",
    SIGIR 2016 (GeoRisk). The papers do not test it; docs/explanation/georisk.md says how it is done here.
    """
    __tracebackhide__ = True
    return demand(check(GeoRiskNotWorse.kind, candidate, baselines, **options))


@_asks(NotInferior)
def assert_not_inferior(
    candidate: System, baseline: System, *, tolerance: float, **options: Unpack[_Burden]
) -> Verdict:
    """Pass when the candidate is shown to be no worse than the tolerance; else raise ``RiskyError``.

    The burden of proof lies on the candidate: the lower limit of URisk's interval must be above ``-tolerance``, so
    that too little evidence fails. At alpha 0 URisk is the mean difference; at tolerance 0 the candidate must be
    shown to be better. The verdict says how many topics would be enough.

    Parameters
    ----------
    candidate, baseline, qrels, measure, weights, clusters, strata, shares, replicates
        As for ``assert_not_significantly_risky``, and so are its result and errors.
    {options}
    """
    __tracebackhide__ = True
    return demand(check(NotInferior.kind, candidate, baseline, tolerance=tolerance, **options))


@_asks(Equivalent)
def assert_equivalent(
    candidate: System, baseline: System, *, tolerance: float, **options: Unpack[_Burden]
) -> Verdict:
    """Pass when the mean is shown to be neither lower nor higher by the tolerance; else raise ``RiskyError``.

    Both limits of the mean difference's interval must lie between ``-tolerance`` and ``tolerance``: two one-sided
    tests, each at half of ``1 - level``. Use it where nothing should change, as after a migration.

    Parameters
    ----------
    candidate, baseline, qrels, measure, weights, clusters, strata, shares, replicates
        As for ``assert_not_significantly_risky``, and so are its result and errors.
    {options}

    References
    ----------
    D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing the
    equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
    """
    __tracebackhide__ = True
    return demand(check(Equivalent.kind, candidate, baseline, tolerance=tolerance, **options))


@_asks(NoDrift)
def assert_no_drift(candidate: System, baseline: System, *, tolerance: float, **options: Unpack[_Burden]) -> Verdict:
    """Pass when not significantly more than the tolerance was lost since the baseline; else raise ``RiskyError``.

    The baseline is an earlier release, with many accepted changes in between. At alpha 0, the default, what may be
    lost is the mean.

    Parameters
    ----------
    candidate, baseline, qrels, measure, weights, clusters, strata, shares
        As for ``assert_not_significantly_risky``, and so are its result and errors.
    {options}
    """
    __tracebackhide__ = True
    return demand(check(NoDrift.kind, candidate, baseline, tolerance=tolerance, **options))


@_asks(NoTopicCollapse, OfData)
def assert_no_topic_collapse(candidate: System, baseline: System, **options: Unpack[_Collapse]) -> Verdict:
    """Pass when no single topic loses more than it may; else raise ``RiskyError``.

    No statistics: one topic beyond a limit fails, however many others win. The verdict has every loss.

    Parameters
    ----------
    candidate, baseline, qrels, measure
        As for ``assert_not_significantly_risky``, and so are its result and errors.
    {options}

    Raises
    ------
    ValueError
        Also for no limit at all, and a protected topic that is not judged.
    """
    __tracebackhide__ = True
    return demand(check(NoTopicCollapse.kind, candidate, baseline, **options))


def check(
    kind: str,
    candidate: System,
    baseline: System | Pool,
    *,
    qrels: Judgements | None = None,
    measure: str | None = None,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, str] | None = None,
    strata: Mapping[str, str] | None = None,
    shares: Mapping[str, float] | None = None,
    replicates: Sequence[System] = (),
    **options: Any,
) -> Verdict:
    """The verdict without the exception; ``options`` are those of the assertion of that kind.

    For ``georisk_not_worse`` the baseline is a pool, as ``assert_georisk_not_worse`` takes it.
    """
    __tracebackhide__ = True
    for name, value in options.items():
        if name in OPTIONS and not OPTIONS[name].in_assertions and value != OPTIONS[name].default:
            advice = "it needs a topics file, which plain scores do not have; use the riskguard fixture"
            raise OptionTypeError(f"{name}: {advice}")
    gate = gate_of(current_test() or kind, kind, **{**options, "weighted": weights is not None})
    for name, value in options.items():  # a default may still be a limit, such as max_loss, which nothing would hold
        if name not in options_of(type(gate)) and value != getattr(gate, name):
            raise ValueError(f"{name} has no meaning for {kind}: leave it out")
    if replicates and not gate.takes_replicates:
        raise ValueError(f"replicates have no meaning for {kind}: leave them out")
    about = topics_in_memory(type(gate), weights=weights, clusters=clusters, strata=strata, shares=shares)
    named = _named(baseline) if gate.is_pool else [("baseline", baseline)]
    report = run_context.current().report_wanted
    try:
        systems = [("candidate", candidate), *named]
        verdict = verdict_on(
            gate, systems, replicates=replicates, qrels=qrels, measure=measure, about=about, report=report
        )
        return record(replace(verdict, commands=Commands()))  # of data in memory there is nothing to type
    except DataError as error:
        names = tuple(name for name, _ in named)
        return record(incomparable(gate, error, measure=None, candidate="candidate", baselines=names))


def _named(baselines: Any) -> list[tuple[str, Any]]:
    if isinstance(baselines, Mapping):
        return [(str(name), system) for name, system in baselines.items()]
    if isinstance(baselines, Sequence) and all(isinstance(system, TopicScores | Run) for system in baselines):
        return [(system.name or f"baseline {place}", system) for place, system in enumerate(baselines, 1)]
    expected = "a mapping name -> scores or a list of TopicScores"
    raise TypeError(f"baselines: expected {expected}, found {type(baselines).__name__}")


def demand(verdict: Verdict, *, options: str = "", problem: str | None = None) -> Verdict:
    """Return a verdict that passed; raise ``RiskyError`` for any other.

    ``options`` are those that pytest needs to run this test again; ``problem`` is as ``explain`` takes it.
    """
    __tracebackhide__ = True
    if not verdict.passed:
        test, screen = current_test(), run_context.current().screen
        reproduce = report = None
        if test is not None:
            reproduce = command(test, options=options)
            report = report_hint() if options and not run_context.current().report_wanted else None
            screen = screen._replace(width=screen.width - _INDENT)
        raise RiskyError(explain(verdict, screen, reproduce=reproduce, report=report, problem=problem), verdict)
    return verdict


def current_test() -> str | None:
    """The node id of the test that pytest runs in this process, if any."""
    running = os.environ.get("PYTEST_CURRENT_TEST")
    return running.rpartition(" (")[0] if running else None
