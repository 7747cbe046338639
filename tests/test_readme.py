"""What the README shows is what happens."""

import os
import re
import subprocess
import sys

import pytest
import yaml

from tests.docs.pages import as_pattern, normalised
from tests.house import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def judge_example(system: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HELP_CENTER_SYSTEM": system, "COLUMNS": "80"}
    env.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "--riskguard", "-p", "no:cacheprovider", "examples/help_center"]
    return subprocess.run(command, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_failure_is_what_the_terminal_shows():
    (failure,) = blocks("text")
    command, *lines = failure.splitlines()
    assert command == "$ HELP_CENTER_SYSTEM=synonyms .venv/bin/pytest --riskguard examples/help_center"
    assert len(lines) <= 15
    result = judge_example("synonyms")
    assert result.returncode == 1
    assert re.fullmatch(as_pattern("\n".join(lines)), normalised(result.stdout)), result.stdout


def test_the_pictures_are_there():
    pictures = re.findall(r"^!\[(.+)\]\((.+)\)$", README, re.MULTILINE)
    assert len(pictures) == 2
    assert all(len(alternative) > 40 and (CHECKOUT / path).is_file() for alternative, path in pictures)


def test_what_it_is_and_how_to_use_it_fit_on_two_screens():
    start = README[: README.index("## See it fail")]
    assert len(start.splitlines()) <= 45  # and two pictures


@pytest.mark.slow
def test_the_walk_ends_with_a_pass():
    result = judge_example("improved")
    assert result.returncode == 0, result.stdout
    assert "Once it is released, store it as the baseline:\n    riskguard baseline update " in result.stdout


def test_the_yaml_loads(tmp_path):
    from pytest_riskguard.config.load import load_config

    (text,) = blocks("yaml")
    path = tmp_path / "riskguard.yaml"
    path.write_text(text)
    assert [gate.name for gate in load_config(path).gates] == ["no-risk", "tail", "no-collapse"]
    assert yaml.safe_load(text)["store"] == "baselines"


def test_the_plain_assertion_runs(capsys):
    (code,) = [block for block in blocks("python") if "import" in block]
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "pass 0.014\n"


def test_two_commands_set_everything_up():
    commands = [block for block in blocks("sh") if "venv" in block]
    assert len(commands) == 2
    assert all(len(command.splitlines()) == 1 for command in commands)
