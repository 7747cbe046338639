"""Topics of a run in memory, passed on a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

TOPICS_PER_CHUNK = 20
#: Topics with very many documents are passed on in smaller chunks.
DOCUMENTS_PER_CHUNK = 20_000
#: The largest 32-bit number: trec_eval holds scores in 32 bits, where larger ones are all infinite.
MAX_RUN_SCORE = (2 - 2**-23) * 2.0**127
#: As messages name it.
LARGEST = f"{MAX_RUN_SCORE:.5g}, the largest number of 32 bits"


class Documents(dict[str, float]):
    """The documents of a topic, docid -> score, in the order of the file; ``ranks`` is its rank column, if any."""

    ranks: list[bytes] | None = None


#: Some topics with all their documents.
Chunk = dict[str, Documents]


def chunked(topics: Iterable[tuple[str, Documents]]) -> Iterator[Chunk]:
    """Topics, each complete, about 20 at a time."""
    chunk: Chunk = {}
    documents_in_chunk = 0
    for topic, documents in topics:
        chunk[topic] = documents
        documents_in_chunk += len(documents)
        if len(chunk) >= TOPICS_PER_CHUNK or documents_in_chunk >= DOCUMENTS_PER_CHUNK:
            yield chunk
            chunk, documents_in_chunk = {}, 0
    if chunk:
        yield chunk
