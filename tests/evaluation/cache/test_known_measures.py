"""Scores are kept only where the code that computes them is part of their key."""

from __future__ import annotations

import pytest

from pytest_riskguard.evaluation import measures
from pytest_riskguard.evaluation.cache.known_measures import is_known
from pytest_riskguard.evaluation.cache.score_entries import KeptScores, RunEntries
from pytest_riskguard.evaluation.judgements.qrels import read_qrels
from pytest_riskguard.evaluation.scoring.run_scores import score_run

QRELS_TEXT = "1 0 a 1\n1 0 b 0\n"


@pytest.fixture
def own_provider(monkeypatch):
    """A project's own provider computes AP, as a conftest.py can have it."""
    kind = type(measures.provider_of(measures.parse_measure("AP")))
    own = type("Own", (kind,), {"__module__": "conftest", "supports": lambda _, measure: measure.NAME == "AP"})()
    known = measures._pipeline()
    monkeypatch.setattr(measures, "_pipeline", lambda: (own, *known))


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "ERR@20", "RBP(max_rel=3)", "DCG@5", "Judged@10", "RR@10"])
def test_measures_of_ir_measures_and_riskguard_are_known(measure):
    assert is_known(measure)


def test_what_is_no_measure_is_not_known():
    assert not is_known("Clicks@10")
    assert not is_known("AP@@")


def test_a_measure_that_a_project_computes_is_not_known(own_provider):
    assert not is_known("AP")
    assert is_known("nDCG@10")


def test_scores_of_a_provider_of_the_project_are_neither_kept_nor_found(folder, write, monkeypatch):
    """Its code may change, and no key would say so."""
    qrels = read_qrels(write("qrels.txt", QRELS_TEXT))
    (scores,) = score_run(write("a.run", "1 Q0 a 1 2 x\n"), qrels, ["AP"])
    entries, kept = RunEntries(folder, "run", qrels), KeptScores(scores, "docid")
    with monkeypatch.context() as patched:
        patched.setattr("pytest_riskguard.evaluation.cache.score_entries.is_known", lambda *_: False)
        entries.keep_scores(kept)
        assert folder.entries() == []
    entries.keep_scores(kept)
    assert entries.scores("AP", name="a", queries={}) is not None
    with monkeypatch.context() as patched:
        patched.setattr("pytest_riskguard.evaluation.cache.score_entries.is_known", lambda *_: False)
        assert entries.scores("AP", name="a", queries={}) is None
