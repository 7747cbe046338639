"""What gates of one riskguard.yaml share in one process: files read once, runs scored once, systems queried once."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.config.settings import CandidateFile, CandidateRetrieve, Config
from pytest_riskguard.errors import ScoringError, UsageError
from pytest_riskguard.evaluation.runs import Rankings, rankings_as_run
from pytest_riskguard.referee import LiveRun, Referee, RunFile

_REFEREES = pytest.StashKey[dict[Path, Referee]]()
_LIVE = pytest.StashKey[dict[tuple[Path, CandidateRetrieve], LiveRun]]()

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
        )
    return referees[settings.path]


def candidate_source(
    config: pytest.Config, settings: Config, candidate: CandidateFile | CandidateRetrieve | None
) -> RunFile | LiveRun:
    """The candidate that a gate of this riskguard.yaml judges."""
    if candidate is None:
        raise UsageError(f"{settings.path}: no candidate: name a run file, or a function to retrieve with")
    if isinstance(candidate, CandidateFile):
        return RunFile(candidate.path)
    live = config.stash.setdefault(_LIVE, {})
    key = (settings.path, candidate)
    if key not in live:
        referee = referee_for(config, settings)
        live[key] = live_run(referee, _imported(candidate.target), depth=candidate.depth)
    return live[key]


def live_run(referee: Referee, search: Search, *, depth: int, name: str = "candidate") -> LiveRun:
    """A run made by asking ``search`` every query of the collection's judged topics."""

    def retrieve() -> Rankings:
        queries = referee.queries
        missing = [topic for topic in referee.qrels.topics if topic not in queries]
        if missing:
            raise ScoringError(
                f"no query text for {len(missing)} judged topics ({', '.join(missing[:5])}): name a topics file "
                "that has them in riskguard.yaml (collection: topics)",
                reason="missing_input",
            )
        return rankings_as_run(
            {topic: _results(search, topic, queries[topic], depth) for topic in referee.qrels.topics}
        )

    return LiveRun(retrieve, name)


def _results(search: Search, topic: str, query: str, depth: int) -> list[tuple[str, float]]:
    try:
        results = search(query)
        results = results[:depth] if isinstance(results, list | tuple) else list(islice(results, depth))
    except Exception as error:
        raise ScoringError(
            f"the search for topic {topic!r} failed: {type(error).__name__}: {error}", reason="bad_run"
        ) from error
    for result in results:
        # A string of two characters, or the text of a number, would slip through unpacking and float().
        if not (isinstance(result, list | tuple) and len(result) == 2) or isinstance(result[1], str | bytes):
            raise ScoringError(
                f"the search for topic {topic!r} returned {result!r}, expected (docid, score) pairs", reason="bad_run"
            )
    return list(results)


def _imported(target: str) -> Search:
    module, _, function = target.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"cannot import {target!r} ({error}); expected 'module:function' that python can import (pytest's "
            "`pythonpath` setting adds folders)"
        ) from error
    if not callable(found):
        raise UsageError(f"{target!r} is not a function")
    search: Search = found
    return search
