"""Live systems as candidates: imported, and queried for every judged topic of the collection."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.config.candidate_settings import CommandCandidate, Retrieve, key_of
from pytest_riskguard.config.http_settings import HttpCandidate
from pytest_riskguard.config.setting_types import ASKING, Queried
from pytest_riskguard.data.given_file import TIES, InputData, Ties
from pytest_riskguard.data.records import checked_metadata, latency_of
from pytest_riskguard.data.runs import Run, run_of_rankings
from pytest_riskguard.engine.question import LiveRun
from pytest_riskguard.errors import ConfigError, ScoringError, UsageError
from pytest_riskguard.gates.option_types import OneOf, shown
from pytest_riskguard.live.command import command_search
from pytest_riskguard.live.failures import failure
from pytest_riskguard.live.http import http_search
from pytest_riskguard.live.python import SignatureError, asked_by_topic, imported
from pytest_riskguard.live.results import Pairs
from pytest_riskguard.live.retrieval import Search, Topic, retrieve
from pytest_riskguard.text import counted

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine


#: Columns of the line that counts topics.
_LINE = 40


def live_run(
    collection: Engine,
    search: Callable[..., object],
    *,
    name: str = "candidate",
    metadata: Mapping[str, str] | None = None,
    ties: Ties = "as_returned",
    **asking: Any,
) -> LiveRun:
    """A run made by calling ``search`` with the query of each judged topic of the collection.

    ``TypeError`` if ``search`` cannot be called so, ``ValueError`` for a wrong field of ``Asking`` or metadata.
    """
    if not callable(search):
        raise TypeError(f"search: expected a function that takes a query, found {shown(search)}")
    given = {"metadata": metadata or {}, "ties": ties, **asking}
    checked: dict[str, Any] = {}
    checks: dict[str, Callable[[Any], Any]] = {**ASKING, "metadata": checked_metadata, "ties": OneOf(TIES)}
    for option, check in checks.items():
        try:
            checked[option] = check(given[option])
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None
    about, asked = checked.pop("metadata"), asked_by_topic(search, depth=checked["depth"])
    ties = checked.pop("ties")
    return LiveRun(lambda: _retrieved(collection, asked, Asking(**checked), ties), name, about)


def live_candidate(collection: Engine, settings: Config, candidate: Queried, line: int) -> LiveRun:
    """The live candidate of a riskguard.yaml, which stands in this line; nothing is imported before it is queried."""
    asking = Asking(**{option: getattr(candidate, option) for option in ASKING})

    def retrieved() -> Run:
        try:
            if isinstance(candidate, HttpCandidate):
                with http_search(candidate.http, asking) as engine:
                    return _retrieved(collection, engine, asking, candidate.ties)
            if isinstance(candidate, CommandCandidate):
                # The command's own time limit ends it with all that it started.
                unlimited = replace(asking, timeout=None)
                with command_search(candidate, asking, settings.path.parent) as command:
                    return _retrieved(collection, command, unlimited, candidate.ties)
            assert isinstance(candidate, Retrieve)
            search = asked_by_topic(imported(candidate.retrieve), depth=asking.depth)
            return _retrieved(collection, search, asking, candidate.ties)
        except (SignatureError, UsageError) as error:
            raise ConfigError(settings.path, line, f"candidate.{key_of(candidate)}: {error}") from None

    return LiveRun(retrieved, metadata=dict(candidate.metadata))


def _wanted(collection: Engine) -> dict[str, Topic]:
    """Each judged topic."""
    queries, judged = collection.sources.queries, collection.sources.qrels.topics
    missing = [topic for topic in judged if topic not in queries]
    if missing:
        raise ScoringError(
            f"no query text for {counted(len(missing), 'judged topic')} ({', '.join(missing[:5])}): name a "
            "topics file with query texts in riskguard.yaml (collection: topics)",
            reason="missing_input",
        )
    tags = {} if collection.sources.topics is None else collection.sources.topics.tags
    return {topic: Topic(queries[topic], id=topic, tags=tags.get(topic, {})) for topic in judged}


def _retrieved(collection: Engine, search: Search, asking: Asking, ties: Ties) -> Run:
    """The answers for all topics; where standard error is a terminal, a line counts them meanwhile."""
    wanted, is_watched = _wanted(collection), sys.stderr.isatty()
    try:
        retrieved = retrieve(search, wanted, asking, progress=_count if is_watched else None)
    finally:
        if is_watched:
            print(end=f"\r{' ' * _LINE}\r", file=sys.stderr, flush=True)
    if retrieved.failed:
        raise failure(retrieved.failed, asked=retrieved.asked, wanted=len(wanted))
    run = _run(retrieved.answers, ties).with_source(latency=latency_of(retrieved.seconds))
    return run.with_source(again=_run(retrieved.again, ties), asked_again=tuple(sorted(retrieved.again)))


def _count(done: int, total: int) -> None:
    print(end=f"\rretrieving {done}/{total} topics"[:_LINE], file=sys.stderr, flush=True)


def _run(answers: Mapping[str, Pairs], ties: Ties) -> Run:
    given = InputData("rankings", reason="bad_run")
    given.ties = ties
    rows = (
        (topic, [document for document, _ in pairs], [score for _, score in pairs], None)
        for topic, pairs in answers.items()
    )
    return run_of_rankings(given, rows)
