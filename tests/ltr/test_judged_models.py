"""Trained models with their verdicts: what the report says, in JSON, on a terminal and in Markdown."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest
from pydantic import TypeAdapter

from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.ltr.report import SCHEMA_FILE, TrainReport, dumps
from pytest_riskguard.ltr.report_page import markdown as render
from pytest_riskguard.ltr.report_tables import conclusions, explain, heading, verdicts_table
from tests.ltr.trained import BASELINES, BM25, MODELS, PROD, report_of, scores
from tests.reports.hostile import EACH
from tests.reports.schema import comparable
from tests.reports.test_hostile import MARKDOWN, TAGS, Page, assert_plain
from tests.verdicts import altered


def said(report: TrainReport, width: int = 100) -> str:
    return " ".join(explain(report, width=width).split())


def rows(report: TrainReport, title: str) -> dict[str, list[str]]:
    """The cells of a table on a terminal, by the name of the model."""
    block = next(block for block in explain(report, width=120).split("\n\n") if block.startswith(title))
    return {line.split()[0]: line.split()[1:] for line in block.splitlines()[2:]}


# ---- what is found


def test_each_verdict_is_that_of_the_gate_itself():
    report = report_of(alphas=(1.0, 5.0))
    (measured,) = report.measures
    assert (report.gate.alphas, report.gate.verdicts) == ((1.0, 5.0), 16)
    for table in measured.against:
        (baseline,) = scores({name: BASELINES[name] for name in table.baselines}, "nDCG@10")
        for row, candidate in zip(table.models, scores(MODELS, "nDCG@10"), strict=True):
            for alpha, verdict in zip((1.0, 5.0), row.verdicts, strict=True):
                asked = judge(NotSignificantlyRisky(alpha=alpha, tolerance=0, on_churn="fail"), candidate, baseline)
                estimates, decisive = asked.estimates, asked.decisive_interval
                assert (verdict.alpha, verdict.outcome, verdict.reason) == (alpha, asked.outcome, asked.reason)
                assert (verdict.urisk, verdict.trisk) == (estimates.urisk, estimates.trisk)
                assert (verdict.p_value, verdict.alpha_star) == (estimates.p_value, estimates.alpha_star)
                assert decisive is not None
                assert (verdict.method, verdict.level) == (decisive.method, decisive.level)
                assert (verdict.lower, verdict.upper) == (decisive.lower, decisive.upper)
                expected = row.figures.reward - (1 + alpha) * row.figures.risk
                assert verdict.urisk == pytest.approx(expected, abs=1e-14)
            assert row.passes == all(verdict.outcome == "pass" for verdict in row.verdicts)


def test_a_model_passes_if_it_passes_against_every_baseline_at_every_alpha():
    (measured,) = report_of({"mixed": BM25 + 0.01, "fine": np.maximum(PROD, BM25)}).measures
    assert [[row.passes for row in table.models] for table in measured.against] == [[False, True], [True, True]]
    assert measured.passing == ("fine",)
    assert measured.macro_average is not None
    average = measured.macro_average.models[0]
    assert (average.passes, average.outcome, average.verdicts) == (False, "fail", ())
    # whichever baseline comes first
    models = {"mixed": BM25 + 0.01, "fine": np.maximum(PROD, BM25)}
    (measured,) = report_of(models, {"bm25": BM25, "prod": PROD}).measures
    assert [[row.passes for row in table.models] for table in measured.against] == [[True, True], [False, True]]
    assert (measured.passing, measured.best.passing) == (("fine",), "fine")
    # churn: it passes at alpha 0, and so at one of two alphas
    (measured,) = report_of({"lambdamart": MODELS["lambdamart"]}, {"prod": PROD}, alphas=(0.0, 50.0)).measures
    (row,) = measured.against[0].models
    assert [verdict.outcome for verdict in row.verdicts] == ["pass", "fail"]
    assert (row.passes, row.outcome) == (False, "fail")


def test_an_inconclusive_gate_passes_only_where_it_may():
    few = {"few": PROD[:5] + 0.01}
    for response, passes in (("fail", False), ("warn", True)):
        (measured,) = report_of(few, {"prod": PROD[:5]}, on_inconclusive=response).measures
        (row,) = measured.against[0].models
        assert (row.verdicts[0].outcome, row.passes) == ("inconclusive", passes)
        assert row.outcome == ("pass" if passes else "inconclusive")


def test_the_best_that_passes_is_compared_with_the_best_of_all():
    (measured,) = report_of(baselines={"prod": PROD}, alphas=(8.0,)).measures
    best, means = measured.best, {name: values.mean() for name, values in MODELS.items()}
    assert measured.passing == ("u-cro-1", "u-cro-5")
    assert (best.of_all, best.passing) == ("lambdamart", "u-cro-1")
    assert best.given_up == pytest.approx(means["lambdamart"] - means["u-cro-1"])
    (measured,) = report_of({"broken": MODELS["broken"]}, {"prod": PROD}).measures
    assert (measured.best.of_all, measured.best.passing, measured.best.given_up) == ("broken", None, None)


def test_of_equal_means_the_first_is_best():
    (measured,) = report_of({"b": PROD + 0.01, "a": PROD + 0.01}, {"prod": PROD}).measures
    assert (measured.best.of_all, measured.best.passing, measured.best.given_up) == ("b", "b", 0)


def test_data_that_cannot_be_compared_weigh_more_than_a_failure():
    def refused(verdict: Verdict) -> Verdict:
        return altered(verdict, outcome="incomparable") if verdict.baselines == ("bm25",) else verdict

    (measured,) = report_of({"broken": MODELS["broken"]}, change=refused).measures
    assert [table.models[0].outcome for table in measured.tables] == ["incomparable", "fail", "incomparable"]


# ---- JSON


def test_the_json_follows_its_schema():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for report in (report_of(), report_of({"same": PROD, "up": PROD + 0.1}, {"prod": PROD}, measure=None)):
        made = json.loads(dumps(report))
        jsonschema.validate(made, schema, cls=jsonschema.Draft202012Validator)
        assert list(made) == list(schema["properties"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(made | {"models": 3}, schema, cls=jsonschema.Draft202012Validator)


def test_the_schema_is_that_of_the_types():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    made = TypeAdapter(TrainReport).json_schema(ref_template="#/$defs/{model}")
    for definition in made["$defs"].values():
        definition["required"] = list(definition["properties"])
    for name in made["properties"]:
        assert comparable(schema["properties"][name], schema["$defs"]) == comparable(
            made["properties"][name], made["$defs"]
        )
    assert schema["required"] == ["schema", "generated_by", *made["properties"]]
    properties = [schema["properties"], *(definition["properties"] for definition in schema["$defs"].values())]
    assert all(inner["description"].endswith(".") for part in properties for inner in part.values())


def test_a_ratio_without_losses_is_null_in_json_and_said_in_text():
    report = report_of({"up": PROD + 0.1, "same": PROD}, {"prod": PROD})
    up, same = (model.figures for model in report.measures[0].against[0].models)
    assert (up.reward_to_risk, same.reward_to_risk) == (math.inf, None)
    text = dumps(report)
    for model in json.loads(text)["measures"][0]["against"][0]["models"]:
        assert (model["figures"]["reward_to_risk"], model["figures"]["win_to_loss"]) == (None, None)
    assert not re.search(r"Infinity|NaN", text)
    table = rows(report, "Against prod")
    assert (table["up"][3], table["up"][6], table["same"][3], table["same"][6]) == ("∞", "∞", "-", "-")
    assert "∞: no loss; a ratio of -: neither win nor loss;" in said(report)
    assert "∞" not in said(report_of())
    assert "a ratio of -" not in said(report_of())


def test_the_legend_is_true_of_averages_too():
    report = report_of({"same": PROD, "best": np.maximum(PROD, BM25)})
    shown = rows(report, "Average over 2 baselines")
    assert (shown["same"][3], shown["best"][3]) == ("-", "∞")
    assert float(shown["same"][4]) > 0  # wins
    assert (
        "∞: no loss, in an average against at least one baseline; "
        "a ratio of -: neither win nor loss, in an average against at least one baseline;"
    ) in said(report)


def test_the_legend_explains_the_answers_that_occur():
    answers = {
        "loss: the mean itself is significantly down": report_of({"broken": MODELS["broken"]}),
        "churn: the mean itself is not significantly down": report_of(
            {"lambdamart": MODELS["lambdamart"]}, {"prod": PROD}, alphas=(50.0,)
        ),
        "inconclusive: the gate has no answer": few(),
        "incomparable: the gate could not compare the data": report_of(
            change=lambda verdict: altered(verdict, outcome="incomparable", problem="p")
        ),
        "same run: the model's run is the baseline's own": report_of({"copy": PROD}, {"prod": PROD}),
    }
    for expected, report in answers.items():
        assert {words for words in answers if words in said(report)} == {expected}
    assert "; -: there is no such figure; " in said(few())
    assert "-: there is no such figure" not in said(report_of())
    assert "lets the model pass, - where none does." in said(report_of({"broken": MODELS["broken"]}))
    assert "where none does" not in said(report_of({"up": PROD + 0.1}, {"prod": PROD}))


def few(**others: Any) -> TrainReport:
    """Two models that win every one of three topics."""
    return report_of({"a": PROD[:3] + 0.02, "b": PROD[:3] + 0.01, **others}, {"prod": PROD[:3]})


def test_the_json_of_the_same_models_is_the_same():
    assert dumps(report_of()) == dumps(report_of())


# ---- words


def test_the_first_lines_say_what_passes_and_what_it_gives_up():
    lines = explain(report_of(baselines={"prod": PROD}, alphas=(8.0,)), width=200).splitlines()
    assert lines[:3] == [
        "nDCG@10, 60 topics, 4 models against prod; not_significantly_risky at alpha 8, level 95%",
        "  2 of 4 models pass the gate: u-cro-1, u-cro-5",
        "  Best mean of these: u-cro-1, 0.5313; it gives up 0.0323 (5.7%) against lambdamart, 0.5635, which does not "
        "pass; 17 of 60 queries lost, 4 of them more than 20% of the baseline's score",
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            {"models": {"a": PROD + 0.1, "b": PROD - 0.2}},
            ["1 of 2 models passes the gate against every baseline: a", ", which passes; "],
        ),
        (
            {"models": {"a": PROD - 0.2, "b": PROD - 0.3}},
            ["Neither model passes the gate against every baseline", "Best mean: a, 0."],
        ),
        (
            {"models": {"a": PROD - 0.2, "b": PROD - 0.3, "c": PROD - 0.2}},
            ["None of the 3 models passes the gate against every baseline", "Best mean: a, c, 0."],
        ),
        ({"models": {"a": PROD - 0.2}}, ["a does not pass the gate against every baseline; its mean: 0."]),
        ({"models": {"a": PROD + 0.1}, "baselines": {"prod": PROD}}, ["a passes the gate; its mean: 0."]),
    ],
)
def test_conclusions(asked: dict[str, Any], expected: list[str]):
    found = conclusions(report_of(**asked).measures[0])
    assert len(found) == len(expected)
    assert all(words in line for words, line in zip(expected, found, strict=True))


def test_a_model_that_passes_is_not_free_of_losses():
    """The best of all gives up no mean, and yet a third of its queries lost half of their scores."""
    gamble = np.where(np.arange(60) < 20, 0.5 * PROD, PROD + 0.3)
    (measured,) = report_of({"gamble": gamble, "flat": PROD + 0.01}, {"prod": PROD}, alphas=(0.0,)).measures
    assert conclusions(measured)[1] == (
        f"Best mean: gamble, {gamble.mean():.4f}, which passes; 20 of 60 queries lost, 20 of them more than 20% of "
        "the baseline's score"
    )


def test_churn_that_passes_passes_with_care():
    asked: dict[str, Any] = {
        "models": {"lambdamart": MODELS["lambdamart"]},
        "baselines": {"prod": PROD},
        "alphas": (50.0,),
    }
    (measured,) = report_of(**asked, on_churn="warn").measures
    (row,) = verdicts_table(measured.against[0], alphas=1).rows
    assert "pass with care" in row
    said_of = " ".join(explain(report_of(**asked, on_churn="warn"), width=200).split())
    assert "pass with care: the mean itself is not significantly down; only on_churn: warn lets it pass" in said_of


def test_no_answer_does_not_read_as_a_failure():
    assert conclusions(few().measures[0])[0] == (
        "Neither model passes the gate: both are inconclusive (too few topics)"
    )
    assert conclusions(few(c=PROD[:3] + 0.03).measures[0])[0] == (
        "None of the 3 models passes the gate: all are inconclusive (too few topics)"
    )
    (line,) = conclusions(report_of({"a": PROD[:3] + 0.01}, {"prod": PROD[:3]}).measures[0])
    assert line.startswith("a does not pass the gate: it is inconclusive (too few topics); its mean: 0.")

    def change(verdict: Verdict) -> Verdict:
        if verdict.candidate == "u-cro-1":
            return altered(verdict, outcome="inconclusive", reason="too_weak")
        return altered(verdict, outcome="incomparable") if verdict.candidate == "u-cro-5" else verdict

    of_all = report_of(baselines={"prod": PROD}, change=change)
    assert conclusions(of_all.measures[0])[:2] == [
        "1 of 4 models passes the gate: lambdamart",
        "Of the others, 1 fails, 1 is inconclusive (a loss of max_mde could have been missed), 1 cannot be compared",
    ]


def test_all_models_with_the_best_mean_are_named():
    best = np.array(PROD + 0.1)
    (measured,) = report_of({"a": best, "worse": PROD, "b": best}, {"prod": PROD}).measures
    assert conclusions(measured)[1] == (f"Best mean: a, b, {best.mean():.4f} each, which pass")
    (measured,) = report_of({f"m{place}": best for place in range(8)}, {"prod": PROD}).measures
    assert conclusions(measured)[1].startswith("Best mean: m0, m1, m2, m3, m4, m5 and 2 more, 0.")
    top = MODELS["lambdamart"]
    models = {"top": top, "a": MODELS["u-cro-1"], "b": MODELS["u-cro-1"], "top-too": top}
    lines = conclusions(report_of(models, {"prod": PROD}, alphas=(8.0,)).measures[0])
    assert lines[1] == (
        "Best mean of these: a, b, 0.5313 each; they give up 0.0323 (5.7%) against top, top-too, 0.5635 each, which "
        "do not pass"
    )


def test_missing_topics_are_counted_for_each_system():
    report = report_of(missing={"lambdamart": 0, "u-cro-1": 1, "bm25": 12})
    assert report.measures[0].missing_topics == {"u-cro-1": 1, "bm25": 12}
    assert "warning missing_topics, each of which scores 0: 1 topic of u-cro-1, 12 topics of bm25" in said(report)
    assert "riskguard compare on such a pair" not in said(report)
    assert "missing_topics" not in said(report_of())


def test_tables_have_the_figures_of_every_model_and_mark_the_front():
    report = report_of(alphas=(1.0, 5.0))
    (measured,) = report.measures
    for table, title in zip(
        measured.tables, ("Average over 2 baselines", "Against prod", "Against bm25"), strict=True
    ):
        shown = rows(report, title)
        assert list(shown) == list(MODELS)
        for model in table.models:
            figures, cells = model.figures, shown[model.figures.model]
            assert cells[:3] == [f"{value:.4f}" for value in (figures.mean, figures.risk, figures.reward)]
            assert float(cells[4]) == figures.wins
            assert (cells[-1] == "yes") == figures.on_front
    lines = explain(report, width=120).splitlines()
    gate = [line.split() for line in lines[lines.index("The gate against prod") + 2 :][:8]]
    assert [row[:2] for row in gate] == [[name, alpha] for name in MODELS for alpha in ("1", "5")]
    assert {row[2] for row in gate} <= {"pass", "loss", "churn"}
    assert "The gate against prod and" not in explain(report, width=120)


def test_what_many_verdicts_mean_is_said():
    assert "8 verdicts, each at level 95% on its own: the more there are, the more fail by chance" in said(
        report_of()
    )
    assert "A model chosen here was chosen on these topics" in said(report_of())
    corrected = report_of()
    corrected = replace(corrected, gate=replace(corrected.gate, correction="holm"))
    assert "8 verdicts, corrected for their number (Holm)." in said(corrected)
    assert "--family" not in said(corrected)
    alone = said(report_of({"a": PROD + 0.1}, {"prod": PROD}))
    assert "verdicts" not in alone
    assert "chosen" not in alone


def test_what_cannot_be_compared_and_warnings_are_said_once():
    def refused(verdict: Verdict) -> Verdict:
        if verdict.candidate != "broken":
            return verdict
        return altered(verdict, outcome="incomparable", reason="bad_run", problem="broken.run:3: no score")

    report = report_of(change=refused)
    assert report.incomparable == 2
    text = said(report)
    assert "broken against prod cannot be compared: broken.run:3: no score" in text
    assert text.count("broken.run:3") == 2  # against two baselines
    twelve = report_of({name: values[:12] for name, values in MODELS.items()}, {"prod": PROD[:12]})
    assert "warning few_topics: lambdamart against prod, u-cro-1 against prod and 2 more" in said(twelve)
    assert "riskguard compare on such a pair explains its warnings" in said(twelve)
    assert "significantly_better" not in said(report_of())  # which every better model would raise


def test_a_model_that_is_the_run_of_its_baseline_is_called_that():
    assert rows(report_of({"copy": PROD}, {"prod": PROD}), "The gate against prod")["copy"][:2] == ["same", "run"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit_the_screen_and_names_alone_are_cut(width: int):
    models = {f"a-model-with-quite-a-long-name-{number}": values for number, values in enumerate(MODELS.values())}
    report = report_of(models, alphas=(1.0, 5.0))
    lines = explain(report, width=width).splitlines()
    assert max(map(len, lines)) <= max(width, 80)
    tables = [line for line in lines if line.startswith("  a-")]
    assert len(tables) == 3 * 4 + 2 * 8
    assert all("…" in line.split()[0] for line in tables)
    assert {line.split()[0][-6:] for line in tables} >= {f"name-{number}"[-6:] for number in range(4)}
    assert not any("…" in cell for line in tables for cell in line.split()[1:])
    assert sum(line.endswith(" front") or line.endswith(" alpha*") for line in lines) == 5


def test_names_that_are_cut_stay_different_in_every_table():
    models = {f"ltr-ucro-alpha{number}-seed42-final": values for number, values in enumerate(MODELS.values())}
    text = explain(report_of(models), width=80)
    for title in ("Average over 2 baselines", "Against prod", "The gate against prod"):
        block = next(block for block in text.split("\n\n") if block.startswith(title))
        shown = [line.split()[0] for line in block.splitlines()[2:]]
        assert len(set(shown)) == 4
        assert all(f"alpha{number}" in name for number, name in enumerate(shown))
    assert "…: part of a name that did not fit; the files of --json and --markdown have full names." in said(
        report_of(models), width=80
    )
    assert "…" not in said(report_of(), width=80)


def test_averages_of_many_topics_have_no_decimals():
    many = {name: np.tile(values, 40) for name, values in MODELS.items()}
    report = report_of(many, {name: np.tile(values, 40) for name, values in BASELINES.items()})
    shown = rows(report, "Average over 2 baselines")
    few = rows(report_of(), "Average over 2 baselines")
    assert all("." not in cells[4] for cells in shown.values())
    assert all("." in cells[4] for cells in few.values())


@pytest.mark.parametrize("text", EACH)
def test_text_of_others_is_data(text: str):
    models = {f"{text}{number}": values for number, values in enumerate(list(MODELS.values())[:2])}

    def hostile(verdict: Verdict) -> Verdict:
        return altered(verdict, outcome="incomparable", problem=f"{text}:3: {text}")

    report = report_of(models, {f"x{text}": PROD, f"y{text}": BM25}, measure=f"z{text}", change=hostile)
    assert_plain(explain(report, width=100))
    said = dumps(report)
    assert said.isascii()
    assert "##" not in said
    assert json.loads(said)["models"] == list(models)
    markdown = render(report)
    assert_plain(markdown)
    page = Page(MARKDOWN.render(markdown))
    assert {tag for tag, _ in page.tags} <= TAGS
    assert page.comments <= {""}
    harmless = Page(MARKDOWN.render(render(report_of({"a": models[f"{text}0"], "b": models[f"{text}1"]}))))
    for tag in ("tr", "td", "th", "h3", "table"):
        count = sum(name == tag for name, _ in page.tags)
        assert count == sum(name == tag for name, _ in harmless.tags), tag
    outside = re.sub(r"<code>.*?</code>", "", MARKDOWN.render(markdown))
    assert not re.search(r"[@#!$&~^](?=\w)", Page(outside).data.replace("\u200b", " "))
    assert not re.search(r"://|www\.|mailto:", Page(outside).data)


def test_markdown_has_the_tables_of_the_terminal():
    report = report_of()
    page = Page(MARKDOWN.render(render(report)))
    assert sum(tag == "table" for tag, _ in page.tags) == 5
    assert "3 of 4 models pass the gate against every baseline: lambdamart, u-cro-1, u-cro-5" in page.data
    assert heading(report, report.measures[0]) in page.data.replace("\u200b", "")
    assert "warning" not in page.data
    few = report_of({name: values[:12] for name, values in MODELS.items()}, {"prod": PROD[:12]})
    assert "warning few_topics: lambdamart against prod" in Page(MARKDOWN.render(render(few))).data
    for table in report.measures[0].tables:
        for model in table.models:
            assert f"{model.figures.mean:.4f}" in page.data
            assert f"{model.figures.risk:.4f}" in page.data
