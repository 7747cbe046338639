"""``riskguard ltr report``: runs, stored baselines and tables of scores; what it refuses; what it writes."""

import json

import numpy as np
import pytest

from pytest_riskguard.ltr.model_comparison import average, figures_against
from tests.ltr.trained import BASELINES, MODELS

FILES = " ".join(f"{name}.csv" for name in MODELS)
AGAINST = "--baseline prod.csv --baseline bm25.csv"
RUNS = "good=./good.run churn.run loss.run --baseline prod --measure AP"


def write(folder, name, values, *, measure="nDCG@10", reverse=False):
    rows = [f"q{place:02d},{value!r}\n" for place, value in enumerate(map(float, values))]
    folder.joinpath(f"{name}.csv").write_text(f"topic,{measure}\n" + "".join(rows[::-1] if reverse else rows))


@pytest.fixture
def tables(folder):
    for name, values in {**MODELS, **BASELINES}.items():
        write(folder, name, values)
    return folder


def report(ended, status=0):
    assert ended.status == status, ended.err
    return json.loads(ended.out)


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_figures_are_those_of_the_arrays_whatever_the_order_of_rows(command, folder):
    found = report(command(f"ltr report --scores {FILES} {AGAINST} -o -"))
    assert (found["schema"], found["models"], found["baselines"]) == (
        "riskguard-train-report/1",
        list(MODELS),
        list(BASELINES),
    )
    (measured,) = found["measures"]
    assert (measured["measure"], measured["topics"], measured["weighted"]) == ("nDCG@10", 60, False)
    against = [figures_against(MODELS, baseline) for baseline in BASELINES.values()]
    told = (measured["macro_average"], *measured["against"])
    assert [table["baselines"] for table in told] == [list(BASELINES), *([name] for name in BASELINES)]
    for ours, table in zip((average(against), *against), told, strict=True):
        for one, other in zip(ours, table["models"], strict=True):
            for name, value in other["figures"].items():
                expected = getattr(one, name)
                is_number = isinstance(expected, float)
                assert value == (pytest.approx(expected, rel=1e-11) if is_number else expected), name
    for name, values in {**MODELS, **BASELINES}.items():
        write(folder, name, values, reverse=True)
    again = report(command(f"ltr report --scores {FILES} {AGAINST} -o -"))
    again["digests"] = found["digests"]  # of files that are others now
    assert again == found


@pytest.mark.slow
def test_verdicts_and_families_are_those_of_compare(command):
    asked = "--alpha 0 --alpha 5 --set level=0.9 --set method=student_t --set tolerance=0.001"
    found = report(command(f"ltr report {RUNS} {asked} -o -"))
    assert found["qrels"].startswith("sha256:")
    assert all(digest.startswith("sha256:") for digest in found["digests"].values())
    assert found["measures"][0]["macro_average"] is None
    for model in found["measures"][0]["against"][0]["models"]:
        name = model["figures"]["model"]
        verdicts = json.loads(command(f"compare ./{name}.run --baseline prod --measure AP {asked} -o -").out)
        for one, other in zip(model["verdicts"], verdicts["verdicts"], strict=True):
            estimates = other["estimates"]
            (decisive,) = [interval for interval in other["intervals"] if interval["decisive"]]
            for of, keys in (
                (other, ("alpha", "outcome", "reason")),
                (estimates, ("urisk", "trisk", "p_value", "decision_p_value", "alpha_star")),
                (decisive, ("lower", "upper", "level", "method")),
            ):
                assert [one[key] for key in keys] == [of[key] for key in keys]
            moved = model["figures"]["reward"] - model["figures"]["risk"]
            assert moved == pytest.approx(estimates["mean_difference"], rel=1e-10)
            assert model["figures"]["mean"] == pytest.approx(estimates["candidate_mean"], rel=1e-10)
    found = report(command(f"ltr report {RUNS} --set family=auto -o -"))
    assert found["gate"]["correction"] == "auto"
    tested = [model["verdicts"][0] for model in found["measures"][0]["against"][0]["models"]]
    lowest = min(tested, key=lambda verdict: verdict["decision_p_value"])
    assert lowest["adjusted_p_value"] == pytest.approx(min(3 * lowest["decision_p_value"], 1))
    assert lowest["level"] == pytest.approx(1 - 0.05 / 3)


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_weights_of_topics_count_as_in_the_gate(command, folder):
    weights = [1 + place % 3 for place in range(60)]
    rows = [f"q{place:02d}\tquery {place}\t{weight}\n" for place, weight in enumerate(weights)]
    (folder / "weights.tsv").write_text("topic\tquery\tweight\n" + "".join(rows))
    line = f"ltr report --scores {FILES} --baseline prod.csv --topics weights.tsv --set weighted=true -o -"
    (measured,) = report(command(line))["measures"]
    assert measured["weighted"] is True
    for model, values in zip(measured["against"][0]["models"], MODELS.values(), strict=True):
        figures, (verdict,) = model["figures"], model["verdicts"]
        assert figures["mean"] == pytest.approx(np.average(values, weights=weights))
        assert verdict["urisk"] == pytest.approx(figures["reward"] - 2 * figures["risk"], abs=1e-11)


@pytest.mark.slow
def test_what_is_not_typed_comes_from_the_file(command, folder):
    file = (folder / "riskguard.yaml").read_text()
    ended = command("ltr report good=./good.run churn.run loss.run")
    assert ended.status == 0, ended.err
    assert ended.out.splitlines()[-1] == "from riskguard.yaml, gate no-risk"
    assert "AP, 30 topics, 3 models against prod" in ended.out
    (folder / "riskguard.yaml").write_text(file.replace("alpha: 1", "alpha: [0, 5]"))
    for more, alphas in (("", [0, 5]), ("--alpha 2", [2])):
        found = report(command(f"ltr report good=./good.run {more} -o -"))
        assert (found["gate"]["alphas"], found["baselines"]) == (alphas, ["prod"])


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_text_json_markdown_and_page_are_written(command, folder):
    pytest.importorskip("jinja2")
    ended = command(f"ltr report --scores {FILES} {AGAINST} -o r.json -o r.md -o r.html")
    assert (ended.status, ended.err) == (0, "")
    assert "models pass the gate against every baseline: " in ended.out
    assert json.loads((folder / "r.json").read_text())["models"] == list(MODELS)
    assert (folder / "r.md").read_text().startswith("## Trained models")
    assert (folder / "r.html").read_text(encoding="utf-8").count("<svg") == 3


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("ltr report --baseline prod --measure AP", 2, "Missing argument"),
        ("ltr report good.run --qrels qrels.txt --measure AP", 2, "no baseline: give --baseline"),
        (f"ltr report ./good.run {RUNS}", 2, "MODEL: good given twice; NAME=RUN gives one of them another name"),
        ("ltr report prod good.run --baseline prod --measure AP", 2, "MODEL: prod is a baseline too"),
        (f"ltr report {RUNS} --set tolerance=5", 2, "the gate could never fail"),
        (f"ltr report {RUNS} -o good.run", 2, "would overwrite the file that this command reads"),
        ("ltr report --scores nowhere.csv --baseline prod.csv", 3, "nowhere.csv"),
        (f"ltr report --scores {FILES} short.csv {AGAINST}", 3, "the topics differ: short lacks 1 topic: q59"),
    ],
)
def test_what_cannot_be_asked_is_refused(command, tables, line, status, message):
    write(tables, "short", MODELS["u-cro-1"][:-1])
    ended = command(line)
    assert (ended.status, ended.out) == (status, "")
    assert message in ended.err


def test_missing_topics_may_score_0(command, tables):
    values = MODELS["u-cro-1"]
    write(tables, "short", values[:-1])
    found = report(command(f"ltr report --scores short.csv {AGAINST} --set missing=zero -o -"))
    (measured,) = found["measures"]
    assert measured["against"][0]["models"][0]["figures"]["mean"] == pytest.approx(values[:-1].sum() / 60)
    assert measured["missing_topics"] == {"short": 1}


def test_a_model_that_cannot_be_judged_has_figures_and_status_3(command, folder):
    # every score of every system is 0 at this measure: the gate refuses, the comparison does not
    write(folder, "a", np.zeros(20), measure="P@5")
    write(folder, "b", np.zeros(20), measure="P@5")
    ended = command("ltr report --scores a.csv --baseline b.csv -o -")
    (measured,) = report(ended, status=3)["measures"]
    (model,) = measured["against"][0]["models"]
    assert (model["outcome"], model["verdicts"][0]["reason"], model["figures"]["ties"]) == (
        "incomparable",
        "cannot_fail",
        20,
    )
    assert "Error: 1 verdict without an answer: the data cannot be compared" in ended.err
    assert "a against b cannot be compared: every score of every system is 0" in " ".join(ended.err.split())
