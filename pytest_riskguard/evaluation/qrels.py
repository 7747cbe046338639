"""Relevance judgements in the format of TREC: ``topic iteration docid grade``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pytest_riskguard.errors import QrelsFormatError
from pytest_riskguard.evaluation.text_files import MAX_GRADE, LineReader
from pytest_riskguard.formats.input_files import DOCUMENTS, JUDGEMENTS, ROW_BYTES, TOPICS

_COLUMNS = "4 columns (topic iteration docid grade)"


@dataclass(frozen=True, eq=False)
class Qrels:
    """The judgements of one collection.

    Attributes
    ----------
    path_name : str
        The file's name, without its folder.
    digest : str
        ``sha256:...`` of the file, decompressed.
    grades : mapping topic -> mapping docid -> grade
        Every judgement of the file; relevant means at least 1.
    topics : tuple of str
        Topics with at least one relevant document, sorted as text: those that are scored.
    without_relevant : tuple of str
        The other judged topics, sorted as text.
    """

    path_name: str
    digest: str
    grades: Mapping[str, Mapping[str, int]]
    topics: tuple[str, ...]
    without_relevant: tuple[str, ...] = ()


def read_qrels(path: Path) -> Qrels:
    """Read a qrels file, plain or gzip.

    A document judged twice in a topic is refused even when both grades agree, as trec_eval does: the file was put
    together wrongly, and other rows may be wrong too. The iteration column is not read.

    Raises
    ------
    QrelsFormatError
        A row without four columns, a grade that is not an integer or is beyond ``MAX_GRADE`` in either direction, a
        document twice in a topic, more than a limit of ``input_files`` allows, no rows, or no relevant document.
    MissingFileError
        The path cannot be read.
    """
    lines = LineReader(path, error=QrelsFormatError, line_size=ROW_BYTES)
    grades: dict[str, dict[str, int]] = {}
    rows, most_rows, most_topics, most_documents = 0, JUDGEMENTS.value, TOPICS.value, DOCUMENTS.value
    numbered = iter(lines)
    for number, line in numbered:
        fields = line.split()
        if not fields:
            continue
        grade = _grade(fields[3]) if len(fields) == 4 else None
        if grade is None:
            raise lines.refuse_lines(number, line, numbered, _wrong)
        topic, document = fields[0].decode(), fields[2].decode()
        judged = grades.setdefault(topic, {})
        if document in judged:
            earlier = judged[document]
            two_grades = f"grade {grade} twice" if earlier == grade else f"grade {earlier}, then {grade}"
            raise lines.refuse_repeated(fields[0], fields[2], found=f" ({two_grades})")
        judged[document] = grade
        rows += 1
        if rows > most_rows:
            raise lines.refuse_more(JUDGEMENTS, rows)
        if len(grades) > most_topics:
            raise lines.refuse_more(TOPICS, len(grades))
        if len(judged) > most_documents:
            raise lines.refuse_more(DOCUMENTS, len(judged))
    if not grades:
        raise lines.refuse_empty(_COLUMNS)
    relevant = {topic for topic, judged in grades.items() if max(judged.values()) >= 1}
    if not relevant:
        raise lines.refuse(None, "expected at least one relevant document (grade 1 or more), found none")
    without_relevant = tuple(sorted(grades.keys() - relevant))
    return Qrels(lines.path.name, lines.digest, MappingProxyType(grades), tuple(sorted(relevant)), without_relevant)


def _wrong(line: bytes) -> tuple[str, str] | None:
    """What a line should hold and what it holds; None of a good line."""
    fields = line.split()
    if fields and len(fields) != 4:
        return _COLUMNS, str(len(fields))
    if fields and _grade(fields[3]) is None:
        return f"an integer from {-MAX_GRADE} to {MAX_GRADE} as the grade", fields[3].decode()
    return None


def _grade(field: bytes) -> int | None:
    try:
        grade = int(field)
    except ValueError:
        return None
    return None if b"_" in field or abs(grade) > MAX_GRADE else grade
