"""Files in, per-topic scores out: runs, qrels, topics, and scoring.

The public names load on first use, so that what is kept of scores can be looked up without numpy.
"""

from typing import TYPE_CHECKING

from pytest_riskguard.lazily import lazily

if TYPE_CHECKING:
    from pytest_riskguard.data.qrels import read_qrels
    from pytest_riskguard.data.run_scores import score_frame
    from pytest_riskguard.data.runs import Run
    from pytest_riskguard.data.score_files import read_scores
    from pytest_riskguard.data.scores import TopicScores, write_scores
    from pytest_riskguard.data.topics import read_topics
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

__getattr__ = lazily(
    __name__,
    {
        "data.topics": "read_topics",
        "data.qrels": "read_qrels",
        "data.runs": "Run",
        "data.score_files": "read_scores",
        "data.run_scores": "score_frame",
        "data.scores": "TopicScores write_scores",
        "data.trec": "write_run",
    },
)
