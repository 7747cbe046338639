"""Trained models with their verdicts: what is found, and what a report says of it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pytest

from pytest_riskguard import Verdict
from pytest_riskguard.ltr.report import TrainReport, dumps
from pytest_riskguard.ltr.report_section import conclusions, pareto_curve, section
from tests.ltr.trained import BASELINES, BM25, MODELS, PROD, report_of
from tests.verdicts import altered

ONE = {"prod": PROD}
SCHEMA = json.loads((files("pytest_riskguard.ltr") / "riskguard-train-report-1.schema.json").read_text("utf-8"))


def said(report: TrainReport) -> str:
    return " ".join(section(report).to_text(120).split())


def rows(report: TrainReport, title: str) -> dict[str, list[str]]:
    """The cells of a table on a terminal, by the name of the model."""
    block = next(one for one in section(report).to_text(120).split("\n\n") if one.startswith(title))
    return {line.split()[0]: line.split()[1:] for line in block.splitlines()[2:]}


# ---- what is found


@pytest.mark.slow
def test_a_model_passes_if_it_passes_against_every_baseline_at_every_alpha():
    models = {"mixed": BM25 + 0.01, "fine": np.maximum(PROD, BM25)}
    for baselines in (BASELINES, dict(reversed(BASELINES.items()))):  # whichever comes first
        (measured,) = report_of(models, baselines).measures
        passes = {table.baselines[0]: [row.passes for row in table.models] for table in measured.against}
        assert passes == {"prod": [False, True], "bm25": [True, True]}
        assert (measured.passing, measured.best.passing) == (("fine",), "fine")
        assert measured.macro_average is not None
        average = measured.macro_average.models[0]
        assert (average.passes, average.outcome, average.verdicts) == (False, "fail", ())
    # churn: it passes at alpha 0, and so at one of two alphas
    (measured,) = report_of({"lambdamart": MODELS["lambdamart"]}, ONE, alphas=(0.0, 50.0)).measures
    (row,) = measured.against[0].models
    assert [verdict.outcome for verdict in row.verdicts] == ["pass", "fail"]
    assert (row.passes, row.outcome) == (False, "fail")


@pytest.mark.parametrize(("response", "passes"), [("fail", False), ("warn", True)])
def test_an_inconclusive_gate_passes_only_where_it_may(response, passes):
    (measured,) = report_of({"few": PROD[:5] + 0.01}, {"prod": PROD[:5]}, on_inconclusive=response).measures
    (row,) = measured.against[0].models
    assert (row.verdicts[0].outcome, row.passes) == ("inconclusive", passes)
    assert row.outcome == ("pass" if passes else "inconclusive")


@pytest.mark.slow
def test_the_best_that_passes_is_compared_with_the_best_of_all_the_first_of_equals():
    (measured,) = report_of(baselines=ONE, alphas=(8.0,)).measures
    best = measured.best
    assert measured.passing == ("u-cro-1", "u-cro-5")
    assert (best.of_all, best.passing) == ("lambdamart", "u-cro-1")
    assert best.given_up == pytest.approx(MODELS["lambdamart"].mean() - MODELS["u-cro-1"].mean())
    (measured,) = report_of({"broken": MODELS["broken"]}, ONE).measures
    assert (measured.best.of_all, measured.best.passing, measured.best.given_up) == ("broken", None, None)
    (measured,) = report_of({"b": PROD + 0.01, "a": PROD + 0.01}, ONE).measures
    assert (measured.best.of_all, measured.best.passing, measured.best.given_up) == ("b", "b", 0)


def test_data_that_cannot_be_compared_weigh_more_than_a_failure_and_are_said_once():
    def refused(verdict: Verdict) -> Verdict:
        if verdict.baselines != ("bm25",):
            return verdict
        return altered(verdict, outcome="incomparable", reason="bad_run", problem="broken.run:3: no score")

    report = report_of({"broken": MODELS["broken"]}, change=refused)
    outcomes = [table.models[0].outcome for table in report.measures[0].tables]
    assert (outcomes, report.incomparable) == (["incomparable", "fail", "incomparable"], 1)
    assert said(report).count("broken against bm25 cannot be compared: broken.run:3: no score") == 1


@pytest.mark.slow
def test_the_json_follows_its_schema_and_an_infinite_ratio_is_null():
    report = report_of({"up": PROD + 0.1, "same": PROD}, ONE, measure=None)
    up, same = (model.figures for model in report.measures[0].against[0].models)
    assert (up.reward_to_risk, same.reward_to_risk) == (math.inf, None)
    for one in (report_of(), report):
        made = json.loads(dumps(one))
        jsonschema.validate(made, SCHEMA, cls=jsonschema.Draft202012Validator)
    for model in made["measures"][0]["against"][0]["models"]:
        assert (model["figures"]["reward_to_risk"], model["figures"]["win_to_loss"]) == (None, None)
    table = rows(report, "Against prod")
    assert (table["up"][3], table["up"][6], table["same"][3], table["same"][6]) == ("∞", "∞", "-", "-")
    assert "∞: no loss; a ratio of -: neither win nor loss;" in said(report)
    assert not re.search("∞|a ratio of -", said(report_of()))


# ---- what is said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "options", "expected"),
    [
        (MODELS, {"alphas": (8.0,)}, "2 of 4 models pass the gate: u-cro-1, u-cro-5"),
        ({"a": PROD + 0.1, "b": PROD - 0.2}, {}, "1 of 2 models passes the gate: a"),
        ({"a": PROD + 0.1}, {}, "a passes the gate"),
        ({"a": PROD - 0.2}, {}, "a does not pass the gate"),
        ({"a": PROD - 0.2, "b": PROD - 0.3}, {}, "Neither model passes the gate"),
        ({"a": PROD - 0.2, "b": PROD - 0.3, "c": PROD - 0.2}, {}, "None of the 3 models passes the gate"),
    ],
)
def test_the_first_line_says_what_passes(models, options, expected):
    assert conclusions(report_of(models, ONE, **options).measures[0])[0] == expected
    (first, *_) = conclusions(report_of(models, **options).measures[0])
    assert "the gate against every baseline" in first


@pytest.mark.slow
def test_then_what_the_best_that_passes_gives_up_and_what_it_loses():
    assert conclusions(report_of(baselines=ONE, alphas=(8.0,)).measures[0])[1] == (
        "Best mean of these: u-cro-1, 0.5313, 0.0323 (5.7%) below lambdamart, 0.5635, which does not pass; "
        "17 of 60 queries lost, 4 of them more than 20% of the baseline's score"
    )
    # the best of all gives up no mean, and yet a third of its queries lost half of their scores
    gamble = np.where(np.arange(60) < 20, 0.5 * PROD, PROD + 0.3)
    (measured,) = report_of({"gamble": gamble, "flat": PROD + 0.01}, ONE, alphas=(0.0,)).measures
    assert conclusions(measured)[1] == (
        f"Best mean: gamble, {gamble.mean():.4f}, which passes; 20 of 60 queries lost, 20 of them more than 20% of "
        "the baseline's score"
    )


def test_all_models_with_the_best_mean_are_named_but_no_one_that_fails_with_those_that_pass():
    def change(verdict: Verdict) -> Verdict:
        return altered(verdict, outcome="fail", reason="churn") if verdict.candidate in ("b", "top") else verdict

    models = {"top": PROD + 0.2, "a": PROD + 0.1, "b": PROD + 0.1}
    lines = conclusions(report_of(models, ONE, change=change).measures[0])
    assert lines[0] == "1 of 3 models passes the gate: a"
    assert lines[1].startswith(f"Best mean of these: a, {(PROD + 0.1).mean():.4f}, 0.1000 (")
    best = PROD + 0.1
    (measured,) = report_of({"a": best, "worse": PROD, "b": best}, ONE).measures
    assert conclusions(measured)[1] == f"Best mean: a, b, {best.mean():.4f} each, which pass"


@pytest.mark.slow
def test_no_answer_does_not_read_as_a_failure():
    few = report_of({"a": PROD[:3] + 0.02, "b": PROD[:3] + 0.01}, {"prod": PROD[:3]})
    assert conclusions(few.measures[0])[0] == "Neither model passes the gate: 2 are inconclusive (too few topics)"

    def change(verdict: Verdict) -> Verdict:
        if verdict.candidate == "u-cro-1":
            return altered(verdict, outcome="inconclusive", reason="too_weak")
        return altered(verdict, outcome="incomparable") if verdict.candidate == "u-cro-5" else verdict

    assert conclusions(report_of(baselines=ONE, change=change).measures[0])[:2] == [
        "1 of 4 models passes the gate: lambdamart",
        "Of the others, 1 fails, 1 is inconclusive (a loss of max_mde could have been missed), 1 cannot be compared",
    ]


ANSWERS: dict[str, Any] = {
    "loss": lambda: report_of({"broken": MODELS["broken"]}, ONE),
    "churn": lambda: report_of({"lambdamart": MODELS["lambdamart"]}, ONE, alphas=(50.0,)),
    "pass with care": lambda: report_of({"a": MODELS["lambdamart"]}, ONE, alphas=(50.0,), on_churn="warn"),
    "inconclusive": lambda: report_of({"a": PROD[:3] + 0.02}, {"prod": PROD[:3]}),
    "same run": lambda: report_of({"copy": PROD}, ONE),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_legend_explains_the_answers_that_occur(answer):
    shown = said(ANSWERS[answer]())
    assert answer in " ".join(next(iter(rows(ANSWERS[answer](), "The gate against prod").values())))
    assert {one for one in ANSWERS if f"; {one}: the" in shown} == {answer}


@pytest.mark.slow
def test_warnings_and_missing_topics_are_counted():
    report = report_of(missing={"lambdamart": 0, "u-cro-1": 1, "bm25": 12})
    assert report.measures[0].missing_topics == {"u-cro-1": 1, "bm25": 12}
    assert "warning missing_topics, each of which scores 0: 1 topic of u-cro-1, 12 topics of bm25" in said(report)
    twelve = report_of({name: values[:12] for name, values in MODELS.items()}, {"prod": PROD[:12]})
    assert "warning few_topics: lambdamart against prod, u-cro-1 against prod and 2 more" in said(twelve)
    assert "significantly_better" not in said(report_of())  # which every better model would raise


@pytest.mark.slow
def test_the_number_of_verdicts_and_the_choice_of_a_model_are_said_where_there_is_one():
    assert "8 verdicts, each at level 95% on its own" in said(report_of())
    gate = replace(report_of().gate, correction="holm")
    assert "8 verdicts, corrected for their number (Holm)." in said(replace(report_of(), gate=gate))
    assert not re.search("verdicts|chosen here", said(report_of({"a": PROD + 0.1}, ONE)))


@pytest.mark.slow
def test_averages_have_a_decimal_unless_topics_are_many():
    assert rows(report_of(), "Average over 2 baselines")["lambdamart"][4] == "45.5"
    many, baselines = ({k: np.tile(v, 40) for k, v in one.items()} for one in (MODELS, BASELINES))
    assert rows(report_of(many, baselines), "Average over 2 baselines")["lambdamart"][4] == "1820"


@pytest.mark.slow
def test_the_curve_runs_along_the_front_and_says_it_in_words():
    for number in (4, 40):
        rng = np.random.default_rng(number)
        models = {f"m{place}": np.clip(PROD + rng.normal(0.05, 0.1, 60), 0, 1) for place in range(number)}
        (table,) = report_of(models, ONE).measures[0].tables
        plot = pareto_curve(table, measure="nDCG@10")
        front = sorted((m.figures for m in table.models if m.figures.on_front), key=lambda figures: figures.risk)
        corners = plot._lines[0].points
        assert corners[1::2] == [
            *((one.risk, corners[2 * p][1]) for p, one in enumerate(front)),
            (math.inf, front[-1].mean),
        ]
        assert corners[2::2] == [(one.risk, one.mean) for one in front]
        named = [f"{one.model} (mean {one.mean:.4f}, risk {one.risk:.4f})" for one in front]
        assert f"On the Pareto front, least risk first: {', '.join(named[:12])}" in plot.description
        *points, cross = plot._points
        assert [bool(point.circled) for point in points] == [model.figures.on_front for model in table.models]
        assert (cross.x, cross.y, cross.name) == (0.0, table.baseline_mean, "baseline prod")
    average, *_ = report_of().measures[0].tables
    assert not [point for point in pareto_curve(average, measure=None)._points if point.means == "baseline"]


@pytest.mark.slow
def test_the_page_has_a_curve_for_every_baseline_and_of_many_the_average_alone_is_open():
    for number, is_open in ((1, [True]), (2, [True] * 3), (3, [True, False, False, False])):
        made = section(report_of(baselines={f"b{place}": PROD - place / 100 for place in range(number)}))
        assert [part.is_open for part in made.parts[0].parts] == is_open  # type: ignore[union-attr]
        assert made.to_page().count("<svg") == len(is_open)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_fits_the_screen_asks_for_nothing_and_has_no_serious_barrier(opened, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    shown = opened(section(report_of(alphas=(8.0,))).to_page(), width=width, bypass_csp=True)
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.page.locator(".fold svg:visible").count() == 3
    found = axe.Axe().run(shown.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
    assert shown.faults == []
