"""``candidate: {scores: ...}`` of a riskguard.yaml."""

import json

import pytest

from pytest_riskguard.cli.main import run as riskguard
from pytest_riskguard.config.candidate_settings import DescribedScores
from pytest_riskguard.config.load import load_config
from pytest_riskguard.errors import ConfigError

GATES = """\
collection: {qrels: qrels.txt}
candidate: CANDIDATE
measures: [AP]
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Qrels of 30 topics, a baseline that finds each document first, and scores as a tool may have them."""
    topics = [f"q{number:02d}" for number in range(30)]
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 d1 1\n" for topic in topics))
    (tmp_path / "prod.run").write_text("".join(f"{topic} Q0 d1 1 2 x\n{topic} Q0 d2 2 1 x\n" for topic in topics))
    (tmp_path / "bm25.eval").write_text("".join(f"map\t{topic}\t0.5\n" for topic in topics))
    rows = "".join(f"{topic},7,0.5\n" for topic in topics)
    (tmp_path / "wide.csv").write_text(f"query,clicks,ap\n{rows}")
    rows = "".join(f"{name},{topic},map,0.5\n" for name in ("A", "B") for topic in topics)
    (tmp_path / "perquery.csv").write_text(f"name,qid,measure,value\n{rows}")
    monkeypatch.chdir(tmp_path)
    settings(tmp_path, "prod.run")
    assert riskguard(["baseline", "add", "prod", "prod.run"]) == 0
    return tmp_path


def settings(folder, candidate):
    (folder / "riskguard.yaml").write_text(GATES.replace("CANDIDATE", candidate))


@pytest.mark.parametrize(
    ("candidate", "name"),
    [
        ("{scores: bm25.eval}", "bm25"),
        ("{scores: bm25.eval, format: trec_eval}", "bm25"),
        ("{scores: wide.csv, columns: {topic: query, AP: ap}}", "wide"),
        ("{scores: 'perquery.csv#B'}", "perquery#B"),
    ],
)
def test_scores_are_a_candidate(folder, candidate, name):
    settings(folder, candidate)
    assert riskguard(["check", "-o", "report.json"]) == 1
    (verdict,) = json.loads((folder / "report.json").read_text())["verdicts"]
    assert (verdict["reason"], verdict["candidate"]) == ("loss", name)
    assert verdict["estimates"]["mean_difference"] == -0.5


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        ("{scores: nothing.eval}", "nothing.eval: no such file"),
        ("{scores: bm25.eval, format: trec}", "ranx-scores, trec_eval,"),
        ("{scores: bm25.eval, columns: [ap]}", "expected a mapping of measures, and topic, to columns"),
        ("{scores: bm25.eval, ties: docid}", "unknown key 'ties'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(folder, candidate, problem, capsys):
    settings(folder, candidate)
    assert riskguard(["check"]) in (2, 3)
    said = capsys.readouterr()
    assert problem in " ".join((said.out + said.err).split())


def test_columns_keep_their_order(folder):
    settings(folder, "{scores: wide.csv, columns: {topic: query, clicks: clicks, AP: ap}}")
    candidate = load_config(folder / "riskguard.yaml").candidate
    assert isinstance(candidate, DescribedScores)
    assert list(candidate.given.columns) == ["topic", "clicks", "AP"]
    settings(folder, "{scores: wide.csv, columns: {topic: 3}}")
    with pytest.raises(ConfigError, match=r":2: candidate.columns: expected a column, found the number 3"):
        load_config(folder / "riskguard.yaml")


def test_scores_alone_need_no_judgements(folder):
    (folder / "qrels.txt").unlink()
    rows = "".join(f"q{number:02d},{number % 7}\n" for number in range(30))
    (folder / "then.csv").write_text(f"topic,clicks\n{rows}")
    rows = "".join(f"q{number:02d},{number % 7 + 1}\n" for number in range(30))
    (folder / "now.csv").write_text(f"topic,clicks\n{rows}")
    gates = (
        GATES.replace("CANDIDATE", "{scores: now.csv}").replace("{qrels: qrels.txt}", "{}").replace("AP", "clicks")
    )
    (folder / "riskguard.yaml").write_text(gates)
    assert riskguard(["baseline", "update", "prod", "--scores", "then.csv", "--note", "clicks"]) == 0
    assert riskguard(["check"]) == 0
    assert riskguard(["baseline", "verify"]) == 0
    assert riskguard(["baseline", "list"]) == 0
    settings(folder, "now.run")
    text = (folder / "riskguard.yaml").read_text().replace("{qrels: qrels.txt}", "{}")
    (folder / "riskguard.yaml").write_text(text.replace(": prod", ": prod, candidate: {scores: now.csv}"))
    with pytest.raises(ConfigError, match="collection: expected the file of judgements: "):
        load_config(folder / "riskguard.yaml")
    (folder / "riskguard.yaml").write_text("collection: {}\n")
    with pytest.raises(ConfigError, match="collection: expected the file of judgements: "):
        load_config(folder / "riskguard.yaml", require_gates=False)
