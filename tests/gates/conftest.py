"""Made-up and real comparisons for the gates."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores, read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.alignment import align
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.verdict import Verdict


@pytest.fixture
def few_draws(monkeypatch):
    """A thousand replicates of a pool where there would be forty: what is asked here does not depend on them."""
    monkeypatch.setattr("pytest_riskguard.inference.georisk.IN_TAIL", 25)
    monkeypatch.setattr("pytest_riskguard.inference.georisk.MIN_REPLICATES", 1000)


def topic_scores(name: str, values: Sequence[float] | np.ndarray) -> TopicScores:
    topics = tuple(f"t{i:05d}" for i in range(len(values)))
    return TopicScores(name, "nDCG@10", topics, np.asarray(values, dtype=float))


def pair(
    differences: Sequence[float] | np.ndarray, *, level: float | np.ndarray = 0.5
) -> tuple[TopicScores, TopicScores]:
    """A candidate and a baseline that differ by these values; the baseline scores ``level`` everywhere."""
    base = np.zeros(len(differences)) + level
    return topic_scores("candidate", base + np.asarray(differences)), topic_scores("baseline", base)


def without(scores: TopicScores, topics: Sequence[str]) -> TopicScores:
    """The scores on all other topics."""
    return scores.only(lambda topic: topic not in topics)


def judge_pool(gate: Gate, candidate: TopicScores, baselines: Sequence[TopicScores], **options: Any) -> Verdict:
    return judge(gate, candidate, *baselines, **options)


def pooled(gate: Gate, *systems: TopicScores, topics: Topics | None = None, **options: Any) -> PoolComparison:
    return PoolComparison(gate, align(gate, *systems, topics=topics), **options)


def evidence(differences: Sequence[float] | np.ndarray) -> Evidence:
    """Plain differences, without noise or weights."""
    return Evidence.of(np.asarray(differences, dtype=float))


Scored = Callable[..., TopicScores]


def scorer(folder: Path, qrels_name: str, default: str) -> Scored:
    qrels = read_qrels(folder / qrels_name)

    def score(run: str, measure: str = default) -> TopicScores:
        return score_run(folder / "runs" / f"{run}.run.gz", qrels, [measure])[0]

    return score


@pytest.fixture(scope="session")
def cranfield(shared):
    """``cranfield("bm25s_atire")``: that run's nDCG@10 on Cranfield."""
    return scorer(shared / "data" / "cranfield_runs", "qrels.txt", "nDCG@10")


@pytest.fixture(scope="session")
def web2012(shared):
    """``web2012("rm-catb-filtered")``: that run's ERR@20 on the TREC 2012 Web track."""
    return scorer(shared / "data" / "web2012_runs", "qrels.adhoc.txt.gz", "ERR@20")
