"""Judgements are read, and runs read and scored, on this machine: what the cache has of a run is not read again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.runs.rankings import Rankings
from pytest_riskguard.evaluation.score_cache import RunScores, Wanted, file_scores
from pytest_riskguard.evaluation.scoring.run_scores import ScoredRun, scored_run
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.records import TopicKeys


def read_file(
    given: GivenFile, wanted: Wanted, opened: Callable[[], Path | Rankings | GivenFile], *, texts: Mapping[str, str]
) -> RunScores:
    """The scores of a run file; ``opened`` gives its path if it is to be streamed, else its rankings.

    ``texts`` are the query texts by which formats without ids know topics. Errors as ``score_run``.
    """
    return file_scores(given, wanted, lambda measures: read_run(opened(), wanted, measures), texts=texts)


def read_judgements(given: Path | GivenFile, texts: Mapping[str, str]) -> Qrels:
    """Read judgements; ``texts`` are the query texts by which formats without ids know topics."""
    return read_qrels(given, TopicKeys(texts))


def read_run(opened: Path | Rankings | GivenFile, wanted: Wanted, measures: Sequence[str]) -> ScoredRun:
    """Read a run and score it with some measures."""
    run = GivenFile(opened, format="trec") if isinstance(opened, Path) else opened
    scored = scored_run(run, wanted.qrels, measures, name=wanted.name, queries=wanted.queries, depth=wanted.depth)
    wanted.qrels.arrays.documents.forget_hashes()
    return scored
