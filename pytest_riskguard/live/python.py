"""A function of Python as a live system: imported, and called with what its signature asks for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any

from pytest_riskguard.errors import DataError
from pytest_riskguard.live.failures import told
from pytest_riskguard.live.retrieval import Search, Topic

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
        advice = "; expected 'module:function' that python can import (pytest's `pythonpath` setting adds folders)"
        advice = advice if isinstance(error, ImportError | AttributeError) else ""
        raise DataError(f"cannot import {target!r}: {told(error)}{advice}", reason="missing_input") from None
    if not callable(search):
        raise DataError(f"{target!r} is not a function", reason="missing_input")
    return search


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
    more = (depth,) if len(positional) > 1 and positional[1].default is inspect.Parameter.empty else ()
    try:
        signature.bind(None, *more)
    except TypeError as error:
        name = getattr(search, "__name__", type(search).__name__)
        raise SignatureError(
            f"a search takes (query), (query, k) or (topic), {name}() does not ({error}); give the others "
            "defaults, or wrap it in a function"
        ) from None
    takes_topic = bool(positional) and _is_topic(positional[0])
    return lambda topic: search(topic if takes_topic else topic.text, *more)


def _is_topic(parameter: inspect.Parameter) -> bool:
    annotation: Any = parameter.annotation
    name = annotation.rpartition(".")[2] if isinstance(annotation, str) else annotation
    return parameter.name == TOPIC or name in (Topic, Topic.__name__)
