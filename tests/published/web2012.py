"""ERR@20 of the TREC 2012 Web track: 48 submitted runs and the papers' baseline indriCASP, 50 topics."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

TOPICS = np.arange(151, 201)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def gdeval(shared: Path, run: str) -> np.ndarray:
    """ERR@20 of one of the Indri runs, by topic, as gdeval printed it."""
    by_topic = {
        row["topic"]: float(row["err@20"]) for row in rows(shared / f"data/web2012_runs/gdeval/{run}.gdeval.csv")
    }
    return np.array([by_topic[str(topic)] for topic in TOPICS])


def indri_casp(shared: Path) -> np.ndarray:
    """The baseline of all five papers."""
    return gdeval(shared, "rm-cata-filtered")


def submitted(shared: Path) -> dict[str, np.ndarray]:
    """The 48 submitted runs, each by a name of its own: two pairs of runs have the same scores."""
    scores = rows(shared / "data/web2012/err20.csv")
    runs: dict[str, np.ndarray] = {}
    for line in rows(shared / "data/web2012/columns.csv"):
        names = line["official_names_with_same_means"].split("|")
        free = next(name for name in names if name not in runs)
        runs[free] = np.array([float(row[line["column"]]) for row in scores])
    return runs
