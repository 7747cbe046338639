"""What riskguard.yaml says about the judgements as a whole, from the settings to verdicts."""

import json
from typing import Any

import pytest

from pytest_riskguard.cli.main import run as riskguard
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.errors import ConfigError

GATE = "gates: [{name: no-risk, kind: not_significantly_risky, baseline: prod}]\n"
TOPICS = range(12)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Twelve topics, whose clicked documents the candidate ranks second instead of first."""
    monkeypatch.chdir(tmp_path)
    judged = [f"q{t},d{t},{0.3 + t / 20}\nq{t},e{t},0" for t in TOPICS]
    (tmp_path / "clicks.csv").write_text("query_id,docid,rating\n" + "\n".join(judged) + "\n")
    old = [(f"d{t}", f"e{t}", f"new{t}") for t in TOPICS]
    new = [(f"e{t}", f"d{t}", f"fresh{t}") for t in TOPICS]
    for name, rankings in (("prod", old), ("new", new)):
        rows = [
            f"q{t} Q0 {document} {rank} {9 - rank} x"
            for t, ranking in enumerate(rankings)
            for rank, document in enumerate(ranking, 1)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")

    def settings(collection: str = "", measure: str = "nDCG@10") -> None:
        text = f"collection: {{qrels: clicks.csv{collection}}}\nmeasures: ['{measure}']\ncandidate: new.run\n{GATE}"
        (tmp_path / "riskguard.yaml").write_text(text)

    return settings


def checked(capsys, status: int) -> dict[str, Any]:
    capsys.readouterr()
    assert riskguard(["check", "-o", "-"]) == status
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    return verdict


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", LabelRules()),
        (", grades: [0, 3]", LabelRules(scale=(0, 3))),
        (", grades: [-2, 0.5], relevant_from: 0.5", LabelRules(scale=(-2, 0.5), relevant_from=0.5)),
        (', chunks: "#", unjudged: ignore', LabelRules(separator="#", is_complete=True)),
        (", unjudged: warn", LabelRules()),
    ],
)
def test_the_rules_go_with_the_judgements(project, tmp_path, text, rules):
    project(text)
    given = load_config(tmp_path / "riskguard.yaml").collection.given_qrels
    assert (given.path, given.labels) == (tmp_path / "clicks.csv", rules)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("grades: [3, 0]", "expected the lowest and the highest grade, such as [0, 3]"),
        ("grades: [3, 3]", "expected the lowest and the highest grade, such as [0, 3]"),
        ("grades: 3", "expected the lowest and the highest grade, such as [0, 3]"),
        ("grades: [0, high]", "expected a number from -1000 to 1000, found 'high'"),
        ("relevant_from: yes", "expected a number from -1000 to 1000, found 'yes'"),
        ("chunks: ''", "expected a text such as '#', found ''"),
        ("documents: {url: 'https:///{id}'}", "expected an address with http or https that has {id}"),
        ("documents: {url: 'https://a/{id}/{doc}'}", "expected an address with http or https that has {id}"),
        ("unjudged: all", "expected warn or ignore, found 'all'"),
    ],
)
def test_wrong_rules_are_refused(project, tmp_path, text, problem):
    project(f", {text}")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "riskguard.yaml")
    assert problem in str(caught.value)


def test_a_baseline_stored_under_other_rules_is_scored_again(project, capsys):
    project()
    assert riskguard(["baseline", "add", "prod", "prod.run", "--measure", "nDCG@10"]) == 0
    before = checked(capsys, 1)
    project(", relevant_from: 0.3")
    after = checked(capsys, 1)
    assert before["inputs"]["qrels"] != after["inputs"]["qrels"]
    assert [warning["code"] for warning in after["warnings"]].count("changed_inputs") == 1
    assert after["estimates"]["mean_difference"] == before["estimates"]["mean_difference"]


@pytest.mark.slow
def test_complete_judgements_leave_nothing_to_judge(project, capsys):
    project()
    assert riskguard(["baseline", "add", "prod", "prod.run"]) == 0
    partial = checked(capsys, 1)
    assert partial["judgements"]["documents"] == 2 * len(TOPICS)
    line = ["judge-next", "new.run", "--baseline", "prod"]
    assert riskguard(line) == 0
    project(", unjudged: ignore")
    complete = checked(capsys, 1)
    assert complete["judgements"] is None
    assert complete["estimates"] == partial["estimates"]
    grades = {row["grade"] for topic in complete["documents"]["topics"] for row in topic["documents"]}
    assert None not in grades
    assert riskguard(line) == 2
    assert "so there is nothing to judge" in capsys.readouterr().err
