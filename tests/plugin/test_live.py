"""A live candidate as its user sees it: queried in threads, named if it fails, ended by Ctrl-C."""

import re
import signal
import subprocess
import sys
import time
from fnmatch import fnmatch
from typing import Any

import pytest

from tests.plugin.world import edit, flat, read_report

SEARCH = """
import threading

def ask(query):
    return [("good", 1.0), ("bad1", 0.5)]

def fails(query):
    if query[-1] in "12":
        raise ValueError("no server for <" + query + ">")
    return ask(query)

def exits(query):
    import pytest
    if query.endswith("07"):
        end = lambda: pytest.exit("enough")
        end()
    return ask(query)

def skips(query):
    import pytest
    if query.endswith("07"):
        pytest.skip("later")
    return ask(query)

def leaves(query):
    import sys
    if query.endswith("07"):
        sys.exit(0)
    return ask(query)

def is_cancelled(query):
    import asyncio
    if query.endswith("07"):
        raise asyncio.CancelledError
    return ask(query)
"""


@pytest.fixture
def asked_of(pytester, project):
    """Write a project whose candidate is a function of the module ``own``, with these settings."""

    def write(function: str, *, settings: str = "") -> None:
        project("good")
        candidate = f"candidate: {{retrieve: 'own:{function}'{settings}}}"
        edit(pytester.path / "riskguard.yaml", "candidate: candidate.run", candidate)
        pytester.makeini("[pytest]\npythonpath = .")
        pytester.path.joinpath("own.py").write_text(SEARCH)

    return write


@pytest.fixture
def live(pytester, asked_of):
    """Judge a function of the module ``own`` with these settings."""

    def run(function: str, *arguments: str, settings: str = "") -> pytest.RunResult:
        asked_of(function, settings=settings)
        return pytester.runpytest("--riskguard", *arguments)

    return run


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    """All of a report but when it was made."""
    provenance = report.pop("provenance")
    assert provenance.pop("date")
    return report | {"provenance": provenance}


def test_all_failed_queries_are_one_message_that_shows_the_first_five(live):
    result = live("fails", settings=", workers: 4")
    result.assert_outcomes(failed=1)
    assert re.search(
        r"cannot be compared: the search failed for 6 of 30 topics: .*… \(bad_run\) Nothing was compared: the search "
        r"failed for 6 of 30 topics: t01 \('query number 01'\) failed: ValueError: no server for <query number 01> "
        r"\(own.py:9\); "
        r"t02 .*; t11 .*; t12 .*; t21 .*; and 1 other error",
        flat(result),
    )
    assert "Traceback" not in result.stdout.str()
    assert "retrieval.py" not in result.stdout.str()


@pytest.mark.parametrize("settings", ["", ", workers: 4"])
@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("exits", "Exit: enough (own.py:15)"),
        ("skips", "Skipped: later (own.py:22)"),
        ("leaves", "SystemExit: 0 (own.py:*)"),
        ("is_cancelled", "CancelledError (own.py:*)"),
    ],
)
def test_a_search_that_would_end_the_run_or_skip_the_gate_is_a_failure(live, function, said, settings):
    result = live(function, settings=settings)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=1)
    assert fnmatch(flat(result), f"*('query number 07') failed: {said}*")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="this system has no POSIX signals")
def test_ctrl_c_ends_a_run_whose_search_hangs(asked_of, pytester):
    asked_of("ask", settings=", workers: 4")
    pytester.path.joinpath("own.py").write_text(
        "import threading\n"
        "def ask(query):\n    open('asked-' + query[-2:], 'w').close()\n    threading.Event().wait()\n"
    )
    # A shell starts what runs in the background with SIGINT ignored, and Python leaves it so.
    pytester.makeconftest("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--riskguard"], stdout=subprocess.PIPE, text=True, cwd=pytester.path
    )
    try:
        # Once all four have asked, the main thread only waits.
        give_up = time.monotonic() + 120
        while len(list(pytester.path.glob("asked-*"))) < 4:
            assert process.poll() is None
            assert time.monotonic() < give_up
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output


#: Answers nothing for some topics when they are asked again.
CHANGING = """
calls = {}
def ask(query):
    calls[query] = calls.get(query, 0) + 1
    if calls[query] == 2 and query[-1] in TOPICS:
        return []
    return [("good", 1.0), ("bad1", 0.5)][: 3 - calls[query]]
"""


@pytest.mark.parametrize(("topics", "is_refused"), [("14703", False), ("147036", True)])
def test_answers_that_change_a_lot_make_the_run_incomparable(pytester, asked_of, topics, is_refused):
    asked_of("ask")
    pytester.path.joinpath("own.py").write_text(CHANGING.replace("TOPICS", repr(topics)))
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(failed=int(is_refused), passed=int(not is_refused))
    said = (
        "*Nothing was compared: asked twice, it gave 6 of 10 topics another first result (t01, t04, t07, *repeatable*"
    )
    assert fnmatch(flat(result), said) == is_refused


def test_a_search_that_finds_nothing_at_all_is_told_so(pytester, asked_of):
    asked_of("ask")
    pytester.path.joinpath("own.py").write_text("def ask(query):\n    return []\n")
    result = pytester.runpytest("--riskguard")
    result.assert_outcomes(failed=1)
    assert "Nothing was compared: the search returned nothing for 30 queries" in flat(result)


def test_a_search_may_find_nothing_for_one_query(pytester, asked_of):
    asked_of("ask")
    pytester.path.joinpath("own.py").write_text(
        "def ask(query):\n    return [] if query.endswith('07') else [('good', 1.0)]\n"
    )
    assert "returned nothing for 30" not in flat(pytester.runpytest("--riskguard"))


#: Searches as ``ask`` does, in another process.
IN_LINES = """
import json, sys
from own import ask
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "results": ask(asked["query"])}), flush=True)
"""


def test_a_command_gives_the_verdict_of_the_function_that_it_calls(live, pytester, asked_of):
    assert live("ask", "--riskguard-report=function.json").ret == 0
    path = pytester.path / "riskguard.yaml"
    command = f"command: [{sys.executable!r}, search.py]"
    path.write_text(path.read_text().replace("retrieve: 'own:ask'", command))
    (pytester.path / "search.py").write_text(IN_LINES)
    assert pytester.runpytest("--riskguard", "--riskguard-report=command.json").ret == 0
    reports = [without_times(read_report(pytester.path / name)) for name in ("function.json", "command.json")]
    assert reports[0]["verdicts"] == reports[1]["verdicts"]
    assert reports[1]["provenance"]["candidate"]["ties"] == "as_returned"
