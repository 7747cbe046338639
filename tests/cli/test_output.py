"""Verdicts that cannot be shown or written: one line on standard error, status 3, and everything else is written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMPARE = "compare {}.run --baseline prod --measure AP"
COMMAND = f"{sys.executable} -c 'from pytest_riskguard.cli import main; main()'"
#: How a shell loses the output of a command, and what the command says.
LOST = {
    "{} >&-": "Error: cannot write the output: standard output is closed\n",
    "{} >/dev/full": "Error: cannot write the output: No space left on device\n",
    "{{ {}; echo $? >status; }} | true": "",  # as other programs end in `| head`
}


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError("some detail")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("line", [COMPARE.format("good"), COMPARE.format("loss"), "baseline list"])
@pytest.mark.parametrize("shell", LOST)
def test_lost_output_is_at_most_one_line_and_status_3(folder, shell, line):
    if "status" in shell:
        line = f"{line} --help" if line == "baseline list" else line
        shell = shell.replace("{{ {}", "{{ sleep 0.3; {}")  # the reader has ended by then
    ended = subprocess.run(
        ["bash", "-c", shell.format(f"{COMMAND} {line}")], capture_output=True, text=True, check=False, timeout=120
    )
    status = int(Path("status").read_text()) if "status" in shell else ended.returncode
    assert (status, ended.stderr) == (3, LOST[shell.replace("sleep 0.3; ", "")])


@pytest.mark.slow
def test_reports_are_written_though_standard_output_is_closed(folder):
    line = f"{COMMAND} {COMPARE.format('loss')} --json r.json --markdown r.md >&-"
    assert subprocess.run(["bash", "-c", line], check=False, capture_output=True).returncode == 3
    assert json.loads(Path("r.json").read_text())["verdicts"][0]["outcome"] == "fail"
    assert Path("r.md").read_text()


@pytest.mark.slow
def test_no_file_takes_the_place_of_a_closed_stream(folder):
    code = """
import os
from pytest_riskguard.cli.main import main
try:
    main(["baseline", "list"])
except SystemExit as end:
    os.write(2, f"{end.code} {os.open('riskguard.yaml', os.O_RDONLY) > 2}".encode())
"""
    ended = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "$0" <&- >&-', code], capture_output=True, text=True, check=False
    )
    assert ended.stderr.endswith("standard output is closed\n3 True")


@pytest.mark.parametrize("candidate", ["good", "loss"])
@pytest.mark.parametrize(
    ("target", "doing"),
    [
        ("reports.terminal.failure.card", "showing a verdict"),
        ("reports.wording.paragraph", "putting a verdict into words"),
        ("gates.judge.explain", "showing a verdict"),
        ("reports.files.write", "showing the verdicts"),
        ("reports.ci.github.annotation", "showing the verdicts"),
    ],
)
def test_an_internal_error_leaves_the_verdict_and_is_status_3(command, monkeypatch, target, doing, candidate):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setattr(f"pytest_riskguard.{target}", broken)
    ended = command(f"{COMPARE.format(candidate)} --json r.json")
    if target.endswith("annotation") and candidate == "good":
        assert ended.status == 0  # there is nothing to annotate
        return
    assert ended.status == 3
    assert ("FAIL " if candidate == "loss" else "PASS ") in ended.out
    assert f"internal error while {doing}: ZeroDivisionError: some detail; the verdict stands; please" in ended.err
    assert "Traceback" not in ended.out + ended.err
    assert Path("r.json").exists() is (target not in ("reports.files.write", "gates.judge.explain"))


def test_an_internal_error_with_a_report_of_verdicts(command, monkeypatch):
    command(f"{COMPARE.format('loss')} --json r.json")
    monkeypatch.setattr("pytest_riskguard.reports.terminal.failure.card", broken)
    ended = command("show r.json")
    assert ended.status == 3
    assert ended.out.startswith("FAIL fail (loss): no-risk AP")
