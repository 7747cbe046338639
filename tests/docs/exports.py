"""Folders in which pages for those who come from other tools begin: what these tools leave of the tutorial's shop."""

import csv
import json
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: The versions of the search that are compared: the baseline's and the candidate's.
OLD, NEW = "repaired", "letters"


def quepid(folder: Path) -> None:
    """The ratings of a case, and two of its snapshots."""
    shop = _shop(folder)
    ratings = [(shop["TOPICS"][topic], code, grade) for topic, code, grade in shop["QRELS"]]
    _write(folder / "ratings.csv", ["query", "docid", "rating"], ratings)
    header = ["Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position"]
    rows = [
        (name, "2026-08-01 09:00:00 UTC", 7, shop["TOPICS"][topic], code, rank)
        for name, words in (("july", OLD), ("august", NEW))
        for topic, answers in _rankings(shop, words).items()
        for rank, code in enumerate(answers, start=1)
    ]
    _write(folder / "snapshots.csv", header, rows)


def mteb(folder: Path) -> None:
    """A BEIR folder, and MTEB's predictions of two models."""
    shop = _shop(folder)
    (folder / "qrels").mkdir()
    judged = "".join(f"{topic}\t{code}\t{grade}\n" for topic, code, grade in shop["QRELS"])
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", encoding="utf-8")
    queries = [{"_id": topic, "text": query, "metadata": {}} for topic, query in shop["TOPICS"].items()]
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries), encoding="utf-8")
    for model, words in (("old", OLD), ("new", NEW)):
        about = {"model_name": model, "revision": "main"}
        predictions = {"mteb_model_meta": about, "default": {"test": _rankings(shop, words)}}
        (folder / f"{model}_predictions.json").write_text(json.dumps(predictions), encoding="utf-8")


#: By the name that a page gives.
EXPORTS: Mapping[str, Callable[[Path], None]] = {"quepid": quepid, "mteb": mteb}


def _shop(folder: Path) -> dict[str, Any]:
    return runpy.run_path(str(folder / "shop.py"))


def _rankings(shop: dict[str, Any], words: str) -> dict[str, dict[str, float]]:
    return {topic: dict(shop["search"](query, shop[words])) for topic, query in shop["TOPICS"].items()}


def _write(path: Path, header: list[str], rows: list[tuple[Any, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
