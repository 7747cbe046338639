"""``riskguard ltr report``: figures and verdicts of trained models, what is said of them, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.ltr.report import Comparison, average, figures_against
from pytest_riskguard.ltr.report_section import conclusions, pareto_curve
from tests.cli.conftest import command, folder, template

__all__ = ["command", "folder", "template"]

TOPICS = 60
RNG = np.random.default_rng(17)
PROD, BM25 = 0.2 + 0.6 * RNG.random(TOPICS), 0.1 + 0.5 * RNG.random(TOPICS)


def model(gain: float, churn: float, *, seed: int) -> Any:
    """Scores above ``PROD`` by ``gain``, with noise of size ``churn``."""
    return np.clip(PROD + gain + churn * np.random.default_rng(seed).standard_normal(TOPICS), 0, 1)


#: From the highest mean and risk to a model that is risky.
MODELS = {
    "lambdamart": model(0.1, 0.2, seed=1),
    "u-cro-1": model(0.05, 0.1, seed=2),
    "u-cro-5": model(0.02, 0.02, seed=3),
    "broken": model(-0.1, 0.1, seed=4),
}
BASELINES = {"prod": PROD, "bm25": BM25}
FILES = " ".join(f"{name}.csv" for name in MODELS)
AGAINST = "--baseline prod.csv --baseline bm25.csv"
RUNS = "good=./good.run churn.run loss.run --baseline prod --measure AP"


def write(folder, name, values, *, measure="nDCG@10"):
    rows = [f"q{place:02d},{value!r}\n" for place, value in enumerate(map(float, values))]
    folder.joinpath(f"{name}.csv").write_text(f"topic,{measure}\n" + "".join(rows))


@pytest.fixture
def tables(folder):
    for name, values in {**MODELS, **BASELINES}.items():
        write(folder, name, values)
    return folder


def report(ended, status=0):
    assert ended.status == status, ended.err
    return json.loads(ended.out)


@pytest.mark.usefixtures("tables")
def test_figures_are_those_of_the_arrays(command):
    found = report(command(f"ltr report --scores {FILES} {AGAINST} -o -"))
    assert (found["schema"], found["alphas"], found["level"]) == ("riskguard-train-report/1", [1], 0.95)
    against = [figures_against(MODELS, baseline) for baseline in BASELINES.values()]
    assert [one["baselines"] for one in found["comparisons"]] == [list(BASELINES), *([name] for name in BASELINES)]
    for ours, told in zip((average(against), *against), found["comparisons"], strict=True):
        assert (told["measure"], told["topics"]) == ("nDCG@10", 60)
        for one, other in zip(ours, told["models"], strict=True):
            for name in other.keys() - {"outcome"}:
                expected = getattr(one, name)
                is_number = isinstance(expected, float)
                assert other[name] == (pytest.approx(expected, rel=1e-11) if is_number else expected), name


@pytest.mark.slow
def test_verdicts_and_families_are_those_of_compare(command):
    asked = "--alpha 0 --alpha 5 --set level=0.9 --set method=student_t --set tolerance=0.001"
    (found,) = report(command(f"ltr report {RUNS} {asked} -o -"))["comparisons"]
    for of_model in found["models"]:
        name = of_model["model"]
        own = [verdict for verdict in found["verdicts"] if verdict["model"] == name]
        verdicts = json.loads(command(f"compare ./{name}.run --baseline prod --measure AP {asked} -o -").out)
        for one, other in zip(own, verdicts["verdicts"], strict=True):
            estimates = other["estimates"]
            (decisive,) = [interval for interval in other["intervals"] if interval["decisive"]]
            for of, keys in (
                (other, ("alpha", "outcome", "reason")),
                (estimates, ("urisk", "trisk", "p_value", "alpha_star")),
                (decisive, ("lower", "upper")),
            ):
                assert [one[key] for key in keys] == [of[key] for key in keys]
            assert of_model["mean_difference"] == pytest.approx(estimates["mean_difference"], rel=1e-10)
            assert of_model["mean"] == pytest.approx(estimates["candidate_mean"], rel=1e-10)
    assert report(command(f"ltr report {RUNS} --set family=auto -o -"))["correction"] != "none"


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_weights_of_topics_count_as_in_the_gate(command, folder):
    weights = [1 + place % 3 for place in range(60)]
    rows = [f"q{place:02d}\tquery {place}\t{weight}\n" for place, weight in enumerate(weights)]
    (folder / "weights.tsv").write_text("topic\tquery\tweight\n" + "".join(rows))
    line = f"ltr report --scores {FILES} --baseline prod.csv --topics weights.tsv --set weighted=true -o -"
    (found,) = report(command(line))["comparisons"]
    for figures, verdict, values in zip(found["models"], found["verdicts"], MODELS.values(), strict=True):
        assert figures["mean"] == pytest.approx(np.average(values, weights=weights))
        assert verdict["urisk"] == pytest.approx(figures["reward"] - 2 * figures["risk"], abs=1e-11)


@pytest.mark.slow
def test_what_is_not_typed_comes_from_the_file(command):
    ended = command("ltr report good=./good.run churn.run loss.run")
    assert ended.status == 0, ended.err
    assert ended.out.splitlines()[-1] == "from riskguard.yaml, gate no-risk"
    assert "AP, 30 topics, 3 models against prod" in ended.out


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_text_json_and_page_are_written(command, folder):
    pytest.importorskip("jinja2")
    ended = command(f"ltr report --scores {FILES} {AGAINST} -o r.json -o r.html")
    assert (ended.status, ended.err) == (0, "")
    shown = " ".join(ended.out.split())
    assert "3 of 4 models pass the gate against every baseline: lambdamart, u-cro-1, u-cro-5; of the others" in shown
    assert "8 verdicts, each at level 95% on its own" in shown
    assert "significantly_better" not in shown  # which every better model would raise
    assert (folder / "r.html").read_text(encoding="utf-8").count("<svg") == 3


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("ltr report good.run --qrels qrels.txt --measure AP", 2, "no baseline: give --baseline"),
        ("ltr report prod good.run --baseline prod --measure AP", 2, "MODEL: prod is a baseline too"),
        (f"ltr report {RUNS} -o good.run", 2, "would overwrite the file that this command reads"),
        (f"ltr report --scores {FILES} short.csv {AGAINST}", 3, "the topics differ: short lacks 1 topic: q59"),
    ],
)
def test_what_cannot_be_asked_is_refused(command, tables, line, status, message):
    write(tables, "short", MODELS["u-cro-1"][:-1])
    ended = command(line)
    assert (ended.status, ended.out) == (status, "")
    assert message in ended.err


def test_missing_topics_may_score_0_and_are_said(command, tables):
    values = MODELS["u-cro-1"]
    write(tables, "short", values[:-1])
    line = "ltr report --scores short.csv --baseline prod.csv --set missing=zero"
    (found,) = report(command(f"{line} -o -"))["comparisons"]
    assert found["models"][0]["mean"] == pytest.approx(values[:-1].sum() / 60)
    assert "warning missing_topics: short against prod" in command(line).out


def test_a_model_that_cannot_be_judged_has_figures_and_status_3(command, folder):
    # every score of every system is 0 at this measure: the gate refuses, the comparison does not
    write(folder, "a", np.zeros(20), measure="P@5")
    write(folder, "b", np.zeros(20), measure="P@5")
    ended = command("ltr report --scores a.csv --baseline b.csv -o -")
    (found,) = report(ended, status=3)["comparisons"]
    (of_model,), (verdict,) = found["models"], found["verdicts"]
    assert (of_model["outcome"], verdict["reason"], of_model["ties"]) == ("incomparable", "cannot_fail", 20)
    assert (of_model["reward_to_risk"], of_model["win_to_loss"]) == (None, None)
    assert "Error: 1 verdict without an answer: the data cannot be compared" in ended.err
    assert "a against b cannot be compared: every score of every system is 0" in " ".join(ended.err.split())


GAMBLE = np.where(np.arange(60) < 20, 0.5 * PROD, PROD + 0.3)


def compared(models: Any, baseline: Any, **outcomes: Any) -> Comparison:
    """Models against one baseline, all of which pass but for those with another outcome."""
    figures = [replace(one, outcome=outcomes.get(one.model, "pass")) for one in figures_against(models, baseline)]
    return Comparison("nDCG@10", 60, ("prod",), float(np.mean(baseline)), tuple(figures))


@pytest.mark.parametrize(
    ("comparison", "lines"),
    [
        (
            compared({name.replace("-", ""): values for name, values in MODELS.items()}, PROD, lambdamart="fail"),
            [
                "3 of 4 models pass the gate: ucro1, ucro5, broken; of the others 1 failed",
                "Best mean of those that pass: ucro1, 0.5313, 0.0323 below lambdamart, 0.5635; 17 of 60 queries "
                "lost, 4 of them more than 20% of the baseline's score",
            ],
        ),
        # the best of all gives up no mean, and yet a third of its queries lost half of their scores
        (
            compared({"gamble": GAMBLE, "flat": PROD + 0.01}, PROD),
            [
                "2 of 2 models pass the gate: gamble, flat",
                f"Best mean of those that pass: gamble, {GAMBLE.mean():.4f}; 20 of 60 queries lost, 20 of them more "
                "than 20% of the baseline's score",
            ],
        ),
        (
            compared({"b": PROD + 0.01, "a": PROD + 0.01}, PROD, a="inconclusive", b="inconclusive"),
            [
                "0 of 2 models pass the gate; of the others 2 inconclusive",
                f"Best mean: b, {(PROD + 0.01).mean():.4f}",
            ],
        ),
    ],
)
def test_the_first_lines_say_what_passes_and_what_the_best_of_it_gives_up(comparison, lines):
    assert conclusions(comparison) == lines


def test_the_curve_runs_along_the_front_and_says_it_in_words():
    rng = np.random.default_rng(40)
    models = {f"m{place}": np.clip(PROD + rng.normal(0.05, 0.1, 60), 0, 1) for place in range(12)}
    comparison = compared(models, PROD)
    plot = pareto_curve(comparison)
    front = sorted((one for one in comparison.models if one.on_front), key=lambda one: one.risk)
    corners = plot._lines[0].points
    across = [(one.risk, corners[2 * place][1]) for place, one in enumerate(front)]
    assert corners[1::2] == [*across, (math.inf, front[-1].mean)]
    assert corners[2::2] == [(one.risk, one.mean) for one in front]
    named = [f"{one.model} (mean {one.mean:.4f}, risk {one.risk:.4f})" for one in front]
    assert f"On the Pareto front, least risk first: {', '.join(named[:12])}" in plot.description
    assert [point.name for point in plot._marks] == [one.model for one in comparison.models]
