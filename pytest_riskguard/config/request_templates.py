"""Templates of requests: what stands in braces in their texts is replaced by what is known of a topic.

``{query}``, ``{topic}`` (its id), ``{tags.NAME}`` and ``{depth}``. A template is JSON before anything is filled in,
so that no query can be more than a text in it; a text that is ``{depth}`` and nothing else becomes a number. Other
braces, and doubled ones such as those of a search template, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

_PLACEHOLDER = re.compile(r"(?<!\{)\{(query|topic|depth|tags\.[^{}]+)\}(?!\})")
_DEPTH = "{depth}"
#: Deeper than any request.
_MAX_DEPTH = 30


def placeholders(template: object) -> frozenset[str]:
    """The names in braces of a template: a text, or JSON with texts in it."""
    return frozenset(name for text in _texts(template, 0) for name in _PLACEHOLDER.findall(text))


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with its placeholders replaced; ``KeyError`` for one without a value."""
    if isinstance(template, Mapping):
        return {filled(key, values): filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(item, values) for item in template]
    if not isinstance(template, str):
        return template
    return values["depth"] if template == _DEPTH else _replaced(template, values, str)


def filled_address(template: str, values: Mapping[str, Any]) -> str:
    """An address with its placeholders replaced, percent-encoded."""
    return _replaced(template, values, lambda value: quote(str(value), safe=""))


def _replaced(text: str, values: Mapping[str, Any], encoded: Callable[[Any], str]) -> str:
    return _PLACEHOLDER.sub(lambda match: encoded(values[match[1]]), text)


def _texts(template: object, level: int) -> Iterator[str]:
    if level > _MAX_DEPTH:
        return
    if isinstance(template, str):
        yield template
    elif isinstance(template, Mapping):
        for key, value in template.items():
            yield str(key)
            yield from _texts(value, level + 1)
    elif isinstance(template, list | tuple):
        for item in template:
            yield from _texts(item, level + 1)
