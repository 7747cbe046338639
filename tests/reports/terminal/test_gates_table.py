"""The table of all gates at the end of a run."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard import check
from pytest_riskguard.gates.verdict import Commands, Verdict, VerdictWarning
from pytest_riskguard.reports.terminal import gates_table
from pytest_riskguard.run_context import Screen
from tests.gates.conftest import topic_scores
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, judged
from tests.verdicts import altered

TEST = "riskguard.yaml::no-risk"


def row(verdict: Verdict, **options: Any) -> dict[str, str]:
    heading, line, *_ = gates_table([(TEST, verdict)], Screen(**{"width": 120, **options}))
    return dict(zip(re.split(r" {2,}", heading), re.split(r" {2,}", line), strict=True))


def test_a_gate_is_a_line_with_its_figures_and_on_a_narrow_screen_with_fewer():
    assert row(judged(LOSS)) == {
        "outcome": "FAIL loss",
        "estimate": "URisk -0.32 [-0.48, -0.19]",
        "measure": "AP",
        "mean": "0.50 -> 0.34",
        "gate": TEST,
    }
    assert [*row(judged(LOSS), width=75)] == ["outcome", "estimate", "measure", "gate"]
    assert [*row(judged(LOSS), width=60)] == ["outcome", "estimate", "gate"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_gate_has_one_line_and_no_node_id_is_ever_broken(width):
    test = "tests/search/ranking/test_a_long_name_of_a_file.py::TestRanking::test_ranking_with_synonyms[nDCG@10-5]"
    verdicts = {f"{test}{case}": make() for case, make in CASES.items()}
    lines = gates_table(list(verdicts.items()), Screen(width=width))
    assert [line.split()[-1] for line in lines if not line.startswith("  ")] == ["gate", *verdicts]
    assert [line for line in lines if line.startswith("  ") and len(line) > max(width, 40)] == []


def test_a_weak_pass_and_allowed_churn_are_said_under_their_line():
    rng = np.random.default_rng(3)
    base = rng.uniform(0.3, 0.7, 60)
    systems = [topic_scores(name, base + rng.normal(0, 0.05, 60)) for name in ("prod", "bm25")]
    weak = check("georisk_not_worse", topic_scores("new", base + rng.normal(-0.018, 0.05, 60)), systems)
    _, line, note = gates_table([(TEST, weak)], Screen(width=120))
    assert line.startswith("PASS WITH CARE  ")
    assert note == "  This pass is weak: GeoRisk difference is -0.008."
    _, line, *notes = gates_table([(TEST, CASES["churn-let-through"]())], Screen(width=120))
    assert line.startswith("PASS WITH CARE  ")
    assert "on_churn: fail would stop it" in " ".join(notes)


def test_good_news_is_a_note_unless_another_gate_fails_the_candidate():
    command = f"riskguard baseline update prod {'long/' * 20}new.run --note better"
    good = replace(judged(GOOD), commands=Commands(update=command))
    _, line, *note = gates_table([(TEST, good)], Screen(width=60))
    assert line.startswith("PASS  ")
    assert note == ["  Once it is released, store it as the baseline:", f"    {command}"]
    unjudged = replace(good, judgements=CASES["explained"]().judgements)  # what to judge is not said of a pass
    assert gates_table([(TEST, unjudged)], Screen(width=120))[2:] == note
    assert len(gates_table([(TEST, good), ("other", judged(LOSS))], Screen(width=120))) == 3


def test_a_note_is_said_once():
    noted = altered(judged({"t01": 1}), warnings=(VerdictWarning("changed_inputs", "scored again"),))
    lines = gates_table([("one", noted), ("two", noted)], Screen(width=120))
    assert [line.strip() for line in lines if "changed_inputs" in line] == ["changed_inputs: scored again"]


def test_colours_are_added_only_where_they_are_wanted_and_change_nothing_else(monkeypatch):
    judgements = [("a", judged(LOSS)), ("b", judged(GOOD))]
    monkeypatch.setenv("FORCE_COLOR", "1")
    plain = gates_table(judgements, Screen(width=120))
    assert "\x1b" not in "".join(plain)
    monkeypatch.setenv("NO_COLOR", "1")  # whether it counts has been decided by whoever asks
    coloured = gates_table(judgements, Screen(width=120), colour=True)
    assert coloured[1].startswith("\x1b[1;31mFAIL loss\x1b[0m")
    assert coloured[2].startswith("\x1b[32mPASS")
    assert [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in coloured] == plain
