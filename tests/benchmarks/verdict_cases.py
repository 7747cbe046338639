"""Commands whose output two versions of this package are compared by; ``compare_with_commit`` runs them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


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


def cranfield(candidate: str, baselines: str, options: str = "", *, topics: str = "") -> str:
    """A comparison of Cranfield runs."""
    given = " ".join(f"--baseline {{c}}/runs/{name}.run.gz" for name in baselines.split())
    run = f"{{c}}/runs/{candidate}.run.gz"
    topics = topics or "{c}/queries.tsv"
    return f"riskguard compare {run} {given} --qrels {{c}}/qrels.txt --topics {topics} {options} --json -"


def web(candidate: str, baselines: str, options: str = "") -> str:
    """A comparison of TREC 2012 Web runs."""
    given = " ".join(f"--baseline {{w}}/runs/{name}.run.gz" for name in baselines.split())
    return (
        f"riskguard compare {{w}}/runs/{candidate}.run.gz {given} --qrels {{w}}/qrels.adhoc.txt.gz {options} --json -"
    )


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
  - {{name: typical, kind: not_significantly_risky, baseline: 'mean(prod, porter, tantivy)', measure: AP}}
  - {{name: pool, kind: georisk_not_worse, baselines: [prod, porter, tantivy], reference: any, measure: nDCG@10}}
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
    riskguard.check("georisk_not_worse", candidate, ["prod", "porter"], measure="RR", alpha=2, reference="median")


def test_mappings():
    assert_not_inferior(CANDIDATE, BASELINE, tolerance=0.1, alpha=0)
    assert_no_topic_collapse(CANDIDATE, BASELINE, max_loss=0.2)
    assert_not_significantly_risky(CANDIDATE, BASELINE, alpha=10)
"""

_ADD = "riskguard baseline add {name} {{c}}/runs/{run}.run.gz --qrels {{c}}/qrels.txt {options}"


def add(name: str, run: str, options: str = "--measure nDCG@10 --measure AP") -> str:
    """Store a Cranfield run."""
    return _ADD.format(name=name, run=run, options=options)


def stored(candidate: str, options: str) -> str:
    """A comparison of a Cranfield run with what the store holds."""
    run = f"{{c}}/runs/{candidate}.run.gz"
    return f"riskguard compare {run} --qrels {{c}}/qrels.txt {options} --json -"


_POOL = "bm25s_lucene fts5_porter_or tantivy_default tfidf_sklearn lsa200_dense"
_WEB_POOL = "rm-cata-filtered ql-catb-filtered rm-catb-filtered ql-cata rm-cata ql-catb rm-catb"
_COLLAPSE = "--gate no_topic_collapse"
_GEORISK = "--gate georisk_not_worse"
_RUN = "{c}/runs/{name}.run.gz"
_SEVERAL = ",".join("{c}/runs/" + name + ".run.gz" for name in _POOL.split()[:3])
_QRELS = "--qrels {c}/qrels.txt"

CASES = (
    *(
        Case(f"help-center-{system}", (f"HELP_CENTER_SYSTEM={system} pytest {{examples}}/help_center",))
        for system in ("prod", "synonyms", "improved")
    ),
    Case(
        "every-way-in",
        (
            add("prod", "bm25s_lucene"),
            add("porter", "fts5_porter_or"),
            add("tantivy", "tantivy_default"),
            "pytest .",
        ),
        write_config,
    ),
    Case(
        "alphas-and-measures",
        (cranfield("bm25s_nostem", "bm25s_lucene", "--alpha 0 --alpha 1 --alpha 5 --measure nDCG@10 --measure AP"),),
    ),
    Case("reciprocal-rank", (cranfield("fts5_or", "tantivy_default", "--measure RR --measure RR@10 --alpha 2"),)),
    Case("improvement", (cranfield("improved_rrf", "bm25s_lucene", "--alpha 1 --alpha 10"),)),
    Case("broken", (cranfield("broken_firstword", "bm25s_lucene", "--level 0.999"),)),
    Case("ties-and-missing-topics", (cranfield("partial_longquery_trunc", "ties_bm25s_int", "--measure P@5"),)),
    Case("same-run", (cranfield("bm25s_bm25plus", "bm25s_atire"),)),
    Case("smooth", (cranfield("bm25s_k3b09", "bm25s_lucene", "--set tradeoff=smooth"),)),
    Case(
        "alpha-5-and-pools",
        (
            cranfield("bm25s_nostop", "bm25s_lucene", "--alpha 5"),
            cranfield("fts5_or", "bm25s_lucene tantivy_default", _GEORISK),
            cranfield("bm25s_k3b09", "bm25s_lucene", "--gate not_inferior --tolerance 0.02"),
        ),
    ),
    Case(
        "not-inferior",
        (
            cranfield("bm25s_k12b075", "bm25s_lucene", "--gate not_inferior --tolerance 0.02 --alpha 0"),
            cranfield("bm25s_nostem", "bm25s_lucene", "--gate not_inferior --tolerance 0.01 --alpha 1"),
        ),
    ),
    Case(
        "collapse",
        (
            cranfield(
                "bm25s_nostem",
                "bm25s_lucene",
                f"{_COLLAPSE} --set max_loss=0.4 --set max_share=0.9 --set protected=2",
            ),
            cranfield("bm25s_k12b075", "bm25s_lucene", f"{_COLLAPSE} --set max_loss=0.9"),
            cranfield(
                "bm25s_nostem",
                "bm25s_lucene",
                f"{_COLLAPSE} --set max_loss=none --set protected=length=long",
                topics="topics.tsv",
            ),
        ),
        write_tagged_topics,
    ),
    Case(
        "georisk",
        (
            cranfield("bm25s_nostem", "bm25s_lucene tantivy_default", f"{_GEORISK} --alpha 5"),
            cranfield("fts5_and3", "fts5_or fts5_porter_or", f"{_GEORISK} --set reference=any"),
            cranfield("improved_rrf", _POOL, f"{_GEORISK} --set reference=median --tolerance 0.01"),
            cranfield(
                "fts5_or", _POOL, f"{_GEORISK} --set reference=tantivy_default --set method=percentile --level 0.9"
            ),
        ),
    ),
    Case(
        "georisk-options",
        (
            cranfield("bm25s_k3b09", "bm25s_lucene fts5_or", f"{_GEORISK} --set tradeoff=smooth --on-churn warn"),
            cranfield(
                "fts5_or", _POOL, f"{_GEORISK} --set method=student_t --set max_mde=0.0001 --set on_inconclusive=warn"
            ),
            cranfield("fts5_or", _POOL, f"{_GEORISK} --slice third=1 --set family=holm", topics="topics.tsv"),
        ),
        write_tagged_topics,
    ),
    Case(
        "computed-baselines",
        (
            f"riskguard compare {_RUN.replace('{name}', 'bm25s_nostem')} --baseline mean({_SEVERAL}) "
            f"--baseline median({_SEVERAL}) --baseline max({_SEVERAL}) {_QRELS} --json -",
            f"riskguard compare {_RUN.replace('{name}', 'fts5_or')} --baseline max({_SEVERAL},candidate) "
            f"--gate not_inferior --tolerance 0.1 {_QRELS} --json -",
        ),
    ),
    Case(
        "slices",
        (
            cranfield("bm25s_nostem", "bm25s_lucene", "--slice length", topics="topics.tsv"),
            cranfield("fts5_or", "bm25s_lucene", "--slice third=0 --alpha 5 --set family=holm", topics="topics.tsv"),
        ),
        write_tagged_topics,
    ),
    Case(
        "weights",
        (
            cranfield("bm25s_nostem", "bm25s_lucene", "--set weighted=true --alpha 1 --alpha 5", topics="topics.tsv"),
            cranfield(
                "bm25s_k12b075",
                "bm25s_lucene",
                "--set weighted=true --gate not_inferior --tolerance 0.05",
                topics="topics.tsv",
            ),
            cranfield("bm25s_nostem", "bm25s_lucene", "--set weighted=true", topics="heavy.tsv"),
        ),
        write_tagged_topics,
    ),
    Case(
        "replicates",
        (
            add("prod", "bm25s_lucene"),
            *(
                add("prod", run, "--measure nDCG@10 --measure AP --replicate")
                for run in ("bm25s_atire", "bm25s_k12b075")
            ),
            stored("bm25s_nostem", "--baseline prod --alpha 1 --alpha 5"),
            stored("improved_rrf", "--baseline prod --gate not_inferior --tolerance 0.01"),
        ),
    ),
    Case(
        "history",
        (
            add("prod", "bm25s_lucene", "--measure nDCG@10"),
            *(
                add("prod", run, "--measure nDCG@10 --note again").replace("baseline add", "baseline update")
                for run in ("bm25s_k12b075", "bm25s_k09b04", "bm25s_nostop")
            ),
            stored("bm25s_nostem", "--baseline prod"),
            "riskguard compare {c}/runs/bm25s_nostem.run.gz --baseline prod --qrels changed.txt --json -",
            add("porter", "fts5_porter_or", "--measure nDCG@10"),
            "riskguard study pool --qrels {c}/qrels.txt --json -",
        ),
        write_few_topics,
    ),
    Case(
        "families",
        (
            cranfield("bm25s_k09b04", _POOL, "--set family=holm --alpha 1 --alpha 5"),
            cranfield("fts5_or", _POOL, "--set family=benjamini_hochberg --measure nDCG@10 --measure AP"),
        ),
    ),
    *(
        Case(f"method-{method}", (cranfield("bm25s_k09b04", "bm25s_lucene", f"--set method={method} --alpha 2"),))
        for method in ("student_t", "bca", "percentile", "basic")
    ),
    Case("method-studentized", (web("ql-cata", "rm-cata", "--set method=studentized --gate not_inferior"),)),
    Case(
        "few-topics",
        tuple(
            cranfield("broken_firstword", "bm25s_lucene", options).replace("{c}/qrels", f"qrels{count}")
            for count, options in (
                (18, ""),
                (18, "--alpha 5 --set method=bca"),
                (8, ""),
                (8, "--set on_inconclusive=warn"),
            )
        ),
        write_few_topics,
    ),
    Case(
        "scores-of-topics",
        tuple(
            f"riskguard compare --scores {candidate}.csv --baseline baseline.csv {options} --json -"
            for candidate, options in (
                ("three", ""),
                ("three", "--alpha 5"),
                ("candidate", "--baseline other.csv --alpha 1"),
                ("candidate", "--baseline other.csv --gate georisk_not_worse"),
                ("short", ""),
                ("short", "--set missing=zero"),
                ("malformed", ""),
                ("absent", ""),
            )
        ),
        write_scores,
    ),
    Case(
        "inconclusive",
        (
            cranfield("improved_rrf", "bm25s_lucene", "--set max_mde=0.001"),
            cranfield("improved_rrf", "bm25s_lucene", "--set max_mde=0.002 --set on_inconclusive=warn"),
            cranfield("improved_rrf", "bm25s_lucene", "--set max_mde=0.2"),
        ),
    ),
    Case("churn", (cranfield("fts5_porter_or", "tantivy_default", "--alpha 10 --on-churn warn"),)),
    Case("tolerance", (cranfield("bm25s_nostem", "bm25s_lucene", "--tolerance 0.05"),)),
    Case(
        "incomparable",
        tuple(
            f"riskguard compare {candidate} --baseline {baseline} --qrels {qrels} --json -"
            for candidate, baseline, qrels in (
                ("malformed.run", "{c}/runs/bm25s_lucene.run.gz", "{c}/qrels.txt"),
                ("empty.run", "{c}/runs/bm25s_lucene.run.gz", "{c}/qrels.txt"),
                ("{c}/runs/fts5_or.run.gz", "nothing", "{c}/qrels.txt"),
                ("{c}/runs/fts5_or.run.gz", "{c}/runs/bm25s_lucene.run.gz", "absent.txt"),
                ("{w}/runs/ql-cata.run.gz", "{c}/runs/bm25s_lucene.run.gz", "{c}/qrels.txt"),
            )
        ),
        write_malformed_run,
    ),
    Case(
        "usage-errors",
        tuple(
            cranfield("fts5_or", "bm25s_lucene", options)
            for options in (
                "--alpha nan",
                "--gate nothing",
                "--measure None@5",
                "--set tradeoff=smooth --alpha 2",
                "--slice x",
            )
        ),
    ),
    Case(
        "web-gdeval-runs",
        (web("ql-cata-filtered", "rm-cata-filtered", "--alpha 0 --alpha 5 --measure nDCG@20 --measure ERR@20"),),
    ),
    Case("web-alphas", (web("rm-catb", "ql-catb", "--alpha 1 --alpha 10 --measure AP --level 0.999"),)),
    Case("web-not-inferior", (web("rm-cata", "ql-cata", "--gate not_inferior --tolerance 0.05 --measure ERR@20"),)),
    Case("web-collapse", (web("ql-catb", "rm-cata", f"{_COLLAPSE} --set max_share=0.5 --measure nDCG@20"),)),
    Case(
        "web-georisk",
        (
            web("ql-cata-filtered", _WEB_POOL, f"{_GEORISK} --measure ERR@20 --alpha 5"),
            web("rm-catb", "ql-cata rm-cata ql-catb", f"{_GEORISK} --measure nDCG@20 --set reference=any"),
        ),
    ),
    Case("web-family", (web("ql-catb", _WEB_POOL, "--set family=holm --alpha 2 --measure nDCG@20"),)),
    Case("web-smooth", (web("ql-catb-filtered", "rm-catb-filtered", "--set tradeoff=smooth --measure P@10"),)),
    Case(
        "power",
        (
            "riskguard power {c}/runs/fts5_or.run.gz --baseline {c}/runs/bm25s_lucene.run.gz --qrels {c}/qrels.txt "
            "--topics topics.tsv --alpha 0 --alpha 5 --set slice=length --json -",
            "riskguard power --baseline {c}/runs/bm25s_lucene.run.gz --qrels {c}/qrels.txt --power 0.9 --effect 0.02 "
            "--correlation 0.8 --correlation 0.95 --json -",
        ),
        write_tagged_topics,
    ),
    Case(
        "pool",
        (
            f"riskguard study pool {' '.join('{w}/runs/' + name + '.run.gz' for name in _WEB_POOL.split())} "
            "--qrels {w}/qrels.adhoc.txt.gz --measure nDCG@20 --measure ERR@20 --alpha 1 --alpha 5 --json -",
            f"riskguard study pool {' '.join('{c}/runs/' + name + '.run.gz' for name in _POOL.split())} {_QRELS} "
            "--json -",
            "riskguard study pool --scores baseline.csv candidate.csv other.csv --json -",
        ),
        write_scores,
    ),
    Case(
        "judge-next",
        (
            "riskguard judge-next {c}/runs/bm25s_nostem.run.gz --baseline {c}/runs/bm25s_lucene.run.gz "
            "--qrels {c}/qrels.txt",
            "riskguard judge-next {w}/runs/ql-catb.run.gz --baseline {w}/runs/rm-cata.run.gz "
            "--qrels {w}/qrels.adhoc.txt.gz --measure nDCG@20 --alpha 1 --alpha 5 --budget 40",
            "riskguard judge-next {n}/new.run --baseline {n}/old.run --qrels {n}/qrels.txt --measure RR@10 --alpha 1 "
            "--set tolerance=0.05",
        ),
    ),
)


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
