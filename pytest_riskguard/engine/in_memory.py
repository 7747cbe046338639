"""Gates over systems that are objects in Python: scores are judged as they are, rankings are scored first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.data.measures import (
    bounds,
    measure_name,
    out_of_range,
    parse_measure,
    refuse_uninformative,
    span,
)
from pytest_riskguard.data.memory import JudgementsData, SystemData, system_in_memory
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import CLUSTER, STRATUM, Topics
from pytest_riskguard.engine.judging import Engine
from pytest_riskguard.engine.sources import Question
from pytest_riskguard.errors import DataError, ScoresFormatError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.option_types import SHARES, OptionTypeError, is_number
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.plugins import told
from pytest_riskguard.reports.wording import worded

_Names = Mapping[str, str]


@frozen
class TopicsInMemory:
    """What is said about topics without a topics file: weights, clusters, strata and the strata's shares."""

    weights: Mapping[str, float] | None = None
    clusters: _Names | None = None
    strata: _Names | None = None
    shares: Mapping[str, float] | None = None

    def topics(self, texts: _Names) -> Topics | None:
        """The same as topics with these texts; None if nothing is known."""
        columns = {CLUSTER: self.clusters, STRATUM: self.strata}
        tags: dict[str, dict[str, str]] = {}
        for tag, values in columns.items():
            for topic, value in (values or {}).items():
                tags.setdefault(topic, {})[tag] = value
        if not (texts or tags or self.weights):
            return None
        return Topics.of(texts, tags, self.weights or {}, shares=self.shares or {})


def topics_in_memory(
    kind: type[Gate],
    *,
    weights: Mapping[str, float] | None,
    clusters: Mapping[str, str] | None,
    strata: Mapping[str, str] | None,
    shares: Mapping[str, float] | None,
) -> TopicsInMemory:
    """What is said about the topics, checked; ``ValueError`` for what does not go together."""
    for name, given in (("clusters", clusters), ("strata", strata)):
        if given is not None and (kind.by_topic or (name == "strata" and kind.is_pool)):
            raise ValueError(f"{name} have no meaning for {kind.kind}: leave them out")
    if (strata is None) != (shares is None):
        raise ValueError(
            "strata and shares belong together: strata={topic: stratum} says which topics are in which stratum, "
            "shares={stratum: share} how much of all queries each stratum is"
        )
    try:
        pairs = None if shares is None else dict(SHARES(shares))
    except ValueError as error:
        raise type(error)(f"shares: {error}") from None
    return TopicsInMemory(
        weights=None if weights is None else _checked(weights),
        clusters=None if clusters is None else _names("clusters", clusters),
        strata=None if strata is None else _names("strata", strata),
        shares=pairs,
    )


def _names(what: str, given: Mapping[str, str]) -> dict[str, str]:
    """Names by topic."""
    named: dict[str, str] = {}
    for topic, name in given.items():
        if not isinstance(name, str) or not name.strip():
            raise OptionTypeError(f"{what}: expected a name for topic {str(topic)!r}, found {name!r}")
        if str(topic) in named:
            raise ValueError(f"{what}: topic {str(topic)!r} appears twice")
        named[str(topic)] = name.strip()
    return named


def _checked(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights by topic, whose names are compared as text, as those of scores are."""
    checked: dict[str, float] = {}
    for topic, weight in weights.items():
        if not (is_number(weight) and math.isfinite(weight) and weight > 0):
            raise ValueError(f"weights: expected a number above 0 for topic {str(topic)!r}, found {weight!r}")
        if str(topic) in checked:
            raise ValueError(f"weights: topic {str(topic)!r} appears twice")
        checked[str(topic)] = float(weight)
    return checked


#: Per-topic scores; or rankings, which need judgements and a measure.
System = TopicScores | Run | SystemData
Judgements = Qrels | Path | str | JudgementsData


def verdict_on(
    gate: Gate,
    systems: Sequence[tuple[str, Any]],
    *,
    replicates: Sequence[Any] = (),
    qrels: Judgements | None = None,
    measure: str | None = None,
    about: TopicsInMemory | None = None,
    report: bool = False,
) -> Verdict:
    """The verdict on a candidate, the first of the systems with their names, and its baselines.

    ``TypeError`` for rankings without judgements or without a measure, and for data of no known shape;
    ``DataError`` for bad data.
    """
    about = about or TopicsInMemory()
    name = None if measure is None else measure_name(measure)
    given = [system_in_memory(system, what, name) for what, system in systems]
    others = [system_in_memory(system, f"replicate {i}", name) for i, system in enumerate(replicates, start=1)]
    runs = [system for system in (*given, *others) if isinstance(system, Run)]
    if not runs:
        if qrels is not None:
            raise ValueError("qrels have no meaning for per-topic scores: leave them out")
        return _judged(gate, _scored(given, name), _scored(others, name), topics=about.topics({}), report=report)
    if qrels is None or name is None:
        missing = " and ".join(option for option, value in (("qrels=", qrels), ("measure=", name)) if value is None)
        raise TypeError(
            f"{runs[0].name}: found rankings, which are scored with judgements and a measure: add {missing}"
        )
    judgements = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    texts = judgements.texts or next((run.source.texts for run in runs if run.source.texts), {})
    topics = about.topics(texts)
    if others:  # an engine takes replicates from a store alone
        every = [_ranked(system, judgements, name, texts) for system in (*given, *others)]
        scores, noise = every[: len(given)], every[len(given) :]
        return _judged(gate, scores, noise, topics=topics, report=report)
    engine = Engine(qrels=judgements, topics=topics, measures=[name], report=report)
    candidate, baseline, *pool = given
    return engine.verdict(Question(gate, candidate, baseline, name, pool=tuple(pool)))


def _judged(
    gate: Gate,
    systems: Sequence[TopicScores],
    replicates: Sequence[TopicScores],
    *,
    topics: Topics | None,
    report: bool,
) -> Verdict:
    _refuse_if_it_cannot_fail(gate, systems[0].measure)
    candidate, *baselines = systems
    if gate.is_pool:
        return told(worded(judge(gate, candidate, *baselines, topics=topics, report=report)))
    return told(worded(judge(gate, candidate, baselines[0], replicates=replicates, topics=topics, report=report)))


def _refuse_if_it_cannot_fail(gate: Gate, measure: str | None) -> None:
    """``ValueError`` where no scores of the measure could fail the gate; plain mappings have no measure."""
    if measure is None:
        return
    try:
        refuse_uninformative(measure)
    except UsageError as error:
        raise ValueError(str(error)) from None
    gate.refuse_if_it_cannot_fail(span(measure))


def _ranked(system: TopicScores | Run, qrels: Qrels, measure: str, texts: Mapping[str, str]) -> TopicScores:
    if isinstance(system, TopicScores):
        return system
    (scores,) = score_run(system, qrels, [measure], queries=texts)
    return scores


def _scored(systems: Sequence[TopicScores | Run], measure: str | None) -> list[TopicScores]:
    """Scores in the measure that is asked for, which plain mappings do not name."""
    scores = [system for system in systems if isinstance(system, TopicScores)]
    if measure is None:
        return scores
    return [system if system.measure is not None else _labelled(system, measure) for system in scores]


def _labelled(scores: TopicScores, measure: str) -> TopicScores:
    parsed = parse_measure(measure)
    for topic, value in zip(scores.topics, scores.values, strict=True):
        if (problem := out_of_range(measure, bounds(parsed), topic, float(value))) is not None:
            raise DataError(f"{scores.name}: {problem}", reason=ScoresFormatError.reason)
    return replace(scores, measure=measure)
