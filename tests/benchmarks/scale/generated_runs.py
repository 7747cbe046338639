"""Runs of any size that look like those of search engines, with a regression planted in some topics.

Documents are ranked by scores with four decimals that fall as BM25's do. A candidate is the baseline with small
changes everywhere; in one topic of ten the relevant documents fall down the ranking, in the others they rise a
little, so that the mean hardly moves. The same arguments give the same bytes.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

#: The seed, and what the topics, documents and grades are drawn from.
SEED = 20_261_123
COLLECTION = 8_000_009  # a prime: any step visits every document before it repeats one
#: Documents that are judged for each topic: of many topics fewer, since a file has at most two million judgements.
JUDGED, JUDGED_OF_MANY, MANY_TOPICS = 30, 10, 50_000
GRADES = (0, 1, 2, 3)
GRADE_SHARES = (0.6, 0.22, 0.12, 0.06)
#: The share of judged documents that the baseline retrieves, of topics with the regression, and its size in scores.
RETRIEVED = 0.8
PLANTED = 0.1
FALL, RISE, NOISE = 5.0, 0.12, 0.05


@dataclass(frozen=True)
class _Topic:
    name: str
    documents: npt.NDArray[np.int64]
    judged: npt.NDArray[np.int64]
    grades: npt.NDArray[np.int64]
    baseline: npt.NDArray[np.float64]
    candidate: npt.NDArray[np.float64]


def write_collection(folder: Path, topics: int, depth: int) -> None:
    """Two runs and their judgements in TREC's format: baseline.run, candidate.run, judgements.qrels."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        (folder / "baseline.run").open("w", encoding="ascii") as baseline,
        (folder / "candidate.run").open("w", encoding="ascii") as candidate,
        (folder / "judgements.qrels").open("w", encoding="ascii") as qrels,
    ):
        for topic in _topics(topics, depth):
            pairs = zip(topic.judged.tolist(), topic.grades.tolist(), strict=True)
            qrels.writelines(f"{topic.name} 0 {_docid(document)} {grade}\n" for document, grade in pairs)
            for file, scores in ((baseline, topic.baseline), (candidate, topic.candidate)):
                order = np.argsort(-scores, kind="stable")
                ranked = zip(topic.documents[order].tolist(), scores[order].tolist(), strict=True)
                file.writelines(
                    f"{topic.name} Q0 {_docid(document)} {rank} {score:.4f} generated\n"
                    for rank, (document, score) in enumerate(ranked, 1)
                )


def write_formats(text: Path, kind: str) -> None:
    """The run or the judgements of a TREC file in other formats beside it, with the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv, feather

    rows = [line.split() for line in text.read_text(encoding="ascii").splitlines()]
    table = {"query_id": [row[0] for row in rows], "doc_id": [row[2] for row in rows]}
    if kind == "run":
        columns = pa.table(table | {"score": [float(row[4]) for row in rows]})
    else:
        columns = pa.table(table | {"relevance": [int(row[3]) for row in rows]})
    pq.write_table(columns, text.with_suffix(".parquet"))
    feather.write_feather(columns, text.with_suffix(".arrow"), compression="uncompressed")
    csv.write_csv(columns, text.with_suffix(".csv"), csv.WriteOptions(quoting_style="none"))
    with text.with_suffix(".jsonl").open("w", encoding="ascii") as file:
        for batch in columns.to_batches():
            file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())


def _topics(count: int, depth: int) -> Iterator[_Topic]:
    size = JUDGED if count < MANY_TOPICS else JUDGED_OF_MANY
    for number in range(count):
        random = np.random.default_rng([SEED, number])
        start, step = random.integers(1, COLLECTION, 2)
        documents = (start + step * np.arange(depth + size)) % COLLECTION
        judged = documents[:size]
        grades = random.choice(GRADES, size, p=GRADE_SHARES)
        grades[0] = max(grades[0], 1)  # every topic has a relevant document
        found = np.flatnonzero(random.random(size) < RETRIEVED)
        kept = np.concatenate([found, np.arange(size, size + depth - len(found))])[:depth]
        gains = np.zeros(len(kept))
        gains[: len(found)] = grades[found][:depth]
        scores = 8 + 3 * random.gumbel(size=len(kept)) + 2.5 * gains
        change = random.normal(0, NOISE, len(kept)) + RISE * gains
        if random.random() < PLANTED:
            change = change - FALL * (gains > 0)
        shuffled = random.permutation(len(kept))
        yield _Topic(
            f"q{number:07d}", documents[kept][shuffled], judged, grades, scores[shuffled], (scores + change)[shuffled]
        )


def _docid(document: int) -> str:
    return f"corpus-{document:07d}-{document % 13}"


if __name__ == "__main__":
    write, *arguments = sys.argv[1:]
    if write == "collection":
        write_collection(Path(arguments[0]), int(arguments[1]), int(arguments[2]))
    else:
        write_formats(Path(arguments[0]), arguments[1])
