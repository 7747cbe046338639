"""TREC's formats: runs ``topic Q0 docid rank score tag`` and judgements ``topic iteration docid grade``.

Columns are read a block of lines at a time; where something is wrong, line by line, which gives the error its words.
Columns 2 and 6 of a run and column 2 of judgements are not read, but for ids with white space: a row with ``%`` in
its second column has its topic and its document percent-encoded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from pytest_riskguard.data.checks import Groups, Rows, grouped, pieces
from pytest_riskguard.data.ids import FloatArray, Ids, starts_of
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit
from pytest_riskguard.data.qrels import Qrels, qrels_of_groups
from pytest_riskguard.data.runs import LARGEST, MAX_RUN_SCORE, NO_RANK, Ranks, Run, Source, lines_of, run_of_groups
from pytest_riskguard.data.text_blocks import RefusedError, numbers, text_blocks, whole_numbers
from pytest_riskguard.limits import MAX_GRADE, ROW_BYTES

#: What the second column of a row with encoded ids holds.
_ESCAPED = "%"
#: A number as ``numbers`` reads it.
_NUMBER = re.compile(rb"(?=.{1,64}$)[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class _Layout(NamedTuple):
    """The columns of a file in words, how many they are, which one is a number, what it may be, and in words."""

    columns: str
    fields: int
    place: int
    most: float
    expected: str

    def wrong(self, line: bytes) -> tuple[str, str] | None:
        """What a line should hold and what it holds; None of a good line."""
        if not (cells := line.split()):
            return None
        if len(cells) != self.fields:
            return self.columns, str(len(cells))
        number = cells[self.place]
        if _NUMBER.fullmatch(number) and abs(float(number)) <= self.most:
            return None
        return self.expected, number.decode()


_SCORE = f"a finite number as the score (column 5), at most {LARGEST}"
_GRADE = f"a number from {-MAX_GRADE} to {MAX_GRADE} as the grade"
_RUN = _Layout("6 columns (topic Q0 docid rank score tag)", 6, 4, MAX_RUN_SCORE, _SCORE)
_QRELS = _Layout("4 columns (topic iteration docid grade)", 4, 3, MAX_GRADE, _GRADE)


def trec_fits(file: InputFile, kind: Kind) -> Misfit:
    """Whether the first line has the right number of columns; a file of another kind of text is nearest to this."""
    layout = _RUN if kind == "rankings" else _QRELS
    columns = len(file.first_line.split())
    is_json = file.first_object is not None or file.json_or_none is not None  # a topic's id may begin with a bracket
    if columns == layout.fields and not is_json:
        return None
    return ""


def trec_rankings(file: InputFile) -> Run:
    """The run in a file; the error of the file for content that is none."""
    groups, documents, scores, ranks = _read(file, _RUN)
    source = Source(ties=file.ties or "docid", is_trec=file.ties != "as_returned")
    return run_of_groups(_rows(file), groups, documents, scores, ranks, source)


def trec_judgements(file: InputFile) -> Qrels:
    """The judgements in a file."""
    groups, documents, grades, _ = _read(file, _QRELS)
    return qrels_of_groups(_rows(file), groups, documents, grades)


def _rows(file: InputFile) -> Rows:
    """For errors: the file is read again for the lines of its rows."""
    return Rows(file, lambda: [number for number, line in file.lines(ROW_BYTES) if line.split()])


def _read(file: InputFile, layout: _Layout) -> tuple[Groups, Ids, FloatArray, Ranks | None]:
    """The topics, the document and the number of each row, and its rank, unless they number its lines."""
    heads: list[str] = []
    sizes: list[int] = []
    text, lengths, values, ranks = (bytearray() for _ in range(4))  # these grow where they are, never held twice
    try:
        for cells in text_blocks(file, layout.fields, longest=ROW_BYTES):
            found = numbers(cells[layout.place])
            if np.abs(found).max(initial=0) > layout.most:
                raise RefusedError
            topics, documents = _unescaped(*cells[:3])
            names, counts = pieces(topics)
            heads += names
            sizes += counts.tolist()
            documents = documents.compact()
            text += documents.text.data
            lengths += documents.lengths.astype(np.uint16).data
            values += found.data
            if layout is _RUN:
                ranks += whole_numbers(cells[3], NO_RANK).data
    except RefusedError:
        lines = file.lines(ROW_BYTES)
        number, line, problem = next((n, line, wrong) for n, line in lines if (wrong := layout.wrong(line)))
        raise file.refuse_line(number, line, *problem) from None
    if not heads:
        raise file.refuse(None, f"expected {layout.columns}, found an empty file")
    groups, numbering = grouped(heads, np.array(sizes)), None
    if layout is _RUN:
        column = np.frombuffer(ranks, np.int32)
        numbers_lines = np.array_equal(column[groups.rows], lines_of(groups.offsets) + 1)
        numbering = None if numbers_lines else column
    id_lengths: Any = np.frombuffer(lengths, np.uint16)
    ids = Ids(np.frombuffer(text, np.uint8), starts_of(id_lengths), id_lengths)
    return groups, ids, np.frombuffer(values), numbering


def _unescaped(topics: Ids, second: Ids, documents: Ids) -> tuple[Ids, Ids]:
    """Topics and documents without their escapes."""
    is_escaped = (second.lengths == 1) & (second.text[second.starts] == ord(_ESCAPED))
    if not is_escaped.any():
        return topics, documents

    def plain(ids: Ids) -> Ids:
        cells = zip(ids.strings(), is_escaped.tolist(), strict=True)
        return Ids.of([unquote(cell) if escaped else cell for cell, escaped in cells])

    return plain(topics), plain(documents)


def write_run(target: Path | IO[bytes], run: Run) -> None:
    """Write rankings in the format of TREC: UTF-8, LF, ranks from 1, scores that read back exactly.

    Documents stand by falling score, equal ones as ``run`` has them. A path is written uncompressed; for gzip, pass
    an open ``gzip.GzipFile``. The sixth column is ``riskguard``.
    """
    if isinstance(target, Path):
        with target.open("wb") as file:
            write_run(file, run)
        return
    target.writelines(_lines_of(run))


def with_text_digest(run: Run) -> Run:
    """The run under the digest of the text that ``write_run`` writes, as baselines store it."""
    return run.with_source(digest=f"sha256:{hashlib.sha256(b''.join(_lines_of(run))).hexdigest()}")


def _lines_of(run: Run) -> Iterator[bytes]:
    for topic, documents in run.by_topic().items():
        by_score = sorted(documents.items(), key=lambda pair: -pair[1])
        for rank, (document, score) in enumerate(by_score, start=1):
            second, fields = "Q0", (topic, document)
            if topic.split() != [topic] or document.split() != [document]:
                second, fields = _ESCAPED, (_encoded(topic), _encoded(document))
            yield f"{fields[0]} {second} {fields[1]} {rank} {score!r} riskguard\n".encode()


def _encoded(text: str) -> str:
    """Only white space and the percent sign are replaced, so that the id stays readable."""
    return "".join(quote(character) if character.isspace() or character == "%" else character for character in text)
