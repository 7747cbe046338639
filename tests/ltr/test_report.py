"""Trained models with their verdicts: what is found, and what a report says of it."""

from __future__ import annotations

import json
import math
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


def test_a_model_passes_if_it_passes_against_every_baseline_at_every_alpha():
    models = {"mixed": BM25 + 0.01, "fine": np.maximum(PROD, BM25)}
    for baselines in (BASELINES, dict(reversed(BASELINES.items()))):  # whichever comes first
        (measured,) = report_of(models, baselines).measures
        passes = {table.baselines[0]: [row.passes for row in table.models] for table in measured.against}
        assert passes == {"prod": [False, True], "bm25": [True, True]}
        assert measured.macro_average is not None
        mixed = measured.macro_average.models[0]
        assert (mixed.passes, mixed.outcome, mixed.verdicts) == (False, "fail", ())
    # churn: it passes at alpha 0, and so at one of two alphas
    (measured,) = report_of({"lambdamart": MODELS["lambdamart"]}, ONE, alphas=(0.0, 50.0)).measures
    (row,) = measured.against[0].models
    assert [verdict.outcome for verdict in row.verdicts] == ["pass", "fail"]
    assert (row.passes, row.outcome) == (False, "fail")
    for response, let in (("fail", False), ("warn", True)):
        (measured,) = report_of({"few": PROD[:5] + 0.01}, {"prod": PROD[:5]}, on_inconclusive=response).measures
        (row,) = measured.against[0].models
        assert (row.passes, row.outcome) == (let, "pass" if let else "inconclusive")


GAMBLE = np.where(np.arange(60) < 20, 0.5 * PROD, PROD + 0.3)


@pytest.mark.parametrize(
    ("models", "baselines", "options", "lines"),
    [
        (
            MODELS,
            ONE,
            {"alphas": (8.0,)},
            [
                "2 of 4 models pass the gate: u-cro-1, u-cro-5; of the others 2 failed",
                "Best mean of those that pass: u-cro-1, 0.5313, 0.0323 below lambdamart, 0.5635; 17 of 60 queries "
                "lost, 4 of them more than 20% of the baseline's score",
            ],
        ),
        # the best of all gives up no mean, and yet a third of its queries lost half of their scores
        (
            {"gamble": GAMBLE, "flat": PROD + 0.01},
            ONE,
            {"alphas": (0.0,)},
            [
                "2 of 2 models pass the gate: gamble, flat",
                f"Best mean of those that pass: gamble, {GAMBLE.mean():.4f}; 20 of 60 queries lost, 20 of them more "
                "than 20% of the baseline's score",
            ],
        ),
        (
            {"a": PROD - 0.2},
            BASELINES,
            {},
            [
                "0 of 1 model pass the gate against every baseline; of the others 1 failed",
                f"Best mean: a, {(PROD - 0.2).mean():.4f}",
            ],
        ),
        (
            {"b": PROD[:3] + 0.01, "a": PROD[:3] + 0.01},
            {"prod": PROD[:3]},
            {},
            [
                "0 of 2 models pass the gate; of the others 2 inconclusive",
                f"Best mean: b, {(PROD[:3] + 0.01).mean():.4f}",
            ],
        ),
    ],
)
def test_the_first_lines_say_what_passes_and_what_the_best_of_it_gives_up(models, baselines, options, lines):
    assert conclusions(report_of(models, baselines, **options).measures[0]) == lines


def test_data_that_cannot_be_compared_weigh_more_than_a_failure_and_are_said_once():
    def refused(verdict: Verdict) -> Verdict:
        if verdict.baselines != ("bm25",):
            return verdict
        return altered(verdict, outcome="incomparable", reason="bad_run", problem="broken.run:3: no score")

    report = report_of({"broken": MODELS["broken"]}, change=refused)
    outcomes = [table.models[0].outcome for table in report.measures[0].tables]
    assert (outcomes, report.incomparable) == (["incomparable", "fail", "incomparable"], 1)
    assert said(report).count("broken against bm25 cannot be compared: broken.run:3: no score") == 1


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


@pytest.mark.parametrize(
    ("answer", "scores", "options"),
    [
        ("loss", MODELS["broken"], {}),
        ("churn", MODELS["lambdamart"], {"alphas": (50.0,)}),
        ("too_few_topics", PROD[:3] + 0.02, {}),
        ("same run", PROD, {}),
        ("pass", PROD + 0.1, {}),
    ],
)
def test_the_table_of_verdicts_has_the_answer(answer, scores, options):
    report = report_of({"a": scores}, {"prod": PROD[: scores.size]}, **options)
    assert " ".join(rows(report, "The gate against prod")["a"]).startswith(answer)


def test_warnings_missing_topics_and_the_number_of_verdicts_are_said():
    report = report_of(missing={"lambdamart": 0, "u-cro-1": 1, "bm25": 12})
    assert report.measures[0].missing_topics == {"u-cro-1": 1, "bm25": 12}
    shown = said(report)
    assert "warning missing_topics, each of which scores 0: 1 topic of u-cro-1, 12 topics of bm25" in shown
    assert "8 verdicts, each at level 95% on its own" in shown
    assert "significantly_better" not in shown  # which every better model would raise
    assert rows(report_of(), "Average over 2 baselines")["lambdamart"][4] == "45.5"
    corrected = replace(report, gate=replace(report.gate, correction="holm"))
    assert "8 verdicts, corrected for their number (Holm)." in said(corrected)
    twelve = report_of({name: values[:12] for name, values in MODELS.items()}, {"prod": PROD[:12]})
    assert "warning few_topics: lambdamart against prod, u-cro-1 against prod and 2 more" in said(twelve)
    alone = said(report_of({"a": PROD + 0.1}, ONE))
    assert "verdicts" not in alone.replace("verdicts_", "")
    assert "chosen here" not in alone


def test_the_curve_runs_along_the_front_and_says_it_in_words():
    rng = np.random.default_rng(40)
    models = {f"m{place}": np.clip(PROD + rng.normal(0.05, 0.1, 60), 0, 1) for place in range(12)}
    (table,) = report_of(models, ONE).measures[0].tables
    plot = pareto_curve(table, measure="nDCG@10")
    front = sorted((m.figures for m in table.models if m.figures.on_front), key=lambda figures: figures.risk)
    corners = plot._lines[0].points
    across = [(one.risk, corners[2 * place][1]) for place, one in enumerate(front)]
    assert corners[1::2] == [*across, (math.inf, front[-1].mean)]
    assert corners[2::2] == [(one.risk, one.mean) for one in front]
    named = [f"{one.model} (mean {one.mean:.4f}, risk {one.risk:.4f})" for one in front]
    assert f"On the Pareto front, least risk first: {', '.join(named[:12])}" in plot.description
    *points, cross = plot._marks
    assert [point.name for point in points] == [model.figures.model for model in table.models]
    assert (cross.x, cross.y, cross.name) == (0.0, table.baseline_mean, "baseline prod")
    average, *_ = report_of().measures[0].tables
    assert not [point for point in pareto_curve(average, measure=None)._marks if point.means == "baseline"]


@pytest.mark.slow
def test_the_page_has_a_curve_for_every_baseline_and_of_many_the_average_alone_is_open():
    for number, is_open in ((1, [True]), (2, [True] * 3), (3, [True, False, False, False])):
        made: Any = section(report_of(baselines={f"b{place}": PROD - place / 100 for place in range(number)}))
        assert [part.is_open for part in made.parts[0].parts] == is_open
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
