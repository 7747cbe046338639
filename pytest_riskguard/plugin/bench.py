"""What gates of one riskguard.yaml share in one process: files read once, runs scored once, systems queried once."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.config import values
from pytest_riskguard.config.settings import CandidateFile, CandidateRetrieve, ComputedBaseline, Config, GateItem
from pytest_riskguard.errors import DataError, ScoringError, UsageError
from pytest_riskguard.evaluation.runs import Rankings, rankings_as_run
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.plugin.blame import blamed
from pytest_riskguard.referee import Referee
from pytest_riskguard.sources import Computed, LiveRun, Question, RunFile, Stored

_REFEREES = pytest.StashKey[dict[Path, Referee]]()
_FAMILIES = pytest.StashKey[dict[Path, dict[str, Verdict]]]()
_LIVE = pytest.StashKey[dict[tuple[Path, CandidateRetrieve], LiveRun]]()

#: How code under test may end, but not the gate: pytest.skip() in a search would leave it unjudged and green.
_ENDINGS = (Exception, SystemExit, pytest.skip.Exception, pytest.fail.Exception)

Search = Callable[[str], Iterable[tuple[str, float]]]


def referee_for(config: pytest.Config, settings: Config) -> Referee:
    """The referee over a riskguard.yaml's collection, the same one for all its gates."""
    referees = config.stash.setdefault(_REFEREES, {})
    if settings.path not in referees:
        referees[settings.path] = Referee(
            qrels=settings.collection.qrels,
            topics=settings.collection.topics,
            store=Store(settings.store),
            measures=settings.all_measures,
            report=bool(config.getoption("riskguard_report", default=())),
        )
    return referees[settings.path]


def verdict_on(config: pytest.Config, settings: Config, item: GateItem) -> Verdict:
    """The verdict on one item; a family is judged whole, whichever of its items are selected, and only once."""
    correction, family = settings.family_of(item)
    if not family:
        return referee_for(config, settings).verdict(_question(config, settings, item))
    judged = config.stash.setdefault(_FAMILIES, {}).setdefault(settings.path, {})
    if item.id not in judged:
        questions = [_question(config, settings, member) for member in family]
        verdicts = referee_for(config, settings).verdicts(questions, correction=correction)
        judged |= {member.id: verdict for member, verdict in zip(family, verdicts, strict=True)}
    return judged[item.id]


def _question(config: pytest.Config, settings: Config, item: GateItem) -> Question:
    candidate = _candidate_source(config, settings, item.settings.candidate or settings.candidate)
    first, *pool = (_baseline_source(baseline) for baseline in item.baselines)
    others = tuple(source for source in pool if isinstance(source, Stored))
    return Question(item.gate, candidate, first, item.measure, pool=others, alphas=item.settings.alphas)


def _baseline_source(baseline: str | ComputedBaseline) -> Stored | Computed:
    if isinstance(baseline, str):
        return Stored(baseline)
    return Computed(baseline.kind, tuple(map(Stored, baseline.systems)), baseline.candidate_inside)


def _candidate_source(
    config: pytest.Config, settings: Config, candidate: CandidateFile | CandidateRetrieve | None
) -> RunFile | LiveRun:
    """The candidate that a gate of this riskguard.yaml judges; a function is imported when it is first asked."""
    if candidate is None:
        raise UsageError(f"{settings.path}: no candidate: name a run file, or a function to retrieve with")
    if isinstance(candidate, CandidateFile):
        return RunFile(candidate.path)
    live = config.stash.setdefault(_LIVE, {})
    key = (settings.path, candidate)
    if key not in live:
        target = candidate.target
        live[key] = _live_run(referee_for(config, settings), lambda: _imported(target), candidate.depth, "candidate")
    return live[key]


def live_run(referee: Referee, search: Search, *, depth: int, name: str = "candidate") -> LiveRun:
    """A run made by asking ``search`` every query of the collection's judged topics.

    Raises
    ------
    TypeError
        ``search`` cannot be called.
    ValueError
        ``depth`` is no whole number, at least 1.
    """
    if not callable(search):
        raise TypeError(f"search: expected a function that takes a query, found {values.found(search)}")
    try:
        depth = values.depth(depth)
    except ValueError as error:
        raise ValueError(f"depth: {error}") from None
    return _live_run(referee, lambda: search, depth, name)


def _live_run(referee: Referee, load: Callable[[], Search], depth: int, name: str) -> LiveRun:
    refused: list[DataError] = []

    def retrieve() -> Rankings:
        if refused:  # a system that failed is not asked again for the next measure
            raise refused[0]
        try:
            return _retrieved(referee, load(), depth)
        except DataError as error:
            refused.append(error)
            raise

    return LiveRun(retrieve, name)


def _retrieved(referee: Referee, search: Search, depth: int) -> Rankings:
    queries = referee.queries
    missing = [topic for topic in referee.qrels.topics if topic not in queries]
    if missing:
        raise ScoringError(
            f"no query text for {len(missing)} judged topics ({', '.join(missing[:5])}): name a topics file "
            "that has them in riskguard.yaml (collection: topics)",
            reason="missing_input",
        )
    return rankings_as_run({topic: _results(search, topic, queries[topic], depth) for topic in referee.qrels.topics})


def _results(search: Search, topic: str, query: str, depth: int) -> list[tuple[str, float]]:
    try:
        results = search(query)
        results = results[:depth] if isinstance(results, list | tuple) else list(islice(results, depth))
    except pytest.exit.Exception:
        raise
    except _ENDINGS as error:
        said = f"the search for topic {topic!r} failed: "
        raise blamed(said, error, reason="bad_run", ours=__file__) from None
    for result in results:
        if not _is_pair(result):
            raise ScoringError(
                f"the search for topic {topic!r} returned {result!r}, expected (docid, score) pairs", reason="bad_run"
            )
    return list(results)


def _is_pair(result: object) -> bool:
    """Whether a result can be told apart from a mistake.

    A string of two characters, the text of a number, a flag or a missing id would slip through unpacking, str() and
    float().
    """
    if not (isinstance(result, list | tuple) and len(result) == 2):
        return False
    document, score = result
    return not (
        isinstance(document, bool | np.bool_ | bytes | None) or isinstance(score, str | bytes | bool | np.bool_)
    )


def _imported(target: str) -> Search:
    module, _, function = target.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), function)
    except pytest.exit.Exception:
        raise
    except _ENDINGS as error:
        advice = ""
        if isinstance(error, ImportError | AttributeError):
            advice = (
                "; expected 'module:function' that python can import (pytest's `pythonpath` setting adds folders)"
            )
        said = f"cannot import {target!r}: "
        raise blamed(said, error, advice, reason="missing_input", ours=__file__) from None
    if not callable(found):
        raise UsageError(f"{target!r} is not a function")
    search: Search = found
    return search
