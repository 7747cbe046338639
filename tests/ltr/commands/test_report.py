"""``riskguard ltr report``: runs, stored baselines and tables of scores; what it refuses; what it writes."""

import json

import numpy as np
import pytest

from pytest_riskguard.ltr.model_comparison import compare_models
from tests.ltr.trained import BASELINES, MODELS
from tests.test_import_cost import fresh

FILES = " ".join(f"{name}.csv" for name in MODELS)
AGAINST = "--baseline prod.csv --baseline bm25.csv"
RUNS = "good=./good.run churn.run loss.run --baseline prod --measure AP"


def write(folder, name, values, *, topics=None, measure="nDCG@10"):
    names = topics or [f"q{place:02d}" for place in range(len(values))]
    rows = [f"{topic},{value!r}\n" for topic, value in zip(names, map(float, values), strict=True)]
    folder.joinpath(f"{name}.csv").write_text(f"topic,{measure}\n" + "".join(rows))


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
def test_figures_are_those_of_the_arrays(command):
    found = report(command(f"ltr report --scores {FILES} {AGAINST} --json -"))
    assert (found["schema"], found["models"], found["baselines"]) == (
        "riskguard-train-report/1",
        list(MODELS),
        list(BASELINES),
    )
    (measured,) = found["measures"]
    assert (measured["measure"], measured["topics"], measured["weighted"]) == ("nDCG@10", 60, False)
    made = compare_models(
        list(MODELS.values()),
        list(BASELINES.values()),
        model_names=list(MODELS),
        baseline_names=list(BASELINES),
    )
    assert made.macro_average is not None
    pairs = zip((made.macro_average, *made.against), (measured["macro_average"], *measured["against"]), strict=True)
    for ours, said in pairs:
        assert said["baselines"] == list(ours.baselines)
        for one, other in zip(ours.models, said["models"], strict=True):
            for name, value in other["figures"].items():
                expected = getattr(one, name)
                is_number = isinstance(expected, float)
                assert value == (pytest.approx(expected, rel=1e-11) if is_number else expected), name


@pytest.mark.slow
def test_verdicts_are_those_of_compare(command):
    asked = "--alpha 0 --alpha 5 --set level=0.9 --set method=student_t --set tolerance=0.001"
    found = report(command(f"ltr report {RUNS} {asked} --json -"))
    assert found["qrels"].startswith("sha256:")
    assert all(digest.startswith("sha256:") for digest in found["digests"].values())
    (against,) = found["measures"][0]["against"]
    assert found["measures"][0]["macro_average"] is None
    for model in against["models"]:
        name = model["figures"]["model"]
        ended = command(f"compare ./{name}.run --baseline prod --measure AP {asked} --json -")
        verdicts = json.loads(ended.out)["verdicts"]
        assert len(model["verdicts"]) == len(verdicts) == 2
        for one, other in zip(model["verdicts"], verdicts, strict=True):
            estimates = other["estimates"]
            assert [one[key] for key in ("alpha", "outcome", "reason")] == [
                other[key] for key in ("alpha", "outcome", "reason")
            ]
            for key in ("urisk", "trisk", "p_value", "decision_p_value", "alpha_star"):
                assert one[key] == estimates[key], key
            (decisive,) = [interval for interval in other["intervals"] if interval["decisive"]]
            assert [one[key] for key in ("lower", "upper", "level", "method")] == [
                decisive[key] for key in ("lower", "upper", "level", "method")
            ]
            moved = model["figures"]["reward"] - model["figures"]["risk"]
            assert moved == pytest.approx(estimates["mean_difference"], rel=1e-10)
            assert model["figures"]["mean"] == pytest.approx(estimates["candidate_mean"], rel=1e-10)


@pytest.mark.slow
def test_a_family_is_that_of_compare(command):
    plain = report(command(f"ltr report {RUNS} --json -"))["measures"][0]["against"][0]["models"]
    found = report(command(f"ltr report {RUNS} --set family=holm --json -"))
    assert found["gate"]["correction"] == "holm"
    models = found["measures"][0]["against"][0]["models"]
    tested = [model["verdicts"][0] for model in models if model["verdicts"][0]["adjusted_p_value"] is not None]
    assert len(tested) == 3
    lowest = min(tested, key=lambda verdict: verdict["decision_p_value"])
    assert lowest["adjusted_p_value"] == pytest.approx(min(3 * lowest["decision_p_value"], 1))
    assert lowest["level"] == pytest.approx(1 - 0.05 / 3)
    assert [m["verdicts"][0]["decision_p_value"] for m in plain] == [v["decision_p_value"] for v in tested]


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_weights_of_topics_count_as_in_the_gate(command, folder):
    weights = [1 + place % 3 for place in range(60)]
    rows = [f"q{place:02d}\tquery {place}\t{weight}\n" for place, weight in enumerate(weights)]
    (folder / "weights.tsv").write_text("topic\tquery\tweight\n" + "".join(rows))
    line = f"ltr report --scores {FILES} --baseline prod.csv --topics weights.tsv --set weighted=true --json -"
    (measured,) = report(command(line))["measures"]
    assert measured["weighted"] is True
    for model, values in zip(measured["against"][0]["models"], MODELS.values(), strict=True):
        figures, (verdict,) = model["figures"], model["verdicts"]
        assert figures["mean"] == pytest.approx(np.average(values, weights=weights))
        assert verdict["urisk"] == pytest.approx(figures["reward"] - 2 * figures["risk"], abs=1e-11)
    ended = command(f"ltr report --scores {FILES} --baseline prod.csv --set weighted=true")
    assert (ended.status, ended.out) == (2, "")
    assert "there are no weights" in ended.err


@pytest.mark.slow
def test_what_is_not_typed_comes_from_the_file(command, folder):
    file = (folder / "riskguard.yaml").read_text()
    assert "not_significantly_risky" in file
    ended = command("ltr report good=./good.run churn.run loss.run")
    assert ended.status == 0, ended.err
    assert "against prod" in ended.out
    assert "from riskguard.yaml, gate no-risk: baseline prod, measure AP" in " ".join(ended.out.split())
    (folder / "riskguard.yaml").write_text(file.replace("alpha: 1", "alpha: [0, 5]"))
    found = report(command("ltr report good=./good.run --json -"))
    assert (found["gate"]["alphas"], found["baselines"]) == ([0, 5], ["prod"])
    found = report(command("ltr report good=./good.run --alpha 2 --json -"))
    assert found["gate"]["alphas"] == [2]
    (folder / "riskguard.yaml").write_text(file.replace("baseline: prod", "baseline: 'mean(prod, prod2)'"))
    ended = command("ltr report good=./good.run")
    assert ended.status == 2
    assert "riskguard.yaml" in ended.err


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_text_json_markdown_and_page_are_written(command, folder):
    pytest.importorskip("jinja2")
    line = f"ltr report --scores {FILES} {AGAINST} --json r.json --markdown r.md --html r.html"
    ended = command(line)
    assert (ended.status, ended.err) == (0, "")
    assert "models pass the gate against every baseline: " in ended.out
    assert json.loads((folder / "r.json").read_text())["models"] == list(MODELS)
    assert (folder / "r.md").read_text().startswith("## Trained models")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    again = command(line.replace("r.json", "-"))
    assert (again.out, again.err) == ((folder / "r.json").read_text(), ended.out)
    assert page == (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("tables")
def test_the_json_depends_on_nothing_but_the_data(command, folder):
    line = f"ltr report --scores {FILES} {AGAINST} --json -"
    first = command(line).out
    for path in folder.glob("*.csv"):
        head, *rows = path.read_text().splitlines(keepends=True)
        path.write_text(head + "".join(rows[::-1]))
    second = json.loads(command(line).out)
    second["digests"] = json.loads(first)["digests"]  # of files that are others now
    assert second == json.loads(first)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ltr report --baseline prod --measure AP", "no model: name at least one run, stored baseline or table"),
        ("ltr report good.run --qrels qrels.txt --measure AP", "no baseline: give --baseline"),
        (f"ltr report ./good.run {RUNS}", "MODEL: good given twice; NAME=RUN gives one of them another name"),
        ("ltr report prod good.run --baseline prod --measure AP", "MODEL: prod is a baseline too"),
        ("ltr report x=good.run --baseline y=good.run --measure AP", "cannot be compared with itself"),
        (f"ltr report {RUNS} --set tolerance=5", "the gate could never fail"),
        (f"ltr report {RUNS} --json good.run", "would overwrite the file that this command reads"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(command, line, message):
    ended = command(line)
    assert ended.status == 2
    assert message in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.usefixtures("tables")
def test_models_on_other_topics_are_refused_unless_these_score_0(command, folder):
    values = MODELS["u-cro-1"]
    write(folder, "short", values[:-1])
    ended = command(f"ltr report --scores {FILES} short.csv {AGAINST} --json -")
    assert (ended.status, ended.out) == (3, "")
    assert "the topics differ: short lacks 1 topic: q59" in ended.err
    found = report(command(f"ltr report --scores short.csv {AGAINST} --set missing=zero --json -"))
    figures = found["measures"][0]["against"][0]["models"][0]["figures"]
    assert figures["mean"] == pytest.approx(values[:-1].sum() / 60)
    assert found["measures"][0]["missing_topics"] == {"short": 1}
    ended = command(f"ltr report --scores short.csv {AGAINST} --set missing=zero")
    assert "warning missing_topics, each of which scores 0: 1 topic of short" in ended.out
    assert command("ltr report --scores nowhere.csv --baseline prod.csv").status == 3


def test_a_model_that_cannot_be_judged_has_figures_and_status_3(command, folder):
    # every score of every system is 0 at this measure: the gate refuses, the comparison does not
    write(folder, "a", np.zeros(20), measure="P@5")
    write(folder, "b", np.zeros(20), measure="P@5")
    ended = command("ltr report --scores a.csv --baseline b.csv --json -")
    (measured,) = report(ended, status=3)["measures"]
    (model,) = measured["against"][0]["models"]
    assert (model["outcome"], model["verdicts"][0]["reason"], model["figures"]["ties"]) == (
        "incomparable",
        "cannot_fail",
        20,
    )
    assert "Error: 1 verdict without an answer: the data cannot be compared" in ended.err
    assert "a against b cannot be compared: every score of every system is 0" in " ".join(ended.err.split())


@pytest.mark.slow
def test_neither_lightgbm_nor_numba_is_loaded(tables):
    code = (
        "import sys; from pytest_riskguard.cli.main import run; "
        f"run('ltr report --scores {FILES} {AGAINST} --json /dev/null'.split()); "
        "print(sorted({'lightgbm', 'numba', 'scipy.stats', 'jinja2'} & set(sys.modules)))"
    )
    assert fresh("-c", code, folder=tables).splitlines()[-1] == "[]"
