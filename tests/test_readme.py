"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def judge_example(system: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HELP_CENTER_SYSTEM": system, "COLUMNS": "100"}
    for name in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):  # pytest shortens its summary outside CI only
        env.pop(name, None)
    command = [sys.executable, "-m", "pytest", "--riskguard", "-p", "no:cacheprovider", "examples/help_center"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def from_failures_on(output: str) -> list[str]:
    lines = output[output.index("=== FAILURES") :].splitlines()
    lines[0] = "=" * 20 + lines[0].lstrip("=")  # the first match starts inside the rule
    return [re.sub(r"=+( .* in )[\d.]+s =+", r"\1", line).strip("=_ ") for line in lines]


def test_the_picture_is_what_the_terminal_shows():
    (picture,) = blocks("text")
    command, *shown = picture.splitlines()
    assert command == "$ HELP_CENTER_SYSTEM=synonyms pytest --riskguard examples/help_center"
    result = judge_example("synonyms")
    assert result.returncode == 1
    assert from_failures_on("\n".join(shown)) == from_failures_on(result.stdout)


def test_the_walk_ends_with_a_pass():
    result = judge_example("improved")
    assert result.returncode == 0, result.stdout
    assert "Once it is released, store it as the baseline: " in result.stdout


def test_the_yaml_loads(tmp_path: Path):
    from pytest_riskguard.config.load import load_config

    (text,) = blocks("yaml")
    path = tmp_path / "riskguard.yaml"
    path.write_text(text)
    assert [gate.name for gate in load_config(path).gates] == ["no-risk"]
    assert yaml.safe_load(text)["store"] == "baselines"


def test_the_plain_assertion_runs(capsys: pytest.CaptureFixture[str]):
    (code,) = [block for block in blocks("python") if "import" in block]
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "pass 0.014\n"


def test_two_commands_set_everything_up():
    commands = [block for block in blocks("sh") if "venv" in block]
    assert len(commands) == 2
    assert all(len(command.splitlines()) == 1 for command in commands)
