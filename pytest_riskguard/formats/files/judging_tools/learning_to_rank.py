"""Ratings for learning to rank, ``rating qid:<id> # <docid> <query text>``, as Quepid exports them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.records import Judgement, Kind, Records

_ROW = re.compile(r"(?P<grade>\S+)\s+qid:(?P<topic>\S+)\s[^#]*#\s*(?P<document>\S+)(?:\s+(?P<text>.*\S))?\s*\Z")
_EXPECTED = "`rating qid:<id> # <docid> <query text>`"


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has a rating, a qid and a document after ``#``."""
    if re.match(r"\S+\s+qid:\S", file.first_line) is None:
        return Misfit("its first line has no qid:")
    if _ROW.match(file.first_line) is None:
        return Misfit("its first line names no document after a #", 2)
    return None


def judgements(file: InputFile) -> Records[Judgement]:
    """A row for each rating; features between the qid and the ``#`` are not read."""
    texts: dict[str, str] = {}
    return Records(_judgements(file, texts), texts=texts)


def _judgements(file: InputFile, texts: dict[str, str]) -> Iterator[Judgement]:
    for line, content in file.lines():
        if not content.strip():
            continue
        row = _ROW.match(content.decode())
        if row is None:
            raise file.refuse(line, f"expected {_EXPECTED}, found {content.decode()!r:.60}")
        grade = number(row["grade"])
        if grade != grade:
            raise file.refuse(line, f"expected a number as the rating, found {row['grade']!r:.60}")
        if row["text"]:
            texts.setdefault(row["topic"], row["text"])
        yield Judgement(row["topic"], row["document"], grade, line=line)
