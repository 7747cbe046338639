"""Which order counts where scores are equal: the one in which documents were returned, or that of trec_eval."""

from __future__ import annotations

from functools import partial

import pytest

from pytest_riskguard.config.candidate_settings import file_of
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data.given_file import TIES, GivenFile
from pytest_riskguard.data.rankings import Rankings, rankings_as_run
from pytest_riskguard.data.run_files import open_run
from pytest_riskguard.engine.sources import LiveRun, RunFile, ScoreCache, ScoreFile

QRELS = "1 0 a 1\n1 0 b 0\n"
#: b is written first, and a ranked first by trec_eval.
TIED = "1 Q0 b 2 5.0 x\n1 Q0 a 1 5.0 x\n1 Q0 c 3 5.0 x\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "tied.run").write_text(TIED)
    return tmp_path


def as_returned(path) -> Rankings:
    run = open_run(GivenFile(path, ties="as_returned"))
    assert isinstance(run, Rankings)
    return run


def ids(run: Rankings) -> list[str]:
    return [document for document, _ in run.by_topic["1"]]


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        (TIED, ["a", "b", "c"]),
        ("1 Q0 b 0 5.0 x\n1 Q0 a 0 5.0 x\n1 Q0 c 0 5.0 x\n", ["b", "a", "c"]),  # ranks that number nothing
        ("1 Q0 b 0 1.0 x\n1 Q0 a 0 5.0 x\n", ["a", "b"]),
        ("1 Q0 b 1 1.0 x\n1 Q0 a 2 5.0 x\n", ["b", "a"]),  # ranks count, whatever the scores
    ],
)
def test_a_run_of_trecs_format_keeps_its_order_if_asked_to(tmp_path, rows, order):
    path = tmp_path / "a.run"
    path.write_text(rows)
    assert ids(as_returned(path)) == order
    assert open_run(path) == path
    assert open_run(GivenFile(path, ties="docid")) == path


def test_the_order_decides_the_score(folder):
    cache = ScoreCache(qrels=folder / "qrels", topics=None, store=None, measures=["RR"])
    path = folder / "tied.run"

    def score(source) -> float:
        return float(cache.scored(source, "RR").scores.values[0])

    assert score(RunFile(path)) == pytest.approx(1 / 3)
    assert score(RunFile(path, given=GivenFile(path, ties="as_returned"))) == 1.0


def test_the_order_that_counted_is_known(folder):
    cache = ScoreCache(qrels=folder / "qrels", topics=None, store=None, measures=["RR"])
    path = folder / "tied.run"
    rows = {"1": [("a", 1.0), ("b", 1.0)]}
    returned = {ties: rankings_as_run(rows, as_returned=ties == "as_returned") for ties in TIES}
    live = {ties: LiveRun(partial(returned.__getitem__, ties)) for ties in TIES}
    runs = {"docid": RunFile(path), "as_returned": RunFile(path, given=GivenFile(path, ties="as_returned"))}
    for ties in TIES:
        for source in (live[ties], runs[ties]):
            assert cache.ties(source) is None, "nothing is read to find out"
            cache.scored(source, "RR")
            assert cache.ties(source) == ties
    assert cache.ties(ScoreFile(path)) is None


def test_riskguard_yaml_says_which_order_counts(folder):
    (folder / "riskguard.yaml").write_text(
        "collection: {qrels: qrels}\nstore: baselines\nmeasures: [RR]\n"
        "candidate: {run: tied.run, ties: as_returned}\n"
        "gates:\n  - {name: no-risk, kind: not_significantly_risky, baseline: prod}\n"
    )
    given = file_of(load_config(folder / "riskguard.yaml").candidate)
    assert given is not None
    assert ids(as_returned(given.path)) == ["a", "b", "c"]
    assert given.ties == "as_returned"
