"""A pytest plugin that tries mutants: it collects the tests once, and forks a process for each mutant.

mutmut starts a session of pytest for each mutant, which takes longer than most of the tests that notice one. Here the
tests that call the mutated function are run one by one until one fails: first those that noticed other mutants of the
function or of its module, then the quickest.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

#: Files that name the mutants to try, and that take a line for each: ``{"mutant": ..., "outcome": ...}``.
MUTANTS, RESULTS = "RISKGUARD_MUTANTS", "RISKGUARD_MUTANTS_RESULTS"
#: Seconds of tests for a mutant, as long as they take on the package as it is.
SECONDS_OF_TESTS = "RISKGUARD_MUTANTS_SECONDS_OF_TESTS"
#: The exit status of a process in which a test failed.
KILLED = 1
#: Seconds of processor time for a mutant: so many, and so many times what its tests take on the package as it is; and
#: how many times longer it may wait for other processes.
MIN_SECONDS, TIMES, TIMES_WAITING = 5.0, 4.0, 10.0
_TIMERS = (
    (signal.ITIMER_PROF, signal.SIGPROF, 1.0),
    (signal.ITIMER_REAL, signal.SIGALRM, TIMES_WAITING),
)


def pytest_configure() -> None:
    """A failure need not be made small to be one."""
    settings.register_profile("mutants", parent=settings(), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try every mutant in place of running the tests."""
    if session.testsfailed:
        raise session.Interrupted("tests that cannot be collected would notice every mutant")
    measured = json.loads(Path("mutmut-stats.json").read_text(encoding="utf-8"))
    calling: dict[str, list[str]] = measured["tests_by_mangled_function_name"]
    seconds: dict[str, float] = measured["duration_by_test"]
    tests = {test.nodeid: test for test in session.items}
    noticed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    most = float(os.environ[SECONDS_OF_TESTS])
    with Path(os.environ[RESULTS]).open("a", encoding="utf-8") as results:
        for mutant in Path(os.environ[MUTANTS]).read_text(encoding="utf-8").split():
            function, module = mutant.rpartition("__mutmut_")[0], mutant.rpartition(".")[0]

            def order(
                name: str, own: Counter[str] = noticed[function], near: Counter[str] = noticed[module]
            ) -> float:
                return (seconds.get(name, 0) + 0.003) / (1 + 5 * own[name] + near[name])

            chosen = sorted((name for name in calling.get(function, ()) if name in tests), key=order)
            until = accumulate(seconds.get(name, 0) for name in chosen)
            chosen = [name for name, end in zip(chosen, until, strict=True) if end <= most]
            limit = MIN_SECONDS + TIMES * sum(seconds.get(name, 0) for name in chosen)
            outcome, failed = _tried(mutant, [tests[name] for name in chosen], limit)
            if failed:
                noticed[function][failed] += 1
                noticed[module][failed] += 1
            results.write(json.dumps({"mutant": mutant, "outcome": outcome, "test": failed}) + "\n")
            results.flush()
    return True


def _tried(mutant: str, tests: list[pytest.Item], limit: float) -> tuple[str, str]:
    """The outcome of one mutant, and the name of the test that failed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _try_in_child(mutant, tests, limit, writer)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as answers:
        answer = answers.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return ("timed out" if os.WTERMSIG(status) in [number for _, number, _ in _TIMERS] else "killed"), ""
    return ("killed" if os.WEXITSTATUS(status) else "survived"), answer


def _try_in_child(mutant: str, tests: Iterable[pytest.Item], limit: float, writer: int) -> None:
    """Run the tests until one fails, and end the process with the status."""
    try:
        for timer, number, times in _TIMERS:
            signal.signal(number, signal.SIG_DFL)
            signal.setitimer(timer, times * limit)
        os.environ["MUTANT_UNDER_TEST"] = mutant
        tests = list(tests)
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            if any(report.failed for report in runtestprotocol(test, log=False, nextitem=following)):
                os.write(writer, test.nodeid.encode())
                os._exit(KILLED)
    except BaseException:  # whatever a mutant does to the process that tries it, it was noticed
        os._exit(KILLED)
    os._exit(0)
