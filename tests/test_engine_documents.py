"""What a verdict tells of documents needs the runs; without them the verdict is the same, but for that."""

from pathlib import Path

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data.run_scores import scored_run
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.engine import Engine, sources
from pytest_riskguard.engine.question import LiveRun, Question, RunFile, Source, Stored
from pytest_riskguard.gates import unjudged
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.warning_sentences import worded
from tests.plugin import world
from tests.verdicts import altered


@pytest.fixture
def folder(tmp_path):
    world.write_world(tmp_path, world.LOSS)
    world.write_run(tmp_path / "good.run", world.GOOD)
    return tmp_path


def engine(folder: Path, *, report: bool = False) -> Engine:
    store = Store(folder / "baselines")
    return Engine(qrels=folder / "qrels.txt", topics=folder / "topics.tsv", store=store, report=report)


def judged(folder: Path, candidate: Source, baseline, *, report: bool = False) -> Verdict:
    return engine(folder, report=report).verdict(Question(gate_of("g"), candidate, baseline, "AP"))


def bare(verdict: Verdict) -> Verdict:
    warnings = tuple(notice for notice in verdict.warnings if notice.code != "rests_on_unjudged")
    return worded(altered(verdict, documents=None, judgements=None, warnings=warnings))


def test_a_failure_tells_of_documents_and_a_pass_only_where_a_report_is_written(folder):
    loss, good, prod = RunFile(folder / "candidate.run"), RunFile(folder / "good.run"), RunFile(folder / "prod.run")
    failed = judged(folder, loss, prod)
    assert failed.outcome == "fail"
    assert [topic.topic for topic in failed.documents.topics] == [row.topic for row in failed.responsible_topics]
    assert {moved.document for topic in failed.documents.topics for moved in topic.moved} == {"good"}
    worst = failed.documents.topics[0]
    assert (worst.topic, worst.moved[0].baseline_rank, worst.moved[0].candidate_rank) == ("t07", 2, 20)
    assert failed.judgements.depends
    assert "rests_on_unjudged" in {notice.code for notice in failed.warnings}
    passed = judged(folder, good, prod)
    assert (passed.outcome, passed.documents, passed.judgements) == ("pass", None, None)
    written = judged(folder, good, prod, report=True)
    assert {topic.topic for topic in written.documents.topics} >= {"t29", "t30"}
    assert written.judgements.documents > 0
    written = judged(folder, prod, loss, report=True)
    assert (written.outcome, written.judgements.depends) == ("pass", True)
    assert "rests_on_unjudged" not in {notice.code for notice in written.warnings}


def test_unjudged_documents_are_asked_about_at_the_level_that_a_family_leaves(folder):
    runs = RunFile(folder / "candidate.run"), RunFile(folder / "prod.run")
    p = engine(folder).verdict(Question(gate_of("g"), *runs, "AP")).estimates.decision_p_value
    asked = Question(gate_of("g", level=1 - 1.5 * p), *runs, "AP")
    verdict = engine(folder, report=True).verdicts([asked, asked], correction="auto")[0]
    assert verdict.outcome == verdict.judgements.cases[0].outcome == "pass"


def test_files_live_runs_and_stored_baselines_tell_the_same(folder):
    live = LiveRun(lambda: read_run(folder / "candidate.run"))
    found = [
        judged(folder, candidate, baseline)
        for candidate in (RunFile(folder / "candidate.run"), live)
        for baseline in (RunFile(folder / "prod.run"), Stored("prod"))
    ]
    assert found[0].documents
    assert all((one.documents, one.judgements) == (found[0].documents, found[0].judgements) for one in found)


def test_without_the_runs_there_is_the_verdict_alone(folder):
    world.store(folder, "bare", keep_run=False)
    whole = judged(folder, RunFile(folder / "candidate.run"), Stored("prod"))
    verdict = judged(folder, RunFile(folder / "candidate.run"), Stored("bare"))
    assert (verdict.documents, verdict.judgements) == (None, None)
    assert (verdict.outcome, verdict.estimates) == (whole.outcome, whole.estimates)


def test_a_run_that_changes_while_it_is_judged_is_not_told_of(folder, monkeypatch):
    one = engine(folder)
    question = Question(gate_of("g"), RunFile(folder / "candidate.run"), RunFile(folder / "prod.run"), "AP")
    whole = one.verdict(question)
    other = engine(folder)
    scores = other._systems(question)
    monkeypatch.setattr(other, "_systems", lambda _: scores)
    world.write_run(folder / "prod.run", {"t01": 5})
    verdict = other.verdict(question)
    assert verdict.documents is None
    assert verdict == bare(whole)
    (folder / "prod.run").unlink()
    third = engine(folder)
    monkeypatch.setattr(third, "_systems", lambda _: scores)
    assert third.verdict(question) == verdict


def test_each_run_is_read_once_for_all_gates_and_measures(folder, monkeypatch):
    read = []

    def reading(run, *rest, **options):
        read.append(run)
        return scored_run(run, *rest, **options)

    world.store(folder, "again")
    for module in ("engine.sources", "baselines.rescoring"):
        monkeypatch.setattr(f"pytest_riskguard.{module}.scored_run", reading)
    store = Store(folder / "baselines")
    one = Engine(qrels=folder / "qrels.txt", store=store, measures=["AP", "nDCG@10"], report=True)
    runs = [RunFile(folder / name) for name in ("candidate.run", "good.run")]
    for gate in (gate_of("g"), gate_of("h", alpha=5.0), gate_of("c", kind="no_topic_collapse")):
        for run in runs:
            assert one.verdict(Question(gate, run, Stored("again"), "AP")).documents is not None
            assert one.verdict(Question(gate, run, Stored("again"), "nDCG@10")).documents is not None
    assert len(read) == 3


def test_unjudged_documents_are_looked_for_once_and_judged_in_cases_once_a_measure(folder, monkeypatch):
    looked, judged_cases = [], []
    search, cases = unjudged.unjudged_documents, unjudged.Labels.if_judged
    monkeypatch.setattr(unjudged, "unjudged_documents", lambda *runs: looked.append(runs) or search(*runs))
    monkeypatch.setattr(unjudged.Labels, "if_judged", lambda *asked: judged_cases.append(asked) or cases(*asked))
    one = engine(folder, report=True)
    for measure in ("AP@10", "nDCG@10", "P@5"):  # all rank alike, and the first two cut at 10
        for gate in (gate_of("g"), gate_of("h", alpha=5.0), gate_of("c", kind="no_topic_collapse")):
            question = Question(gate, RunFile(folder / "candidate.run"), RunFile(folder / "prod.run"), measure)
            assert one.verdict(question).judgements is not None
    assert (len(looked), len(judged_cases)) == (2, 3)


def test_a_run_held_for_one_order_of_ties_is_read_again_for_another(folder):
    first = engine(folder, report=True)
    questions = [
        Question(gate_of("g"), RunFile(folder / "candidate.run"), Stored("prod"), measure)
        for measure in ("AP", "RR@10", "Judged@10", "AP")
    ]
    for question in questions:
        found = first.verdict(question)
        assert found.documents is not None
        assert found == engine(folder, report=True).verdict(question)


def test_a_run_that_is_no_longer_held_is_read_again(folder, monkeypatch):
    question = Question(gate_of("g"), RunFile(folder / "candidate.run"), Stored("prod"), "AP")
    held, read = engine(folder).verdict(question), []
    monkeypatch.setattr(sources, "MOST_BYTES", 0)
    monkeypatch.setattr(sources, "scored_run", lambda *a, **k: read.append(k["name"]) or scored_run(*a, **k))
    assert engine(folder).verdict(question) == held
    assert read == ["candidate", "candidate"]  # prod, asked for later, took its place


def test_a_pool_tells_of_documents_against_its_reference(folder):
    gate = gate_of("pool", kind="georisk_not_worse", reference="good", level=0.5)
    question = Question(
        gate, RunFile(folder / "candidate.run"), Stored("prod"), "AP", pool=(RunFile(folder / "good.run"),)
    )
    verdict = engine(folder).verdict(question)
    assert verdict.outcome == "fail"
    decided = world.differences(world.GOOD)
    assert verdict.documents
    for topic in verdict.documents.topics:
        assert 1 / topic.moved[0].baseline_rank == decided[topic.topic][1]
    assert verdict.judgements is None


def test_with_replicates_documents_are_told_and_judgements_are_not(folder):
    world.write_run(folder / "again.run", {"t01": 3})
    Store(folder / "baselines").add_replicate(
        "prod", folder / "again.run", qrels=folder / "qrels.txt", topics=None, measures=["AP"]
    )
    verdict = judged(folder, RunFile(folder / "candidate.run"), Stored("prod"))
    assert verdict.replicates == 1
    assert verdict.documents
    assert verdict.judgements is None


@pytest.mark.slow
def test_gates_that_share_what_was_found_about_two_runs_say_what_each_says_alone(folder):
    rows = "".join(f"{t}\t{world.QUERIES[t]}\t{('long', 'short')[t > 't14']}\n" for t in world.TOPICS)
    (folder / "topics.tsv").write_text(f"topic\tquery\tkind\n{rows}", encoding="utf-8")
    measures = ("AP", "nDCG@10", "RR@5", "P@5", "ERR@20")
    runs = [RunFile(folder / name) for name in ("candidate.run", "good.run")]
    gates = [
        gate_of("g"),
        gate_of("n", alpha=5.0),
        gate_of("s", slice="kind=long"),
        gate_of("c", kind="not_inferior"),
    ]
    questions = [
        Question(gate, run, RunFile(folder / "prod.run"), measure)
        for measure in measures
        for run in runs
        for gate in gates
    ]
    shared = engine(folder, report=True)
    found = [shared.verdict(question) for question in questions]
    assert len({verdict.judgements for verdict in found}) > 10
    for question, verdict in zip(questions, found, strict=True):
        assert engine(folder, report=True).verdict(question) == verdict
