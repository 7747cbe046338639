"""What a request to each engine looks like, where a riskguard.yaml does not say otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_riskguard.frozen import frozen

if TYPE_CHECKING:
    from pytest_riskguard.data.engines import Engine

PLACEHOLDER = re.compile(r"(?<![{$])\{(query|topic|depth|tags\.[^{}]+)\}(?!\})")


def placeholders(template: object) -> frozenset[str]:
    """The names in braces of a template: JSON with texts in it."""
    return frozenset(PLACEHOLDER.findall(json.dumps(template, ensure_ascii=False)))


@frozen
class Request:
    """The template of one request.

    ``path``, perhaps with parameters, follows the address, or with a slash at its beginning replaces the path there.
    The number of hits goes into the body under ``key``, or into the parameter ``param``.
    """

    method: str
    path: str
    body: str | None = None
    key: str | None = None
    param: str | None = None


@frozen
class Preset:
    """How an engine is asked: ``request`` without a body from the user, ``with_body``, if it is another, with one.

    ``answers`` names the engine that they are read as; ``max_depth`` is the most hits that it returns to one request.
    """

    title: str
    answers: str | None
    request: Request
    with_body: Request | None = None
    max_depth: int | None = None

    @property
    def engine(self) -> Engine | None:
        """What reads the answers; None for the general preset, whose answers the settings describe."""
        if self.answers is None:
            return None
        from pytest_riskguard.data.engines import ENGINES

        return ENGINES[self.answers]


_SEARCH = Request(
    "POST", "_search", body='{"query": {"multi_match": {"query": "{query}"}}, "_source": false}', key="size"
)
_VESPA = json.dumps({"yql": "select * from sources * where userQuery()", "query": "{query}"})
_ALGOLIA = json.dumps({"query": "{query}", "attributesToRetrieve": ["objectID"], "analytics": False})
PRESETS: Mapping[str, Preset] = {
    "elasticsearch": Preset("Elasticsearch", "elasticsearch", _SEARCH),
    "opensearch": Preset("OpenSearch", "elasticsearch", _SEARCH),
    "solr": Preset(
        "Solr",
        "solr",
        Request("GET", "select?q={query}&fl=id,score&wt=json", param="rows"),
        Request("POST", "query?wt=json", key="limit"),
    ),
    "vespa": Preset("Vespa", "vespa", Request("POST", "search/", body=_VESPA, key="hits")),
    "algolia": Preset(
        "Algolia", "algolia", Request("POST", "query", body=_ALGOLIA, key="hitsPerPage"), max_depth=1000
    ),
    "typesense": Preset(
        "Typesense",
        "typesense",
        Request("GET", "documents/search?q={query}&include_fields=id", param="per_page"),
        Request("POST", "/multi_search", param="per_page"),
        max_depth=250,
    ),
    "meilisearch": Preset(
        "Meilisearch",
        "meilisearch",
        Request("POST", "search", body='{"q": "{query}", "showRankingScore": true}', key="limit"),
    ),
    "general": Preset("the engine", None, Request("GET", ""), Request("POST", "")),
}
