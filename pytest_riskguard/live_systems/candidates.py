"""Live systems as candidates: imported, and queried for every judged topic of the collection."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.config.candidate_settings import CommandCandidate, Retrieve, key_of
from pytest_riskguard.config.http_settings import HttpCandidate
from pytest_riskguard.config.setting_types import ASKING, Queried
from pytest_riskguard.data.given_file import TIES, InputData, Ties
from pytest_riskguard.data.metadata import checked_metadata, latency_of
from pytest_riskguard.data.runs import Run, run_of_rankings
from pytest_riskguard.engine.question import LiveRun
from pytest_riskguard.errors import ConfigError, ScoringError, UsageError
from pytest_riskguard.gates.option_types import shown
from pytest_riskguard.live_systems.commands import command_search
from pytest_riskguard.live_systems.failures import failure, imported
from pytest_riskguard.live_systems.http import http_search
from pytest_riskguard.live_systems.results import Pairs
from pytest_riskguard.live_systems.retrieval import Retrieved, Search, Topic, retrieve
from pytest_riskguard.text import counted

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine


#: The name of a first parameter that takes the topic, with its id and tags, where a text would be passed otherwise.
TOPIC = "topic"
#: Columns of the line that counts topics.
_LINE = 40
_TAKEN = "a search takes (query), (query, k) or (topic)"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SignatureError(TypeError):
    """A search whose arguments are not those that it gets."""


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
    checked = {}
    for option, check in ASKING.items():
        try:
            checked[option] = check(asking[option])
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None
    try:
        about = checked_metadata(metadata or {})
    except ValueError as error:
        raise ValueError(f"metadata: {error}") from None
    if ties not in TIES:
        raise ValueError(f"ties: expected {' or '.join(TIES)}, found {shown(ties)}")
    asked = asked_by_topic(search, depth=checked["depth"])
    return LiveRun(lambda: _retrieved(collection, asked, Asking(**checked), ties), name, about)


def live_candidate(collection: Engine, candidate: Queried, *, settings: Config, line: int) -> LiveRun:
    """The live candidate of a riskguard.yaml, which stands in this line; nothing is imported before it is queried."""
    asking = Asking(**{option: getattr(candidate, option) for option in ASKING})

    def retrieved() -> Run:
        try:
            match candidate:
                case HttpCandidate():
                    with http_search(candidate.http, asking) as engine:
                        return _retrieved(collection, engine, asking, candidate.ties)
                case CommandCandidate():
                    # The command's own time limit ends it with all that it started.
                    unlimited = replace(asking, timeout=None)
                    with command_search(candidate, asking, settings.path.parent) as command:
                        return _retrieved(collection, command, unlimited, candidate.ties)
                case Retrieve():
                    search = asked_by_topic(imported(candidate.retrieve), depth=asking.depth)
                    return _retrieved(collection, search, asking, candidate.ties)
            raise TypeError(f"not a system that can be queried: {type(candidate).__name__}")
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
        raise failure(retrieved, len(wanted))
    return _as_run(retrieved, ties)


def _count(done: int, total: int) -> None:
    print(end=f"\rretrieving {done}/{total} topics"[:_LINE], file=sys.stderr, flush=True)


def _as_run(retrieved: Retrieved, ties: Ties) -> Run:
    run = _run(retrieved.answers, ties).with_source(latency=latency_of(retrieved.seconds))
    if not retrieved.again:
        return run
    return run.with_source(again=_run(retrieved.again, ties), asked_again=tuple(sorted(retrieved.again)))


def _run(answers: Mapping[str, Pairs], ties: Ties) -> Run:
    given = InputData("rankings", reason="bad_run")
    given.ties = ties
    rows = (
        (topic, [document for document, _ in pairs], [score for _, score in pairs], None)
        for topic, pairs in answers.items()
    )
    return run_of_rankings(given, rows)


def asked_by_topic(search: Callable[..., object], *, depth: int) -> Search:
    """A search that is called with a topic, made of one that takes ``(query)``, ``(query, k)`` or ``(topic)``.

    A first parameter that is named ``topic`` or annotated with ``Topic`` gets the topic, any other the query's text.
    A second one gets the depth if it has no default. ``SignatureError`` for other signatures.
    """
    try:
        signature = inspect.signature(search)
    except (TypeError, ValueError):  # written in C
        return lambda topic: search(topic.text)
    positional = [parameter for parameter in signature.parameters.values() if parameter.kind in _POSITIONAL]
    takes_topic = bool(positional) and _is_topic(positional[0])
    takes_depth = len(positional) > 1 and positional[1].default is inspect.Parameter.empty
    try:
        signature.bind(*((None, depth) if takes_depth else (None,)))
    except TypeError as error:
        advice = "give the others defaults, or wrap it in a function"
        raise SignatureError(f"{_TAKEN}, {_name(search)} does not ({error}); {advice}") from None

    def ask(topic: Topic) -> object:
        query = topic if takes_topic else topic.text
        return search(query, depth) if takes_depth else search(query)

    return ask


def _is_topic(parameter: inspect.Parameter) -> bool:
    annotation: Any = parameter.annotation
    name = annotation.rpartition(".")[2] if isinstance(annotation, str) else annotation
    return parameter.name == TOPIC or name in (Topic, Topic.__name__)


def _name(search: object) -> str:
    name = getattr(search, "__name__", None)
    return f"{name}()" if isinstance(name, str) else f"one of type {type(search).__name__}"
