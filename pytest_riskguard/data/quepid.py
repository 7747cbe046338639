"""What Quepid exports: ratings of a case, judgements of a book, and snapshots, each as CSV or JSON.

Queries are known by their texts. Its pages double quotes in every cell, but put only cells with a comma or a line end
between quotes: ``19"" monitor`` means ``19" monitor``, which readers of CSV refuse or get wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_riskguard.data.headers import SYNONYMS, number
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, chosen, chosen_node, require, without
from pytest_riskguard.data.qrels import Qrels, Row, qrels_of_rows
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings

_RATED = (["query", "docid"], ["query", "doc_id"])
_SNAPSHOT = frozenset({"Snapshot Name", "Query Text", "Doc ID", "Doc Position"})
_DETAILED = frozenset({"Team Name", "Case Name", "Query Text", "Doc ID", "Rating"})
#: Names of columns that say something else than what a judge thinks.
_NO_JUDGES = frozenset(name for names in SYNONYMS.values() for name in names)
#: Ratings of documents that nobody has rated.
_UNRATED = ("", "--")
#: A cell between quotes, which begins with an odd number of them, or one without.
_CELL = re.compile(r'(?=(?:"")*"(?!"))"([^"]*+(?:""[^"]*+)*+)"(?=[,\n]|\Z)|([^,\n]*)')

Rows = Iterator[tuple[int, list[str]]]


def quepid_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file is JSON of Quepid, or a table with its columns."""
    if file.looks_like_json:
        if kind == "rankings":
            return without(file, "docs queries", "0.docs 0.queries", "snapshots.0.docs")
        return without(file, "queries.0.query queries.0.ratings", "query_doc_pairs")
    header = [cell.strip(' "') for cell in file.first_line.split(",")]
    names = [name.lower() for name in header]
    if _DETAILED.issubset(header) or (kind == "rankings" and _SNAPSHOT.issubset(header)):
        return None
    is_rated = kind == "judgements" and names[:2] in _RATED and len(names) > 2
    if is_rated and (names[2:] == ["rating"] or _NO_JUDGES.isdisjoint(names[2:])):
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
        query_text, document = pair["query_text"].text(), pair["doc_id"].identifier()
        given = pair.find("judgements")
        for judgement in () if given is None else given.items():
            rated, judge = judgement.find("rating"), judgement.find("user_email")
            if rated is not None and at(judgement.value, "unrateable") is not True:
                name = "anonymous" if judge is None else judge.text()
                yield query_text, document, rated.number(), name, None


def _rated_in_table(file: InputFile) -> Iterator[Row]:
    header, rows = _table(file)
    query, document, judges = 0, 1, dict(enumerate(header[2:], 2))
    if "Query Text" in header:
        query, document, judges = header.index("Query Text"), header.index("Doc ID"), {header.index("Rating"): ""}
    elif [name.lower() for name in judges.values()] == ["rating"]:
        judges = {2: ""}
    elif "" in judges.values() or len({*judges.values()}) < len(judges):
        raise file.refuse(1, "expected a name of its own for every judge, found one twice or an empty cell")
    for line, row in rows:
        for place, judge in judges.items():
            if row[place] in _UNRATED:
                continue
            if not (row[query] and row[document]):
                raise file.refuse(line, "expected a query and a docid beside a rating, found an empty cell")
            if (grade := number(row[place])) != grade:
                raise file.refuse(line, f"expected a number as the rating, found {row[place]!r:.60}")
            yield row[query], row[document], grade, judge, line


def quepid_rankings(file: InputFile) -> Run:
    """The documents of each query by position; ``FILE#NAME`` names one of several snapshots."""
    require(quepid_fits(file, "rankings"), file)
    rows = _ranked_in_json(file) if file.looks_like_json else _ranked_in_table(file)
    return run_of_rankings(file, rows, by_text=True, ordered=True)


def _ranked_in_json(file: InputFile) -> Iterator[Ranking]:
    whole = JsonNode(file, file.json)
    several = whole if isinstance(whole.value, list) else whole.find("snapshots")
    snapshots = [whole] if several is None else list(several.items())
    snapshot = chosen_node(file, "snapshot", snapshots)
    texts = {query["query_id"].identifier(): query["query_text"].text() for query in snapshot["queries"].items()}
    for query, documents in snapshot["docs"].entries():
        if query in texts:  # others were deleted from the case since the snapshot was made
            # documents with a rating that the search did not return are kept in a snapshot as well
            returned = [
                one["id"].identifier() for one in documents.items() if at(one.value, "rated_only") is not True
            ]
            yield texts[query], returned, None, None, None


def _ranked_in_table(file: InputFile) -> Iterator[Ranking]:
    header, rows = _table(file)
    named = ("Snapshot Name", "Snapshot Time") if "Snapshot Name" in header else ("Case Name", "Case ID")
    snapshots: dict[tuple[str, ...], dict[str, list[tuple[float, str, int]]]] = {}
    for number_of_row, (line, row) in enumerate(rows):
        cells = dict(zip(header, row, strict=False))
        if not cells["Query Text"]:
            raise file.refuse(line, "expected a query text, found an empty cell")
        cell = cells.get("Doc Position", str(number_of_row))
        if document := cells["Doc ID"]:
            if (position := number(cell)) != position:
                raise file.refuse(line, f"expected a number as the position, found {cell!r:.60}")
            queries = snapshots.setdefault(tuple(cells.get(name, "") for name in named), {})
            queries.setdefault(cells["Query Text"], []).append((position, document, line))
    for query, hits in chosen(file, "snapshot", snapshots.items()).items():
        hits.sort(key=lambda hit: hit[0])
        yield query, [document for _, document, _ in hits], None, None, hits[0][2]


def _table(file: InputFile) -> tuple[list[str], Rows]:
    """The header and the rows below, each as long; only in snapshots further cells are fields of documents."""
    rows = _cells(file)
    _, header = next(rows, (1, []))

    def checked() -> Rows:
        for line, row in rows:
            if len(row) < len(header) or (len(row) > len(header) and "Query Text" not in header):
                raise file.refuse(line, f"expected {len(header)} columns as in the header, found {len(row)}")
            yield line, row

    return header, checked()


def _cells(file: InputFile) -> Rows:
    """The rows that are not blank, each with the number of its last line; cells without spaces around them."""
    text = "\n".join(line.decode().removesuffix("\r") for _, line in file.lines())
    place, line, row = 0, 1, list[str]()
    while place <= len(text):
        match = _CELL.match(text, place)
        assert match is not None
        quoted, plain = match.groups()
        if quoted is None and (len(plain) - len(plain.lstrip('"'))) % 2:
            raise file.refuse(line, f"expected quotes around whole cells, found {plain!r:.40}")
        cell = quoted if plain is None else plain
        row.append("" if plain == '""' else cell.replace('""', '"').strip())
        line += cell.count("\n")
        place = match.end() + 1
        if text[match.end() : place] != ",":
            if any(row):
                yield line, row
            line, row = line + 1, []
