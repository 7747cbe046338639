"""Files in, per-topic scores out: runs, qrels, topics, and scoring by ir-measures.

The public names load on first use, so that what is kept of scores can be looked up without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.evaluation.judgements.qrels import read_qrels
    from pytest_riskguard.evaluation.memory_runs import MemoryRun
    from pytest_riskguard.evaluation.runs.rankings import write_run
    from pytest_riskguard.evaluation.score_files import read_scores, write_scores
    from pytest_riskguard.evaluation.score_frames import score_frame
    from pytest_riskguard.evaluation.scores import TopicScores
    from pytest_riskguard.evaluation.topics import read_topics


__all__ = [
    "MemoryRun",
    "TopicScores",
    "read_qrels",
    "read_scores",
    "read_topics",
    "score_frame",
    "write_run",
    "write_scores",
]

_HOME = {
    "MemoryRun": "evaluation.memory_runs",
    "TopicScores": "evaluation.scores",
    "read_qrels": "evaluation.judgements.qrels",
    "read_scores": "evaluation.score_files",
    "read_topics": "evaluation.topics",
    "score_frame": "evaluation.score_frames",
    "write_run": "evaluation.runs.rankings",
    "write_scores": "evaluation.score_files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"pytest_riskguard.{_HOME[name]}"), name)
