"""Documents of Elasticsearch and OpenSearch, which an index and an id name together."""

from __future__ import annotations

from collections.abc import Iterable


def names_of(documents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Index and id -> one name: the id alone, but ``index/id`` in a file that names several indices.

    The same id in two indices is two documents, so an id of such a file never matches one that has no index.
    """
    pairs = list(dict.fromkeys(documents))
    several = len({index for index, _ in pairs}) > 1
    return {(index, name): f"{index}/{name}" if several else name for index, name in pairs}
