"""Files of the tools in which documents are judged: Quepid, OpenSearch's Workbench, ``_rank_eval``, RRE."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.data.world import Case, World, falling


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _csv(rows: Iterable[Iterable[object]], *, last_line_ends: bool = True) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().removesuffix("" if last_line_ends else "\n").encode()


def _rated(world: World) -> list[tuple[str, str, int]]:
    return [(world.texts[t], d, grade) for t, graded in world.grades.items() for d, grade in graded.items()]


def _quepid_csv(world: World) -> bytes:
    rows = [(query, document, float(grade)) for query, document, grade in _rated(world)]
    waiting = [("a query without ratings", "", ""), (rows[0][0], "unrated", "")]
    return _csv([("query", "docid", "rating"), *rows, *waiting], last_line_ends=False)


def _quepid_json(world: World) -> bytes:
    ratings = {t: {d: float(grade) for d, grade in graded.items()} for t, graded in world.grades.items()}
    return _json({"queries": [{"query": world.texts[t], "ratings": rated} for t, rated in ratings.items()]})


def _book_json(world: World) -> bytes:
    pairs = [
        {
            "query_text": query,
            "doc_id": document,
            "position": None,
            "document_fields": {"title": "x"},
            "information_need": None,
            "judgements": [
                {"rating": grade - 0.5, "unrateable": False, "judge_later": False, "user_email": "ann@example.org"},
                {"rating": grade + 0.5, "unrateable": False, "judge_later": False, "user_email": "bob@example.org"},
                {"rating": None, "unrateable": True, "judge_later": False, "user_email": "eve@example.org"},
            ],
        }
        for query, document, grade in _rated(world)
    ]
    return _json({"name": "book", "query_doc_pairs": pairs})


def _browser_rows(rows: Iterable[Iterable[object]]) -> bytes:
    """As Quepid's pages write CSV: quotes doubled everywhere, only cells with commas or line ends quoted."""

    def cell(value: object) -> str:
        text = str(value).replace('"', '""')
        return f'"{text}"' if any(character in text for character in ",\r\n") else text

    return "".join(",".join(map(cell, row)) + "\r\n" for row in rows).encode()


def _snapshot_csv(world: World) -> bytes:
    header = ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position", "title")
    rows = [
        (name, "2026-08-20T10:00:00Z", 7, world.texts[topic], document, position, '19" monitor')
        for name, rankings in (("before", world.baseline), ("after, new", world.candidate))
        for topic, documents in rankings.items()
        for position, document in enumerate(documents, 1)
    ]
    return _browser_rows([header, *rows])


def _snapshot_json(world: World) -> bytes:
    ids = {topic: number for number, topic in enumerate(world.candidate, 100)}
    docs = {
        str(ids[topic]): [
            *({"id": document, "explain": "{}", "rated_only": False, "fields": {}} for document in documents),
            {"id": "only-rated", "explain": None, "rated_only": True, "fields": {}},
        ]
        for topic, documents in world.candidate.items()
    }
    queries = [{"query_id": ids[topic], "query_text": world.texts[topic], "ratings": {}} for topic in ids]
    scores = [
        {"query_id": number, "score": 0.5, "all_rated": True, "number_of_results": 7} for number in ids.values()
    ]
    return _json({"id": 3, "name": "after", "time": "2026", "docs": docs, "queries": queries, "scores": scores})


_DETAILED = ("Team Name", "Case Name", "Case ID", "Query Text", "Doc ID", "Doc Position", "Title", "Rating", "price")


def _detailed_ranking(world: World) -> bytes:
    rows = [
        ("Search, EU", "Case", 7, world.texts[topic], document, position, "", "", 9)
        for topic, documents in world.candidate.items()
        for position, document in enumerate(documents, 1)
    ]
    return _browser_rows([_DETAILED, *rows])


def _ltr(world: World) -> bytes:
    rows = [(t, d, grade) for t, graded in world.grades.items() for d, grade in graded.items()]
    return "".join(f"\n\n{float(grade)} qid:{t} # {d} {world.texts[t]}\n" for t, d, grade in rows).encode()


def _found(*sources: Mapping[str, Any]) -> bytes:
    """A search response of OpenSearch with these documents."""
    hits = [{"_index": "i", "_id": str(place), "_score": 1.0, "_source": one} for place, one in enumerate(sources)]
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    found = {"total": {"value": len(hits), "relation": "eq"}, "max_score": 1.0, "hits": hits}
    return _json({"took": 2, "timed_out": False, "_shards": shards, "hits": found})


def _judgement_list(world: World) -> bytes:
    ratings = [
        {"query": world.texts[t], "ratings": [{"docId": d, "rating": f"{grade:.3f}"} for d, grade in graded.items()]}
        for t, graded in world.grades.items()
    ]
    fields = {"id": "f1", "timestamp": "2026", "name": "imported", "status": "COMPLETED", "type": "IMPORT_JUDGMENT"}
    return _found({**fields, "metadata": {}, "judgmentRatings": ratings})


def _uploaded_queries(world: World) -> bytes:
    lines = (json.dumps({"queryText": text, "referenceAnswer": "an answer"}) for text in world.texts.values())
    return "\n".join(lines).encode()


def _pairwise(world: World) -> bytes:
    results = [
        {
            "query_text": world.texts[topic],
            "snapshots": [
                {"searchConfigurationId": "conf-1", "docIds": list(world.baseline[topic])},
                {"searchConfigurationId": "conf-2", "docIds": list(documents)},
            ],
            "metrics": [{"metric": "jaccard", "value": 0.5}],
        }
        for topic, documents in world.candidate.items()
    ]
    return _found({"id": "e1", "type": "PAIRWISE_COMPARISON", "status": "COMPLETED", "size": 10, "results": results})


def _pointwise(world: World) -> bytes:
    return _found(
        *(
            {
                "id": f"{configuration}-{topic}",
                "timestamp": "2026",
                "searchConfigurationId": configuration,
                "searchText": world.texts[topic],
                "judgmentIds": ["f1"],
                "documentIds": list(documents),
                "metrics": [{"metric": "NDCG@8", "value": 1.2}],
            }
            for configuration, rankings in (("conf-1", world.baseline), ("conf-2", world.candidate))
            for topic, documents in rankings.items()
        )
    )


def _rank_eval_request(world: World) -> bytes:
    requests = [
        {
            "id": topic,
            "request": {"query": {"match": {"title": {"query": text, "operator": "and"}}}},
            "ratings": [{"_index": "shop", "_id": d, "rating": grade} for d, grade in world.grades[topic].items()],
        }
        for topic, text in world.texts.items()
    ]
    return _json({"requests": requests, "metric": {"dcg": {"k": 20, "normalize": True}}})


def _rank_eval_response(world: World) -> bytes:
    details = {
        topic: {
            "metric_score": 0.1,
            "unrated_docs": [],
            "hits": [
                {"hit": {"_index": "shop", "_id": d, "_score": score}, "rating": world.grades[topic].get(d)}
                for d, score in falling(documents).items()
            ],
            "metric_details": {"dcg": {"dcg": 1.0}},
        }
        for topic, documents in world.candidate.items()
    }
    return _json({"metric_score": 0.123, "details": details, "failures": {}})


def _rre(world: World) -> bytes:
    groups = []
    for topic, graded in world.grades.items():
        by_grade: dict[str, list[str]] = {}
        for document, grade in graded.items():
            by_grade.setdefault(str(grade), []).append(document)
        query = {"template": "only_q.json", "placeholders": {"$query": world.texts[topic]}}
        groups.append({"name": topic, "queries": [query], "relevant_documents": by_grade})
    return _json({"index": "shop", "id_field": "id", "topics": [{"description": "all", "query_groups": groups}]})


def _rre_of_quepid(world: World) -> bytes:
    queries = [
        {
            "placeholders": {"$query": world.texts[topic]},
            "relevant_documents": {document: {"gain": grade} for document, grade in graded.items()},
        }
        for topic, graded in world.grades.items()
    ]
    return _json({"id_field": "id", "index": "shop", "template": "t.json", "queries": queries})


CASES = (
    Case("csv", "judgements", "case.csv", _quepid_csv, keyed_by_text=True),
    Case("quepid", "judgements", "case.json", _quepid_json, keyed_by_text=True),
    Case("quepid", "judgements", "book.json", _book_json, keyed_by_text=True),
    Case("quepid", "rankings", "candidate.csv", _snapshot_csv, part="after, new", keyed_by_text=True),
    Case("quepid", "rankings", "candidate.json", _snapshot_json, keyed_by_text=True),
    Case("quepid", "rankings", "candidate.csv", _detailed_ranking, keyed_by_text=True),
    Case("ltr", "judgements", "ratings.txt", _ltr),
    Case("workbench", "judgements", "judgments.json", _judgement_list, keyed_by_text=True),
    Case("jsonl", "topics", "queries.ndjson", _uploaded_queries, has_ids=False),
    Case("workbench", "rankings", "candidate.json", _pairwise, part="conf-2", keyed_by_text=True),
    Case("workbench", "rankings", "candidate.json", _pointwise, part="conf-2", keyed_by_text=True),
    Case("rank-eval", "judgements", "request.json", _rank_eval_request),
    Case("rank-eval", "rankings", "candidate.json", _rank_eval_response),
    Case("rre", "judgements", "ratings.json", _rre, keyed_by_text=True),
    Case("rre", "judgements", "quepid_rre.json", _rre_of_quepid, keyed_by_text=True),
)
