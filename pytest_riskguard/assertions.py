"""Assertions for plain Python tests: scores or rankings in, a verdict or a ``RiskyError`` out.

There is one for each kind of gate, made from its options; its signature and its help list them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard import run_context
from pytest_riskguard.data.measures import measure_name
from pytest_riskguard.data.memory import system_in_memory
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import CLUSTER, Topics
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question
from pytest_riskguard.errors import DataError, RiskyError, UsageError
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, Gate, gate_of, options_of
from pytest_riskguard.gates.option_types import Number, OptionTypeError, Text
from pytest_riskguard.gates.verdict import Commands, Verdict, refused
from pytest_riskguard.run_context import record

#: What pytest puts before each line of a failed test: "E" and the indentation of a statement in a method.
_INDENT = 12
#: Per-topic scores; or rankings, which need judgements and a measure.
System = TopicScores | Run | Any
Pool = Mapping[str, System] | Sequence[TopicScores | Run]
Judgements = Qrels | Path | str | Any
#: A function that asks a kind's question.
Assertion = Callable[..., Verdict]
_WEIGHT, _NAME = Number(0, open_range=True), Text("a name")


def check(
    kind: str,
    candidate: System,
    baseline: System | Pool,
    *,
    qrels: Judgements | None = None,
    measure: str | None = None,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, str] | None = None,
    replicates: Sequence[System] = (),
    **options: Any,
) -> Verdict:
    """Ask a kind of gate about data in memory, and return the verdict whatever it is.

    Parameters
    ----------
    kind : str
        Such as ``not_significantly_risky``.
    candidate, baseline : mapping topic -> score, TopicScores, series or frame of scores; or rankings
        Scores: the same topics on both sides, in the same measure. Rankings are what ``run`` takes or returns. For
        ``georisk_not_worse`` the baseline is a pool: a mapping name -> system, or a list of TopicScores or runs.
    qrels : path, or data, optional
        The judgements that rankings are scored with; as ``read_qrels`` takes or returns them.
    measure : str, optional
        What rankings are scored with, such as ``nDCG@10``; or the column, where a frame has several.
    weights : mapping topic -> weight, optional
        Above 0, for every topic: means and intervals are then weighted (a topic's traffic, say).
    clusters : mapping topic -> name, optional
        Topics of one cluster hang together (variants of a query): intervals and tests then count clusters.
    replicates : sequence, each as the baseline
        Other runs of the baseline's system, where it is not deterministic: what is judged is then the candidate's
        URisk beyond theirs.
    **options
        Those of the assertion of this kind.

    Raises
    ------
    ValueError
        An option outside its range, or one that has no meaning for this kind.
    TypeError
        An option or data of another type, rankings without judgements or a measure.
    """
    __tracebackhide__ = True
    gate = _gate(kind, options, weighted=weights is not None)
    for name, given, is_known in (
        ("clusters", clusters, not gate.by_topic),
        ("replicates", replicates or None, gate.takes_replicates),
    ):
        if given is not None and not is_known:
            raise ValueError(f"{name} have no meaning for {kind}: leave them out")
    tags = {topic: {CLUSTER: name} for topic, name in _by_topic("cluster", clusters, _NAME).items()}
    topics = Topics({}, tags, _by_topic("weight", weights, _WEIGHT))
    named = _pool(baseline) if gate.is_pool else [("baseline", baseline)]
    column = None if measure is None else measure_name(measure)
    try:
        systems = [system_in_memory(system, name, column) for name, system in [("candidate", candidate), *named]]
        others = [system_in_memory(one, f"replicate {i}", column) for i, one in enumerate(replicates, start=1)]
        runs = [one for one in (*systems, *others) if isinstance(one, Run) and not gate.of_rankings]
        judgements = _judgements(qrels, column, runs)
        if judgements is not None:
            texts = [judgements.texts, *(one.source.texts for one in systems if isinstance(one, Run))]
            topics = Topics(next(filter(None, texts), {}), topics.tags, topics.weights)
        first, second, *pool = systems
        question = Question(gate, first, second, column, pool=tuple(pool), replicates=tuple(others))
        report = run_context.current().report_wanted or current_test() is None  # whose verdicts may be saved
        engine = Engine(qrels=judgements, topics=topics, report=report)
        return record(replace(engine.verdict(question), commands=Commands()))  # of data in memory nothing is typed
    except UsageError as error:
        raise ValueError(str(error)) from None
    except DataError as error:
        baselines = tuple(name for name, _ in named)
        return record(refused(Verdict(gate, "incomparable", None, None, "candidate", baselines), error))


def _gate(kind: str, options: Mapping[str, Any], *, weighted: bool) -> Gate:
    """The gate with these options."""
    for name, value in options.items():
        if name in OPTIONS and not OPTIONS[name].in_assertions and value != OPTIONS[name].default:
            advice = "it needs a topics file, which plain scores do not have; use the riskguard fixture"
            raise OptionTypeError(f"{name}: {advice}")
    gate = gate_of(current_test() or kind, kind, **{**options, "weighted": weighted})
    for name, value in options.items():  # a default may still be a limit, such as max_loss, which nothing would hold
        if name not in options_of(type(gate)) and value != getattr(gate, name):
            raise ValueError(f"{name} has no meaning for {kind}: leave it out")
    return gate


def _by_topic(what: str, given: Mapping[str, Any] | None, check: Callable[[Any], Any]) -> dict[str, Any]:
    """Values by topic, whose names are compared as text, as those of scores are."""
    given = given or {}
    found = {}
    for topic, value in given.items():
        try:
            found[str(topic)] = check(value)
        except ValueError as error:
            raise type(error)(f"{what} of topic {str(topic)!r}: {error}") from None
    if len(found) < len(given):
        raise ValueError(f"{what}: expected each topic once, found two with the same name as text")
    return found


def _pool(baselines: Any) -> list[tuple[str, Any]]:
    if isinstance(baselines, Mapping):
        return [(str(name), system) for name, system in baselines.items()]
    if isinstance(baselines, Sequence) and all(isinstance(system, TopicScores | Run) for system in baselines):
        return [(system.name or f"baseline {place}", system) for place, system in enumerate(baselines, 1)]
    expected = "a mapping name -> scores or a list of TopicScores"
    raise TypeError(f"baselines: expected {expected}, found {type(baselines).__name__}")


def _judgements(qrels: Judgements | None, measure: str | None, runs: Sequence[Run]) -> Qrels | None:
    """The judgements, which rankings need and scores must not have."""
    if not runs:
        if qrels is not None:
            raise ValueError("qrels have no meaning for per-topic scores: leave them out")
        return None
    missing = " and ".join(option for option, value in (("qrels=", qrels), ("measure=", measure)) if value is None)
    if missing or qrels is None:
        raise TypeError(
            f"{runs[0].name}: found rankings, which are scored with judgements and a measure: add {missing}"
        )
    return qrels if isinstance(qrels, Qrels) else read_qrels(qrels)


def demand(verdict: Verdict, *, options: str = "", indent: int = _INDENT) -> Verdict:
    """Return a verdict that passed; raise ``RiskyError``, which explains it, for any other.

    ``options`` are those that pytest needs to run this test again; ``indent`` is what it puts before each line.
    """
    __tracebackhide__ = True
    if not verdict.passed:
        from pytest_riskguard.reports.terminal import command, explain, report_hint  # no pass needs its words

        test, screen = current_test(), run_context.current().screen
        reproduce = report = None
        if test is not None:
            reproduce = command(test, options=options)
            report = report_hint() if options and not run_context.current().report_wanted else None
            screen = screen._replace(width=screen.width - indent)
        raise RiskyError(explain(verdict, screen, reproduce=reproduce, report=report), verdict)
    return verdict


def current_test() -> str | None:
    """The node id of the test that pytest runs in this process, if any."""
    running = os.environ.get("PYTEST_CURRENT_TEST")
    return running.rpartition(" (")[0] if running else None


def assertion(kind: type[Gate], ask: Assertion, check: Assertion, leave_out: Collection[str] = ()) -> Assertion:
    """A function that asks a kind's question: with the parameters of ``check``, but some, and the kind's options."""

    def asking(*systems: Any, **given: Any) -> Verdict:
        __tracebackhide__ = True
        return ask(*systems, kind=kind.kind, **given)

    known = inspect.signature(check).parameters
    parameters = [known[name] for name in known if name not in ("kind", "options", *leave_out)]
    listed = []
    for name, option in options_of(kind).items():
        if name not in leave_out:
            parameters.append(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type
                )
            )
            listed.append(f"{name} : {option.type_text}, default {option.default!r}\n    {option.help}")
    asking.__name__ = asking.__qualname__ = f"assert_{kind.kind}"
    asking.__signature__ = inspect.Signature(parameters, return_annotation=Verdict)  # type: ignore[attr-defined]
    asking.__doc__ = "\n".join([*_TEXT.format(inspect.cleandoc(kind.__doc__ or "")).splitlines(), *listed])
    return asking


_TEXT = """{}

Returns the verdict, with its evidence, if it passes; raises ``RiskyError``, an ``AssertionError`` whose ``verdict``
says why, if it does not. ``check`` says what the systems and further data may be.

Parameters
----------"""


def _demanded(candidate: System, baseline: System | Pool, *, kind: str, **options: Any) -> Verdict:
    __tracebackhide__ = True
    return demand(check(kind, candidate, baseline, **options))


def __getattr__(name: str) -> Any:
    """The assertion of each kind, for data in memory."""
    gate = KINDS.get(name.removeprefix("assert_"))
    if gate is None or not name.startswith("assert_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    leave_out = [name for name, option in options_of(gate).items() if not option.in_assertions]
    if gate.is_pool or gate.by_topic:
        leave_out += ["weights", "clusters", "replicates"]
    return assertion(gate, _demanded, check, leave_out)
