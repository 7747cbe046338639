"""One small data set in every shape that Python programs have it in; the libraries make their own objects."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import pytest
from ir_measures import Qrel, ScoredDoc

from tests.data.world import columns, rows
from tests.plugin.world import QUERIES, TOPICS

#: Topic -> document -> score; the relevant document is ``good``. t02 has equal scores, t03 an id with a space.
Answers = Mapping[str, Mapping[str, float]]
GRADES: dict[str, dict[str, int]] = {topic: {"good": 2, "bad1": 0, "bad 2": 0} for topic in TOPICS}


def answers(ranks: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """Twenty documents a topic, the relevant one at the rank given, else at 2."""
    by_topic = {}
    for topic in TOPICS:
        names = iter(["bad1", "bad 2", *(f"new{number}" for number in range(3, 21))])
        documents = ["good" if rank == ranks.get(topic, 2) else next(names) for rank in range(1, 21)]
        by_topic[topic] = {document: 19.5 - rank for rank, document in enumerate(documents)}
    by_topic["t02"] = dict.fromkeys(by_topic["t02"], 1.0)
    return by_topic


class Query(NamedTuple):
    """As ir_datasets' ``GenericQuery``."""

    query_id: str
    text: str


def _pandas(data: dict[str, list[Any]]) -> Any:
    pd = pytest.importorskip("pandas")

    return pd.DataFrame(data)


def _polars(data: dict[str, list[Any]]) -> Any:
    pl = pytest.importorskip("polars")

    return pl.DataFrame(data)


def _arrow(data: dict[str, list[Any]]) -> Any:
    pa = pytest.importorskip("pyarrow")

    return pa.table(data)


def _narwhals(data: dict[str, list[Any]]) -> Any:
    import narwhals as nw

    return nw.from_native(_polars(data))


def _pyterrier(by_topic: Answers) -> Any:
    """A result frame of PyTerrier's: ranks from 0, the query beside its id."""
    frame = _pandas(columns(by_topic, "qid", "docno", "score"))
    frame["rank"] = frame.groupby("qid")["score"].rank(method="first", ascending=False).astype(int) - 1
    frame["query"] = [QUERIES[topic] for topic in frame["qid"]]
    return frame


def _ranx(name: str, by_topic: Mapping[str, Mapping[str, Any]]) -> Any:
    return getattr(pytest.importorskip("ranx"), name)({topic: dict(of_topic) for topic, of_topic in by_topic.items()})


def _dicts(data: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]


RUNS: Mapping[str, Callable[[Answers], Any]] = {
    "pytrec_eval's dict": lambda a: a,
    "pairs": lambda a: {topic: list(documents.items()) for topic, documents in a.items()},
    "pandas": lambda a: _pandas(columns(a, "qid", "docno", "score")),
    "pandas with an index": lambda a: _pandas(columns(a, "query_id", "doc_id", "score")).set_index(
        ["query_id", "doc_id"]
    ),
    "polars": lambda a: _polars(columns(a, "q_id", "doc_id", "score")),
    "pyarrow": lambda a: _arrow(columns(a, "query-id", "corpus-id", "score")),
    "narwhals": lambda a: _narwhals(columns(a, "topic", "document", "score")),
    "PyTerrier": _pyterrier,
    "ranx": partial(_ranx, "Run"),
    "ir_measures": lambda a: (ScoredDoc(*row) for row in rows(a)),
    "dicts": lambda a: _dicts(columns(a, "query_id", "doc_id", "score")),
}
JUDGEMENTS: Mapping[str, Callable[[Mapping[str, Mapping[str, int]]], Any]] = {
    "pytrec_eval's dict": lambda g: g,
    "pandas": lambda g: _pandas(columns(g, "qid", "docno", "label")),
    "polars": lambda g: _polars(columns(g, "query_id", "doc_id", "relevance")),
    "pyarrow": lambda g: _arrow(columns(g, "query-id", "corpus-id", "score")),
    "ranx": partial(_ranx, "Qrels"),
    "ir_measures": lambda g: (Qrel(*row) for row in rows(g)),
    "dicts": lambda g: _dicts(columns(g, "topic", "docid", "rating")),
}
