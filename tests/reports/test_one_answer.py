"""A run has one answer: reports speak of all gates of a candidate, and a pass with care looks the same in each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from pytest_riskguard.cli.output import Detail, show
from pytest_riskguard.errors import BaselineError, Remedy
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Commands, Inputs, Verdict, refused
from pytest_riskguard.reports import markdown
from pytest_riskguard.reports.ci import comment, junit
from pytest_riskguard.reports.ci.github import annotation
from pytest_riskguard.reports.comparisons import KnownGate, Report, answer
from pytest_riskguard.reports.html.page import document
from pytest_riskguard.reports.terminal import explain, gates_table, one_line
from pytest_riskguard.reports.words import Step, advice, own_advice, promotion
from pytest_riskguard.run_context import Screen
from tests.plugin.world import CHURN, GOOD, LOSS
from tests.reports.cases import few, judged, unreadable
from tests.verdicts import altered

INPUTS = Inputs("sha256:q", "sha256:c", {"prod": "sha256:p"})
RUN = comment.Run("0123456789abcdef0123456789abcdef01234567")


def named(verdict: Verdict, gate: str, *, candidate: str = "candidate") -> Verdict:
    return replace(altered(verdict, gate=gate, candidate=candidate), inputs=INPUTS)


#: The mean rose significantly, and no query may lose at all: two did.
BETTER = replace(
    named(judged(GOOD), "no-risk"), commands=Commands(update="riskguard baseline update prod new.run --note better")
)
STOPPED = named(judged(GOOD, "no_topic_collapse", max_loss=0.1), "no-collapse")
FINE = named(judged(GOOD, "no_topic_collapse", max_loss=0.5), "no-collapse")
CARE = named(judged(CHURN, alpha=5), "no-risk")


def known(count: int, *, missing: int = 0) -> list[KnownGate]:
    gates = [KnownGate(f"r.yaml::{place}", 1, "judged", 0, (place,)) for place in range(count)]
    return gates + [KnownGate(f"r.yaml::m{place}", 1, "crashed", 0, ()) for place in range(missing)]


def printed(capsys: pytest.CaptureFixture[str], verdicts: Sequence[Verdict], *, quiet: bool = False) -> str:
    show(verdicts, Detail(quiet=quiet))
    return capsys.readouterr().out


def table(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(gates_table([(verdict.gate, verdict) for verdict in verdicts], Screen(width=200)))


REPORTS: dict[str, Callable[[Sequence[Verdict]], str]] = {
    "comment": lambda verdicts: comment.verdict(RUN, Report(list(verdicts), tuple(known(len(verdicts))))),
    "Markdown": lambda verdicts: markdown.render(Report(verdicts, gates=known(len(verdicts)))),
    "page": lambda verdicts: document(Report(verdicts, known(len(verdicts)))),
    "table of gates": table,
}


@pytest.mark.parametrize("report", REPORTS)
def test_a_candidate_is_stored_only_if_every_gate_of_the_run_passes(report):
    shipped, stopped = REPORTS[report]([BETTER, FINE]), REPORTS[report]([BETTER, STOPPED])
    assert ("it can become the baseline" in shipped) == (report in ("Markdown", "page", "comment"))
    assert ("baseline update prod" in shipped) == (report == "table of gates")  # which is read where it was judged
    assert "store it" not in stopped
    assert "become the baseline" not in stopped
    assert "baseline update" not in stopped


def test_a_part_of_the_gates_gives_no_answer(capsys):
    gates = [*known(2), KnownGate("r.yaml::other", 1, "deselected", 0, ())]
    show([BETTER, FINE], Detail(), gates=gates)
    said = capsys.readouterr().out
    assert said.startswith("PASS")
    assert "store it" not in said
    show([BETTER, FINE], Detail(), gates=known(2, missing=1))
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "No verdict: 2 gates passed; 1 of 3 gates not judged"
    assert "store it" not in said


def test_a_candidate_takes_the_place_of_the_only_baseline_or_of_none():
    stores = Commands(update="riskguard baseline update prod new.run --note better")
    assert promotion(BETTER, [BETTER], commands=stores) == Step(
        "Once it is released, store it as the baseline", stores.update
    )
    assert promotion(BETTER, [BETTER], commands=Commands()) is None  # its baseline is not stored
    other_engine = replace(FINE, baselines=("fts5",))
    assert promotion(BETTER, [BETTER, other_engine], commands=stores) is None
    earlier = replace(FINE, baselines=(f"{BETTER.baselines[0]}/oldest",))
    assert promotion(BETTER, [BETTER, earlier], commands=stores) is not None
    other = named(judged(LOSS), "no-risk", candidate="other")
    assert promotion(BETTER, [BETTER, FINE, other]) is not None
    assert promotion(BETTER, [BETTER, STOPPED, other]) is None
    assert promotion(BETTER, [BETTER], complete=False) is None


def test_a_gate_that_passes_gives_no_advice_of_its_own_where_another_stops_the_change():
    assert own_advice(BETTER, [BETTER, FINE]) == "Ship"
    assert own_advice(BETTER, [BETTER, STOPPED]) == "Passes"
    assert own_advice(CARE, [CARE, STOPPED]) == "Passes with care"
    assert own_advice(FINE, [CARE, FINE]) == "Passes"  # the run is shipped with care
    other_measure = replace(STOPPED, measure="P@5")  # a comparison of its own, of the same candidate
    page = document(Report([BETTER, other_measure]))
    assert "Don&#39;t ship: " in page
    assert "Ship: " not in page
    assert "Passes: the mean rose" in page


def test_the_first_gate_of_a_page_is_the_one_that_wants_care_most():
    assert "<title>! Ship with care: losses counted 6 times outweigh gains; " in document(Report([FINE, CARE]))
    assert "<title>✗ Don&#39;t ship: 2 of 30 queries lost more than 0.10" in document(Report([FINE, CARE, STOPPED]))


def test_a_pass_with_care_looks_the_same_everywhere(capsys):
    verdicts = [CARE, FINE]
    page = document(Report(verdicts, known(2)))
    assert re.search(r"<title>! Ship with care: ", page)
    assert '<span class="mark care" aria-label="pass with care" role="img">!</span>' in page
    assert page.count('<span class="badge care">! pass with care</span>') == 2  # table of gates, and the gate itself
    assert "! Ship with care: 2 gates passed, 1 with care" in document(Report([FINE, replace(CARE, measure="P@5")]))
    text = markdown.render(Report(verdicts))
    assert text.startswith("## riskguard: Ship with care: 2 gates passed, 1 with care\n")
    assert "\n- <code>no-risk</code>: " in text
    assert "| pass with care | <code>no-risk</code> |" in text
    said = comment.verdict(RUN, Report(verdicts))
    assert said.splitlines()[1].startswith("### ⚠️ Ship with care <code>0123456</code>: losses counted 6 times ")
    assert "| pass with care | <code>no-risk</code>" in said
    said = printed(capsys, verdicts)
    assert said.startswith(
        "Ship with care: 2 gates passed, 1 with care\nPASS WITH CARE losses counted 6 times outweigh "
    )
    assert (
        printed(capsys, verdicts, quiet=True).splitlines()[0].startswith("PASS WITH CARE no-risk: candidate against ")
    )
    assert "\nPASS WITH CARE  " in table(verdicts)


@pytest.mark.parametrize(
    ("verdicts", "missing", "said"),
    [
        ([BETTER], 0, ("go", "Ship", "1 gate passed")),
        ([BETTER, CARE], 0, ("caution", "Ship with care", "2 gates passed, 1 with care")),
        ([BETTER, STOPPED, CARE], 0, ("stop", "Don't ship", "1 of 3 gates failed")),
        ([BETTER], 1, ("caution", "No verdict", "1 gate passed; 1 of 2 gates not judged")),
        ([], 0, ("caution", "No verdict", "no gate was judged")),
        ([CARE], 0, ("caution", "Ship with care", "1 gate passed with care")),
        ([few()], 0, ("stop", "No verdict", "1 gate inconclusive")),
        ([few(), unreadable()], 0, ("stop", "No verdict", "2 gates failed")),
        (
            [BETTER, *(named(judged(ranks), "no-risk", candidate="other") for ranks in (LOSS, GOOD))],
            0,
            ("stop", "1 of 2 candidates may ship", "1 of 3 gates failed"),
        ),
    ],
)
def test_the_answer_of_a_run(verdicts, missing, said):
    found = answer(verdicts, known(len(verdicts), missing=missing))
    assert (found.tone, found.advice, found.counts) == said


def test_undecided_gates_that_only_warn_are_no_pass():
    undecided = altered(BETTER, outcome="inconclusive", reason="too_weak", on_inconclusive="warn")
    assert advice([undecided]) == ("caution", "No verdict")
    assert advice([undecided, FINE]) == ("caution", "Ship with care")
    assert answer([undecided, FINE]).counts == "1 gate passed, 1 inconclusive"
    assert promotion(BETTER, [BETTER, undecided]) is None


def test_every_report_says_what_to_do():
    error = BaselineError("no baseline 'prod'", remedy=Remedy("store it with {}", "add prod RUN"))
    verdict = refused(Verdict(gate_of("g"), "incomparable", None, "AP", "new", ("prod",)), error)
    texts = [
        explain(verdict),
        one_line(verdict),
        str(verdict),
        str(annotation(verdict)),
        junit.render(Report([verdict])),
    ]
    for text in (*texts, *(REPORTS[name]([verdict]) for name in ("comment", "Markdown", "page"))):
        assert "riskguard baseline add prod RUN" in " ".join(text.split())
