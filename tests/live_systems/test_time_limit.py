"""Calls that are interrupted at their time limit, by an alarm or another thread, and what nothing interrupts."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from pytest_riskguard.live_systems import time_limit
from pytest_riskguard.live_systems.time_limit import OutOfTimeError, within

HAS_ALARM = hasattr(signal, "setitimer")
LONG = 60


def spin() -> None:
    while True:
        pass


def swallow() -> None:
    for _ in range(2):
        try:
            spin()
        except BaseException:  # noqa: S112
            continue
    spin()


def retry_on_any_exception() -> None:
    while True:
        try:
            spin()
        except Exception:  # noqa: S112
            continue


#: Python code, which every way interrupts.
PYTHON: dict[str, Callable[[], object]] = {
    "loop": spin,
    "retries": retry_on_any_exception,
    "swallows": swallow,
    "generator": lambda: list(iter(lambda: time.sleep(0.01), 1)),
}
#: C functions that wait, which only an alarm interrupts.
WAITING: dict[str, Callable[[], object]] = {
    "sleep": lambda: time.sleep(LONG),
    "lock": lambda: [lock := threading.Lock(), lock.acquire(), lock.acquire(timeout=LONG)],
    "event": lambda: threading.Event().wait(LONG),
    "process": lambda: subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], check=False),
}


CALLS: dict[str, Callable[[], object]] = {**PYTHON, **WAITING}


@pytest.fixture
def without_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.setattr(time_limit, "_signals_are_free", lambda: False)


@pytest.fixture(autouse=True)
def _again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "AGAIN", 0.1)


@pytest.mark.parametrize("seconds", [None, 30])
def test_a_call_that_ends_in_time_behaves_as_without_a_limit(seconds):
    assert within(seconds, lambda: 3) == 3
    with pytest.raises(KeyError):
        within(seconds, lambda: dict[str, int]()["x"])


@pytest.mark.skipif(not HAS_ALARM, reason="this system has no alarm")
@pytest.mark.parametrize("call", [*PYTHON, *WAITING])
def test_an_alarm_interrupts_python_code_and_waiting_calls(call):
    with pytest.raises(OutOfTimeError, match=r"no answer within 0.1 s"):
        within(0.1, CALLS[call])
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.usefixtures("without_alarm")
@pytest.mark.parametrize("call", PYTHON)
def test_without_an_alarm_another_thread_interrupts_python(call):
    with pytest.raises(OutOfTimeError):
        within(0.1, PYTHON[call])
    assert within(LONG, lambda: sum(range(100_000))) == 4999950000  # nothing arrives late


@pytest.mark.parametrize("another", [None, ValueError("another"), SystemExit(0)])
def test_a_call_that_catches_its_interruption_is_out_of_time_all_the_same(another):
    def call() -> None:
        try:
            time.sleep(20)
        except BaseException:
            if another is not None:
                raise another from None

    with pytest.raises(OutOfTimeError, match=r"no answer within 0\.1 s"):
        within(0.1, call)


def test_in_another_thread_than_the_main_one_no_signal_is_used():
    ended: list[object] = []

    def work() -> None:
        try:
            within(0.1, spin)
        except OutOfTimeError as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(LONG)
    assert len(ended) == 1


@pytest.mark.skipif(not HAS_ALARM, reason="this system has no alarm")
def test_an_alarm_of_other_code_is_left_alone():
    def theirs(number: int, frame: FrameType | None) -> None:
        raise AssertionError("their alarm rang")

    before = signal.signal(signal.SIGALRM, theirs)
    signal.setitimer(signal.ITIMER_REAL, LONG)
    try:
        with pytest.raises(OutOfTimeError):
            within(0.1, spin)
        assert signal.getsignal(signal.SIGALRM) is theirs
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= LONG
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_traceback_ends_where_the_call_was():
    with pytest.raises(OutOfTimeError) as ended:
        within(0.1, spin)
    assert any(entry.name == "spin" for entry in ended.traceback)


@pytest.mark.parametrize("fixture", ["", "without_alarm"])
def test_no_limit_holds_while_a_debugger_is_at_work(request, fixture):
    if fixture:
        request.getfixturevalue(fixture)
    debugger: dict[str, Any] = {"__name__": "pdb", "time": time}
    exec(  # noqa: S102
        textwrap.dedent(
            """
            def interaction():
                end = time.monotonic() + 0.5
                while time.monotonic() < end:
                    pass
                return "continued"
            """
        ),
        debugger,
    )
    assert within(0.1, debugger["interaction"], stuck=spin) == "continued"


def test_a_call_that_cannot_be_interrupted_is_given_up(monkeypatch):
    monkeypatch.setattr(time_limit, "GRACE", 0.1)
    monkeypatch.setattr(time_limit, "_signals_are_free", lambda: False)
    gave_up = threading.Event()
    with pytest.raises(OutOfTimeError):
        within(0.1, lambda: gave_up.wait(LONG), stuck=gave_up.set)
    assert gave_up.is_set()
