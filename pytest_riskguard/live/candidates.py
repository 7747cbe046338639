"""Live systems as candidates: imported, and queried for every judged topic of the collection."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_riskguard.config.candidate_settings import CommandCandidate, HttpCandidate, Retrieve, key_of
from pytest_riskguard.config.setting_types import Queried
from pytest_riskguard.data.given_file import InputData
from pytest_riskguard.data.runs import Run, run_of_rankings
from pytest_riskguard.engine.question import LiveRun
from pytest_riskguard.errors import ConfigError, DataError, UsageError
from pytest_riskguard.gates.option_types import shown
from pytest_riskguard.live.command import command_search
from pytest_riskguard.live.http import http_search
from pytest_riskguard.live.importing import importable_from
from pytest_riskguard.live.retrieval import Search, Topic, retrieve, told
from pytest_riskguard.text import counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.engine import Engine


#: For how many topics a query is sent twice.
ASK_TWICE = 10


def live_run(collection: Engine, search: Callable[..., object], name: str, **options: Any) -> LiveRun:
    """A run made by calling ``search`` with the query of each judged topic of the collection.

    ``TypeError`` if ``search`` cannot be called so, ``ValueError`` for a wrong field of ``Queried``.
    """
    if not callable(search):
        raise TypeError(f"search: expected a function that takes a query, found {shown(search)}")
    try:
        asked = Queried.model_validate(options)
    except ValidationError as error:
        detail = error.errors()[0]
        raise ValueError(f"{detail['loc'][0]}: {detail['ctx']['error']}") from None
    by_topic = asked_by_topic(search, depth=asked.depth)
    return LiveRun(lambda: _retrieved(collection, by_topic, asked), name)


def live_candidate(collection: Engine, settings: Config, candidate: Queried, line: int) -> LiveRun:
    """The live candidate of a riskguard.yaml, which stands in this line; nothing is imported before it is queried."""

    def retrieved() -> Run:
        try:
            if isinstance(candidate, HttpCandidate):
                with http_search(candidate) as engine:
                    return _retrieved(collection, engine, candidate)
            if isinstance(candidate, CommandCandidate):
                with command_search(candidate, settings.path.parent) as command:
                    return _retrieved(collection, command, candidate)
            assert isinstance(candidate, Retrieve)
            with importable_from(settings.path.parent):
                search = imported(candidate.retrieve)
                return _retrieved(collection, asked_by_topic(search, depth=candidate.depth), candidate)
        except (SignatureError, UsageError) as error:
            raise ConfigError(settings.path, line, f"candidate.{key_of(candidate)}: {error}") from None

    return LiveRun(retrieved)


def live_of_file(collection: Engine, settings: Config) -> LiveRun | None:
    """The candidate of a whole riskguard.yaml; None if it is no live system."""
    candidate = settings.candidate
    if not isinstance(candidate, Queried):
        return None
    return live_candidate(collection, settings, candidate, settings.line("candidate", key_of(candidate)))


def _wanted(collection: Engine) -> dict[str, Topic]:
    """Each judged topic; without judgements each of the topics file."""
    sources = collection.sources
    queries = sources.queries
    judged = sources.qrels.topics if sources.is_judged or not queries else tuple(queries)
    missing = [topic for topic in judged if topic not in queries]
    if missing:
        raise DataError(
            f"no query text for {counted(len(missing), 'judged topic')} ({', '.join(missing[:5])}): name a "
            "topics file with query texts in riskguard.yaml (collection: topics)"
        )
    tags = {} if sources.topics is None else sources.topics.tags
    return {topic: Topic(queries[topic], id=topic, tags=tags.get(topic, {})) for topic in judged}


def _retrieved(collection: Engine, search: Search, asking: Queried) -> Run:
    """The answers for all topics; ``DataError`` if some of them have another first result when asked again."""
    wanted = _wanted(collection)
    answers = retrieve(search, wanted, asking)
    if not any(answers.values()):
        raise DataError(
            f"the search returned nothing for {counted(len(wanted), 'query', 'queries')}",
            reason="bad_run",
            remedy="look whether its index is there, and whether it gets the text of a query",
        )
    topics, size = list(wanted), min(ASK_TWICE, len(wanted))
    sample = {topic: wanted[topic] for topic in (topics[n * len(topics) // size] for n in range(size))}  # spread
    again = retrieve(search, sample, asking)
    changed = [topic for topic in sample if again[topic][:1] != answers[topic][:1]]
    if len(changed) > len(sample) / 2:
        raise DataError(
            f"asked twice, it gave {len(changed)} of {counted(len(sample), 'topic')} another first result "
            f"({listed(changed, most=5)}): a verdict would depend on chance; make it repeatable",
            reason="bad_run",
        )
    given = InputData("rankings", reason="bad_run")
    given.ties = asking.ties
    rows = (
        (topic, [document for document, _ in pairs], [score for _, score in pairs], None)
        for topic, pairs in answers.items()
    )
    return run_of_rankings(given, rows)


# A function of Python: imported, and called with what its signature asks for.

#: The name of a first parameter that takes the topic, with its id and tags, where a text would be passed otherwise.
TOPIC = "topic"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SignatureError(TypeError):
    """A search whose arguments are not those that it gets."""


def imported(target: str) -> Callable[..., Any]:
    """The search ``package.module:function``; ``DataError`` if it cannot be imported, or is no function."""
    module, _, function = target.partition(":")
    try:
        search: Callable[..., Any] = attrgetter(function)(import_module(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        advice = ""
        if isinstance(error, ModuleNotFoundError):
            advice = (
                "; expected package.module:function that is installed here, or in the folder of "
                "riskguard.yaml, its `src` or a folder of pytest's `pythonpath`"
            )
        fault = f"cannot import {target!r}: {told(error)}{advice}"
        raise DataError(fault, remedy="mend the code, or correct its name") from None
    if not callable(search):
        raise DataError(f"{target!r} is not a function", remedy="name a function")
    return search


def asked_by_topic(search: Callable[..., object], *, depth: int) -> Search:
    """A search that is called with a topic, made of one that takes ``(query)``, ``(query, k)`` or ``(topic)``.

    A first parameter that is named ``topic`` gets the topic, any other the query's text. A second one gets the depth
    if it has no default. ``SignatureError`` for other signatures.
    """
    try:
        signature = inspect.signature(search)
    except (TypeError, ValueError):  # written in C
        return lambda topic: search(topic.text)
    positional = [parameter for parameter in signature.parameters.values() if parameter.kind in _POSITIONAL]
    more = (depth,) if len(positional) > 1 and positional[1].default is inspect.Parameter.empty else ()
    try:
        signature.bind(None, *more)
    except TypeError as error:
        name = getattr(search, "__name__", type(search).__name__)
        raise SignatureError(
            f"a search takes (query), (query, k) or (topic), {name}() does not ({error}); give the others "
            "defaults, or wrap it in a function"
        ) from None
    takes_topic = bool(positional) and positional[0].name == TOPIC
    return lambda topic: search(topic if takes_topic else topic.text, *more)
