"""Files in, per-topic scores out: runs, qrels, topics, and scoring by ir-measures.

The public names load on first use, so that what is kept of scores can be looked up without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_riskguard.data.collection import read_topics
    from pytest_riskguard.data.qrels import read_qrels
    from pytest_riskguard.data.runs import Run
    from pytest_riskguard.data.score_files import read_scores
    from pytest_riskguard.data.score_frames import score_frame
    from pytest_riskguard.data.scores import TopicScores, write_scores
    from pytest_riskguard.data.trec import write_run


__all__ = [
    "Run",
    "TopicScores",
    "read_qrels",
    "read_scores",
    "read_topics",
    "score_frame",
    "write_run",
    "write_scores",
]

_HOME = {
    "Run": "data.runs",
    "TopicScores": "data.scores",
    "read_qrels": "data.qrels",
    "read_scores": "data.score_files",
    "read_topics": "data.collection",
    "score_frame": "data.score_frames",
    "write_run": "data.trec",
    "write_scores": "data.scores",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"pytest_riskguard.{_HOME[name]}"), name)
