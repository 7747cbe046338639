"""Verdicts under what is known about labels: documents that no longer exist, grades that became binary."""

from collections.abc import Callable, Collection
from typing import Any

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question, RunFile
from pytest_riskguard.engine.what_ifs import stale_labels
from pytest_riskguard.gates.verdict import Verdict
from tests.strict import gate_of

TOPICS = range(30)
Judge = Callable[..., Verdict]


def run_of(first: Collection[int]) -> str:
    """A run with the relevant document first in these topics, and second elsewhere; ``x`` is another document."""
    rows = []
    for t in TOPICS:
        ranking = [f"d{t}", f"x{t}"] if t in first else [f"x{t}", f"y{t}"]
        rows += [f"q{t:02} Q0 {document} {rank} {9 - rank} t" for rank, document in enumerate(ranking, 1)]
    return "\n".join(rows) + "\n"


@pytest.fixture
def judged(tmp_path):
    """The verdict on a candidate that finds the relevant documents of some topics; the baseline finds them all."""

    def judge(
        candidate: Collection[int],
        there: str | bytes | None,
        *,
        baseline: Collection[int] = TOPICS,
        grade: float = 1,
        rules: LabelRules | None = None,
        measure: str = "nDCG@10",
        together: int = 1,
        **options: Any,
    ) -> Verdict:
        (tmp_path / "old.run").write_text(run_of(baseline))
        (tmp_path / "new.run").write_text(run_of(candidate))
        (tmp_path / "qrels.txt").write_text("".join(f"q{t:02} 0 d{t} {grade}\nq{t:02} 0 x{t} 0\n" for t in TOPICS))
        documents = None
        if there is not None:
            documents = tmp_path / "documents.tsv"
            documents.write_bytes(there.encode() if isinstance(there, str) else there)
        engine = Engine(
            qrels=GivenFile(tmp_path / "qrels.txt", labels=rules or LabelRules()), titles=DocumentTitles(documents)
        )
        gate = gate_of("g", "not_significantly_risky", **options)
        question = Question(gate, RunFile(tmp_path / "new.run"), RunFile(tmp_path / "old.run"), measure)
        return engine.verdicts([question] * together, correction="auto")[0]

    return judge


def table(topics: Collection[int]) -> str:
    return "id\n" + "".join(f"{kind}{t}\n" for t in topics for kind in "dx")


def codes(verdict: Verdict) -> list[str]:
    return [warning.code for warning in verdict.warnings]


def test_a_loss_that_rests_on_documents_that_are_gone_is_incomparable(judged):
    verdict = judged(range(20), table(range(20)))
    assert (verdict.outcome, verdict.reason) == ("incomparable", "stale_labels")
    assert verdict.problem is not None
    assert verdict.problem.startswith(
        "documents.tsv lacks 10 relevant documents of 10 topics (q20, q21, q22, q23, q24 and 5 more), so no "
        "system can retrieve them any more. The gate's answer is fail with these topics and pass without"
    )
    assert judged(range(20), None).outcome == "fail"
    assert judged(range(20), table(TOPICS)).outcome == "fail"


def test_a_loss_that_stands_without_them_is_a_loss_and_names_them(judged):
    verdict = judged(range(15), table(range(29)))
    assert (verdict.outcome, verdict.reason) == ("fail", "loss")
    (message,) = [w.message for w in verdict.warnings if w.code == "stale_labels"]
    assert message == (
        "relevant documents that are no longer in documents.tsv: 1, in 1 topic (q29); the outcome does not depend on "
        "them"
    )


def test_what_stands_without_them_is_the_answer_of_the_gate_in_its_family(judged):
    found = [judged(range(4, 30), table(range(29)), alpha=0, together=number) for number in (1, 2)]
    assert [verdict.outcome for verdict in found] == ["fail", "pass"]


def test_a_pass_that_rests_on_documents_that_are_gone_is_incomparable_too(judged):
    lost = range(12)
    verdict = judged(range(12, 30), table(range(16)), baseline=lost)
    assert (verdict.outcome, verdict.reason) == ("incomparable", "stale_labels")
    assert judged(range(12, 30), table(TOPICS), baseline=lost).outcome == "pass"


def test_if_too_few_topics_are_left_the_gate_has_no_answer(judged):
    verdict = judged(range(29), table(range(5)))
    assert (verdict.outcome, verdict.reason) == ("incomparable", "stale_labels")
    assert "and inconclusive without" in str(verdict.problem)


def test_a_file_with_other_ids_is_suspected(judged):
    verdict = judged(TOPICS, "id\ttitle\nD-1\tOne\n")
    assert verdict.reason == "stale_labels"
    assert verdict.error is not None
    assert "if all are, write ids alike" in str(verdict.error.remedy)


def test_documents_that_are_not_relevant_may_be_gone(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 3\nq1 0 d2 1\n")
    (tmp_path / "documents.tsv").write_text("id\nd1\n")
    documents = tmp_path / "documents.tsv"
    stale = stale_labels(read_qrels(tmp_path / "qrels.txt"), documents)
    assert stale.by_topic == {"q1": 1}
    given = GivenFile(tmp_path / "qrels.txt", labels=LabelRules(relevant_from=2))
    assert not stale_labels(read_qrels(given), documents).by_topic


def test_passages_in_the_file_are_their_documents(judged):
    text = "id\n" + "".join(f"d{t}#1\nd{t}#2\n" for t in TOPICS)
    assert "stale_labels" not in codes(judged(TOPICS, text, rules=LabelRules(separator="#")))
    assert judged(TOPICS, text).reason == "stale_labels"


def test_a_file_that_cannot_be_read_is_incomparable_and_named(judged):
    verdict = judged(range(15), "neither\n")
    assert verdict.outcome == "incomparable"
    assert "documents.tsv:1: expected JSON Lines, or a header with tabs" in verdict.problem
