"""Do risk-sensitive objectives do what their papers say? Ten splits of a generated search log and of real data.

Run from the checkout: ``python -m tests.benchmarks.training_study --write``; the real data need the shared folder. It
writes docs/data/training: every model of every split, and the differences from plain LambdaMART with a paired test.

B. T. Dinçer et al., SIGIR 2014, Table 3, and SIGIR 2016, Table 7, ask the same of MSLR-WEB10K.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, get_type_hints

import lightgbm
import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from examples.ltr.search_log import make_log
from pytest_riskguard.ltr import TFARO, TSARO, UCRO, GeoRisk, JudgedQueries, LambdaMART, QueryBaselines
from pytest_riskguard.ltr.model_comparison import compare_models
from tests.shared_data import SHARED

FOLDER = Path(__file__).resolve().parents[2] / "docs/data/training"
DATA = ("search-log", "ltr-lightgbm")
SPLITS = range(10)
ALPHAS = (1, 5, 10, 20)
OBJECTIVES = ("U-CRO", "T-SARO", "T-FARO", "T*-FARO", "GeoRisk")
PLAIN = "LambdaMART"
#: One thread: the same model on every run, and no slower on a busy machine.
PARAMETERS: dict[str, Any] = {
    **{"learning_rate": 0.1, "num_leaves": 15, "seed": 1},
    **{"num_threads": 1, "deterministic": True, "force_row_wise": True, "verbosity": -1},
}
TREES, TREES_OF_BASELINES = 80, 40
#: Rows of a leaf, at least: more where there are more rows, so that models do not memorise training queries.
ROWS_OF_A_LEAF = {"search-log": 100, "ltr-lightgbm": 20}
QUERIES_OF_A_LOG = 2400

Floats = npt.NDArray[np.float64]


#: What the summary shows: heading, field, decimals.
COLUMNS = (
    ("nDCG@10", "ndcg", 4),
    ("risk/reward", "risk_to_reward", 3),
    ("losses over 20%", "losses_over_20_percent", 1),
    ("risk/reward, pool", "pool_risk_to_reward", 3),
)


@dataclass(frozen=True, eq=False)
class Part:
    """Queries of learning-to-rank data: features (n_documents, n_features), labels, how many rows each query has."""

    features: Floats
    labels: Floats
    group: npt.NDArray[np.int64]

    def take(self, places: Sequence[int]) -> Part:
        starts = np.concatenate(([0], np.cumsum(self.group)))
        rows = np.concatenate([np.arange(starts[place], starts[place + 1]) for place in places])
        return Part(self.features[rows], self.labels[rows], self.group[list(places)])


@dataclass(frozen=True)
class Figures:
    """A model of one split, on the test queries.

    Losses and wins are against the feature; ``pool_risk`` and ``pool_reward`` are means over the pool of earlier
    models.
    """

    data: str
    split: int
    model: str
    alpha: float
    ndcg: float
    risk: float
    reward: float
    losses: int
    wins: int
    losses_over_20_percent: int
    queries: int
    pool_risk: float
    pool_reward: float

    @property
    def risk_to_reward(self) -> float:
        return self.risk / self.reward

    @property
    def pool_risk_to_reward(self) -> float:
        return self.pool_risk / self.pool_reward


@dataclass(frozen=True)
class Parts:
    """Queries to train the baselines on, to train the objectives on and to test both on; the feature to beat."""

    data: str
    earlier: Part
    train: Part
    test: Part
    feature: int

    def trained(self, part: Part, objective: Any, *, trees: int = TREES) -> lightgbm.Booster:
        """A model of a part of these data."""
        data = lightgbm.Dataset(part.features, part.labels, group=part.group)
        parameters = {**PARAMETERS, "min_data_in_leaf": ROWS_OF_A_LEAF[self.data], "objective": objective}
        return lightgbm.train(parameters, data, trees)


def search_log(split: int) -> Parts:
    """A log of its own for each split, so that splits are independent."""
    parts = make_log(queries=QUERIES_OF_A_LOG, seed=split).split(split)
    earlier, train, test = (
        Part(part.features, part.labels.astype(float), part.group)
        for part in (parts.earlier, parts.train, parts.test)
    )
    return Parts("search-log", earlier, train, test, parts.train.names.index("bm25"))


def ltr_lightgbm(split: int) -> Parts:
    """LightGBM's sample data, 251 queries, in a quarter, a half and a quarter.

    The feature to beat is the one that ranks the first quarter best.
    """
    every = [read(part) for part in ("train", "test")]
    width = max(part.features.shape[1] for part in every)
    whole = Part(
        np.vstack([np.pad(part.features, ((0, 0), (0, width - part.features.shape[1]))) for part in every]),
        np.concatenate([part.labels for part in every]),
        np.concatenate([part.group for part in every]),
    )
    order = np.random.default_rng(split).permutation(whole.group.size).tolist()
    quarter = len(order) // 4
    earlier, train, test = (
        whole.take(places) for places in (order[:quarter], order[quarter:-quarter], order[-quarter:])
    )
    judged = JudgedQueries(earlier.labels, earlier.group)
    best = max(range(width), key=lambda feature: float(judged.ndcg(earlier.features[:, feature]).mean()))
    return Parts("ltr-lightgbm", earlier, train, test, best)


def read(part: str) -> Part:
    """The ``train`` or ``test`` part of the sample data."""
    folder = SHARED / "data/ltr_lightgbm"
    with gzip.open(folder / f"rank.{part}.gz", "rt", encoding="utf-8") as lines:
        rows = [line.split() for line in lines]
    cells = [
        [(int(place), float(value)) for place, _, value in (cell.partition(":") for cell in row[1:])] for row in rows
    ]
    features = np.zeros((len(rows), 1 + max(place for row in cells for place, _ in row)))
    for row, values in enumerate(cells):
        for place, value in values:
            features[row, place] = value
    with gzip.open(folder / f"rank.{part}.query.gz", "rt", encoding="utf-8") as sizes:
        return Part(features, np.array([float(row[0]) for row in rows]), np.array([int(size) for size in sizes]))


def linear(part: Part) -> Floats:
    """Weights of features by ridge regression on the labels; the last is the intercept."""
    scale = part.features.std(axis=0) + 1e-9
    design = np.column_stack([part.features / scale, np.ones(part.labels.size)])
    weights = np.linalg.solve(design.T @ design + 10 * np.eye(design.shape[1]), design.T @ part.labels)
    return weights / np.append(scale, 1)


def baselines_of(parts: Parts) -> list[tuple[QueryBaselines, QueryBaselines]]:
    """The feature, and the pool of earlier models, on the queries of training and on those of the test."""
    mart = parts.trained(parts.earlier, "lambdarank", trees=TREES_OF_BASELINES)
    trees = parts.trained(parts.earlier, "regression", trees=TREES_OF_BASELINES)
    weights = linear(parts.earlier)
    found = []
    for part in (parts.train, parts.test):
        feature = {"feature": part.features[:, parts.feature]}
        pool = {
            "LambdaMART": mart.predict(part.features),
            "regression trees": trees.predict(part.features),
            "linear": part.features @ weights[:-1],
        }
        found.append(
            (
                QueryBaselines.from_document_scores(part.labels, part.group, feature),
                QueryBaselines.from_document_scores(part.labels, part.group, pool),
            )
        )
    return found


def objective_of(name: str, alpha: float, one: QueryBaselines, pool: QueryBaselines) -> Any:
    """The objective; U-CRO, T-SARO and T-FARO have the feature as their baseline, as the papers do."""
    match name:
        case "U-CRO":
            return UCRO(one, alpha)
        case "T-SARO":
            return TSARO(one, alpha)
        case "T-FARO":
            return TFARO(one, alpha)
        case "T*-FARO":
            return TFARO(pool.mean(), alpha)
        case "GeoRisk":
            return GeoRisk(pool, alpha)
    return LambdaMART()


def of_split(data: str, split: int, models: Sequence[tuple[str, float]]) -> list[Figures]:
    """Train and test models of one split."""
    parts = search_log(split) if data == "search-log" else ltr_lightgbm(split)
    (one, pool), (held, held_pool) = baselines_of(parts)
    judged = JudgedQueries(parts.test.labels, parts.test.group)
    scores = [
        judged.ndcg(parts.trained(parts.train, objective_of(name, alpha, one, pool)).predict(parts.test.features))
        for name, alpha in models
    ]
    names = [f"{name} {alpha:g}" for name, alpha in models]
    of_feature = compare_models(scores, held.scores, model_names=names, baseline_names=held.names).against[0]
    of_pool = compare_models(
        scores, held_pool.scores, model_names=names, baseline_names=held_pool.names
    ).macro_average
    assert of_pool is not None
    return [
        Figures(
            *(data, split, name, alpha, figures.mean, figures.risk, figures.reward),
            *(int(figures.losses), int(figures.wins), int(figures.losses_over_20_percent), judged.group.size),
            *(over_pool.risk, over_pool.reward),
        )
        for (name, alpha), figures, over_pool in zip(models, of_feature.models, of_pool.models, strict=True)
    ]


def every_model() -> list[tuple[str, float]]:
    return [(PLAIN, 0.0), *((name, alpha) for name in OBJECTIVES for alpha in ALPHAS)]


@dataclass(frozen=True)
class Paired:
    """The mean over splits of a figure, that of its difference from LambdaMART, and the p-value of the latter."""

    mean: float
    difference: float
    p_value: float | None


def paired(values: Sequence[float], plain: Sequence[float], *, overlap: float) -> Paired:
    """Student's t over splits, two-sided.

    Splits of the same queries share what they learn from. ``overlap``, the queries of the test over those of
    training, widens the variance for that (C. Nadeau & Y. Bengio, "Inference for the generalization error", 2003);
    it is 0 for independent splits.
    """
    differences = [value - other for value, other in zip(values, plain, strict=True)]
    n, difference = len(differences), fmean(differences)
    if n < 2 or (spread := stdev(differences)) == 0:
        return Paired(fmean(values), difference, None)
    statistic = difference / (spread * (1 / n + overlap) ** 0.5)
    return Paired(fmean(values), difference, float(2 * student.sf(abs(statistic), n - 1)))


def summary(rows: Sequence[Figures]) -> Iterator[dict[str, str]]:
    """A row for each data set and model: means over splits, differences from LambdaMART, p-values."""
    for data in DATA:
        plain = [row for row in rows if row.data == data and row.model == PLAIN]
        overlap = 0.0 if data == "search-log" else 0.5
        for name, alpha in every_model():
            of_model = [row for row in rows if (row.data, row.model, row.alpha) == (data, name, alpha)]
            if not of_model:
                continue
            line = {"data": data, "objective": name, "alpha": f"{alpha:g}"}
            for heading, figure, digits in COLUMNS:
                found = paired(
                    [getattr(row, figure) for row in of_model],
                    [getattr(row, figure) for row in plain],
                    overlap=overlap,
                )
                line[heading] = f"{found.mean:.{digits}f}"
                if found.p_value is not None:
                    p = "p < 0.001" if found.p_value < 0.001 else f"p {found.p_value:.3f}"
                    line[heading] += f" ({found.difference:+.{digits}f}, {p})"
            yield line


def as_csv(rows: Sequence[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def written(figures: Figures) -> dict[str, str]:
    """A row of models.csv."""
    return {
        field.name: f"{value:.6f}"
        if isinstance(value, float) and field.name != "alpha"
        else f"{value:g}"
        if isinstance(value, int | float)
        else value
        for field, value in zip(fields(figures), astuple(figures), strict=True)
    }


def kept() -> list[Figures]:
    """The rows of docs/data/training/models.csv."""
    kinds = get_type_hints(Figures)
    with (FOLDER / "models.csv").open(encoding="utf-8", newline="") as file:
        return [Figures(**{name: kinds[name](value) for name, value in row.items()}) for row in csv.DictReader(file)]


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/data/training")
    arguments = parser.parse_args()
    rows: list[Figures] = []
    for data in DATA:
        for split in SPLITS:
            rows += of_split(data, split, every_model())
            print(f"{data}: split {split} done", flush=True)
    tables = {"models.csv": as_csv([written(row) for row in rows]), "summary.csv": as_csv(list(summary(rows)))}
    for name, table in tables.items():
        if arguments.write:
            FOLDER.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_text(table, encoding="utf-8", newline="\n")
        else:
            print(table)


if __name__ == "__main__":
    main()
