"""Real runs score as with ir-measures, however their files are written, read and kept."""

from __future__ import annotations

import gzip
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.engine.sources import RunFile, ScoreCache

#: ``RBP`` alone has no provider; ``ERR@20`` is compared with gdeval's figures in ``test_real_runs``.
MEASURES = [
    *("nDCG@10", "nDCG@20", "nDCG", "AP", "RR", "RR@10", "P@10", "R@100", "Judged@10", "Bpref", "RBP(rel=1)"),
    "ERR@20",
]
Values = Mapping[str, Mapping[str, float]]
FOLDERS = {"cranfield_runs": "qrels.txt", "web2012_runs": "qrels.adhoc.txt.gz"}


def runs(shared: Path, folder: str) -> list[Path]:
    return sorted((shared / "data" / folder / "runs").glob("*.run.gz"))


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def interleaved(text: bytes) -> bytes:
    """The same rows with those of different topics in turn, each topic's in their order."""
    by_topic: dict[bytes, list[bytes]] = defaultdict(list)
    for line in text.splitlines():
        by_topic[line.split()[0]].append(line)
    turns = itertools.zip_longest(*by_topic.values())
    return b"\n".join(line for turn in turns for line in turn if line is not None) + b"\n"


def values_of(scores: Iterable[TopicScores]) -> Values:
    return {str(one.measure): dict(zip(one.topics, one.values.tolist(), strict=True)) for one in scores}


def of_ir_measures(text: bytes, qrels: Path, topics: Sequence[str]) -> Values:
    """Its own reading and scoring of the same files; a topic that the run does not answer is left out."""
    measures: list[Any] = [ir_measures.parse_measure(measure) for measure in MEASURES if measure != "ERR@20"]
    rows = list(ir_measures.read_trec_run(text.decode()))
    judged = list(ir_measures.read_trec_qrels(unpacked(qrels).decode()))
    values: dict[str, dict[str, float]] = {str(measure): {} for measure in measures}
    kept = set(topics)
    for metric in ir_measures.iter_calc(measures, judged, rows):
        if metric.query_id in kept:
            values[str(metric.measure)][metric.query_id] = float(metric.value)
    return values


def assert_those_of_ir_measures(ours: Values, peers: Values, where: str) -> None:
    for measure, by_topic in peers.items():
        assert by_topic, (where, measure)
        same_topics = {topic: ours[measure][topic] for topic in by_topic}
        assert same_topics == pytest.approx(by_topic, rel=0, abs=1e-12), (where, measure)


def ways(path: Path, qrels: Qrels, folder: Path) -> Iterator[tuple[str, Values]]:
    """The scores of one run, read in every way."""
    text = unpacked(path)
    plain, mixed = folder / f"{path.stem}.plain", folder / f"{path.stem}.mixed"
    plain.write_bytes(text)
    mixed.write_bytes(interleaved(text))
    yield "grouped, gzip", values_of(score_run(path, qrels, MEASURES))
    yield "grouped, plain", values_of(score_run(plain, qrels, MEASURES))
    yield "interleaved", values_of(score_run(mixed, qrels, MEASURES))
    for state in ("cold", "warm"):
        cache = ScoreCache(qrels=qrels, topics=None, store=None, measures=MEASURES)
        yield f"cache {state}", values_of(cache.scored(RunFile(plain), measure).scores for measure in MEASURES)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["web2012_runs", pytest.param("cranfield_runs", marks=pytest.mark.nightly)])
def test_real_runs_score_as_with_ir_measures_in_every_way(
    folder: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RISKGUARD_CACHE", str(tmp_path / "cache"))
    judgements = shared / "data" / folder / FOLDERS[folder]
    qrels = read_qrels(judgements)
    paths = runs(shared, folder)
    assert len(paths) == {"cranfield_runs": 20, "web2012_runs": 8}[folder]
    for path in paths:
        (_, first), *others = ways(path, qrels, tmp_path)
        assert_those_of_ir_measures(first, of_ir_measures(unpacked(path), judgements, qrels.topics), path.name)
        for way, found in others:
            assert found == first, (path.name, way)
