"""Tables whose columns have other names are read in a riskguard.yaml that says what they hold."""

import pytest

from pytest_riskguard.cli.main import run as riskguard
from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError

SETTINGS = """\
collection:
  qrels: {path: labels.csv, columns: {topic: session, document: sku, grade: stars}}
  topics: {path: searches.csv, columns: {topic: session, query: typed}}
candidate: {run: answers.csv, columns: {topic: session, document: sku, score: points}}
measures: [nDCG@10]
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A collection of 12 topics in tables with names of their own, and a baseline."""
    sessions = [f"s{number}" for number in range(12)]
    (tmp_path / "labels.csv").write_text("session,sku,stars\n" + "".join(f"{s},a,2\n{s},b,1\n" for s in sessions))
    (tmp_path / "searches.csv").write_text("session;typed\n" + "".join(f"{s};shoes {s}\n" for s in sessions))
    rows = "".join(f"{s},a,2.5\n{s},b,1.5\n" for s in sessions)
    (tmp_path / "answers.csv").write_text("session,sku,points\n" + rows)
    rows = "".join(f"{s} Q0 b 1 2 x\n{s} Q0 a 2 1 x\n" for s in sessions)
    (tmp_path / "prod.run").write_text(rows)
    (tmp_path / "riskguard.yaml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_columns_are_named_in_the_settings(folder, capsys):
    assert riskguard(["check", "--baseline", "prod=prod.run"]) == 0
    assert "12 of 12 queries gained" in capsys.readouterr().out


def test_a_format_that_is_named_is_the_one_that_is_read(folder, capsys):
    (folder / "riskguard.yaml").write_text(
        SETTINGS.replace("{run: answers.csv, columns:", "{run: answers.csv, format: trec} #")
    )
    assert riskguard(["check", "--baseline", "prod=prod.run"]) == 3
    assert "answers.csv:1: expected 6 columns" in capsys.readouterr().out


def test_a_column_that_the_table_does_not_have_is_named(folder, capsys):
    (folder / "riskguard.yaml").write_text(SETTINGS.replace("score: points", "score: punkte"))
    assert riskguard(["check", "--baseline", "prod=prod.run"]) == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert "it has no column 'punkte', only 'session', 'sku', 'points'" in shown


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        (
            "document: sku, grade",
            "docment: sku, grade",
            r"expected document, topic, query, grade or judge, found 'docment'",
        ),
        (
            "columns: {topic: session, query: typed}",
            "columns: session",
            r"expected a mapping of topic, query, weight to",
        ),
        ("{topic: session, query: typed}", "{}", "to columns, such as"),
    ],
)
def test_settings_that_make_no_sense_are_refused(folder, right, wrong, problem):
    (folder / "riskguard.yaml").write_text(SETTINGS.replace(right, wrong))
    with pytest.raises(ConfigError, match=problem):
        load_config(folder / "riskguard.yaml")
