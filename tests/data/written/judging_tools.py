"""Files of the tools in which documents are judged: Quepid, OpenSearch's Workbench, ``_rank_eval``."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.data.world import Case, World, falling, rows


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _quepid_csv(world: World) -> bytes:
    rated = [(world.texts[topic], document, float(grade)) for topic, document, grade in rows(world.grades)]
    waiting = [("a query without ratings", "", ""), (rated[0][0], "unrated", "")]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([("query", "docid", "rating"), *rated, *waiting])
    return text.getvalue().removesuffix("\n").encode()


def _quepid_json(world: World) -> bytes:
    ratings = {t: {d: float(grade) for d, grade in graded.items()} for t, graded in world.grades.items()}
    return _json({"queries": [{"query": world.texts[t], "ratings": rated} for t, rated in ratings.items()]})


def _book_json(world: World) -> bytes:
    pairs = [
        {
            "query_text": world.texts[topic],
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
        for topic, document, grade in rows(world.grades)
    ]
    return _json({"name": "book", "query_doc_pairs": pairs})


def _browser_rows(written: Iterable[Iterable[object]]) -> bytes:
    """As Quepid's pages write CSV: quotes doubled everywhere, only cells with commas or line ends quoted."""

    def cell(value: object) -> str:
        text = str(value).replace('"', '""')
        return f'"{text}"' if any(character in text for character in ",\r\n") else text

    return "".join(",".join(map(cell, row)) + "\r\n" for row in written).encode()


def _snapshot_csv(world: World) -> bytes:
    header = ("Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position", "title")
    ranked = [
        (name, "2026-08-20T10:00:00Z", 7, world.texts[topic], document, position, '19" monitor')
        for name, rankings in (("before", world.baseline), ("after, new", world.candidate))
        for topic, documents in rankings.items()
        for position, document in enumerate(documents, 1)
    ]
    return _browser_rows([header, *ranked])


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


def _detailed_ranking(world: World) -> bytes:
    header = ("Team Name", "Case Name", "Case ID", "Query Text", "Doc ID", "Doc Position", "Title", "Rating", "price")
    ranked = [
        ("Search, EU", "Case", 7, world.texts[topic], document, position, "", "", 9)
        for topic, documents in world.candidate.items()
        for position, document in enumerate(documents, 1)
    ]
    return _browser_rows([header, *ranked])


def _ltr(world: World) -> bytes:
    rated = rows(world.grades)
    return "".join(f"\n\n{float(grade)} qid:{t} # {d} {world.texts[t]}\n" for t, d, grade in rated).encode()


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


CASES = (
    Case("csv", "judgements", "case.csv", _quepid_csv),
    Case("quepid", "judgements", "case.json", _quepid_json),
    Case("quepid", "judgements", "book.json", _book_json),
    Case("quepid", "rankings", "candidate.csv", _snapshot_csv, part="after, new"),
    Case("quepid", "rankings", "candidate.json", _snapshot_json),
    Case("quepid", "rankings", "candidate.csv", _detailed_ranking),
    Case("ltr", "judgements", "ratings.txt", _ltr),
    Case("workbench", "judgements", "judgments.json", _judgement_list),
    Case("jsonl", "topics", "queries.ndjson", _uploaded_queries, has_ids=False),
    Case("workbench", "rankings", "candidate.json", _pairwise, part="conf-2"),
    Case("workbench", "rankings", "candidate.json", _pointwise, part="conf-2"),
    Case("rank-eval", "judgements", "request.json", _rank_eval_request),
    Case("rank-eval", "rankings", "candidate.json", _rank_eval_response),
)
