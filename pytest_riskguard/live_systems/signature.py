"""Which arguments a search takes, by its signature: the query, the query and a depth, or the topic."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pytest_riskguard.live_systems.retrieval import Search
from pytest_riskguard.live_systems.topic import Topic

#: The name of a first parameter that takes the topic, with its id and tags, where a text would be passed otherwise.
TOPIC = "topic"
_TAKEN = "a search takes (query), (query, k) or (topic)"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SignatureError(TypeError):
    """A search whose arguments are not those that it gets."""


def asked_by_topic(search: Callable[..., object], *, depth: int) -> Search:
    """A search that is called with a topic, made of one that takes ``(query)``, ``(query, k)`` or ``(topic)``.

    A first parameter that is named ``topic`` or annotated with ``Topic`` gets the topic, any other the query's text.
    A second one gets the depth if it has no default. ``SignatureError`` for other signatures.
    """
    parameters = _parameters(search)
    if parameters is None:  # written in C
        return lambda topic: search(topic.text)
    _check(search, parameters)
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    takes_topic = bool(positional) and _is_topic(positional[0])
    takes_depth = len(positional) > 1 and positional[1].default is inspect.Parameter.empty

    def ask(topic: Topic) -> object:
        query = topic if takes_topic else topic.text
        return search(query, depth) if takes_depth else search(query)

    return ask


def _parameters(search: Callable[..., object]) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(search).parameters.values())
    except (TypeError, ValueError):
        return None


def _check(search: object, parameters: list[inspect.Parameter]) -> None:
    required = [p for p in parameters if p.default is inspect.Parameter.empty and p.kind in _POSITIONAL]
    takes_any = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
    named = [
        p for p in parameters if p.default is inspect.Parameter.empty and p.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    if not takes_any and not any(parameter.kind in _POSITIONAL for parameter in parameters):
        problem = "takes no argument" if not named else f"takes {named[0].name!r} only by name"
    elif len(required) > 2:
        problem = f"needs {len(required)} arguments ({', '.join(parameter.name for parameter in required)})"
    elif named:
        problem = f"needs {named[0].name!r}, and takes it only by name"
    else:
        return
    raise SignatureError(f"{_TAKEN}, {_name(search)} {problem}; give the others defaults, or wrap it in a function")


def _is_topic(parameter: inspect.Parameter) -> bool:
    annotation: Any = parameter.annotation
    name = annotation.rpartition(".")[2] if isinstance(annotation, str) else annotation
    return parameter.name == TOPIC or name in (Topic, Topic.__name__)


def _name(search: object) -> str:
    name = getattr(search, "__name__", None)
    return f"{name}()" if isinstance(name, str) else f"one of type {type(search).__name__}"
