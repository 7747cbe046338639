"""The matrix can fail: each fault is planted here, and the runner notices it."""

import re
import sys
from dataclasses import replace

import pytest

from tests.sabotage import project, runner, sabotages
from tests.sabotage.case import CLI, SERIAL, Case, Way
from tests.sabotage.prepared import Prepared
from tests.sabotage.processes import Ended
from tests.sabotage.runner import Fault, find_problems

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has no wait4, pipes or process groups")

CASE = Case("planted", status=3, words=["qrels.txt:3", "expected 4 columns"], pytest_words=["5 failed"])
GOOD_OUTPUT = "qrels.txt:3: expected 4\n columns\n5 failed in 1.0s"
FILES = {"baselines/prod/scores.tsv": "a digest"}


def faults(after=FILES, case=CASE, way=Way.CLI, **ended):
    good = Ended(3, GOOD_OUTPUT, seconds=1.0, processor_seconds=1.0, megabytes=80.0)
    return [fault for fault, _ in find_problems(case, way, replace(good, **ended), FILES, after)]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sabotage")
    project.write(folder)
    return folder


def test_a_run_that_ends_as_it_must_has_no_problem():
    assert faults() == []
    assert faults(status=1, way=Way.SERIAL) == []


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        ({"status": 0}, [Fault.GREEN]),
        ({"status": 2}, [Fault.STATUS]),
        ({"status": -11}, [Fault.STATUS]),
        ({"status": 1, "way": Way.SERIAL, "output": GOOD_OUTPUT + "\n5 failed, 1 passed in 1.01s"}, [Fault.GREEN]),
        ({"output": "qrels.txt:3: expected four columns"}, [Fault.WORDS]),
        ({"output": GOOD_OUTPUT + "\nTraceback (most recent call last):"}, [Fault.TRACEBACK]),
        ({"output": GOOD_OUTPUT + "\nINTERNALERROR> KeyError"}, [Fault.TRACEBACK]),
        ({"output": GOOD_OUTPUT + "\nInternal error: KeyError"}, [Fault.TRACEBACK]),
        ({"output": GOOD_OUTPUT + "\nvenv/pytest_riskguard/gates/judge.py:12: KeyError"}, [Fault.TRACEBACK]),
        ({"output": GOOD_OUTPUT + '\n  File "pytest_riskguard/text.py", line 3'}, [Fault.TRACEBACK]),
        ({"is_killed": True, "status": -9}, [Fault.HANG]),
        ({"processor_seconds": 30.1}, [Fault.HANG]),
        ({"megabytes": 1001.0}, [Fault.MEMORY]),
        ({"after": {"baselines/prod/scores.tsv": "another"}}, [Fault.CHANGED]),
        ({"after": {}}, [Fault.CHANGED]),
        ({"after": {**FILES, "baselines/new": "folder"}}, [Fault.CHANGED]),
    ],
)
def test_each_fault_is_noticed(ended, expected):
    assert faults(**ended) == expected


def test_a_harmless_case_must_be_green():
    assert faults(case=Case("rerun", status=0), status=1) == [Fault.RED]


def test_words_that_must_not_be_printed_are_a_fault():
    assert faults(case=Case("planted", absent=["5 failed"])) == [Fault.WORDS]


def found(case, template, tmp_path, way=Way.CLI):
    return {fault for fault, _ in runner.run(case, way, template, tmp_path).problems}


@pytest.fixture(scope="module")
def prepared():
    with Prepared() as processes:
        yield processes


@pytest.mark.slow
@pytest.mark.parametrize("way", [Way.CLI, Way.SERIAL])
@pytest.mark.parametrize(
    "breaks", [sabotages.truncate("qrels.txt", 0.5), sabotages.write("riskguard.yaml", "gates: 3")]
)
def test_a_prepared_run_ends_like_one_that_starts_afresh(template, prepared, tmp_path, way, breaks):
    def common(ended):
        return re.sub(r"tmp\w{8}|0x\w+|in [\d.]+s|=+", "", ended.output).split()  # the folder, an address, times

    case = Case("planted", breaks)  # the second is an error, which goes to stderr
    fresh, fork = (runner.run(case, way, template, tmp_path, each).ended for each in (None, prepared))
    assert (fork.status, common(fork)) == (fresh.status, common(fresh))
    assert fork.processor_seconds > 0
    assert fork.megabytes > 20


@pytest.mark.slow
def test_a_hang_of_a_prepared_run_is_noticed_and_the_next_is_not_harmed(template, prepared, tmp_path):
    sleeps = (
        "import subprocess, time\n\nsubprocess.Popen(['sleep', '61'])\nprint('sleeps', flush=True)\ntime.sleep(61)"
    )
    case = Case("planted", sabotages.write("conftest.py", sleeps), kill_after=3, ways=SERIAL)
    ended = runner.run(case, Way.SERIAL, template, tmp_path, prepared)
    assert [fault for fault, _ in ended.problems] == [Fault.HANG]
    assert ended.ended.status < 0
    assert runner.run(CASE, Way.SERIAL, template, tmp_path, prepared).ended.status == 1


@pytest.mark.slow
def test_a_hang_is_noticed_and_ended_with_all_its_processes(template, tmp_path):
    case = Case("planted", line="sleep 60 & echo $! > reports; wait", kill_after=0.5, ways=CLI)
    assert found(case, template, tmp_path) == {Fault.HANG}
    assert list(tmp_path.iterdir()) == []  # no copy is left
