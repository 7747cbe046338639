"""Answers in the shapes in which search engines send them, made from hits: ``SHAPES[engine](query, hits)``.

Shapes from the engines' own references: Elasticsearch 8 and OpenSearch 2 (search response body), Solr 9 (JSON
response writer), Vespa 8 (default JSON result format), Algolia (search response), Typesense 27, Meilisearch 1.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

Hits = Sequence[tuple[str, float]]
Shape = Callable[[str, Hits], dict[str, Any]]


def elasticsearch(_query: str, hits: Hits) -> dict[str, Any]:
    """One response of ``_search``."""
    found = [{"_index": "help", "_id": d, "_score": s, "_source": {"title": f"About {d}"}} for d, s in hits]
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(hits), "relation": "eq"},
            "max_score": max((score for _, score in hits), default=None),
            "hits": found,
        },
    }


def solr(query: str, hits: Hits) -> dict[str, Any]:
    """One response of ``select`` with ``fl=id,score``."""
    docs = [{"id": document, "score": score} for document, score in hits]
    return {
        "responseHeader": {"status": 0, "QTime": 1, "params": {"q": query, "fl": "id,score", "wt": "json"}},
        "response": {"numFound": len(hits), "start": 0, "maxScore": 9.5, "numFoundExact": True, "docs": docs},
    }


def vespa(_query: str, hits: Hits) -> dict[str, Any]:
    """One result; without hits there are no children."""
    children = [
        {
            "id": f"id:help:article::{document}",
            "relevance": score,
            "source": "help_content",
            "fields": {"sddocname": "article", "documentid": f"id:help:article::{document}"},
        }
        for document, score in hits
    ]
    coverage = {"coverage": 100, "documents": 40, "full": True, "nodes": 1, "results": 1, "resultsFull": 1}
    root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": len(hits)}, "coverage": coverage}
    return {"root": root | ({"children": children} if children else {})}


def algolia(query: str, hits: Hits) -> dict[str, Any]:
    """One response, without scores."""
    found = [{"objectID": document, "_highlightResult": {"title": {"matchLevel": "none"}}} for document, _ in hits]
    return {
        "hits": found,
        "nbHits": len(hits),
        "page": 0,
        "nbPages": 1,
        "hitsPerPage": 100,
        "exhaustiveNbHits": True,
        "query": query,
        "params": "query=...",
        "processingTimeMS": 1,
    }


def typesense(query: str, hits: Hits, *, scale: int = 2**40) -> dict[str, Any]:
    """One response, whose scores are whole numbers of 64 bits."""
    found = [
        {"document": {"id": document}, "highlights": [], "text_match": int(score * scale)} for document, score in hits
    ]
    return {
        "facet_counts": [],
        "found": len(hits),
        "hits": found,
        "out_of": 40,
        "page": 1,
        "request_params": {"collection_name": "help", "per_page": 100, "q": query},
        "search_cutoff": False,
        "search_time_ms": 1,
    }


def meilisearch(query: str, hits: Hits) -> dict[str, Any]:
    """One response with ``showRankingScore``."""
    found = [{"id": document, "title": f"About {document}", "_rankingScore": score} for document, score in hits]
    return {
        "hits": found,
        "query": query,
        "processingTimeMs": 1,
        "limit": 100,
        "offset": 0,
        "estimatedTotalHits": len(hits),
    }


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "elasticsearch": elasticsearch,
        "solr": solr,
        "vespa": vespa,
        "algolia": algolia,
        "typesense": typesense,
        "meilisearch": meilisearch,
    }
)
