"""What a request to each engine looks like, where a riskguard.yaml does not say otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pytest_riskguard.frozen import frozen

if TYPE_CHECKING:
    from pytest_riskguard.data.engines import Engine

_PLACEHOLDER = re.compile(r"(?<![{$])\{(query|topic|depth|tags\.[^{}]+)\}(?!\})")
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


Where = Literal["body", "params"]


@frozen
class Request:
    """The template of one request; ``depth`` is where the number of hits goes, and under which key.

    ``path`` follows the address, or with a slash at its beginning replaces the path there.
    """

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    body: Mapping[str, Any] | None = None
    depth: tuple[Where, str] | None = None


@frozen
class Preset:
    """How an engine is asked: ``request`` without a body from the user, ``with_body`` with one.

    ``answers`` names the engine that they are read as; ``max_depth`` is the most hits that it returns to one request.
    """

    name: str
    title: str
    request: Request
    with_body: Request
    answers: str | None = None
    max_depth: int | None = None

    @property
    def engine(self) -> Engine | None:
        """What reads the answers; None for the general preset, whose answers the settings describe."""
        if self.answers is None:
            return None
        from pytest_riskguard.data.engines import ENGINES

        return ENGINES[self.answers]


def _elasticsearch(name: str, title: str) -> Preset:
    request = Request(
        "POST",
        "_search",
        body={"query": {"multi_match": {"query": "{query}"}}, "_source": False},
        depth=("body", "size"),
    )
    return Preset(name, title, request, request, "elasticsearch")


def _same(name: str, title: str, request: Request, **more: Any) -> Preset:
    return Preset(name, title, request, request, name, **more)


_ALL = (
    _elasticsearch("elasticsearch", "Elasticsearch"),
    _elasticsearch("opensearch", "OpenSearch"),
    Preset(
        "solr",
        "Solr",
        Request(
            "GET",
            "select",
            {"q": "{query}", "fl": "id,score", "wt": "json"},
            depth=("params", "rows"),
        ),
        Request("POST", "query", {"wt": "json"}, depth=("body", "limit")),
        "solr",
    ),
    _same(
        "vespa",
        "Vespa",
        Request(
            "POST",
            "search/",
            body={"yql": "select * from sources * where userQuery()", "query": "{query}"},
            depth=("body", "hits"),
        ),
    ),
    _same(
        "algolia",
        "Algolia",
        Request(
            "POST",
            "query",
            body={"query": "{query}", "attributesToRetrieve": ["objectID"], "analytics": False},
            depth=("body", "hitsPerPage"),
        ),
        max_depth=1000,
    ),
    Preset(
        "typesense",
        "Typesense",
        Request(
            "GET",
            "documents/search",
            {"q": "{query}", "include_fields": "id"},
            depth=("params", "per_page"),
        ),
        Request("POST", "/multi_search", depth=("params", "per_page")),
        "typesense",
        max_depth=250,
    ),
    _same(
        "meilisearch",
        "Meilisearch",
        Request(
            "POST",
            "search",
            body={"q": "{query}", "showRankingScore": True},
            depth=("body", "limit"),
        ),
    ),
    Preset("general", "the engine", Request("GET", ""), Request("POST", "")),
)
PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})
