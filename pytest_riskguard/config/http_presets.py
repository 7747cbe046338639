"""What a request to each engine looks like, where a riskguard.yaml does not say otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pytest_riskguard.frozen import frozen

#: Neither ``{{query}}`` nor ``${query}``, which mean something to engines.
PLACEHOLDER = re.compile(r"(?<![{$])\{(query|topic|depth|tags\.[^{}]+)\}(?!\})")


def placeholders(template: object) -> frozenset[str]:
    """The names in braces of a template: JSON with texts in it."""
    return frozenset(PLACEHOLDER.findall(json.dumps(template, ensure_ascii=False)))


@frozen
class Preset:
    """How an engine is asked, in templates; a request with a body is a POST.

    ``path``, perhaps with parameters, follows the address. ``size`` is the key in a body that says how many hits are
    wanted. ``answers`` names the engine in whose format answers are read; None where the settings say how.
    """

    path: str = ""
    answers: str | None = None
    body: dict[str, Any] | None = None
    size: str | None = None


_ELASTICSEARCH = Preset(
    "_search", "elasticsearch", {"query": {"multi_match": {"query": "{query}"}}, "_source": False}, "size"
)
_VESPA = {"yql": "select * from sources * where userQuery()", "query": "{query}"}
_ALGOLIA = {"query": "{query}", "attributesToRetrieve": ["objectID"], "analytics": False}
PRESETS: Mapping[str, Preset] = {
    "elasticsearch": _ELASTICSEARCH,
    "opensearch": _ELASTICSEARCH,
    "solr": Preset("select?q={query}&fl=id,score&wt=json&rows={depth}", "solr"),
    "vespa": Preset("search/", "vespa", _VESPA, "hits"),
    "algolia": Preset("query", "algolia", _ALGOLIA, "hitsPerPage"),
    "typesense": Preset("documents/search?q={query}&include_fields=id&per_page={depth}", "typesense"),
    "meilisearch": Preset("search", "meilisearch", {"q": "{query}", "showRankingScore": True}, "limit"),
    "general": Preset(),
}
