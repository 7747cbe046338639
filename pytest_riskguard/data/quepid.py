"""What Quepid exports: ratings of a case, judgements of a book, and snapshots, each as CSV or JSON.

Queries are known by their texts. Its pages double quotes in every cell, but put only cells with a comma or a line end
between quotes: ``19"" monitor`` means ``19" monitor``, which readers of CSV refuse or get wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_riskguard.data.headers import SYNONYMS, number
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, chosen, chosen_node, first_value, require, without
from pytest_riskguard.data.qrels import Qrels, Row, qrels_of_rows
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of, run_of_rankings

_DETAILED = {"Case Name", "Query Text", "Doc ID", "Doc Position", "Rating"}
_SNAPSHOT = {"Snapshot Name", "Query Text", "Doc ID", "Doc Position"}
#: Names of columns that say something else than what a judge thinks.
_NO_JUDGES = frozenset(name for names in SYNONYMS.values() for name in names)
#: A cell between quotes, or one that has none around it, and what ends it.
_CELL = re.compile(r'(?:"([^"]*+(?:""[^"]*+)*+)"|([^,\n]*))(,|\n|\Z)')


def quepid_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file is JSON of Quepid, or a table with its columns."""
    if file.looks_like_json:
        marks = {"rankings": ("docs queries", "snapshots.0.docs")}
        return without(first_value(file), *marks.get(kind, ("queries.0.query queries.0.ratings", "query_doc_pairs")))
    header = {cell.strip(' "'): None for cell in file.first_line.split(",")}
    judges = [name.lower() for name in [*header][2:]]
    is_rated = [*header][:2] == ["query", "docid"] and (judges == ["rating"] or _NO_JUDGES.isdisjoint(judges))
    if header.keys() >= _DETAILED or (header.keys() >= _SNAPSHOT if kind == "rankings" else is_rated):
        return None
    return Misfit("its first line does not have the columns of ratings, a book or a snapshot of Quepid")


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
        if "Query Text" in cells:
            query, document, judges = cells["Query Text"], cells["Doc ID"], {"": cells["Rating"]}
        else:
            query, document, judges = cells.pop("query"), cells.pop("docid"), cells
        for judge, rating in judges.items():
            if rating in ("", "--"):  # nobody has rated it
                continue
            if (grade := number(rating)) != grade:
                raise file.refuse(line, f"expected a number as the rating, found {rating!r:.60}")
            yield query, document, grade, "" if judge == "rating" else judge, line


def quepid_rankings(file: InputFile) -> Run:
    """The documents of each query by position; ``FILE#NAME`` names one of several snapshots."""
    require(quepid_fits(file, "rankings"), file)
    if file.looks_like_json:
        return run_of_rankings(file, _ranked_in_json(file), by_text=True)
    snapshots: dict[tuple[str, ...], list[tuple[str, str, float, int]]] = {}
    for line, cells in _rows(file):
        if cells["Doc ID"]:  # else the query has no results
            hit = cells["Query Text"], cells["Doc ID"], number(cells["Doc Position"]), line
            names = (cells[name] for name in ("Snapshot Name", "Snapshot Time", "Case Name") if name in cells)
            snapshots.setdefault((*names,), []).append(hit)
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
    """The cells of each row that is not blank, under their names, with the number of its last line.

    They are without the spaces around them. Only in snapshots there may be further cells, of fields of documents.
    """
    text = "\n".join(line.decode().removesuffix("\r") for _, line in file.lines())
    line, row = 1, list[str]()
    header: list[str] = []
    for match in _CELL.finditer(text):
        quoted, plain, end = match.groups("")
        if (len(plain) - len(plain.lstrip('"'))) % 2:
            raise file.refuse(line, f"expected quotes around whole cells, found {plain!r:.40}")
        cell = quoted or plain
        row.append(cell.replace('""', '"').strip())
        line += cell.count("\n")
        if end == ",":
            continue
        if any(row) and not header:
            header = row
            if len({*header}) < len(header):
                raise file.refuse(line, "expected each column once, such as a name of its own for every judge")
        elif any(row):
            if len(row) < len(header) or (len(row) > len(header) and "Query Text" not in header):
                raise file.refuse(line, f"expected {len(header)} columns as in the header, found {len(row)}")
            cells = dict(zip(header, row, strict=False))
            if not cells.get("Query Text", row[0]):
                raise file.refuse(line, "expected a query text, found an empty cell")
            yield line, cells
        line, row = line + 1, []
