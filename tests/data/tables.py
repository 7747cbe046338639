"""Runs beside judgements, made from what is in memory or from files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_riskguard.data import judged
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.memory import as_run
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.runs import NO_RANK, Order, Run, Source, read_run

#: Topic -> document -> score, in the order of the lines.
Rows = Mapping[str, Mapping[str, float]]
Rankings = Mapping[str, Sequence[str]]


def falling(rankings: Rankings) -> Run:
    """Documents from rank 1 on as a run whose scores fall."""
    return as_run({topic: [(name, -float(rank)) for rank, name in enumerate(ids)] for topic, ids in rankings.items()})


def in_lines(rows: Rows, ranks: Mapping[str, Sequence[int | None]] | None = None) -> Run:
    """Rankings as a file has them: documents in the order of their lines, and its rank column."""
    topics = sorted(rows)
    column = None if ranks is None else [NO_RANK if r is None else r for topic in topics for r in ranks[topic]]
    return Run(
        tuple(topics),
        np.cumsum([0, *(len(rows[topic]) for topic in topics)], dtype=np.int64),
        Ids.of([document for topic in topics for document in rows[topic]]),
        np.array([score for topic in topics for score in rows[topic].values()], dtype=np.float64),
        None if column is None else np.array(column, dtype=np.int64),
        Source(digest="sha256:0"),
    )


def judged_run(run: Rows | Run | Path, qrels: Qrels, *, depth: int = 100) -> JudgedRun:
    """A run beside its judgements, in every order; nothing is said about its ids."""
    if isinstance(run, Path):
        run = read_run(run)
    whole = run if isinstance(run, Run) else in_lines(run)
    return judged.judged_run(judged.scored_topics(whole, qrels), qrels, list(Order), depth)


def columns(rows: str, name: str = "") -> tuple[list[Any], ...]:
    """The columns of rows such as ``topic docid 1.5, ...``; ``-`` is nothing, ``{}`` the name."""
    cells = [[name if cell == "{}" else cell for cell in row.split(" ")] for row in rows.split(", ")]
    topics, documents, *numbers = zip(*cells, strict=True)
    return (list(topics), list(documents), *([None if n == "-" else float(n) for n in column] for column in numbers))
