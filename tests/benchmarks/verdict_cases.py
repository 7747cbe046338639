"""Commands whose output two versions of this package are compared by; ``compare_with_commit`` runs them."""

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Case:
    """Commands in a folder of their own.

    ``commands`` are words: ``riskguard ...`` is called in this process and its standard output kept, ``pytest ...``
    runs in another and its JSON report is kept; ``NAME=value`` before it sets an environment variable. ``{c}`` and
    ``{w}`` are the folders of the Cranfield and the Web 2012 runs, ``{examples}`` the examples of the checkout.
    ``prepare`` writes files into the folder first.
    """

    name: str
    commands: tuple[str, ...]
    prepare: Callable[[Path, Path], None] | None = None


def write_tagged_topics(folder: Path, shared: Path) -> None:
    """``topics.tsv``: the Cranfield queries with a weight and two tags. ``heavy.tsv``: nine outweigh all others."""
    lines = ["topic\tquery\tweight\tlength\tthird"]
    heavy = ["topic\tquery\tweight"]
    for line in (shared / "data/cranfield_runs/queries.tsv").read_text(encoding="utf-8").splitlines():
        topic, query = line.split("\t")
        words = len(query.split())
        length = "short" if words < 14 else "medium" if words < 22 else "long"
        lines.append(f"{topic}\t{query}\t{0.5 + int(topic) % 4}\t{length}\t{int(topic) % 3}")
        heavy.append(f"{topic}\t{query}\t{1000 if int(topic) < 10 else 1}")
    _write(folder / "topics.tsv", lines)
    _write(folder / "heavy.tsv", heavy)


def write_few_topics(folder: Path, shared: Path) -> None:
    """``qrels18.txt``, ``qrels8.txt``: judgements of the first topics alone; ``changed.txt``: two documents more."""
    judgements = (shared / "data/cranfield_runs/qrels.txt").read_text(encoding="utf-8").splitlines()
    for count in (18, 8):
        topics = list(dict.fromkeys(line.split()[0] for line in judgements))[:count]
        _write(folder / f"qrels{count}.txt", [line for line in judgements if line.split()[0] in topics])
    _write(folder / "changed.txt", [*judgements, "1 0 1 4", "2 0 3 2"])


def write_scores(folder: Path, shared: Path) -> None:
    """Tables of per-topic scores: a baseline, three topics changed, two topics missing, a malformed one."""
    with (shared / "data/cranfield_runs/scores_ndcg10.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    baseline = {row["topic"]: row["bm25s_lucene"] for row in rows}
    lower = {topic: str(float(score) * 0.4) for topic, score in list(baseline.items())[:3]}
    tables = {
        "baseline": baseline,
        "three": {**baseline, **lower},
        "candidate": {row["topic"]: row["bm25s_nostem"] for row in rows},
        "other": {row["topic"]: row["tantivy_default"] for row in rows},
        "short": dict(list(baseline.items())[2:]),
        "malformed": {**baseline, "1": "half"},
    }
    for name, scores in tables.items():
        _write(folder / f"{name}.csv", ["topic,nDCG@10", *(f"{topic},{score}" for topic, score in scores.items())])


def write_malformed_run(folder: Path, shared: Path) -> None:
    """``malformed.run``: a line with one column too few. ``empty.run``: nothing."""
    with gzip.open(shared / "data/cranfield_runs/runs/bm25s_lucene.run.gz", "rt", encoding="utf-8") as lines:
        good = [next(lines).rstrip("\n") for _ in range(50)]
    _write(folder / "malformed.run", [*good, "1 Q0 77 51 1.5"])
    (folder / "empty.run").write_text("", encoding="utf-8")


def write_config(folder: Path, shared: Path) -> None:
    """``riskguard.yaml`` with gates of every kind over Cranfield runs, and a test with the fixture and assertions."""
    write_tagged_topics(folder, shared)
    data = shared / "data/cranfield_runs"
    (folder / "riskguard.yaml").write_text(CONFIG.format(c=data), encoding="utf-8")
    (folder / "test_gates.py").write_text(GATES_IN_PYTHON.format(c=data), encoding="utf-8")


CONFIG = """\
collection: {{qrels: "{c}/qrels.txt", topics: topics.tsv}}
store: baselines
measures: [nDCG@10, AP]
candidate: "{c}/runs/bm25s_nostem.run.gz"
gates:
  - {{name: risk, kind: not_significantly_risky, baseline: prod, alpha: [0, 1, 5]}}
  - {{name: typical, kind: not_significantly_risky, baseline: porter, measure: AP}}
  - {{name: pool, kind: georisk_not_worse, baselines: [prod, porter, tantivy], reference: porter, measure: nDCG@10}}
  - {{name: same, kind: not_inferior, baseline: prod, measure: nDCG@10, tolerance: 0.05, alpha: 0}}
  - {{name: whole, kind: no_topic_collapse, baseline: prod, measure: AP, max_loss: 0.4, protected: [length=long]}}
  - {{name: weighted, kind: not_significantly_risky, baseline: prod, measure: AP, weighted: true, on_churn: warn}}
"""
GATES_IN_PYTHON = """\
from pytest_riskguard import assert_no_topic_collapse, assert_not_inferior, assert_not_significantly_risky

BASELINE = {{f"q{{place}}": 0.3 + 0.01 * (place % 37) for place in range(40)}}
CANDIDATE = {{topic: score - 0.1 * (topic[-1] == "5") + 0.002 for topic, score in BASELINE.items()}}


def test_fixture(riskguard):
    candidate = riskguard.run("{c}/runs/improved_rrf.run.gz")
    riskguard.assert_not_significantly_risky(candidate, "prod", measure="nDCG@10", alpha=1)
    riskguard.check("not_inferior", candidate, "prod", measure="AP", tolerance=0.02)
    riskguard.check("georisk_not_worse", candidate, ["prod", "porter"], measure="RR", alpha=2)


def test_mappings():
    assert_not_inferior(CANDIDATE, BASELINE, tolerance=0.1, alpha=0)
    assert_no_topic_collapse(CANDIDATE, BASELINE, max_loss=0.2)
    assert_not_significantly_risky(CANDIDATE, BASELINE, alpha=10)
"""

CASES = tuple(
    Case(case["name"], tuple(case["commands"]), globals()[case["prepare"]] if "prepare" in case else None)
    for case in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
)


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
