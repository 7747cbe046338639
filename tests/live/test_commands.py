"""Commands that answer queries: what they get, what they write, and that nothing of them stays."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.config.candidate_settings import CommandCandidate
from pytest_riskguard.config.setting_types import Queried
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import ANSWER_BYTES
from pytest_riskguard.live import command as commands
from pytest_riskguard.live.command import command_search
from pytest_riskguard.live.retrieval import Retrieved, Topic, retrieve

QUERIES = {f"t{number}": Topic(f"query {number}", id=f"t{number}") for number in range(6)}
THREE = dict(list(QUERIES.items())[:3])
ONE = {"t3": QUERIES["t3"]}


@pytest.fixture
def asked(tmp_path):
    """Ask a Python program about the queries, the id of each its last argument."""

    def run(program: str, *arguments: str, queries: Any = ONE, **asking: Any) -> Retrieved:
        command = [sys.executable, "-c", program, *arguments, "{topic}"]
        with command_search(CommandCandidate.model_validate({"command": command, **asking}), tmp_path) as search:
            return retrieve(search, queries, Queried(**asking | {"timeout": None}))

    return run


def of(retrieved: Retrieved, topic: str = "t3") -> list[tuple[str, float]]:
    assert retrieved.failed == (), retrieved.failed
    return retrieved.answers[topic]


@pytest.mark.parametrize("workers", [1, 3])
def test_ids_come_out_one_a_line(asked, workers):
    program = "import sys; print(sys.argv[-1] + '-1\\n\\n  ' + sys.argv[-1] + '-2  ')"
    retrieved = asked(program, queries=THREE, workers=workers)
    assert list(retrieved.answers) == list(THREE)
    assert of(retrieved, "t2") == [("t2-1", 2.0), ("t2-2", 1.0)]


def test_arguments_hold_the_query_the_id_and_the_depth(asked):
    program = "import sys; print('\\n'.join(sys.argv[1:]), sys.stdin.read())"
    retrieved = asked(program, "--q={query}", "{depth}", "{other}", depth=50)
    assert [document for document, _ in of(retrieved)] == ["--q=query 3", "50", "{other}", "t3"]


def test_a_query_is_never_read_as_code_or_as_another_placeholder(asked):
    query = "$(touch evil); {topic} 'x' \" ünïcode"
    retrieved = asked("import sys; print(sys.argv[1])", "{query}", queries={"t": Topic(query, id="t")})
    assert [document for document, _ in of(retrieved, "t")] == [query]


def test_json_is_read_in_any_shape(asked):
    shapes = {
        '["a", "b"]': [("a", 2.0), ("b", 1.0)],
        '{"b": 0.5, "a": 3}': [("a", 3.0), ("b", 0.5)],
        "": [],
    }
    queries = {written: Topic(written, id=written) for written in shapes}
    assert asked("import sys; print(sys.argv[1])", "{query}", queries=queries).answers == shapes


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; print('loading', file=sys.stderr); sys.exit('no index')", ": exit status 1: no index$"),
        ("import sys; sys.stderr.write('a\\x1b[31m red\\n::error::x\\n'); sys.exit(7)", "status 7: : :error::x$"),
        ("import os; os.kill(os.getpid(), 15)", ": was killed by signal 15$"),
        ("print('[1, 2')", "expected JSON, or ids, one per line, in UTF-8, found other output .*not JSON"),
        ("print('{\"a\": NaN}')", "found other output .*NaN"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "found other output \\('utf-8' codec"),
        ("print('{\"hits\": []}')", "^it returned \\('hits', \\[\\]\\), expected ids"),
    ],
)
def test_anything_else_is_a_failure_in_words(asked, program, said):
    (failed,) = asked(program).failed
    assert re.search(said, failed.problem)


def test_a_program_that_is_not_there_is_named(tmp_path):
    for command in (["./nowhere"], ["./nowhere", "{query}"]):
        candidate = CommandCandidate.model_validate({"command": command})
        with command_search(candidate, tmp_path) as search:
            failed = retrieve(search, QUERIES, Queried(timeout=None)).failed
        assert failed[0].problem == f"./nowhere: cannot be started in {tmp_path}: No such file or directory"


@pytest.mark.parametrize("workers", [1, 3])
def test_what_gives_no_answer_in_time_is_killed(asked, tmp_path, workers):
    program = f"import os, time; open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'w').close(); time.sleep(600)"
    failed = asked(program, queries=THREE if workers == 3 else ONE, timeout=1, workers=workers).failed
    assert len(failed) == workers
    assert failed[0].problem.endswith("no answer within 1 s; it was killed")
    assert [path.name for path in tmp_path.iterdir() if is_alive(int(path.name))] == []


def test_a_child_that_keeps_the_output_open_is_not_waited_for(asked):
    program = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print('a')\n"
    )
    assert of(asked(program, timeout=60)) == [("a", 1.0)]


def test_an_answer_that_is_too_long_is_refused(asked, set_limit):
    set_limit("ANSWER_BYTES", 100000)
    failed = asked("print('x' * 100_000)").failed
    assert "bytes in the answer of a live system" in failed[0].problem


def test_a_lot_on_standard_error_does_not_block_a_command(asked):
    program = "import sys\nfor _ in range(1000): print('x' * 1000, file=sys.stderr)\nprint('a')"
    assert of(asked(program)) == [("a", 1.0)]


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


# ---- one process, asked line by line

#: Answers each line; ``answer`` may be replaced.
LINES = """
import json, os, sys
open("started", "a").write(f"{os.getpid()}\\n")
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    answer = {"id": asked["id"], "results": [asked["query"], f"{sys.argv[1]} of {asked['depth']}"]}
    WHAT
    print(json.dumps(answer), flush=True)
END
"""


@pytest.fixture
def in_lines(tmp_path):
    """Ask one process about the queries, and return what is found with the processes that were started."""

    def run(what: str = "pass", end: str = "", **asking: Any) -> tuple[Retrieved, list[int]]:
        program = LINES.replace("WHAT", what).replace("END", end)
        command = [sys.executable, "-c", program, "{depth}"]
        with command_search(CommandCandidate.model_validate({"command": command, **asking}), tmp_path) as search:
            found = retrieve(search, QUERIES, Queried())
        return found, [int(pid) for pid in (tmp_path / "started").read_text().split()]

    return run


def test_one_process_answers_every_query_and_ends(in_lines):
    found, (pid,) = in_lines(depth=7)
    assert of(found) == [("query 3", 2.0), ("7 of 7", 1.0)]
    assert list(found.answers) == list(QUERIES)
    assert found.again == found.answers
    assert not is_alive(pid)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (
            "sys.exit('out of memory') if number == 2 else 0",
            "without an answer to 't2': exit status 1: out of memory",
        ),
        ("os.kill(os.getpid(), 9) if number == 2 else 0", "without an answer to 't2': was killed by signal 9"),
        ("print('loading') if number == 2 else 0", 'such as {"id": "t2", "results": ["d1", "d2"]}, found \'loading'),
        ("answer.pop('results') if number == 2 else 0", "expected a line of JSON such as"),
        (
            "print(json.dumps(answer)) if number == 2 else 0",
            'such as {"id": "t3", "results": ["d1", "d2"]}, found \'{"id": "t2"',
        ),
        ("answer['id'] = 't5'", 'such as {"id": "t0", "results": ["d1", "d2"]}, found \'{"id": "t5"'),
        ("import time; time.sleep(600 if number == 2 else 0)", "no answer to 't2' within 1 s; it was killed"),
        ("answer['results'] = 'x' * 200_000 if number == 2 else []", "bytes in the answer of a live system"),
    ],
)
def test_after_anything_but_its_answer_a_process_is_asked_no_more(in_lines, monkeypatch, what, said):
    monkeypatch.setattr(commands, "ANSWER_BYTES", Most)
    found, (pid,) = in_lines(what, timeout=1)
    assert len(found.failed) == 3
    assert {failed.problem for failed in found.failed} == {found.failed[0].problem}
    assert said in found.failed[0].problem
    assert not is_alive(pid)


class Most:
    """A smaller limit of an answer."""

    value = 100_000

    @staticmethod
    def problem(found: int) -> str:
        return ANSWER_BYTES.problem(found)


@pytest.mark.parametrize(
    ("what", "end", "said"),
    [
        ("pass", "print('bye')", "it wrote more than one line for each query: 'bye"),
        ("pass", "sys.exit('disk full')", r"it failed after its last answer: exit status 1: disk full"),
    ],
)
def test_what_a_process_leaves_at_its_end_is_a_failure(in_lines, what, end, said):
    with pytest.raises(DataError, match=said):
        in_lines(what, end)


def test_an_interrupted_run_ends_its_process(tmp_path):
    about = {"command": [sys.executable, "-c", LINES.replace("WHAT", "pass").replace("END", ""), "{depth}"]}

    def interrupted(*_: int) -> None:
        raise KeyboardInterrupt

    candidate = CommandCandidate.model_validate(about)
    with pytest.raises(KeyboardInterrupt), command_search(candidate, tmp_path) as search:
        retrieve(search, QUERIES, Queried(), progress=interrupted)
    assert not is_alive(int((tmp_path / "started").read_text()))
