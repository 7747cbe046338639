"""Verdicts that cannot be shown or written: one line on standard error, status 3, and everything else is written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMPARE = "compare {}.run --baseline prod --measure AP"
COMMAND = f"{sys.executable} -c 'from pytest_riskguard.cli import main; main()'"
#: How a shell loses the output of a command, and what the command says.
LOST = {
    "{} >/dev/full": "Error: cannot write the output: No space left on device\n",
    "{{ {}; echo $? >status; }} | true": "",  # as other programs end in `| head`
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.slow
@pytest.mark.parametrize("line", [COMPARE.format("loss"), "baseline list"])
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
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_reports_are_written_though_nothing_can_be_shown(folder):
    line = f"{COMMAND} {COMPARE.format('loss')} -o r.json -o r.md >/dev/full"
    assert subprocess.run(["bash", "-c", line], check=False, capture_output=True).returncode == 3
    assert json.loads(Path("r.json").read_text())["verdicts"][0]["outcome"] == "fail"
    assert Path("r.md").read_text()
