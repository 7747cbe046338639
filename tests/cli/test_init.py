"""``riskguard init``: the file that it writes, what it asks, and the figures in the comments."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys

import pytest

from pytest_riskguard.cli import init
from pytest_riskguard.config.load import load_config
from tests.plugin.world import read_report


@pytest.fixture
def nothing(folder):
    """The working folder without a riskguard.yaml."""
    folder.joinpath("riskguard.yaml").unlink()
    return folder


@pytest.fixture
def answering(monkeypatch):
    """Somebody at a terminal who types these lines."""

    def answers(*lines: str) -> None:
        monkeypatch.setattr(init, "_on_a_terminal", lambda: True)
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return answers


@pytest.mark.slow
def test_init_writes_a_file_that_works_as_it_stands(command, folder):
    folder.joinpath("riskguard.yaml").unlink()
    shutil.rmtree(folder / "baselines")
    ended = command("init --topics topics.tsv --measure AP --candidate loss.run")
    assert ended.status == 0
    assert "riskguard baseline add prod RUN" in ended.out
    settings = load_config(folder / "riskguard.yaml")
    assert [gate.name for gate in settings.gates] == ["no-risk", "tail", "no-collapse"]
    assert settings.collection.topics.path == folder / "topics.tsv"
    text = folder.joinpath("riskguard.yaml").read_text()
    assert "counts 1 + alpha = 2 times" in text
    assert "    on_churn: warn\n" in text

    again = command("init")
    assert again.status == 2
    assert "already exists" in again.err
    assert folder.joinpath("riskguard.yaml").read_text() == text

    assert command("baseline add prod prod.run").status == 0
    words = [sys.executable, "-m", "pytest", "--riskguard", "-p", "no:cacheprovider", "-q"]
    environment = {**os.environ, "PYTEST_ADDOPTS": "-p no:hypothesispytest"}
    result = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 1
    assert "the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained, 0.005 tolerated" in result.stdout
    assert "12 of 30 queries lost more than 0.30; at most 1 may" in result.stdout
    assert "2 failed, 1 passed" in result.stdout


def test_init_writes_the_gates_that_compare_asks_without_a_file(command, nothing):
    asked = (
        "compare loss.run --baseline prod.run --qrels qrels.txt --topics topics.tsv --measure AP --json asked.json"
    )
    assert command(asked).status == 1
    assert command("init --yes --topics topics.tsv --measure AP --candidate loss.run").status == 0
    assert command("check --json checked.json").status == 1
    asked, checked = (read_report(nothing / f"{name}.json")["verdicts"] for name in ("asked", "checked"))
    assert [(verdict["gate"], verdict["outcome"]) for verdict in asked] == [
        ("no-risk", "fail"),
        ("tail", "fail"),
        ("no-collapse", "pass"),
    ]
    stored = ("inputs", "explanation", "exhibits", "documents", "warnings")
    for one, other in zip(asked, checked, strict=True):
        assert {**one, **dict.fromkeys(stored)} == {**other, **dict.fromkeys(stored)}


def test_init_quotes_what_yaml_would_read_differently(command, folder):
    ended = command(
        "init --output other.yaml --qrels 'my qrels: #1.txt' --candidate '0.run' --measure 'RBP(p=0.9,rel=1)'"
    )
    assert ended.status == 0
    settings = load_config(folder / "other.yaml")
    assert settings.collection.qrels.path.name == "my qrels: #1.txt"
    assert settings.measures == ("RBP(p=0.9,rel=1)",)
    assert settings.collection.topics is None


@pytest.mark.parametrize("option", ["qrels", "topics", "candidate", "output"])
def test_init_refuses_a_path_that_names_no_file(command, option):
    for given in ("''", "."):
        ended = command(
            f"init --{option} {given} --output new.yaml" if option != "output" else f"init --output {given}"
        )
        assert ended.status == 2
        assert f"--{option} names no file: give a path" in ended.err


@pytest.mark.parametrize(
    ("options", "alpha", "comment"),
    [
        ("", 1.0, "counts 1 + alpha = 2 times"),
        ("--worse-costs 6", 5.0, "1 + alpha = 6 times"),
        ("--worse-costs 1", 0.0, "Here the gate compares"),
    ],
)
def test_answers_decide_alpha_and_what_is_said_of_churn(command, nothing, options, alpha, comment):
    assert command(f"init --candidate loss.run {options}").status == 0
    risk, tail, collapse = load_config(nothing / "riskguard.yaml").gates
    assert (risk.kind, risk.alpha, risk.option("on_churn")) == ("not_significantly_risky", (alpha,), "warn")
    assert tail.kind == collapse.kind == "no_topic_collapse"
    text = nothing.joinpath("riskguard.yaml").read_text()
    assert comment in text
    assert max(map(len, text.splitlines())) <= 118


def test_in_a_terminal_it_asks_what_a_team_can_answer(command, nothing, answering):
    answering("y", "6")
    ended = command("init --candidate loss.run")
    assert ended.status == 0
    assert "Does a query that gets worse cost more than one that gets as much better gains? [Y/n]" in ended.out
    assert load_config(nothing / "riskguard.yaml").gates[0].alpha == (5,)


def test_nobody_is_asked_where_standard_input_is_closed(command, nothing, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert command("init").status == 0
    assert (nothing / "riskguard.yaml").exists()


@pytest.mark.parametrize(
    ("lines", "options", "alpha"),
    [
        (["", ""], "", 1),  # as proposed
        (["n"], "", 0),
        (["x", "y", "0.5", "nan", "3"], "", 2),  # asked again until it is a number in range
        ([], "--worse-costs 2", 1),
        ([], "--yes", 1),
    ],
)
def test_what_an_option_says_is_not_asked(command, nothing, answering, lines, options, alpha):
    answering(*lines)
    assert command(f"init --candidate loss.run {options}").status == 0
    assert sys.stdin.read() == ""
    assert load_config(nothing / "riskguard.yaml").gates[0].alpha == (alpha,)


def test_without_an_answer_nothing_is_written(command, nothing, answering):
    answering("y")
    assert command("init --candidate loss.run").status == 130
    assert not nothing.joinpath("riskguard.yaml").exists()


@pytest.mark.slow
def test_outside_a_terminal_it_asks_nothing(nothing):
    words = [sys.executable, "-c", "from pytest_riskguard.cli import main; main()", "init", "--candidate", "loss.run"]
    ended = subprocess.run(words, input="7\ny\n9\n", capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (
        ended.stdout == "wrote riskguard.yaml. Next: `riskguard baseline add prod RUN`, then `pytest --riskguard`\n"
    )


def test_a_file_that_is_there_is_refused_before_anything_is_asked(command, folder, answering):
    answering("y", "2")
    ended = command("init")
    assert ended.status == 2
    assert "Does a query" not in ended.out


@pytest.mark.parametrize("options", ["--worse-costs 0.9", "--worse-costs nan", "--worse-costs inf"])
def test_answers_out_of_range_are_refused(command, nothing, options):
    assert command(f"init {options}").status == 2


def test_too_few_queries_are_pointed_out(command, nothing):
    (nothing / "few.txt").write_text("".join(f"q{i} 0 d 1\n" for i in range(9)))
    assert "at least 10 judged queries" in command("init --qrels few.txt").err
