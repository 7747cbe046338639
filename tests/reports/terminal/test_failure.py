"""A verdict as text: what is said, and that no data can say anything else."""

import re
from dataclasses import replace

import pytest

from pytest_riskguard import check
from pytest_riskguard.data.memory import topic_scores
from pytest_riskguard.gates.findings import Documents, Judgements, RankedDocument, TopicDocuments
from pytest_riskguard.gates.verdict import Inputs, Verdict, VerdictWarning, warning
from pytest_riskguard.reports.terminal import explain, notes, remarks, repeats
from pytest_riskguard.reports.warning_sentences import worded
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import columns
from tests.plugin.world import CHURN, GOOD, LOSS, TOPICS, differences
from tests.reports.cases import CASES, judged, scores
from tests.verdicts import altered


@pytest.mark.parametrize(("alpha", "said"), [(5, "it would pass up to"), (1, "it passes up to")])
def test_the_alpha_that_is_said_to_pass_does(alpha, said):
    text = flat(explain(judged(CHURN, alpha=alpha, on_churn="fail")))
    (printed,) = re.findall(rf"{said} alpha ([\d.]+)\)", text)
    assert judged(CHURN, alpha=float(printed), on_churn="fail").passed
    assert not judged(CHURN, alpha=float(printed) + 0.02, on_churn="fail").passed


def test_the_topics_said_to_flip_the_verdict_do():
    failed = judged(LOSS)
    text = flat(explain(failed, Screen(verbose=True)))
    (named,) = re.findall(r"would pass without 9 topics: ([t\d, ]+) \(found greedily", text)
    left = {topic: pair for topic, pair in differences(LOSS).items() if topic not in named.split(", ")}
    again = check("not_significantly_risky", *({t: s[side] for t, s in left.items()} for side in (1, 0)))
    assert again.passed


@pytest.mark.parametrize("width", [60, 100])
def test_paragraphs_and_table_keep_to_the_width(width):
    topics = {f"a-long-name-of-a-topic-number-{topic}": pair for topic, pair in differences(LOSS).items()}
    candidate, baseline = (
        topic_scores({topic: pair[side] for topic, pair in topics.items()}, "x") for side in (1, 0)
    )
    text = explain(check("not_significantly_risky", candidate, baseline), Screen(width, verbose=True))
    for line in text.splitlines()[1:]:
        words = line.split()
        assert len(line) <= max(width, 64) or len(words) == 1, line
    assert len(re.findall(r"0\.5000 -> 0\.\d{4} +-0\.\d{4} +\d+\.\d%", text)) == 12


def flat(text: str) -> str:
    return " ".join(text.split())


def test_what_the_baseline_itself_loses_is_said_before_the_excess():
    before = {topic: score for topic, (score, _) in differences(LOSS).items()}
    again = [{topic: score - 0.1 * (i % 2) for i, (topic, score) in enumerate(before.items())}]
    excess = judged(LOSS, replicates=[scores("r", values) for values in again])
    text = flat(explain(excess, Screen(verbose=True)))
    assert text.startswith("worse than the baseline's own noise; the mean fell 0.50 -> 0.34, ")
    assert "URisk is -0.3233, and that of the baseline's own 1 replicate -0.1000." in text
    assert "excess URisk -0.22" in text


def test_without_a_collapse_the_largest_loss_is_said_if_there_is_one():
    assert explain(judged(LOSS, "no_topic_collapse")).startswith(
        "no query lost more than 0.50; the largest loss is 0.45"
    )
    assert explain(judged({}, "no_topic_collapse")).startswith("no query lost more than 0.50 (")


def test_several_gates_without_correction_are_said_to_be():
    assert remarks([judged(LOSS)]) == []
    assert remarks([judged(LOSS), judged(LOSS, "no_topic_collapse")]) == []
    (said,) = remarks([judged(LOSS), judged(GOOD)])
    assert said is not None
    assert said.startswith("2 risk gates, each at its own level")


HOSTILE = "x\n::error::y\x1b[31m\u202e[red]z"


def renamed(verdict: Verdict, name: str) -> Verdict:
    """The verdict with this before every name in it, and unjudged documents."""
    topics = tuple(replace(t, topic=name + t.topic, query=name) for t in verdict.responsible_topics)
    moved = RankedDocument(name, None, None, 1)
    estimates = verdict.estimates
    georisk = estimates.georisk and {name: 0.1, **estimates.georisk}
    return altered(
        verdict,
        responsible_topics=topics,
        measure=name,
        candidate=name,
        baselines=(name, *verdict.baselines[1:]),
        problem=verdict.problem and name * 20,
        documents=Documents(10, tuple(TopicDocuments(t.topic, True, (moved,)) for t in topics[:20])),
        judgements=Judgements(18, candidate=9, baseline=9, depends=True),
        warnings=tuple(
            VerdictWarning(code, name * 9) for code in ("changed_inputs", "unbacked_scores", "changed_inputs")
        ),
        topics=replace(verdict.topics, missing_in_candidate=tuple(t.topic for t in topics)),
        estimates=replace(estimates, georisk=georisk),
    )


def test_a_gate_that_passes_says_which_queries_are_unanswered():
    passed, topics = judged(dict.fromkeys(TOPICS, 1)), ("t28", "t29")
    passed = worded(
        altered(
            passed,
            warnings=(warning("missing_topics", system="the candidate", topics=topics),),
            topics=replace(passed.topics, missing_in_candidate=topics),
        )
    )
    said = "the candidate did not answer 2 topics (each scores 0): t28, t29"
    assert f"warning: {said}" in flat(explain(passed))
    assert said in "".join(notes([passed, passed], complete=True)[0])
    assert notes([passed, passed], complete=True)[1] == []


def test_what_the_paragraph_says_of_unanswered_queries_is_no_warning_too():
    failed, others = judged(LOSS), warning("missing_topics", system="the baseline", topics=("t30",))
    warnings = (warning("missing_topics", system="the candidate", topics=("t28", "t29")), others)
    for missing, said in ((("t28", "t29"), ["the baseline"]), ((), ["the candidate", "the baseline"])):
        counts = replace(failed.topics, missing_in_candidate=missing)
        shown = worded(altered(failed, warnings=warnings, topics=counts))
        text = flat(explain(shown, Screen(verbose=True)))
        assert [name for name in ("the candidate", "the baseline") if f"{name} did not answer" in text] == said
        assert ("The candidate returned nothing for 2 queries." in text) == bool(missing)


def test_a_warning_about_inputs_that_was_shown_before_is_not_said_again():
    warned = altered(judged(LOSS), warnings=(VerdictWarning("changed_inputs", "scored again"),))
    assert "warning: scored again" in explain(warned)
    assert "scored again" not in explain(warned, said=("scored again",))


def test_every_warning_about_inputs_is_said_whole_and_of_others_one_or_the_code():
    codes = ("changed_inputs", "changed_inputs", "unbacked_scores")
    warned = altered(judged(LOSS), warnings=tuple(VerdictWarning(code, f"said {n}") for n, code in enumerate(codes)))
    lines = [line.strip() for line in explain(warned).splitlines() if "warning" in line]
    assert lines == ["warning: said 0", "warning: said 1", "more warnings (-v shows all): unbacked_scores"]
    assert "warning (unbacked_scores): said 2" in explain(warned, Screen(verbose=True))


def rows(text: str, width: int) -> int:
    """Lines on a screen that wraps what is too long for it."""
    return sum(-(-max(columns(line), 1) // width) for line in text.splitlines())


@pytest.mark.parametrize("name", ["", "many words in a name " * 8, HOSTILE * 4, "検索" * 40])
@pytest.mark.parametrize("case", CASES)
def test_a_failure_has_at_most_20_lines_of_80_columns_whatever_names_it_has(case, name):
    shown = worded(renamed(CASES[case](), name)) if name else CASES[case]()
    text = explain(shown, Screen(width=80), reproduce="pytest --riskguard riskguard.yaml::no-risk[nDCG@10-5]")
    assert rows(text, 80) <= 20
    assert columns(text.splitlines()[0]) <= 80
    assert [line for line in text.splitlines() if columns(line) > 80 and " judge-next " not in line] == []


def test_several_gates_show_their_topics_once():
    inputs = Inputs("q", "c", {"prod": "b"})
    several = [replace(altered(judged(LOSS, alpha=a), gate=f"alpha {a}"), inputs=inputs) for a in (0, 1, 5)]
    several.insert(1, replace(judged(GOOD), inputs=inputs))
    assert repeats(several) == {2: "alpha 0", 3: "alpha 0"}
    text = explain(several[3], Screen(width=80), reproduce="pytest x", same_as="riskguard.yaml::first")
    assert text.splitlines() == [
        "the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained, 0.005 tolerated",
        "  queries and documents: see riskguard.yaml::first",
        "  URisk -0.97, 95% interval -1.44 to -0.57, must reach -0.005 (at alpha 5 losses",
        "    count 6 times)",
        "  reproduce: pytest x",
    ]
    (worst, *_) = topics = several[0].responsible_topics
    other = altered(several[0], responsible_topics=(topics[1], replace(worst, topic="t30")))
    assert repeats([several[0], other]) == {}  # one of its queries was not shown
    assert repeats([judged(LOSS), judged(LOSS)]) == {}  # nothing says that they are about the same runs
