"""One engine for three ways in: sources are scored once, and again when they changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.errors import UsageError
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.referee import Referee
from pytest_riskguard.sources import Question, RunFile, ScoreFile, Stored

TOPICS = [f"q{i:02d}" for i in range(30)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 good 1\n{t} 0 bad 0\n" for t in TOPICS))
    write_run(tmp_path / "good.run", "good", "bad")
    write_run(tmp_path / "poor.run", "bad", "good")
    return tmp_path


def write_run(path: Path, *documents: str) -> None:
    lines = [f"{t} Q0 {d} {r} {9 - r} x\n" for t in TOPICS for r, d in enumerate(documents)]
    path.write_text("".join(lines))


def test_a_run_that_is_written_anew_is_scored_anew(folder: Path):
    referee = Referee(qrels=folder / "qrels.txt")
    again, baseline = RunFile(folder / "out.run"), RunFile(folder / "good.run")
    write_run(folder / "out.run", "good", "bad")
    assert referee.verdict(Question(Gate("g"), again, baseline, "RR")).outcome == "pass"
    write_run(folder / "out.run", "bad", "good", "other")
    assert referee.verdict(Question(Gate("g"), again, baseline, "RR")).outcome == "fail"


def test_judgements_that_changed_are_read_anew(folder: Path):
    referee = Referee(qrels=folder / "qrels.txt")
    first = referee.verdict(Question(Gate("g"), RunFile(folder / "poor.run"), RunFile(folder / "good.run"), "RR"))
    (folder / "qrels.txt").write_text("".join(f"{t} 0 bad 1\n" for t in TOPICS))
    second = referee.verdict(Question(Gate("g"), RunFile(folder / "poor.run"), RunFile(folder / "good.run"), "RR"))
    assert (first.outcome, second.outcome) == ("fail", "pass")
    assert first.inputs.qrels != second.inputs.qrels


def test_a_run_is_scored_once_for_all_measures(folder: Path, monkeypatch: pytest.MonkeyPatch):
    from pytest_riskguard import referee as module

    calls = []
    real = module.score_run
    monkeypatch.setattr(module, "score_run", lambda *a, **k: calls.append(a[0]) or real(*a, **k))
    referee = Referee(qrels=folder / "qrels.txt", measures=["RR", "AP"])
    for measure in ("AP", "RR", "AP"):
        referee.verdict(Question(Gate("g"), RunFile(folder / "poor.run"), RunFile(folder / "good.run"), measure))
    assert len(calls) == 2


def test_a_measure_that_cannot_be_computed_spoils_no_other(folder: Path):
    with (folder / "qrels.txt").open("a") as file:
        file.write("q00 0 best 7\n")  # beyond the scale of ERR
    referee = Referee(qrels=folder / "qrels.txt", measures=["ERR@20", "nDCG@10"])
    candidate, baseline = RunFile(folder / "poor.run"), RunFile(folder / "good.run")
    assert referee.verdict(Question(Gate("g"), candidate, baseline, "ERR@20")).reason == "bad_qrels"
    assert referee.verdict(Question(Gate("g"), candidate, baseline, "nDCG@10")).outcome == "fail"


def test_the_verdict_names_a_file_and_the_message_its_folder(folder: Path):
    referee = Referee(qrels=folder / "qrels.txt")
    verdict = referee.verdict(Question(Gate("g"), RunFile(folder / "no.run"), RunFile(folder / "good.run"), "RR"))
    assert (verdict.outcome, verdict.reason) == ("incomparable", "missing_input")
    assert str(folder) not in verdict.problem
    assert str(folder / "no.run") in referee.message_of(verdict)
    assert referee.message_of(referee.verdict(Question(Gate("g"), *[RunFile(folder / "good.run")] * 2, "RR"))) is None


@pytest.mark.parametrize(
    ("candidate", "measure", "message"),
    [
        (RunFile(Path("x.run")), None, "a run needs a measure"),
        (Stored("prod"), "RR", "no run and no store for baseline 'prod'"),
        (RunFile(Path("x.run")), "ndcg@10", "nDCG@10"),
    ],
)
def test_a_wrong_question_is_no_verdict(folder: Path, candidate, measure, message):
    with pytest.raises(UsageError, match=message):
        Referee(qrels=folder / "qrels.txt").verdict(
            Question(Gate("g"), candidate, RunFile(folder / "good.run"), measure)
        )


def test_scores_need_no_qrels(tmp_path: Path):
    for name, score in (("a", 0.5), ("b", 0.4)):
        (tmp_path / f"{name}.csv").write_text("topic,AP\n" + "".join(f"{t},{score}\n" for t in TOPICS))
    question = Question(Gate("g"), ScoreFile(tmp_path / "a.csv"), ScoreFile(tmp_path / "b.csv"), "AP")
    verdict = Referee(qrels=None).verdict(question)
    assert (verdict.outcome, verdict.candidate) == ("pass", "a")
