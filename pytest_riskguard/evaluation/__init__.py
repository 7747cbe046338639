"""Files in, per-topic scores out: runs, qrels, topics, and scoring by ir-measures."""

from pytest_riskguard.evaluation.judgements.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.measures import bounds, ensure_available, measure_name, parse_measure
from pytest_riskguard.evaluation.memory.memory_runs import MemoryRun, run
from pytest_riskguard.evaluation.runs.rankings import Rankings, rankings_as_run, write_run
from pytest_riskguard.evaluation.runs.trec_runs import fold_run
from pytest_riskguard.evaluation.score_files import read_scores, write_scores
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
    "score_run",
    "system_name",
    "write_run",
    "write_scores",
]
