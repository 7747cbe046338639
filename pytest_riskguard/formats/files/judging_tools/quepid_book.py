"""The judgements of a Quepid book, by several judges: CSV with a column for each judge, or JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from pytest_riskguard.formats.columns import SYNONYMS, number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.judging_tools.json_node import JsonNode
from pytest_riskguard.formats.files.judging_tools.parts import require
from pytest_riskguard.formats.records import Judgement, Kind, Records

_FIRST = (["query", "docid"], ["query", "doc_id"])
#: Columns that say something else than what a judge thinks.
_NO_JUDGES = frozenset(name for names in SYNONYMS.values() for name in names)
#: The judge of judgements without a user.
_NOBODY = "anonymous"


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is JSON with pairs of queries and documents, or a table with judges beside query and docid."""
    if file.looks_like_json:
        value = file.json_or_none
        if isinstance(value, dict) and isinstance(value.get("query_doc_pairs"), list):
            return None
        return Misfit("it has no list 'query_doc_pairs'")
    header = next(csv.reader([file.first_line]), [])
    names = [cell.strip().lower() for cell in header]
    if names[:2] not in _FIRST or len(names) < 3:
        return Misfit("its first line is not query,docid and the names of judges")
    if others := _NO_JUDGES.intersection(names[2:]):
        return Misfit(f"its column {sorted(others)[0]!r} is not the name of a judge")
    return None


def judgements(file: InputFile) -> Records[Judgement]:
    """A grade by each judge who gave one."""
    require(fits(file, "judgements"), file)
    return Records(_of_json(file) if file.looks_like_json else _of_table(file), by_text=True)


def _of_json(file: InputFile) -> Iterator[Judgement]:
    for pair in JsonNode.of(file)["query_doc_pairs"].items():
        query, document = pair["query_text"].text(), pair["doc_id"].identifier()
        given = pair.get("judgements")
        for judgement in given.items() if given is not None else ():
            rating, judge = judgement.get("rating"), judgement.get("user_email")
            unrateable = judgement.get("unrateable")
            if rating is None or (unrateable is not None and unrateable.value is True):
                continue
            yield Judgement(query, document, rating.number(), judge=_NOBODY if judge is None else judge.text())


def _of_table(file: InputFile) -> Iterator[Judgement]:
    rows = file.table(",")
    _, header = next(rows, (1, []))
    judges = [cell.strip() for cell in header[2:]]
    if repeated := [judge for judge in judges if not judge or judges.count(judge) > 1]:
        raise file.refuse(1, f"expected a name of its own for every judge, found {repeated[0]!r:.60}")
    for line, row in rows:
        if len(row) != len(header):
            raise file.refuse(line, f"expected {len(header)} columns as in the header, found {len(row)}")
        query, document = row[0].strip(), row[1].strip()
        for judge, cell in zip(judges, row[2:], strict=True):
            if not cell.strip():
                continue
            grade = number(cell.strip())
            if grade != grade:
                raise file.refuse(line, f"expected a number as the grade of {judge!r:.60}, found {cell!r:.60}")
            if not (query and document):
                raise file.refuse(line, "expected a query and a docid beside a grade, found an empty cell")
            yield Judgement(query, document, grade, judge=judge, line=line)
