"""What Quepid exports: ratings of a case, judgements of a book, and snapshots, each as CSV or JSON.

Queries are known by their texts. Its pages double quotes in every cell, but put only cells with a comma or a line end
between quotes: ``19"" monitor`` means ``19" monitor``, which readers of CSV refuse or get wrong.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import zip_longest

from pytest_riskguard.data.headers import SYNONYMS, number
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, chosen, chosen_node, marked, require
from pytest_riskguard.data.qrels import Qrels, Row, qrels_of_rows
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of, run_of_rankings

#: Columns of Quepid's pages -> as its other exports call them.
_NAMES = {"Query Text": "query", "Doc ID": "docid", "Doc Position": "position", "Rating": "rating"}
#: Columns that name a ranking; one of them is in every file of a page.
_SNAPSHOT = ("Snapshot Name", "Snapshot Time", "Case Name")
#: Names of columns that say something else than what a judge thinks.
_NO_JUDGES = frozenset(name for names in SYNONYMS.values() for name in names)
#: Doubled quotes at the start of a cell that has none around it.
_DOUBLED = re.compile('(?<![^,])""(?=[^",])')


_json_fits = marked(
    judgements="queries.0.query queries.0.ratings|query_doc_pairs", rankings="docs queries|snapshots.0.docs"
)


def quepid_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file is JSON of Quepid, or a table with its columns."""
    if file.looks_like_json:
        return _json_fits(file, kind)
    header = [_NAMES.get(cell.strip(' "'), cell.strip(' "')) for cell in file.first_line.split(",")]
    wanted = {"query", "docid", "position" if kind == "rankings" else "rating"}
    is_page = wanted <= {*header} and not {*_SNAPSHOT}.isdisjoint(header)
    judges = {*map(str.lower, header[2:])} - {"rating"}
    is_rated = kind == "judgements" and header[:2] == ["query", "docid"] and _NO_JUDGES.isdisjoint(judges)
    return (
        None
        if is_page or is_rated
        else Misfit("its first line does not have the columns of ratings, a book or a snapshot of Quepid")
    )


def quepid_judgements(file: InputFile) -> Qrels:
    """The ratings that there are, by each judge of a book."""
    require(quepid_fits(file, "judgements"), file)
    return qrels_of_rows(file, _rated_in_json(file) if file.looks_like_json else _rated_in_table(file), by_text=True)


def _rated_in_json(file: InputFile) -> Iterator[Row]:
    whole = JsonNode(file, file.json)
    if (pairs := whole.find("query_doc_pairs")) is None:
        for query in whole["queries"].items():
            for document, rating in query["ratings"].entries():
                if rating.value is not None:
                    yield query["query"].text(), document, rating.number(), "", None
        return
    for pair in pairs.items():
        given = pair.find("judgements")
        for judgement in () if given is None else given.items():
            rated, judge = judgement.find("rating"), judgement.find("user_email")
            if rated is not None and not at(judgement.value, "unrateable"):
                name = "anonymous" if judge is None else judge.text()
                yield pair["query_text"].text(), pair["doc_id"].text(), rated.number(), name, None


def _rated_in_table(file: InputFile) -> Iterator[Row]:
    for line, cells in _rows(file):
        query, document = cells.pop("query"), cells.pop("docid")
        for judge, rating in {"": cells["rating"]}.items() if "rating" in cells else cells.items():
            if rating in ("", "--"):  # nobody has rated it
                continue
            if (grade := number(rating)) != grade:
                raise file.refuse(line, f"expected a number as the rating, found {rating!r:.60}")
            yield query, document, grade, judge, line


def quepid_rankings(file: InputFile) -> Run:
    """The documents of each query by position; ``FILE#NAME`` names one of several snapshots."""
    require(quepid_fits(file, "rankings"), file)
    if file.looks_like_json:
        return run_of_rankings(file, _ranked_in_json(file), by_text=True)
    snapshots: dict[tuple[str, ...], list[tuple[str, str, float, int]]] = {}
    for line, cells in _rows(file):
        if cells["docid"]:  # else the query has no results
            names = tuple(cells[name] for name in _SNAPSHOT if name in cells)
            hit = cells["query"], cells["docid"], number(cells["position"]), line
            snapshots.setdefault(names, []).append(hit)
    topics, documents, ranks, lines = zip(*chosen(file, "snapshot", snapshots.items()), strict=True)
    return run_of(file, topics, documents, None, ranks, lines=lines, by_text=True)


def _ranked_in_json(file: InputFile) -> Iterator[Ranking]:
    whole = JsonNode(file, file.json)
    several = whole.find("snapshots")
    snapshot = chosen_node(file, "snapshot", [whole] if several is None else several.items())
    texts = {query["query_id"].text(): query["query_text"].text() for query in snapshot["queries"].items()}
    for query, documents in snapshot["docs"].entries():
        if query in texts:  # others were deleted from the case since the snapshot was made
            # documents with a rating that the search did not return are kept in a snapshot as well
            returned = [one["id"].text() for one in documents.items() if not at(one.value, "rated_only")]
            yield texts[query], returned, None, None, None


def _rows(file: InputFile) -> Iterator[tuple[int, dict[str, str]]]:
    """The cells of each row under their names, with the number of its last line; a row may end with its query."""
    # a NUL, which no file has, is a quote in a cell with quotes around it as in one without
    lines = (_DOUBLED.sub("\0", line.decode().removesuffix("\r")) + "\n" for _, line in file.lines())
    reader = csv.reader(lines, strict=True)
    rows = (
        [cell.replace('""', '"').replace("\0", '"').strip() for cell in row] for row in reader if "".join(row).strip()
    )
    try:
        header = [_NAMES.get(cell, cell) for cell in next(rows, [])]
        if len({*header}) < len(header):
            raise file.refuse(reader.line_num, "expected each column once, such as a name of its own for every judge")
        for row in rows:
            if len(row) not in (len(header), header.index("query") + 1):
                expected = f"expected {len(header)} columns as in the header"
                raise file.refuse(reader.line_num, f"{expected}, found {len(row)}")
            cells = dict(zip_longest(header, row, fillvalue=""))
            if not cells["query"]:
                raise file.refuse(reader.line_num, "expected a query text, found an empty cell")
            yield reader.line_num, cells
    except csv.Error as problem:
        raise file.refuse(reader.line_num, f"expected quotes around whole cells: {problem}") from None
