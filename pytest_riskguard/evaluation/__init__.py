"""Files in, per-topic scores out: runs, qrels, topics, and scoring by ir-measures.

The public names load on first use, so that what is kept of scores can be looked up without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
    from pytest_riskguard.evaluation.measures import bounds, ensure_available, measure_name, parse_measure
    from pytest_riskguard.evaluation.memory.memory_runs import MemoryRun, run
    from pytest_riskguard.evaluation.runs.rankings import Rankings, rankings_as_run, write_run
    from pytest_riskguard.evaluation.runs.trec_files import fold_run
    from pytest_riskguard.evaluation.score_files import read_scores, write_scores
    from pytest_riskguard.evaluation.score_frames import score_frame
    from pytest_riskguard.evaluation.scores import TopicScores
    from pytest_riskguard.evaluation.scoring.run_scores import score_run
    from pytest_riskguard.evaluation.topics import Topics, read_topics
    from pytest_riskguard.formats.known import system_name
    from pytest_riskguard.formats.label_rules import LabelRules

__all__ = [
    "LabelRules",
    "MemoryRun",
    "Qrels",
    "Rankings",
    "TopicScores",
    "Topics",
    "bounds",
    "ensure_available",
    "fold_run",
    "measure_name",
    "parse_measure",
    "rankings_as_run",
    "read_qrels",
    "read_scores",
    "read_topics",
    "run",
    "score_frame",
    "score_run",
    "system_name",
    "write_run",
    "write_scores",
]

_HOME = {
    "LabelRules": "formats.label_rules",
    "MemoryRun": "evaluation.memory.memory_runs",
    "Qrels": "evaluation.judgements.qrels",
    "Rankings": "evaluation.runs.rankings",
    "TopicScores": "evaluation.scores",
    "Topics": "evaluation.topics",
    "bounds": "evaluation.measures",
    "ensure_available": "evaluation.measures",
    "fold_run": "evaluation.runs.trec_files",
    "measure_name": "evaluation.measures",
    "parse_measure": "evaluation.measures",
    "rankings_as_run": "evaluation.runs.rankings",
    "read_qrels": "evaluation.judgements.qrels",
    "read_scores": "evaluation.score_files",
    "read_topics": "evaluation.topics",
    "run": "evaluation.memory.memory_runs",
    "score_frame": "evaluation.score_frames",
    "score_run": "evaluation.scoring.run_scores",
    "system_name": "formats.known",
    "write_run": "evaluation.runs.rankings",
    "write_scores": "evaluation.score_files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"pytest_riskguard.{_HOME[name]}"), name)
