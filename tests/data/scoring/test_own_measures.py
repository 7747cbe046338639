"""Measures that a team has itself: a function of one query's ranking, and a column of its table of scores."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_riskguard.cli.main import run as riskguard
from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import ScoringError, UsageError

MODULE = """
import json
from pathlib import Path

def share(ranking, judgements):
    with (Path(__file__).parent / "calls.txt").open("a") as file:
        file.write(json.dumps([ranking, judgements]) + "\\n")
    return sum(judgements.get(document, 0) > 0 for document in ranking) / max(len(ranking), 1)

class Shop:
    first = staticmethod(lambda ranking, judgements: judgements.get(ranking[0], 0))

def above(ranking, judgements): return 1.5
def nothing(ranking, judgements): return None
def broken(ranking, judgements): return judgements["absent"]
def missing(ranking, judgements): return float("nan")
number = 3
"""
QRELS = "".join(f"q{n:02d} 0 a 1\nq{n:02d} 0 b 0\n" for n in range(30))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a module of measures, judgements and two runs."""
    (tmp_path / "shop.py").write_text(MODULE)
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, first, second in (("good", "a", "b"), ("bad", "x", "a")):
        rows = (f"q{n:02d} Q0 {first} 1 2 x\nq{n:02d} Q0 {second} 2 1 x\n" for n in range(30))
        (tmp_path / f"{name}.run").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("shop", None)


@pytest.fixture
def importable(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    return folder


def score(measure, run, qrels=None):
    (scores,) = score_run(run, read_qrels(qrels or {"1": {"a": 2, "c": 0.5}, "2": {"a": 1}}), [measure])
    assert scores.measure == measure
    return scores.values.tolist()


def test_a_function_gets_a_ranking_best_first_and_its_judgements(importable):
    run = importable / "tied.run"
    run.write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n1 Q0 c 3 1 x\n9 Q0 a 1 1 x\n")
    assert score("shop:share", run) == [2 / 3, 0.0]  # topic 2 is not answered
    assert score("shop:share@1", run) == [1.0, 0.0]
    calls = [json.loads(line) for line in (importable / "calls.txt").read_text().splitlines()]
    by_id = [["a", "c", "b"], {"a": 2, "c": 0.5}]  # equal scores go by id, descending, or as written
    assert calls == [by_id, [["a", "b", "c"], by_id[1]], [["a"], by_id[1]], [["a"], by_id[1]]]
    assert score("shop:Shop.first", {"1": [("b", 1.0)], "2": [("a", 1.0)]}) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("name", "error", "problem"),
    [
        (
            "above",
            ScoringError,
            "candidate: expected shop:above from 0 to 1, found 1.5 (topic '1')",
        ),
        ("missing", ScoringError, "candidate: expected shop:missing from 0 to 1, found nan (topic '1')"),
        ("nothing", ScoringError, "candidate: measure shop:nothing failed on topic '1' (TypeError: float()"),
        ("broken", ScoringError, "measure shop:broken failed on topic '1' (KeyError: 'absent'; shop.py:15)"),
        ("number", UsageError, "measure 'shop:number': expected a function, found int"),
        ("absent", UsageError, "measure 'shop:absent' cannot be imported (AttributeError: module 'shop' has no"),
    ],
)
def test_an_error_names_the_function(importable, name, error, problem):
    with pytest.raises(error) as caught:
        score(f"shop:{name}", {"1": [("a", 1.0)]})
    assert problem in str(caught.value)


def test_a_module_that_is_not_there_is_a_usage_error_and_names_the_setting():
    with pytest.raises(UsageError, match=r"ModuleNotFoundError: .*absent_module.*`pythonpath` adds folders"):
        score("absent_module:share", {"1": [("a", 1.0)]})


def of_pytest(folder: Path) -> str:
    """What pytest says of the folder."""
    command = [sys.executable, "-m", "pytest", "--riskguard", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def verdict_of(folder: Path) -> dict[str, object]:
    (verdict,) = json.loads((folder / "r.json").read_text())["verdicts"]
    assert isinstance(verdict, dict)
    return verdict


def test_compare_takes_a_function_of_the_working_folder(folder):
    line = ["compare", "good.run", "bad.run", "--qrels", "qrels.txt", "--gate", "not_significantly_risky"]
    for times in (1, 2):
        assert riskguard([*line, "--measure", "shop:Shop.first", "--measure", "shop:share", "-o", "r.json"]) == 1
        verdicts = json.loads((folder / "r.json").read_text())["verdicts"]
        outcomes = [(verdict["measure"], verdict["outcome"]) for verdict in verdicts]
        assert outcomes == [("shop:Shop.first", "fail"), ("shop:share", "pass")]
        assert len((folder / "calls.txt").read_text().splitlines()) == 60 * times
    assert riskguard([*line, "--measure", "shop:broken"]) == 3
    assert riskguard([*line, "--measure", "shop:absent"]) == 2


YAML = """\
collection: {qrels: qrels.txt}
candidate: bad.run
measures: ["shop:Shop.first", AP]
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod}
  - {name: tail, kind: no_topic_collapse, baseline: prod, measure: "shop:share"}
"""


def test_gates_of_a_file_take_functions_beside_the_file(folder, capsys):
    (folder / "riskguard.yaml").write_text(YAML)
    assert riskguard(["baseline", "add", "prod", "good.run"]) == 0
    assert riskguard(["baseline", "show", "prod"]) == 0
    shown = capsys.readouterr().out
    assert "shop:Shop.first 1.0000" in shown
    assert riskguard(["check", "-o", "r.json"]) == 1
    outcomes = [(v["measure"], v["outcome"]) for v in json.loads((folder / "r.json").read_text())["verdicts"]]
    assert outcomes == [("shop:Shop.first", "fail"), ("AP", "fail"), ("shop:share", "pass")]
    assert riskguard(["judge-next", "--measure", "shop:Shop.first", "--baseline", "prod", "bad.run"]) == 2


@pytest.mark.slow
def test_pytest_takes_functions_in_a_file_and_in_tests(folder):
    (folder / "riskguard.yaml").write_text(YAML)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .")
    (folder / "test_shop.py").write_text(
        """def test_first(riskguard):
            candidate, baseline = (riskguard.run(f"{name}.run") for name in ("bad", "good"))
            riskguard.assert_not_significantly_risky(candidate, baseline, measure="shop:Shop.first")
        """
    )
    assert riskguard(["baseline", "add", "prod", "good.run"]) == 0
    said = of_pytest(folder)
    assert "3 failed, 1 passed" in said
    assert "FAILED riskguard.yaml::no-risk[shop:Shop.first-1]" in said
    assert "FAILED test_shop.py::test_first" in said
