"""One engine for three ways in: sources are scored once, and again when they changed."""

from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.run_scores import scored_run
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question, RunFile, ScoreFile, Stored
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.kinds import gate_of

TOPICS = [f"q{i:02d}" for i in range(30)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 good 1\n{t} 0 bad 0\n" for t in TOPICS))
    write_run(tmp_path / "good.run", "good", "bad")
    write_run(tmp_path / "poor.run", "bad", "good")
    return tmp_path


def write_run(path: Path, *documents: str) -> None:
    lines = [f"{t} Q0 {d} {r} {9 - r} x\n" for t in TOPICS for r, d in enumerate(documents)]
    path.write_text("".join(lines))


def question(folder: Path, candidate: str = "poor.run", measure: str | None = "RR", **options: Any) -> Question:
    """A candidate against the good run."""
    return Question(gate_of("g", **options), RunFile(folder / candidate), RunFile(folder / "good.run"), measure)


def test_what_is_written_anew_is_read_anew(folder):
    engine = Engine(qrels=folder / "qrels.txt")
    first = engine.verdict(question(folder))
    (folder / "qrels.txt").write_text("".join(f"{t} 0 bad 1\n" for t in TOPICS))
    second = engine.verdict(question(folder))
    assert (first.outcome, second.outcome) == ("fail", "pass")
    assert first.inputs.qrels != second.inputs.qrels
    write_run(folder / "poor.run", "good", "other", "bad")
    assert engine.verdict(question(folder)).outcome == "fail"


def test_a_part_of_a_folder_of_scores_that_is_written_anew_is_read_anew(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    engine = Engine(qrels=None)
    pair = Question(gate_of("g"), ScoreFile(tmp_path / "new"), ScoreFile(tmp_path / "old"), "m")
    for score, outcome in ((0.6, "pass"), (0.1, "fail")):
        for name, value in (("new", score), ("old", 0.5)):
            path = tmp_path / name / "part.parquet"
            path.parent.mkdir(exist_ok=True)
            parquet.write_table(pyarrow.table({"topic": TOPICS, "m": [value] * len(TOPICS)}), path)
        verdict = engine.verdict(pair)  # scores need no judgements
        assert (verdict.outcome, verdict.candidate) == (outcome, "new")


def test_query_texts_are_those_of_the_topics_file_else_those_beside_the_judgements(tmp_path):
    (tmp_path / "qrels.ltr").write_text("1 qid:q1 # d1 of judgements\n")
    (tmp_path / "topics.tsv").write_text("q1\tof topics\n")
    for topics, text in ((None, "of judgements"), (tmp_path / "topics.tsv", "of topics")):
        assert Engine(qrels=tmp_path / "qrels.ltr", topics=topics).sources.queries == {"q1": text}
    (tmp_path / "m.csv").write_text("topic,m\nq1,0.5\n")
    table = Engine(qrels=None, topics=topics).sources.scored(ScoreFile(tmp_path / "m.csv"), "m")
    assert table.scores.queries == {"q1": "of topics"}


def test_a_run_is_scored_once_for_all_measures(folder, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "pytest_riskguard.engine.sources.scored_run", lambda *a, **k: calls.append(a[0]) or scored_run(*a, **k)
    )
    engine = Engine(qrels=folder / "qrels.txt", measures=["RR", "AP"])
    for measure in ("AP", "RR", "AP"):
        engine.verdict(question(folder, measure=measure))
    assert len(calls) == 2


def test_a_measure_that_cannot_be_computed_spoils_no_other(folder):
    with (folder / "qrels.txt").open("a") as file:
        file.write("q00 0 best 7\n")  # beyond the scale of ERR
    engine = Engine(qrels=folder / "qrels.txt", measures=["ERR@20", "nDCG@10"])
    assert engine.verdict(question(folder, measure="ERR@20")).reason == "bad_qrels"
    judged = engine.verdict(question(folder, measure="nDCG@10"))
    assert (judged.outcome, judged.error) == ("fail", None)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("project/runs/no.run", "runs/no.run: no such file"),
        ("project/runs/../x/no.run", "x/no.run: no such file"),
        ("project/no.run", "no.run: no such file"),
        ("private/no.run", "no.run: no such file"),
        ("project-2/no.run", "no.run: no such file"),
    ],
)
def test_a_report_names_a_file_by_its_path_in_the_project_and_the_screen_its_folder_too(folder, path, said):
    engine = Engine(qrels=folder / "qrels.txt", folder=folder / "project")
    verdict = engine.verdict(question(folder, path))
    assert (verdict.outcome, verdict.reason, verdict.problem) == ("incomparable", "missing_input", said)
    assert str(verdict.error) == f"{folder / path}: no such file"


@pytest.mark.parametrize(
    ("candidate", "measure", "message"),
    [
        (RunFile(Path("x.run")), None, "a run needs a measure"),
        (Stored("prod"), "RR", "no run and no store for baseline 'prod'"),
        (RunFile(Path("x.run")), "ndcg@10", "nDCG@10"),
        (ScoreFile(Path("x.csv")), "ndcg@10", "nDCG@10"),  # the other system is a run
        (RunFile(Path("x.run")), "NumRet", "'NumRet' counts documents"),
    ],
)
def test_a_wrong_question_is_no_verdict(folder, candidate, measure, message):
    with pytest.raises(UsageError, match=message):
        Engine(qrels=folder / "qrels.txt").verdict(
            Question(gate_of("g"), candidate, RunFile(folder / "good.run"), measure)
        )


def test_two_systems_of_one_file_can_be_compared(folder):
    one, other = (RunFile(GivenFile(folder / "good.run", part=part)) for part in "ab")
    Question(gate_of("g"), one, other, "RR").refuse_without_answer(None)


def promoted(folder, *later):
    """A store whose baseline ``prod`` had another run accepted in its place, and perhaps later ones."""
    store = Store(folder / "store")
    options = {"qrels": folder / "qrels.txt", "topics": None, "measures": ["RR"]}
    store.add("prod", folder / "good.run", **options)
    for run in ("poor.run", *later):
        store.update("prod", folder / run, note="accepted", **options)
    return store


def against_stored(folder: Path, **options: Any) -> Question:
    return Question(gate_of("g", **options), RunFile(folder / "poor.run"), Stored("prod"), "RR")


def test_a_verdict_tells_of_the_changes_that_its_baseline_went_through(folder):
    engine = Engine(qrels=folder / "qrels.txt", store=promoted(folder))
    verdict = engine.verdict(against_stored(folder))
    assert verdict.outcome == "pass"
    assert verdict.lineage is not None
    assert [run.run for run in verdict.lineage.runs] == ["prod/history/0001", "prod", "poor"]
    assert verdict.lineage.upper < -verdict.tolerance
    # what was accepted was a loss that the gate would have seen: no slow slide
    assert "slow_slide" not in [notice.code for notice in verdict.warnings]
    assert engine.verdict(against_stored(folder, kind="no_topic_collapse")).lineage is None
    engine.sources.store.remove("prod")
    again = engine.verdict(against_stored(folder))
    assert (again.reason, verdict.origins.baselines[0].note) == ("missing_input", "accepted")


def test_the_chain_of_a_baseline_begins_with_the_earlier_run_that_is_asked_about(folder):
    engine = Engine(qrels=folder / "qrels.txt", store=promoted(folder, "good.run", "poor.run"))
    drift = Question(gate_of("g", kind="no_drift"), RunFile(folder / "good.run"), Stored("prod", "2"), "RR")
    runs = [run.run for run in engine.verdict(drift).lineage.runs]
    assert runs == ["prod/history/0002", "prod/history/0003", "prod", "good"]
    with pytest.raises(DataError, match="there is no run, only scores"):  # of the earlier one
        engine.rejudged(drift)


def test_a_damaged_history_is_said_and_does_not_decide(folder):
    store = promoted(folder)
    (folder / "store" / "prod" / "history" / "0001" / "scores.tsv").write_text("topic\tRR\n")
    engine = Engine(qrels=folder / "qrels.txt", store=store)
    verdict = engine.verdict(against_stored(folder))
    assert (verdict.outcome, verdict.lineage) == ("pass", None)
    (notice,) = [notice for notice in verdict.warnings if notice.code == "slow_slide"]
    assert notice.message.startswith("the earlier runs of prod cannot be read: store/prod/history/0001")


def test_a_pool_is_judged_whole_and_in_families(folder):
    engine = Engine(qrels=folder / "qrels.txt")
    good, poor = RunFile(folder / "good.run"), RunFile(folder / "poor.run")
    again = RunFile(folder / "good.run", "again")
    question = Question(gate_of("g", kind="georisk_not_worse", alpha=5), poor, good, "RR", pool=(again,))
    verdict = engine.verdict(question)
    assert (verdict.outcome, verdict.baselines) == ("fail", ("good", "again"))
    assert verdict.baseline == "good"
    other = Question(gate_of("h"), poor, good, "RR")
    family = engine.verdicts([question, other], correction="auto")
    assert [one.family is not None and one.family.size for one in family] == [2, 2]
    assert [one.outcome for one in family] == ["fail", "fail"]
    missing = Question(gate_of("g", kind="georisk_not_worse"), poor, good, "RR", pool=(RunFile(folder / "no.run"),))
    lost = engine.verdict(missing)
    assert (lost.outcome, lost.reason, lost.baselines) == ("incomparable", "missing_input", ("good", "no"))
    assert lost.inputs.baselines == {"good": None, "no": None}


def test_a_topics_file_about_none_of_the_judged_topics_is_refused(folder):
    (folder / "other.tsv").write_text("x1\ta query\nx2\tanother\n")
    engine = Engine(qrels=folder / "qrels.txt", topics=folder / "other.tsv")
    verdict = engine.verdict(question(folder))
    assert (verdict.outcome, verdict.reason) == ("incomparable", "bad_topics")
    (folder / "other.tsv").write_text("q01\ta query\n")
    assert engine.verdict(question(folder)).outcome == "fail"
    assert "other.tsv ('x1', ...) and qrels.txt" in (verdict.problem or "")
