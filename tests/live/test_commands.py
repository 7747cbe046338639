"""Commands that answer queries: what they get, what they write, and that nothing of them stays."""

import os
import sys
import time
from pathlib import Path

import pytest

from pytest_riskguard.config.candidate_settings import CommandCandidate
from pytest_riskguard.config.setting_types import Queried
from pytest_riskguard.errors import DataError
from pytest_riskguard.live.command import command_search
from pytest_riskguard.live.retrieval import Pairs, Topic, retrieve

QUERIES = {f"t{number}": Topic(f"query {number} 'é'", id=f"t{number}") for number in range(6)}

#: Answers each line; ``answer`` may be replaced.
LINES = """
import json, os, sys, time
open("started", "a").write(f"{os.getpid()}\\n")
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    answer = {"id": asked["id"], "results": [asked["query"], f"{sys.argv[1]} of {asked['depth']}"]}
    WHAT
    print(json.dumps(answer), flush=True)
"""


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that nobody has waited for is a zombie."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return False
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def in_lines(tmp_path):
    """Ask one process about the queries; nothing of it stays."""

    def run(what: str = "pass", **asking: object) -> dict[str, Pairs]:
        command = [sys.executable, "-c", LINES.replace("WHAT", what), "{depth}"]
        candidate = CommandCandidate.model_validate({"command": command, **asking})
        try:
            with command_search(candidate, tmp_path) as search:
                return retrieve(search, QUERIES, Queried())
        finally:
            (pid,) = map(int, (tmp_path / "started").read_text().split())
            assert not is_alive(pid)

    return run


def test_one_process_answers_every_query_and_ends(in_lines):
    answers = in_lines(depth=7)
    assert list(answers) == list(QUERIES)
    assert answers["t3"] == [("query 3 'é'", 2.0), ("7 of 7", 1.0)]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (
            "sys.exit('loading\\n\\x1b[31m out of\\nmemory\\n\\n') if number == 2 else 0",
            "without an answer to 't2': exit status 1: memory",
        ),
        ("sys.exit() if number == 2 else 0", "without an answer to 't2': exit status 0"),
        ("os.kill(os.getpid(), 9) if number == 2 else 0", "without an answer to 't2': exit status -9"),
        ("print('loading') if number == 2 else 0", 'such as {"id": "t2", "results": ["d1", "d2"]}, found \'loading'),
        ("answer.pop('results') if number == 2 else 0", "expected a line of JSON such as"),
        (
            "print(json.dumps(answer)) if number == 2 else 0",
            'such as {"id": "t3", "results": ["d1", "d2"]}, found \'{"id": "t2"',
        ),
        ("answer['id'] = 't5'", 'such as {"id": "t0", "results": ["d1", "d2"]}, found \'{"id": "t5"'),
        ("time.sleep(600 if number == 2 else 0)", "no answer to 't2' within 0.5 s; it was killed"),
        ("answer['results'] = 'x' * 200_000 if number == 2 else []", "bytes in the answer of a live system"),
    ],
)
def test_after_anything_but_its_answer_a_process_is_asked_no_more(in_lines, set_limit, what, said):
    set_limit("ANSWER_BYTES", 100_000)
    with pytest.raises(DataError) as caught:
        in_lines(what, timeout=0.5)
    assert "failed for 3 of 6 topics" in str(caught.value)
    assert str(caught.value).count("failed: ") == 1
    assert said in str(caught.value)


def test_an_answer_of_exactly_the_limit_is_read(in_lines, set_limit):
    set_limit("ANSWER_BYTES", 1000)
    padded = "answer['pad'] = ''; answer['pad'] = 'x' * (999 - len(json.dumps(answer)))"
    assert len(in_lines(padded)) == 6


def test_a_lot_on_standard_error_does_not_block_a_command(in_lines):
    assert len(in_lines("print('x' * 1_000_000, file=sys.stderr)")) == 6


def test_a_program_that_is_not_there_is_named(tmp_path):
    candidate = CommandCandidate.model_validate({"command": ["./nowhere"]})
    expected = rf"^./nowhere: cannot be started in {tmp_path}: No such file or directory"
    with pytest.raises(DataError, match=expected), command_search(candidate, tmp_path):
        pass
