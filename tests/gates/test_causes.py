"""Mistakes that look like a loss are named, and a system that is merely worse is accused of none."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.gates.causes import cause_of, wanted_results
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import markdown
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.terminal import explain, warning_lines
from pytest_riskguard.reports.warning_sentences import worded
from tests.gates.runs import Pair

TOPICS = [f"t{number:02d}" for number in range(1, 41)]
#: Two relevant documents, the first of which the baseline has at rank 1.
GRADES = {topic: {"r1": 2, "r2": 1} for topic in TOPICS}
LIST = ["r1", "x1", "r2", *(f"x{rank}" for rank in range(2, 9))]
BASELINE = dict.fromkeys(TOPICS, LIST)
WORSE = {topic: ["x1", "x2", "r1", "x3", "x4", "r2", "x5", "x6", "x7", "x8"] for topic in TOPICS}


def cause(
    candidate: Mapping[str, list[str]], baseline: Mapping[str, list[str]] = BASELINE, **about: Any
) -> tuple[str | None, dict[str, Any]]:
    pair = Pair(candidate, baseline, GRADES, **about)
    found = cause_of(pair.verdict(), pair.rejudged().labels)
    parameters = {} if found is None else dict(found.parameters)
    return parameters.pop("about", None), parameters


@pytest.mark.parametrize(
    ("candidate", "about", "parameters"),
    [
        (WORSE, None, {}),
        (dict.fromkeys(TOPICS[:30], LIST), "cut_off", {"missing": 10, "count": 40}),
        (dict.fromkeys(TOPICS[:31], LIST), None, {}),
        (dict.fromkeys(TOPICS, LIST[:2]), "few_results", {"most": "2 results", "wanted": 10}),
        (dict.fromkeys(TOPICS, LIST[:9]), None, {}),  # which passes
        ({topic: [*WORSE[topic], "x9"] for topic in TOPICS}, None, {}),
    ],
)
def test_a_run_that_ends_too_early_is_told_from_one_that_is_worse(candidate, about, parameters):
    assert cause(candidate) == (about, parameters)


def test_a_baseline_that_was_cut_hides_losses_even_in_a_pass():
    longer = [*LIST, *(f"y{rank}" for rank in LIST)]
    assert cause(dict.fromkeys(TOPICS, longer), measure="AP") == (
        "few_in_baseline",
        {"most": "10 results", "wanted": 20},
    )
    assert cause(dict.fromkeys(TOPICS, longer[:-1]), measure="AP")[0] is None
    uneven = dict.fromkeys(TOPICS, LIST[:9]) | {"t01": LIST}  # the lists of one that was cut end alike
    assert cause(dict.fromkeys(TOPICS, longer), baseline=uneven, measure="AP")[0] is None


def test_rankings_from_last_to_first_are_upside_down():
    about, means = cause(dict.fromkeys(TOPICS, LIST[::-1]))
    assert about == "upside_down"
    assert means["reverse"] == pytest.approx(Pair(BASELINE, BASELINE, GRADES).scores()[0].mean)
    assert means["mean"] < means["reverse"]


def test_rankings_that_are_better_in_the_mean_are_not_upside_down():
    others = [f"y{number}" for number in range(10)]
    sixth, seventh = ([*others[:rank], "r1", *others[rank:]] for rank in (5, 6))
    better = dict.fromkeys(TOPICS, sixth) | {"t01": [*others, "y10"]}  # from last to first r1 is sixth too
    gate = gate_of("g", "no_topic_collapse", max_loss=0.2)
    assert cause(better, baseline=dict.fromkeys(TOPICS, seventh), gate=gate)[0] is None


def test_a_measure_that_riskguard_does_not_compute_itself_has_no_reverse():
    assert cause(dict.fromkeys(TOPICS, LIST[::-1]), measure="nDCG(judged_only=True)@10")[0] is None


@pytest.mark.parametrize(
    ("candidate", "baseline", "cutoff", "wanted"),
    [
        ([5, 3], [10, 10, 2], 10, 10),
        ([5, 3], [10, 10, 2], 5, None),
        ([10], [100, 100], 10, None),
        ([10], [100, 100], None, 100),
        ([99], [100], None, None),
        ([10], [5, 5], None, None),
    ],
)
def test_results_are_too_few_where_the_baseline_has_those_that_count(candidate, baseline, cutoff, wanted):
    assert wanted_results(np.array(candidate), np.array(baseline), cutoff) == wanted


@pytest.mark.parametrize(("turned", "about"), [(34, "upside_down"), (32, None)])
def test_a_reverse_must_make_up_for_most_of_the_loss(turned, about):
    lost = {topic: ["x1", *LIST[3:], "x9", "x10"] for topic in TOPICS[turned:]}
    assert cause(dict.fromkeys(TOPICS[:turned], LIST[::-1]) | lost)[0] == about


@pytest.fixture
def cut_off() -> Verdict:
    pair = Pair(dict.fromkeys(TOPICS[:15], LIST), BASELINE, GRADES)
    found = cause_of(pair.verdict(), None)
    assert found is not None
    return worded(pair.verdict().warned(found))


def test_the_cause_is_the_first_sentence_and_is_said_once(cut_off):
    said = "candidate has no result for 25 of 40 queries: its run may be cut off, or such queries fail"
    for text in (explain(cut_off), markdown.render(Report([cut_off])), cut_off.summary):
        assert " ".join(text.split()).count(said) == 1
    assert explain(cut_off).splitlines()[1].startswith("  The candidate has no result for 25 of 40 queries")
    assert warning_lines(cut_off)[0].startswith("suspicious_run: the candidate has no result for 25")
