"""What to do about data that cannot be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import REASONS, Commands, Verdict, incomparable
from pytest_riskguard.reports.card import card
from pytest_riskguard.reports.wording.sentences import _REMEDIES, remedy
from tests.reports.cases import CASES


def refused(reason: str, problem: str = "runs/new.run:3: expected 6 columns") -> Verdict:
    error = DataError(problem, reason=reason)
    return incomparable(gate_of("g"), error, measure="AP", candidate="candidate", baselines=("prod",))


@pytest.mark.parametrize("reason", _REMEDIES)
def test_a_card_says_what_to_do_first(reason):
    assert card(refused(reason), reproduce="pytest").steps[0].text == remedy(refused(reason))
    assert reason in REASONS


def test_the_store_is_checked_by_a_command():
    typed = replace(refused("bad_baseline"), commands=Commands(verify="riskguard baseline verify --config a.yaml"))
    first = card(typed, here=True).steps[0]
    assert (first.text, first.command) == (_REMEDIES["bad_baseline"], "riskguard baseline verify --config a.yaml")
    assert card(typed).steps[0].command == ""


@pytest.mark.parametrize(
    "verdict",
    [
        refused("bad_baseline", "no baseline 'prod'; store it with `riskguard baseline add prod RUN`"),
        refused("bad_run", "run.csv:1: expected UTF-8 text, found UTF-16; save it as UTF-8"),
        refused("missing_input", "topics.tsv: no weight for 1 topic: q1; give every judged topic a weight"),
        refused("bad_strata"),
        refused("topics_differ"),
        refused("a reason of a later version"),
        CASES["loss"](),
    ],
)
def test_nothing_is_added_where_the_problem_says_it_or_nothing_is_wrong(verdict):
    assert remedy(verdict) is None
