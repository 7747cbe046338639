"""Trains LambdaMART and risk-sensitive rankers, and lets riskguard judge them against stored baselines.

    python train_rankers.py

This makes a search log. All files go to the folder ``built`` beside this one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from search_log import CLICK_FEATURES, KINDS, NAMES, Floats, SearchLog, make_log

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.input_files import imported
from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.ltr.objectives import TFARO, TSARO, UCRO, GeoRisk, RankingObjective
from pytest_riskguard.ltr.queries import JudgedQueries, QueryBaselines
from pytest_riskguard.risk.urisk import urisk

#: A score for each document of a part of the log.
Ranker = Callable[[SearchLog], Floats]

HERE = Path(__file__).resolve().parent
BUILT = HERE / "built"
VERDICTS = BUILT / "verdicts.json"
MEASURE = JudgedQueries([0], [1]).measure
#: The gate's alpha, as in riskguard.yaml.
GATE_ALPHA = 1.0
#: The alphas of training.
ALPHAS = (1, 5, 20, 50)
#: The share of the test queries that is set aside for choosing a model.
FOR_CHOICE = 0.3
PLAIN = "lambdamart"
#: For every model. The last five make the output the same on every run.
PARAMETERS = {
    "learning_rate": 0.1,
    "num_leaves": 15,
    "min_data_in_leaf": 50,
    "lambdarank_truncation_level": 10,
    "verbosity": -1,
    "seed": 1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
}


def main() -> int:
    """0 if plain LambdaMART failed its gate on the search log and the chosen ranker passed."""
    options = arguments()
    try:
        imported("lightgbm", extra="ltr", what="training rankers")
        imported("numba", extra="ltr", what="training rankers")
    except RiskguardError as error:
        sys.exit(str(error))
    shutil.rmtree(BUILT, ignore_errors=True)
    print(f"# A search log of {options.queries:,} queries", flush=True)
    compare_on_search_log(options)
    print("\n# The gates of riskguard.yaml\n", flush=True)
    command = [sys.executable, "-m", "pytest", "--riskguard", f"--riskguard-report={VERDICTS}", *options.pytest]
    subprocess.run(command, cwd=HERE, check=False)  # noqa: S603 - our own words
    found = {verdict["gate"]: verdict["outcome"] for verdict in json.loads(VERDICTS.read_text())["verdicts"]}
    if found == {PLAIN: "fail", "safer-ranker": "pass"}:
        return 0
    print(f"\nExpected that {PLAIN} fails its gate and safer-ranker passes, got {found}", file=sys.stderr)
    return 1


def compare_on_search_log(options: argparse.Namespace) -> None:
    """Baselines: a ranker from before clicks were logged, BM25, and a formula tuned by hand."""
    parts = make_log(options.queries, seed=options.seed).split(options.seed, tail_judged=options.tail_judged)
    old_features = [place for place, name in enumerate(NAMES) if name not in CLICK_FEATURES]
    prod = train(parts.earlier, "lambdarank", trees=options.trees, columns=old_features)
    baselines = {"prod": prod, "bm25": lambda part: part.column("bm25"), "hand_tuned": SearchLog.hand_tuned}
    choice, test = np.split(np.arange(len(parts.test.queries)), [round(FOR_CHOICE * len(parts.test.queries))])
    data = {"train": parts.train, "choice": parts.test.take(choice), "test": parts.test.take(test)}
    models, chosen = learn_and_choose(data, baselines, BUILT / "log", trees=options.trees)
    print("\nMean by kind of query:")
    shown = {"prod": prod, PLAIN: models[PLAIN], chosen: models[chosen]}
    print(f"  {'':12}" + "".join(f"{kind:>9}" for kind in KINDS))
    for name, ranker in shown.items():
        scores = ndcg(data["test"], ranker)
        means = [scores[[found == kind for found in data["test"].kinds]].mean() for kind in KINDS]
        print(f"  {name:12}" + "".join(f"{mean:9.4f}" for mean in means))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=6000, help="how many the search log has")
    parser.add_argument("--trees", type=int, default=60, help="how many every model has")
    parser.add_argument("--seed", type=int, default=0, help="for the search log and its split")
    parser.add_argument("--tail-judged", type=float, default=0.08, help="share of tail queries judged for training")
    parser.add_argument("pytest", nargs="*", help="more arguments for pytest, after --")
    return parser.parse_args()


def learn_and_choose(
    data: Mapping[str, SearchLog], baselines: Mapping[str, Ranker], folder: Path, *, trees: int
) -> tuple[dict[str, Ranker], str]:
    """Store the baselines, train against them, and choose a model; return all, and which was chosen."""
    for name, part in data.items():
        write_part(part, folder / name, baselines)
    models = train_all(data["train"], folder / "train" / "baselines", tuple(baselines), trees=trees)
    test = folder / "test"
    write_runs(data["test"], test, models)
    chosen = choose(models, data["choice"], folder / "choice" / "baselines")
    shutil.copyfile(test / f"{chosen}.run", test / "chosen.run")
    return models, chosen


def write_part(part: SearchLog, folder: Path, baselines: Mapping[str, Ranker]) -> None:
    """Judgements, topics, runs and stored baselines of a part."""
    write_runs(part, folder, baselines)
    topics = zip(part.queries, part.kinds, strict=True)
    rows = "".join(f"{query}\t{query}\t{kind}\n" for query, kind in topics)
    (folder / "queries.tsv").write_text("topic\tquery\tkind\n" + rows)
    for name in baselines:
        Store(folder / "baselines").add(
            name,
            folder / f"{name}.run",
            qrels=folder / "qrels.txt",
            topics=folder / "queries.tsv",
            measures=[MEASURE],
        )


def judged(part: SearchLog) -> JudgedQueries:
    """With names of documents, so that equal scores are ranked as in the runs."""
    return JudgedQueries(part.labels, part.group, queries=part.queries, documents=part.documents)


def write_runs(part: SearchLog, folder: Path, rankers: Mapping[str, Ranker]) -> None:
    """A TREC run of each ranker, and the judgements."""
    judged(part).write_runs(folder, {name: ranker(part) for name, ranker in rankers.items()})


def train_all(part: SearchLog, store: Path, pool: tuple[str, ...], *, trees: int) -> dict[str, Ranker]:
    """Plain LambdaMART, and the risk-sensitive objectives at each alpha, by name."""
    # Without names of documents, the first trees see the mean over orders of all equal scores: GeoRisk at alpha 50
    # vanishes on one order. The baselines' scores are those of their runs all the same.
    queries = JudgedQueries(part.labels, part.group, queries=part.queries)
    prod = QueryBaselines.from_store(queries, store, "prod")
    several = QueryBaselines.from_store(queries, store, *pool)
    against_prod = {"u-cro": UCRO, "t-saro": TSARO, "t-faro": TFARO}
    objectives: dict[str, str | RankingObjective] = {PLAIN: "lambdarank"}
    for name, objective in against_prod.items():
        objectives |= {f"{name}-{alpha}": objective(prod, alpha) for alpha in ALPHAS}
    objectives |= {f"georisk-{alpha}": GeoRisk(several, alpha) for alpha in ALPHAS}
    return {name: train(part, objective, trees=trees) for name, objective in objectives.items()}


def train(
    part: SearchLog, objective: str | RankingObjective, *, trees: int, columns: list[int] | None = None
) -> Ranker:
    """A model trained on these columns, by default on all."""
    import lightgbm

    chosen = np.arange(part.features.shape[1]) if columns is None else np.array(columns)
    data = lightgbm.Dataset(part.features[:, chosen], part.labels, group=part.group)
    model = lightgbm.train({**PARAMETERS, "objective": objective}, data, num_boost_round=trees)
    return lambda other: np.asarray(model.predict(other.features[:, chosen]))


def choose(models: Mapping[str, Ranker], part: SearchLog, store: Path) -> str:
    """The risk-sensitive model with the highest URisk on queries kept for this, at the gate's alpha."""
    (baseline,) = QueryBaselines.from_store(judged(part), store, "prod").scores
    scores = {name: ndcg(part, ranker) for name, ranker in models.items()}
    figures = {name: urisk(values - baseline, alpha=GATE_ALPHA) for name, values in scores.items()}
    best = max((name for name in models if name != PLAIN), key=lambda name: figures[name])
    print(f"\nChosen on {len(part.queries)} queries outside the test, by URisk(alpha={GATE_ALPHA:g}) against prod:")
    for name in models:
        mark = "  <- chosen" if name == best else ""
        print(f"  {name:12} URisk {figures[name]:+.4f}  mean {scores[name].mean():.4f}{mark}")
    return best


def ndcg(part: SearchLog, ranker: Ranker) -> Floats:
    """nDCG@10 of each query."""
    return judged(part).ndcg(ranker(part))


if __name__ == "__main__":
    sys.exit(main())
