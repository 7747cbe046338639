"""ERR@20 of the TREC 2012 Web track: 48 submitted runs and the papers' baseline indriCASP, 50 topics."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

TOPICS = np.arange(151, 201)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


#: The tables as papers print them; a figure that is mistyped there is not what tests compute.
PUBLISHED = Path(__file__).resolve().parents[1] / "reference_data" / "published"


def of_paper(name: str, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of a published table: text in the first, numbers in the others, None where a cell is empty."""
    return [
        (line[columns[0]], *(float(line[column]) if line[column] else None for column in columns[1:]))
        for line in rows(PUBLISHED / f"{name}.csv")
    ]


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


def reference_scores(scores: Sequence[np.ndarray] | np.ndarray, *, kind: str) -> np.ndarray:
    """The score of a baseline made of a pool on each topic (ECIR 2014, Eq. 2 for ``mean``).

    With a candidate in a pool of r, each difference from ``mean`` is (r - 1)/r of that from the mean of the others:
    URisk shrinks likewise, and TRisk stays the same. ``max`` has no win for a member of the pool.
    """
    combine: Any = {"mean": np.mean, "median": np.median, "max": np.max}[kind]
    reference: np.ndarray = combine(scores, axis=0)
    return reference


def minus(value: Any) -> Any:
    """URisk- of a URisk, and so TRisk-, ZRisk-, GeoRisk-: the sign reversed, high is risky (AIRS 2019, Eq. 5-7).

    GeoRisk- departs from the paper: Eq. 8 and Table 2 put ZRisk- into Phi, where more of it, so more risk, counts as
    safer. Here it is GeoRisk with its sign reversed.
    """
    return 0.0 - value  # -value would show 0 as -0
