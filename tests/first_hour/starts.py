"""What somebody has before the first hour, in an empty folder: the help centre's articles, queries and judgements.

``prod`` is the search that customers use, ``synonyms`` a change that breaks queries of error codes.
"""

import csv
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from examples.help_center import help_search
from tests.data.engine_shapes import elasticsearch

HELP_CENTER = Path(help_search.__file__).parent


def _read(name: str) -> list[str]:
    return (HELP_CENTER / name).read_text(encoding="utf-8").splitlines()


QUERIES = {row["topic"]: row["query"] for row in csv.DictReader(_read("queries.tsv"), delimiter="\t")}
JUDGED = [(topic, article, int(grade)) for topic, _, article, grade in map(str.split, _read("qrels.txt"))]
ARTICLES = list(map(json.loads, _read("articles.jsonl")))
SYSTEMS = {"prod": "prod", "candidate": "synonyms"}


def articles(folder: Path) -> None:
    """The articles, with queries and judgements as TREC writes them."""
    for name in ("articles.jsonl", "queries.tsv", "qrels.txt"):
        shutil.copy(HELP_CENTER / name, folder)


def frames(folder: Path) -> None:
    """Tables as data frames are saved."""
    _table(folder / "ratings.csv", "query_id doc_id rating", JUDGED)
    for name, rows in _runs():
        _table(folder / f"{name}.csv", "query_id doc_id score", rows)


def beir(folder: Path) -> None:
    """A BEIR data set."""
    texts = [{"_id": one["id"], "title": one["title"], "text": one["body"]} for one in ARTICLES]
    _lines(folder / "help/corpus.jsonl", texts)
    _lines(folder / "help/queries.jsonl", ({"_id": topic, "text": query} for topic, query in QUERIES.items()))
    (folder / "help/qrels").mkdir()
    _table(folder / "help/qrels/test.tsv", "query-id corpus-id score", JUDGED, delimiter="\t")


def responses(folder: Path) -> None:
    """One answer of ``_search`` a file, as a loop around curl saves them, and the ratings of a Quepid case."""
    _table(folder / "ratings.csv", "query docid rating", [(QUERIES[topic], *judged) for topic, *judged in JUDGED])
    for name, system in SYSTEMS.items():
        for query in QUERIES.values():
            path = folder / name / f"{query.replace('/', ' ')}.json"
            path.parent.mkdir(exist_ok=True)
            found = help_search.search(query, system=system, depth=10)
            path.write_text(json.dumps(elasticsearch(query, found)), encoding="utf-8")


def runs(folder: Path) -> None:
    """Two runs and the queries: nobody has judged anything."""
    shutil.copy(HELP_CENTER / "queries.tsv", folder)
    for name, rows in _runs():
        text = "".join(f"{topic} Q0 {article} {rank} {score} {name}\n" for topic, article, score, rank in rows)
        (folder / f"{name}.run").write_text(text, encoding="utf-8")


#: By the name that a page gives.
STARTS: Mapping[str, Callable[[Path], None]] = {
    one.__name__: one for one in (articles, frames, beir, responses, runs)
}


def _runs() -> Iterable[tuple[str, list[tuple[Any, ...]]]]:
    for name, system in SYSTEMS.items():
        yield (
            name,
            [
                (topic, article, score, rank)
                for topic, query in QUERIES.items()
                for rank, (article, score) in enumerate(help_search.search(query, system=system), start=1)
            ],
        )


def _table(path: Path, header: str, rows: Iterable[Sequence[Any]], *, delimiter: str = ",") -> None:
    names = header.split()
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([names, *(row[: len(names)] for row in rows)])


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
