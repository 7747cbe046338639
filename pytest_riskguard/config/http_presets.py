"""What a request to each engine looks like, where a riskguard.yaml does not say otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_riskguard.frozen import frozen

PLACEHOLDER = re.compile(r"(?<![{$])\{(query|topic|depth|tags\.[^{}]+)\}(?!\})")


def placeholders(template: object) -> frozenset[str]:
    """The names in braces of a template: JSON with texts in it."""
    return frozenset(PLACEHOLDER.findall(json.dumps(template, ensure_ascii=False)))


@frozen
class Preset:
    """How an engine is asked, in templates; a request with a body is a POST.

    ``path``, perhaps with parameters, follows the address. ``size`` is the key in a body that says how many hits are
    wanted. ``answers`` names the engine that answers are read as; of the general preset the settings describe them.
    """

    path: str = ""
    answers: str | None = None
    body: str | None = None
    size: str | None = None


_MATCH = '{"query": {"multi_match": {"query": "{query}"}}, "_source": false}'
_ELASTICSEARCH = Preset("_search", "elasticsearch", _MATCH, "size")
_VESPA = json.dumps({"yql": "select * from sources * where userQuery()", "query": "{query}"})
_ALGOLIA = json.dumps({"query": "{query}", "attributesToRetrieve": ["objectID"], "analytics": False})
_TYPESENSE = "documents/search?q={query}&include_fields=id&per_page={depth}"
_MEILISEARCH = '{"q": "{query}", "showRankingScore": true}'
PRESETS: Mapping[str, Preset] = {
    "elasticsearch": _ELASTICSEARCH,
    "opensearch": _ELASTICSEARCH,
    "solr": Preset("select?q={query}&fl=id,score&wt=json&rows={depth}", "solr"),
    "vespa": Preset("search/", "vespa", _VESPA, "hits"),
    "algolia": Preset("query", "algolia", _ALGOLIA, "hitsPerPage"),
    "typesense": Preset(_TYPESENSE, "typesense"),
    "meilisearch": Preset("search", "meilisearch", _MEILISEARCH, "limit"),
    "general": Preset(),
}
