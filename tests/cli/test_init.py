"""``riskguard init``: the file that it writes, and the figures in the comments."""

from __future__ import annotations

import pytest

from pytest_riskguard.config.load import load_config
from tests.plugin.world import read_report


@pytest.fixture
def nothing(folder):
    """The working folder without a riskguard.yaml."""
    folder.joinpath("riskguard.yaml").unlink()
    return folder


def test_init_writes_the_gates_that_compare_asks_without_a_file(command, nothing):
    asked = "compare loss.run --baseline prod.run --qrels qrels.txt --topics topics.tsv --measure AP -o asked.json"
    assert command(asked).status == 1
    assert command("init --topics topics.tsv --measure AP --candidate loss.run").status == 0
    assert command("check -o checked.json").status == 1
    asked, checked = (read_report(nothing / f"{name}.json")["verdicts"] for name in ("asked", "checked"))
    assert [(verdict["gate"], verdict["outcome"]) for verdict in asked] == [
        ("no-risk", "fail"),
        ("tail", "fail"),
        ("no-collapse", "pass"),
    ]
    text = (nothing / "riskguard.yaml").read_text()
    assert "counts 1 + alpha = 2 times" in text
    assert max(map(len, text.splitlines())) <= 118
    stored = ("inputs", "summary", "exhibits", "documents", "warnings")
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
    assert "\n  # grades: [0, 3] " in settings.path.read_text()


@pytest.mark.parametrize("number", [9, 10])
def test_grades_are_those_of_the_judgements_and_too_few_queries_are_pointed_out(command, nothing, number):
    (nothing / "few.txt").write_text("q0 0 e 2\n" + "".join(f"q{i} 0 d 1\n" for i in range(number)))
    assert ("at least 10 judged queries" in command("init --qrels few.txt").err) == (number == 9)
    assert "\n  grades: [0, 2]     # those of the judgements" in nothing.joinpath("riskguard.yaml").read_text()
