"""The words and the tables about trained models, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.ltr.model_comparison import ModelFigures
from pytest_riskguard.ltr.report import GateVerdict, JudgedAgainst, JudgedModel
from pytest_riskguard.ltr.report_tables import (
    conclusions,
    explain,
    figures_table,
    heading,
    legend,
    remarks,
    verdicts_table,
)
from tests.ltr.trained import PROD, report_of
from tests.verdicts import altered

#: No two figures are equal, so that each cell shows which one it holds.
FIGURES = ModelFigures(
    model="m",
    mean=0.51234,
    mean_difference=0.01,
    risk=0.0123,
    reward=0.0456,
    reward_to_risk=3.7073,
    wins=7,
    losses=5,
    ties=3,
    win_to_loss=1.4,
    losses_over_20_percent=2,
    on_front=True,
)


def against(*baselines: str, figures: ModelFigures = FIGURES, verdict: GateVerdict | None = None) -> JudgedAgainst:
    verdicts = () if verdict is None else (verdict,)
    return JudgedAgainst(baselines, 0.5, (JudgedModel(figures, passes=True, outcome="pass", verdicts=verdicts),))


def test_each_cell_of_the_figures():
    shown = figures_table(against("b"))
    assert shown.title == "Against b, mean 0.5000"
    expected = {
        **{"model": "m", "mean": "0.5123", "risk": "0.0123", "reward": "0.0456", "R/R": "3.707"},
        **{"wins": "7", "losses": "5", "W/L": "1.40", ">20%": "2", "front": "yes"},
    }
    assert [dict(zip((column.label for column in shown.columns), row, strict=True)) for row in shown.rows] == [
        expected
    ]
    (row,) = figures_table(against("b", "c")).rows
    assert row[5:9] == ("7.0", "5.0", "1.40", "2.0")
    for wins, losses, decimals in ((999, 5, True), (5, 999, True), (1000, 5, False), (5, 1000, False)):
        (row,) = figures_table(against("b", "c", figures=replace(FIGURES, wins=wins, losses=losses))).rows
        assert ("." in row[5], "." in row[6]) == (decimals, decimals)


def test_each_cell_of_a_verdict():
    verdict = replace(
        report_of().measures[0].against[0].models[0].verdicts[0],
        alpha=5.0,
        outcome="fail",
        passed=False,
        reason="loss",
        urisk=-0.01234,
        lower=-0.03,
        upper=0.0104,
        trisk=-2.345,
        p_value=0.0213,
        alpha_star=1.279,
    )
    shown = verdicts_table(against("b", verdict=verdict), alphas=2)
    assert shown.title == "The gate against b"
    expected = {
        **{"model": "m", "alpha": "5", "verdict": "loss", "URisk": "-0.0123", "interval": "[-0.0300, +0.0104]"},
        **{"TRisk": "-2.35", "p": "0.0213", "alpha*": "1.27"},
    }
    assert [dict(zip((column.label for column in shown.columns), row, strict=True)) for row in shown.rows] == [
        expected
    ]
    assert "alpha" not in [column.label for column in verdicts_table(against("b", verdict=verdict), alphas=1).columns]
    nothing: Any = None
    for place, name in ((3, "urisk"), (4, "lower"), (4, "upper"), (5, "trisk"), (6, "p_value"), (7, "alpha_star")):
        (row,) = verdicts_table(against("b", verdict=replace(verdict, **{name: nothing})), alphas=2).rows
        assert [cell == "-" for cell in row] == [place == other for other in range(8)], name


def test_a_terminal_shows():
    report = report_of({"a": PROD + 0.1, "bb": PROD - 0.2}, {"prod": PROD}, alphas=(1.0, 5.0))
    assert explain(report, width=80).startswith(
        """\
nDCG@10, 60 topics, 2 models against prod; not_significantly_risky at alpha 1,
5, level 95%
  1 of 2 models passes the gate: a
  Best mean: a, 0.5733, which passes; no query lost

Against prod, mean 0.4733
  model    mean    risk  reward    R/R  wins  losses   W/L  >20%  front
  a      0.5733  0.0000  0.1000      ∞    60       0     ∞     0  yes
  bb     0.2733  0.2000  0.0000  0.000     0      60  0.00    60

The gate against prod
  model  alpha  verdict    URisk            interval  TRisk  p  alpha*
  a          1  pass     +0.1000  [+0.1000, +0.1000]      -  -     any
  a          5  pass     +0.1000  [+0.1000, +0.1000]      -  -     any
  bb         1  loss     -0.4000  [-0.4000, -0.4000]      -  -       -
  bb         5  loss     -1.2000  [-1.2000, -1.2000]      -  -       -

  warning no_variation: a against prod, bb against prod
  riskguard compare on such a pair explains its warnings

4 verdicts, each at level 95% on its own: the more there are, the more fail by
chance. `--set family=auto` corrects for their number.
"""
    )


@pytest.mark.parametrize(
    ("number", "said"),
    [(1, "against b0;"), (2, "against b0, b1;"), (3, "against b0, b1, b2;"), (4, "against 4 baselines;")],
)
def test_a_heading_names_up_to_three_baselines(number: int, said: str):
    report = report_of(baselines={f"b{place}": PROD - place / 100 for place in range(number)})
    assert said in heading(report, report.measures[0])
    assert ("average: of each column over the baselines" in legend(report)) == (number > 1)


def test_scores_of_no_measure_are_called_scores():
    report = report_of(measure=None)
    assert heading(report, report.measures[0]).startswith("scores, 60 topics, 4 models against prod, bm25; ")


def test_a_dash_is_explained_where_any_verdict_lacks_a_figure():
    # of the two only the first does not vary, so that it has no TRisk
    report = report_of({"shifted": PROD + 0.1, "moved": PROD + np.linspace(0.01, 0.1, 60)}, {"prod": PROD})
    first, second = (model.verdicts[0] for model in report.measures[0].against[0].models)
    assert (first.trisk is None, second.trisk is None) == (True, False)
    assert "; -: there is no such figure; " in legend(report)


def test_a_choice_between_two_models_is_one():
    chosen = "A model chosen here was chosen on these topics: judge it once more on topics that played no part."
    assert chosen in remarks(report_of({"a": PROD + 0.1, "b": PROD}, {"prod": PROD}))
    assert chosen not in remarks(report_of({"a": PROD + 0.1}, {"prod": PROD}))


def test_a_model_that_fails_is_not_named_with_the_best_that_pass_though_its_mean_is_theirs():
    def change(verdict: Verdict) -> Verdict:
        return altered(verdict, outcome="fail", reason="churn") if verdict.candidate in ("b", "top") else verdict

    models = {"top": PROD + 0.2, "a": PROD + 0.1, "b": PROD + 0.1}
    lines = conclusions(report_of(models, {"prod": PROD}, change=change).measures[0])
    assert lines[0] == "1 of 3 models passes the gate: a"
    assert lines[1].startswith(f"Best mean of these: a, {(PROD + 0.1).mean():.4f}; it gives up 0.1000 (")
