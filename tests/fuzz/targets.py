"""What is done with the bytes of an input, for each reader: read them, and check what was read.

A target returns whether the input was read. Only the errors that a reader declares may come out, each with a message;
what was read and has a writer must read back as it was written.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pytest_riskguard.baselines.manifest import Manifest
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data import runs
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import write_scores
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.data.trec import with_text_digest, write_run
from pytest_riskguard.errors import ConfigError, FileError, RiskguardError
from pytest_riskguard.reports import comparisons, markdown, terminal
from pytest_riskguard.reports import json as report_json
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.run_context import Screen
from pytest_riskguard.serialization import JsonError

_MEMORY = Path("/dev/shm")  # noqa: S108 - a file for each of a million inputs should not be written to a disk
_FOLDER = tempfile.TemporaryDirectory(prefix="riskguard-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None)
FOLDER = Path(_FOLDER.name)


def read_run(content: bytes) -> bool:
    """A run; what was read is written, and read again with the same rankings."""

    run = runs.read_run(_file("candidate.run", content))
    write_run(FOLDER / "again.run", run)
    again = runs.read_run(FOLDER / "again.run")
    assert again.by_topic() == run.by_topic()
    assert again.source.digest == with_text_digest(run).source.digest
    return True


def read_judgements(content: bytes) -> bool:
    """Qrels; every topic is either scored or without a relevant document."""
    qrels = read_qrels(_file("qrels.txt", content))
    assert sorted([*qrels.topics, *qrels.without_relevant]) == sorted(qrels.grades)
    assert all(max(qrels.grades[topic].values()) > 0 for topic in qrels.topics)
    return True


def read_queries(content: bytes) -> bool:
    """Topics; each has a text and tags, and a weight above 0 if any has one."""
    topics = read_topics(_file("topics.tsv", content))
    assert topics.queries.keys() == topics.tags.keys()
    assert not topics.weights or topics.weights.keys() == topics.queries.keys()
    assert all(0 < weight < np.inf for weight in topics.weights.values())
    return True


def read_table(content: bytes) -> bool:
    """Per-topic scores; what was read is written, and reads back exactly."""
    scores = read_scores(_file("scores.tsv", content))
    write_scores(FOLDER / "again.tsv", scores)
    for before, after in zip(scores, read_scores(FOLDER / "again.tsv"), strict=True):
        assert (before.measure, before.topics) == (after.measure, after.topics)
        assert np.array_equal(before.values, after.values)
    return True


def read_manifest(content: bytes) -> bool:
    """A manifest; what was read is written, and reads back as it was."""
    manifest = Manifest.from_bytes(content)
    assert Manifest.from_bytes(manifest.to_bytes()) == manifest
    return True


def read_report(content: bytes) -> bool:
    """A report; its verdicts are shown in every text format, and written again."""
    verdicts, gates, provenance, changes = report_json.read(_file("report.json", content))
    for verdict in verdicts:
        terminal.explain(verdict, Screen(100, verbose=True))
    comparisons.summary(gates)
    markdown.render(Report(verdicts, gates=gates, provenance=provenance, policy_changes=changes))
    path = _file("again.json", report_json.dumps(Report(verdicts, gates, provenance, changes)).encode())
    assert report_json.plain(report_json.read(path)) == report_json.plain(
        Report(verdicts, gates, provenance, changes)
    )
    return True


def read_settings(content: bytes) -> bool:
    """A riskguard.yaml."""
    load_config(_file("riskguard.yaml", content))
    return True


#: By name: what reads the bytes, and the errors that it declares.
TARGETS: dict[str, tuple[Callable[[bytes], bool], tuple[type[Exception], ...]]] = {
    "runs": (read_run, (FileError,)),
    "qrels": (read_judgements, (FileError,)),
    "topics": (read_queries, (FileError,)),
    "scores": (read_table, (RiskguardError,)),
    "manifest": (read_manifest, (JsonError,)),
    "report": (read_report, (FileError,)),
    "yaml": (read_settings, (ConfigError,)),
}


def replay(reader: str, content: bytes) -> bool:
    """Whether the reader reads an input; anything but a declared error with a message is a finding and comes out."""
    target, declared = TARGETS[reader]
    try:
        return target(content)
    except declared as error:
        message = str(error)
        assert message
        assert "Traceback" not in message
        line = error.line if isinstance(error, ConfigError) else 1
        assert 1 <= line <= content.count(b"\n") + content.count(b"\r") + 1
        return False


def _file(name: str, content: bytes) -> Path:
    path = FOLDER / f"{os.getpid()}-{name}"
    path.write_bytes(content)
    return path
