"""Runs beside judgements, made from what is in memory or from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.judged import JudgedRun, Judging, judged_parts, scored_topics
from pytest_riskguard.data.memory import RankingsData, as_run
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.ranking import Order
from pytest_riskguard.data.runs import Run, read_run

Rankings = Mapping[str, Sequence[str]]


def falling(rankings: Rankings) -> Run:
    """Documents from rank 1 on as a run whose scores fall."""
    return as_run({topic: [(name, -float(rank)) for rank, name in enumerate(ids)] for topic, ids in rankings.items()})


def judged_run(run: RankingsData | Run | Path | GivenFile, qrels: Qrels, *, depth: int = 100) -> JudgedRun:
    """A run beside its judgements, in every order; nothing is said about its ids."""
    whole = read_run(run) if isinstance(run, Path | GivenFile) else as_run(run)
    answered, judging = scored_topics(whole, qrels), Judging(list(Order), depth)
    for _, part, ranks, judgements in judged_parts(answered, qrels):
        judging.add(part, ranks, judgements)
    unknown = tuple(topic for topic in whole.topics if topic not in qrels.grades)
    return judging.judged_run(answered, qrels, unknown)
