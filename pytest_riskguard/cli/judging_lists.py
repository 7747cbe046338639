"""The list of documents to judge in the files that tools of judges import, with a place for each grade."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.gates.rankings.unjudged import ToJudge

_MAX_TEXT = 1000
_HEADER = ("query_id", "query", "docid", "rating")

Writer = Callable[[Sequence["ToJudge"], Mapping[str, str]], str]


def quepid(documents: Sequence[ToJudge], queries: Mapping[str, str]) -> str:
    """CSV that Quepid imports; ``UsageError`` if a topic has no query text, or two have the same."""
    from pytest_riskguard.formats.quepid import written

    return written(_by_text(documents, queries, "Quepid")).decode()


def opensearch(documents: Sequence[ToJudge], queries: Mapping[str, str]) -> str:
    """A judgement list for the Workbench, with empty ratings, which it refuses until they are filled in."""
    from pytest_riskguard.formats.judging_tools import imported

    return imported(_by_text(documents, queries, "The Workbench")).decode()


def table(documents: Sequence[ToJudge], queries: Mapping[str, str], *, delimiter: str) -> str:
    """A table that riskguard reads as judgements once its last column is filled in."""
    from pytest_riskguard.formats.quepid import safe

    buffer = io.StringIO(newline="")
    rows = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    rows.writerow(_HEADER)
    texts = _cleaned(queries)
    rows.writerows(
        [safe(cell) for cell in (to_judge.topic, texts.get(to_judge.topic, ""), to_judge.document, "")]
        for to_judge in documents
    )
    return buffer.getvalue()


def _by_text(documents: Sequence[ToJudge], queries: Mapping[str, str], tool: str) -> Iterator[tuple[str, str, str]]:
    from pytest_riskguard.formats.judging_tools import texts_of

    texts = texts_of(dict.fromkeys(to_judge.topic for to_judge in documents), _cleaned(queries), tool)
    return ((texts[to_judge.topic], to_judge.document, "") for to_judge in documents)


def _cleaned(queries: Mapping[str, str]) -> dict[str, str]:
    """Texts without control characters."""
    return {topic: clean(text, limit=_MAX_TEXT) for topic, text in queries.items()}


#: Name of a format -> what writes it.
FORMATS: Mapping[str, Writer] = {
    "quepid": quepid,
    "opensearch": opensearch,
    "csv": partial(table, delimiter=","),
    "tsv": partial(table, delimiter="\t"),
}
