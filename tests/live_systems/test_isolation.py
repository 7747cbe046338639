"""Isolated searches: nothing that they do to their process, and no way in which they end, makes a gate pass."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.errors import DataError
from pytest_riskguard.live_systems import isolation
from pytest_riskguard.live_systems.isolation import retrieve_isolated
from pytest_riskguard.live_systems.retrieval import Retrieved
from pytest_riskguard.live_systems.search_import import RefusedSearchError
from pytest_riskguard.live_systems.topic import Topic

QUERIES = {f"t{number}": Topic(f"query {number}", id=f"t{number}") for number in range(6)}


#: Writes to every open file.
WRITES = """
import os
def ask(query):
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, {})
        except OSError:
            pass
    return []
"""


@pytest.fixture
def isolated(tmp_path, monkeypatch):
    """Query the function ``ask`` of a module with this text in a separate process."""

    def run(text: str, target: str = "own:ask", **asking: Any) -> Retrieved:
        tmp_path.joinpath("own.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return retrieve_isolated(target, QUERIES, Asking(**asking), root=tmp_path, listed=())

    return run


@pytest.mark.parametrize("asking", [{}, {"workers": 3}, {"ask_twice": 2}, {"timeout": None}])
def test_answers_are_those_of_the_function_in_the_order_of_the_queries(isolated, asking):
    found = isolated("def ask(query): print('noise'); return [(query[-1], 1), (7, 0.5)]", **asking)
    assert found.answers == {topic: [(query[-1], 1.0), ("7", 0.5)] for topic, query in QUERIES.items()}
    assert list(found.answers) == list(QUERIES)
    assert list(found.again) == (["t0", "t3"] if "ask_twice" in asking else [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os\ndef ask(query): os._exit(0)", "ended with exit status 0; it had answered for 0 of 6 topics"),
        ("import os\nos._exit(0)", "ended with exit status 0"),
        (
            "import os\ndef ask(query):\n    if query[-1] == '3': os._exit(5)\n    return []",
            "status 5.* 3 of 6",
        ),
        ("import os\ndef ask(query): os.kill(os.getpid(), 9)", "was killed by signal 9"),
        (
            "def ask(query): raise SystemExit(0)",
            "failed for all 6 topics with the same error: SystemExit: 0 ",
        ),
        ("def ask(query): raise KeyboardInterrupt", "the search ended with KeyboardInterrupt"),
        ("def ask(query): return 'ab'", "expected ids, .docid, score. pairs"),
        ("raise ImportError('broken')", "cannot import 'own:ask': ImportError: broken"),
        (WRITES.format("b'garbage\\n'"), "wrote something other than an answer"),
        (WRITES.format("b'{\"done\": true}\\n'"), "wrote something other than an answer"),
        ("import os\ndef ask(query):\n    os.closerange(0, 20)\n    return []", "ended with exit status 1"),
    ],
)
def test_every_other_way_to_end_is_a_failure(isolated, text, said):
    with pytest.raises(DataError, match=said) as failed:
        isolated(text)
    assert failed.value.reason in ("bad_run", "missing_input")


def test_a_process_that_falls_silent_is_ended(isolated, monkeypatch):
    monkeypatch.setattr(isolation, "_silence", lambda _: 1.0)
    with pytest.raises(DataError, match="was silent for 1 s"):
        isolated("import os, signal\ndef ask(query): os.kill(os.getpid(), signal.SIGSTOP)")


def test_an_answer_without_end_is_cut_off(isolated, monkeypatch):
    monkeypatch.setattr(isolation, "MAX_LINE", 1000)
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        isolated("def ask(query): return [('d' * 900 + str(i), 1.0) for i in range(100)]")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_that_keeps_the_output_open_is_not_waited_for(isolated, monkeypatch):
    monkeypatch.setattr(isolation, "MAX_END", 0.5)
    with pytest.raises(DataError, match="ended with exit status 7"):
        isolated(
            "import os, time\n"
            "def ask(query):\n"
            "    if os.fork() == 0:\n"
            "        os.setsid()\n"
            "        time.sleep(20)\n"
            "    os._exit(7)"
        )


def test_more_results_than_were_asked_for_are_no_answer(isolated):
    forged = b'{"topic": "t0", "pairs": [["a", 0], ["b", 0]]}\n'
    with pytest.raises(DataError, match="wrote something other than an answer"):
        isolated(WRITES.format(forged), depth=1)
    with pytest.raises(DataError, match="more than 112,050 bytes"):
        isolated(WRITES.format(f"b' ' * 200_000 + {forged!r}"), depth=1)


def test_a_second_start_message_is_refused(isolated):
    with pytest.raises(DataError, match="wrote something other than an answer"):
        isolated(WRITES.format(b'{"started": true}\n'))


def test_time_limits_hold_in_the_isolated_process_too(isolated):
    with pytest.raises(DataError, match=r"no answer within 0\.2 s"):
        isolated("import time\ndef ask(query): time.sleep(600)", timeout=0.2)


@pytest.mark.parametrize("target", ["builtins:exec", "os:system", "own:system"])
def test_functions_that_are_not_of_the_project_are_refused(isolated, target):
    with pytest.raises(RefusedSearchError, match="is not called"):
        isolated("from os import system", target)


def test_changes_by_isolated_code_stay_in_its_process(isolated):
    text = """
import builtins, os, sys
from pytest_riskguard.gates import judge
judge.judge = None
builtins.sorted = None
os.chdir("/")
os.environ["CHANGED_BY_A_SEARCH"] = "1"
sys.stdout.close()
def ask(query): return []
"""
    assert list(isolated(text).answers) == list(QUERIES)
    from os import environ

    from pytest_riskguard.gates.judge import judge

    assert judge is not None
    assert "CHANGED_BY_A_SEARCH" not in environ


def test_an_isolated_search_may_be_async_and_take_the_topic(isolated):
    found = isolated("async def ask(topic, k): return [f'{topic.id}-{topic.text[-1]}-{k}']", depth=7, workers=2)
    assert found.answers == {topic: [(f"{topic}-{topic[-1]}-7", 1.0)] for topic in QUERIES}
