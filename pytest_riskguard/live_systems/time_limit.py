"""Calls with a time limit in the thread of the caller, since a search's client may belong to that thread.

In the main thread of a POSIX system an alarm (``SIGALRM``) interrupts the call, also where it sleeps, waits for a
lock or reads from a socket. Elsewhere, and if other code uses that alarm, another thread raises the exception in
the caller's, which Python code notices but a waiting C function does not. ``stuck`` handles a call that nothing
interrupts. No limit holds while a debugger is at work.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol, TypeVar

#: Seconds after the limit until ``stuck`` is called.
GRACE = 20.0
#: Seconds between two attempts to interrupt a call that caught the first.
AGAIN = 1.0
#: Modules of debuggers, which may stop a call for as long as they like.
_DEBUGGERS = frozenset({"bdb", "pdb", "_pydevd_bundle", "pydevd", "pydevd_tracing", "pudb", "ipdb", "debugpy"})

Result = TypeVar("Result")


class OutOfTimeError(TimeoutError):
    """A call took longer than it may."""


class _Interruption(BaseException):
    """Interrupts a call; no ``Exception``, since a search may catch those and try again."""


def within(seconds: float | None, call: Callable[[], Result], *, stuck: Callable[[], None] | None = None) -> Result:
    """What the call returns or raises; ``OutOfTimeError`` with its traceback if it takes longer.

    ``stuck`` is called in another thread if the call has still not ended ``GRACE`` seconds later.
    """
    if seconds is None:
        return call()
    alarm: _Alarm = _Signal(seconds) if _signals_are_free() else _Raised(seconds)
    try:
        with _watched(seconds + GRACE, stuck):
            try:
                alarm.start()
                result = call()
            finally:
                alarm.stop()
    except BaseException as error:
        alarm.stop()
        if not alarm.has_rung or isinstance(error, KeyboardInterrupt):
            raise
        raise OutOfTimeError(f"no answer within {seconds:g} s").with_traceback(error.__traceback__) from None
    if alarm.has_rung:  # the call caught what interrupted it
        raise OutOfTimeError(f"no answer within {seconds:g} s")
    return result


class _Alarm(Protocol):
    """Raises ``_Interruption`` in the calling thread after some seconds, and again until it is stopped."""

    has_rung: bool

    def start(self) -> None: ...

    def stop(self) -> None: ...


def _signals_are_free() -> bool:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class _Signal:
    """By the alarm of the process."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._running, self.has_rung = seconds, False, False

    def start(self) -> None:
        self._running = True
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN)

    def stop(self) -> None:
        self._running = False  # first: the alarm may ring between any two lines
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        if self._running and not _is_debugged(frame):
            self.has_rung = True
            raise _Interruption


class _Raised:
    """By another thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._caller = seconds, threading.get_ident()
        self._lock, self._stopped, self.has_rung = threading.Lock(), threading.Event(), False

    def start(self) -> None:
        threading.Thread(target=self._wait, name="riskguard-time-limit", daemon=True).start()

    def stop(self) -> None:
        with self._lock:
            if not self._stopped.is_set():
                self._stopped.set()
                _raise_in(self._caller, None)  # withdraws one that has not arrived yet

    def _wait(self) -> None:
        wait = self._seconds
        while not self._stopped.wait(wait):
            with self._lock:
                if not self._stopped.is_set() and not _is_debugged(sys._current_frames().get(self._caller)):
                    self.has_rung = True
                    _raise_in(self._caller, _Interruption)
            wait = AGAIN


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    argument: Any = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), argument)


@contextmanager
def _watched(seconds: float, stuck: Callable[[], None] | None) -> Iterator[None]:
    """Call ``stuck`` if the block takes longer, unless a debugger stopped it."""
    if stuck is None:
        yield
        return
    caller, ended = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not ended.wait(seconds):
            if not _is_debugged(sys._current_frames().get(caller)):
                stuck()
                return

    threading.Thread(target=watch, name="riskguard-watch", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _is_debugged(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _DEBUGGERS:
            return True
        frame = frame.f_back
    return False
