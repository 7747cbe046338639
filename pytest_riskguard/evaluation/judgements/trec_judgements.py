"""Judgements in TREC's format read as columns; whatever is unusual is left to the reading line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from pytest_riskguard.evaluation.judgements.judged_topics import JudgedTopics
from pytest_riskguard.evaluation.judgements.judgement_arrays import JudgementArrays
from pytest_riskguard.evaluation.runs.decimals import decimals
from pytest_riskguard.evaluation.runs.growing_columns import Column, IdentifierColumn
from pytest_riskguard.evaluation.runs.identifiers import Identifiers
from pytest_riskguard.evaluation.runs.row_blocks import RowBlock
from pytest_riskguard.evaluation.runs.text_blocks import TextBlocks
from pytest_riskguard.evaluation.runs.trec_columns import RefusedError, differs_from_before, fields_of
from pytest_riskguard.formats.limits import DOCUMENTS, JUDGEMENTS, ROW_BYTES, TABLE_BYTES, TOPICS
from pytest_riskguard.formats.text_files import ESCAPED, MAX_GRADE

_FIELDS = 4

_Places = npt.NDArray[np.int64]


def read_columns(path: Path) -> tuple[JudgedTopics, str]:
    """The judgements of a file, plain or gzip, and its digest (``sha256:...``).

    ``RefusedError`` for anything that the reading line by line would refuse, and for ids that are encoded;
    ``MissingFileError`` for a path that cannot be read.
    """
    with TextBlocks(path, limit=TABLE_BYTES) as text:
        read = _read(text)
    repeated = RowBlock(read.topics, read.offsets, read.documents, read.grades, None).has_repeated_documents
    if repeated or len(read.topics) > TOPICS.value or np.diff(read.offsets).max() > DOCUMENTS.value:
        raise RefusedError
    return JudgedTopics(read), text.digest


def _read(text: TextBlocks) -> JudgementArrays:
    names: list[str] = []  # of each run of rows with one topic
    runs, documents, grades = Column(np.int64), IdentifierColumn(), Column(np.float64)
    most_rows, longest = JUDGEMENTS.value, ROW_BYTES.value
    for block in text:
        topics, sizes, ids, numbers = _columns(block.text, longest)
        names += topics
        runs.append(sizes)
        documents.append(ids)
        grades.append(numbers)
        if len(grades) > most_rows:
            raise RefusedError
    if not len(grades):
        raise RefusedError
    return _grouped(names, runs.array(), documents.identifiers(), grades.array())


def _columns(text: bytes, longest: int) -> tuple[list[str], _Places, Identifiers, npt.NDArray[np.float64]]:
    """The topic of each run of rows and its length, documents and grades."""
    topics, second, documents, numbers = fields_of(text, _FIELDS, longest=longest).columns
    if ((second.lengths == len(ESCAPED)) & (second.text[second.starts] == ESCAPED[0])).any():
        raise RefusedError
    grades = decimals(numbers)
    if not (np.abs(grades) <= MAX_GRADE).all():  # NaN fails it too
        raise RefusedError
    begins = np.flatnonzero(differs_from_before(topics))
    return topics.at(begins).strings(), np.diff(begins, append=len(grades)), documents, grades


def _grouped(
    names: list[str], lengths: _Places, documents: Identifiers, grades: npt.NDArray[np.float64]
) -> JudgementArrays:
    """Rows by topic, in the order in which topics first appear; within a topic, in the order of the lines."""
    places: dict[str, int] = {}
    of_run = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    sizes = np.zeros(len(places), dtype=np.int64)
    np.add.at(sizes, of_run, lengths)
    if (of_run[1:] < of_run[:-1]).any():
        order = np.argsort(np.repeat(of_run, lengths), kind="stable")
        documents, grades = documents.at(order).compact(), grades[order]
    return JudgementArrays(tuple(places), np.cumsum([0, *sizes.tolist()], dtype=np.int64), documents, grades)
