"""Answers that have to be awaited: all coroutines of a process run on one event loop, in a thread of its own.

A client that belongs to a loop, such as one of httpx2 or aiohttp, finds the same loop for every query. The thread
that asked waits, so the number of workers bounds how many queries run at a time.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterable
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress

from pytest_riskguard.live_systems.time_limit import OutOfTimeError

#: Seconds within which a loop must show that nothing blocks it.
_MAX_BLOCKED = 1.0

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
#: A loop keeps only weak references to its tasks.
_tasks: set[asyncio.Task[None]] = set()


class Awaiting:
    """Waits for one coroutine at a time, in the thread of a worker; another thread may cancel it.

    ``timeout`` is for a wait that nothing else would interrupt.
    """

    def __init__(self, timeout: float | None) -> None:
        self._timeout, self._lock = timeout, threading.Lock()
        self._future: Future[object] | None = None
        self._is_cancelled = False

    def result(self, results: object, depth: int) -> object:
        """What a search returned, awaited if need be; at most ``depth`` results of an asynchronous iterator.

        Raises what the coroutine raises, ``OutOfTimeError`` after the time limit, when it is cancelled.
        """
        if not inspect.isawaitable(results) and not isinstance(results, AsyncIterable):
            return results
        with self._lock:
            if self._is_cancelled:
                _close(results)
                raise OutOfTimeError("cancelled")
            future = self._future = _started(results, depth)
        try:
            return future.result(self._timeout)
        except TimeoutError as error:
            if future.done() and not future.cancelled():  # raised by the search itself
                raise
            raise OutOfTimeError("no answer in time") from error
        except CancelledError:
            raise OutOfTimeError("cancelled") from None
        finally:
            self._end(future)

    def cancel(self) -> bool:
        """Cancel what runs now, and everything that would come after it; whether something ran."""
        with self._lock:
            self._is_cancelled = True
        return self._future is not None and self._end(self._future)

    @staticmethod
    def _end(future: Future[object]) -> bool:
        was_running = not future.done() and future.cancel()
        if was_running:
            _forget_if_blocked()
        return was_running


async def _awaited(results: object, depth: int) -> object:
    if inspect.isawaitable(results):
        results = await results
    if not isinstance(results, AsyncIterable):
        return results
    entries: list[object] = []
    async for entry in results:
        entries.append(entry)
        if len(entries) == depth:
            break
    if inspect.isasyncgen(results):
        await results.aclose()
    return entries


def _started(results: object, depth: int) -> Future[object]:
    """The work on the loop, with the context variables of this thread."""
    loop, context = _running_loop(), contextvars.copy_context()
    future: Future[object] = Future()

    async def run() -> None:
        try:
            answer = await _awaited(results, depth)
        except BaseException as error:  # also one that would end the loop, such as SystemExit
            with suppress(InvalidStateError):  # it has been cancelled
                future.set_exception(error)
        else:
            with suppress(InvalidStateError):
                future.set_result(answer)

    def start() -> None:
        task = loop.create_task(run(), context=context)
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)
        task.add_done_callback(lambda _: _close(results))
        future.add_done_callback(lambda done: loop.call_soon_threadsafe(task.cancel) if done.cancelled() else None)

    loop.call_soon_threadsafe(start)
    return future


def _close(results: object) -> None:
    """Python warns of a coroutine that nobody awaited."""
    if inspect.iscoroutine(results):
        results.close()


def _running_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="riskguard-loop", daemon=True).start()
        return _loop


def _forget_if_blocked() -> None:
    """After a time limit: take another loop for later queries if a coroutine blocks this one."""
    global _loop
    responds = threading.Event()
    with _lock:
        if _loop is not None:
            _loop.call_soon_threadsafe(responds.set)
            if not responds.wait(_MAX_BLOCKED):
                _loop = None
