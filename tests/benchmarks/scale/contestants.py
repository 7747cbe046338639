"""Each library scores a run, in a process of its own: ``python -m tests.benchmarks.scale.contestants NAME ...``.

Every function reads the files by the library's own means and returns the mean of each measure over the judged
topics, so that a benchmark can tell that all computed the same.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Means = Mapping[str, float]


#: A measure -> its names in trec_eval and ranx.
TREC_NAMES = {
    **{"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@10": "P_10", "R@100": "recall_100"},
    **{"Bpref": "bpref"},
}
RANX_NAMES = {
    **{"nDCG@10": "ndcg@10", "AP": "map", "RR": "mrr", "P@10": "precision@10", "R@100": "recall@100"},
    **{"Bpref": "bpref"},
}


def riskguard(run: str, qrels: str, measures: Sequence[str]) -> Means:
    from pytest_riskguard import score_run

    return {str(scores.measure): scores.mean for scores in score_run(run, qrels, measures)}


def ir_measures(run: str, qrels: str, measures: Sequence[str]) -> Means:
    import ir_measures

    parsed = [ir_measures.parse_measure(measure) for measure in measures]
    values = ir_measures.calc_aggregate(parsed, ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run))
    return {str(measure): float(value) for measure, value in values.items()}


def pytrec_eval(run: str, qrels: str, measures: Sequence[str]) -> Means:
    import pytrec_eval

    names = [TREC_NAMES[measure] for measure in measures]
    with Path(qrels).open(encoding="utf-8") as file:
        judged = pytrec_eval.parse_qrel(file)
    with Path(run).open(encoding="utf-8") as file:
        ranked = pytrec_eval.parse_run(file)
    asked = {name.rsplit("_", 1)[0] + "." + name.rsplit("_", 1)[1] if name[-1].isdigit() else name for name in names}
    by_topic = pytrec_eval.RelevanceEvaluator(judged, asked).evaluate(ranked)
    return {
        measure: sum(values[name] for values in by_topic.values()) / len(judged)
        for measure, name in zip(measures, names, strict=True)
    }


def trec_eval(run: str, qrels: str, measures: Sequence[str]) -> Means:
    asked = [part for measure in measures for part in ("-m", TREC_NAMES[measure].replace("_cut_", "_cut."))]
    asked = ["P.10" if part == "P_10" else "recall.100" if part == "recall_100" else part for part in asked]
    ended = subprocess.run(["trec_eval", "-c", *asked, qrels, run], capture_output=True, text=True, check=True)
    rows = [line.split() for line in ended.stdout.splitlines()]
    by_name = {name: float(value) for name, topic, value in rows if topic == "all"}
    return {measure: by_name[TREC_NAMES[measure]] for measure in measures}


def ranx(run: str, qrels: str, measures: Sequence[str]) -> Means:
    from ranx import Qrels, Run, evaluate

    names = [RANX_NAMES[measure] for measure in measures]
    values = evaluate(
        Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec"), names, make_comparable=True
    )
    by_name = values if isinstance(values, dict) else {names[0]: values}
    return {measure: float(by_name[name]) for measure, name in zip(measures, names, strict=True)}


CONTESTANTS: Mapping[str, Callable[[str, str, Sequence[str]], Means]] = {
    **{"riskguard": riskguard},
    **{"ir_measures": ir_measures, "pytrec_eval": pytrec_eval, "trec_eval": trec_eval, "ranx": ranx},
}


def main(arguments: Sequence[str]) -> None:
    """Score one run, or several one after the other (separated by commas), and print the means as JSON."""
    name, runs, qrels, *measures = arguments
    means = [CONTESTANTS[name](run, qrels, measures) for run in runs.split(",")]
    print(
        json.dumps(
            [{measure: round(value, 6) for measure, value in of_run.items()} for of_run in means], sort_keys=True
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
