"""``--brief``, and who gets it without asking."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_riskguard
from pytest_riskguard.cli.main import MEANINGS, ExitStatus
from tests.docs.pages import DOCS
from tests.house import CHECKOUT
from tests.plugin import world

SKILL = Path(pytest_riskguard.__file__).with_name("SKILL.md").read_text(encoding="utf-8")
COMMANDS = re.findall(
    r"^(?:riskguard|pytest) .+$", "".join(re.findall(r"```console\n(.*?)```", SKILL, re.DOTALL)), re.M
)
COMPARE = "compare prod.run loss.run --qrels qrels.txt --measure AP"


@pytest.fixture
def failing(folder):
    world.write_run(folder / "candidate.run", world.LOSS)
    return folder


@pytest.mark.parametrize(
    ("variables", "options", "is_json"),
    [
        ("", "--brief", True),
        ("", "", False),
        ("CLAUDECODE=1", "", True),
        ("AI_AGENT=any", "", True),
        ("RISKGUARD_BRIEF=1", "", True),
        ("CLAUDECODE=1 RISKGUARD_BRIEF=0", "", False),
        ("RISKGUARD_BRIEF=1", "-q", False),
        ("RISKGUARD_BRIEF=1", "-v", False),
    ],
)
def test_an_agent_gets_json_unless_something_else_is_asked_for(command, monkeypatch, variables, options, is_json):
    for variable in variables.split():
        monkeypatch.setenv(*variable.split("="))
    ended = command(f"{COMPARE} {options}")
    assert ended.out.startswith("{") is is_json
    if is_json:
        assert json.loads(ended.out)["exit"] == ended.status == 1


def test_a_terminal_is_a_persons(command, monkeypatch, capsys):
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert not command(COMPARE).out.startswith("{")


def test_the_report_on_standard_output_and_annotations_stay_valid(command, monkeypatch):
    monkeypatch.setenv("RISKGUARD_BRIEF", "1")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert json.loads(command(f"{COMPARE} -o -").out)["schema"] == "riskguard-report/1"
    ended = command(COMPARE)
    assert len(json.loads(ended.out)["gates"]) == 3
    assert "::error" in ended.err


@pytest.mark.parametrize("line", [COMPARE, f"{COMPARE} -o report.json", "check", "check -o report.json"])
def test_every_next_command_runs_and_one_explains_the_worst_query(command, failing, line):
    (gate, *_) = json.loads(command(f"{line} --brief").out)["gates"]
    for next_command in gate["next"]:
        assert command(next_command.removeprefix("riskguard ")).status in (0, 1), next_command
    if "report.json" not in line and line.startswith("compare"):  # the next command has written it
        assert "riskguard-report.json" in gate["next"][-1]
        (gate, *_) = json.loads(command("show riskguard-report.json --brief").out)["gates"]
    explain = gate["next"][0].removeprefix("riskguard ")
    assert explain.startswith("explain t07")
    assert command(explain).out.startswith("t07")
    assert not re.search("baseline (add|update)|accept", json.dumps(gate["next"]))


def test_show_tells_of_a_report(command, failing):
    command("check -o report.json")
    said = json.loads(command("show report.json --brief").out)
    assert said["gates"][0]["gate"] == "riskguard.yaml::no-risk"
    assert said["gates"][0]["next"] == ["riskguard explain t07 report.json", "riskguard check -o report.json"]


def test_of_data_that_cannot_be_compared_a_command_shows_more(command):
    command("compare prod.run nowhere.run --qrels qrels.txt -o report.json")
    ended = command("show report.json --brief")
    (first, *_) = json.loads(ended.out)["gates"]
    assert (ended.status, first["code"], first["reason"]) == (3, "missing_input", "nowhere.run: no such file")
    assert first["next"] == ["riskguard show report.json --brief -v"]
    assert command("show report.json --brief -v").out.startswith("No verdict")


def test_the_command_of_a_remedy_runs_where_it_is_printed(command, folder, monkeypatch):
    world.edit(folder / "riskguard.yaml", "store: baselines", "store: nowhere")
    folder.joinpath("inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    (first, *_) = json.loads(command("check --brief --config ../riskguard.yaml").out)["gates"]
    assert "`riskguard baseline add prod RUN --config ../riskguard.yaml`" in first["remedy"]


# ---- the skill


@pytest.mark.parametrize(
    "line", [pytest.param(line, marks=[pytest.mark.slow] * line.startswith("pytest")) for line in COMMANDS]
)
def test_the_skill_can_be_followed(command, failing, line):
    worst = json.loads(command("check --brief").out)["gates"][0]["worst"][0]
    line = line.replace("QUERY", shlex.quote(worst["query"]))
    if line.startswith("riskguard"):
        ended = command(line.removeprefix("riskguard "))
        status, out = ended.status, ended.out
    else:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(line), "-p", "no:cacheprovider"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        status, out = done.returncode, done.stdout
    assert status == (0 if "explain" in line else 1), out
    assert worst["id"] in out
    assert ("--brief" in line) is out.startswith("{")


def test_the_skill_and_llms_txt_say_each_exit_status():
    for status in (ExitStatus.PASSED, ExitStatus.FAILED):
        assert f"| {status:d} | {MEANINGS[status]}" in SKILL
    llms = (DOCS / "llms.txt").read_text(encoding="utf-8")
    for status in list(ExitStatus)[:4]:
        assert MEANINGS[status] in " ".join(llms.split())
        assert f"| {status:d} |" in SKILL
    links = re.findall(r"/blob/main/(\S+)\)", llms)
    assert links
    assert [link for link in links if not (CHECKOUT / link).is_file()] == []
