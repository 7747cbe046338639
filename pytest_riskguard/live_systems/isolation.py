"""Queries a live system in a separate process, so that its code cannot affect the process that judges.

The process gets its task as JSON on standard input and answers with a line of JSON for each topic. A process that
ends early, writes anything else or falls silent makes the gate incomparable.
"""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, cast

from pytest_riskguard.config.asking import MAX_ID, Asking
from pytest_riskguard.errors import DataError
from pytest_riskguard.live_systems.results import Pairs, is_pair
from pytest_riskguard.live_systems.retrieval import MAX_PAUSE, Progress, Retrieved
from pytest_riskguard.live_systems.search_import import RefusedSearchError
from pytest_riskguard.live_systems.time_limit import GRACE
from pytest_riskguard.live_systems.topic import Topic
from pytest_riskguard.text import clean, counted

#: Bytes of one line that the process writes, which is the answer for one topic, and of all of them.
MAX_LINE, MAX_BYTES = 50_000_000, 1_000_000_000
#: Bytes of a line without results, and of one result: JSON writes a character of an id in up to twelve.
_MESSAGE_BYTES, _PAIR_BYTES = 100_000, 12 * MAX_ID + 50
#: Seconds that the import of the function may take, and the end of the process.
MAX_START, MAX_END = 120.0, 10.0
#: Seconds that no answer takes.
MAX_SECONDS = 1e6
#: Seconds between two looks at whether the process has ended.
_GLANCE = 1.0
_CHILD = "pytest_riskguard.live_systems.isolated_process"


class _DeadError(Exception):
    """The process did not answer; the message says what it did instead."""


def retrieve_isolated(
    target: str,
    queries: Mapping[str, Topic],
    asking: Asking,
    *,
    root: Path,
    listed: Sequence[str],
    progress: Progress | None = None,
) -> Retrieved:
    """As ``retrieve``, with the function that ``target`` names; every failure is raised, as ``DataError``.

    ``RefusedSearchError`` if the function must not be called.
    """
    topics = {topic: {"text": query.text, "tags": dict(query.tags)} for topic, query in queries.items()}
    task = {"target": target, "root": str(root), "listed": list(listed), "path": sys.path, "topics": topics}
    process = subprocess.Popen(  # noqa: S603 - nothing in this command line comes from a file
        [sys.executable, "-P", "-m", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    received = _Received(queries, asking.depth, progress)
    try:
        _hand_over(process, json.dumps(task | {"asking": asdict(asking)}).encode())
        for line in _lines(process, _silence(asking), min(MAX_LINE, _MESSAGE_BYTES + asking.depth * _PAIR_BYTES)):
            received.take(line)
    except _DeadError as error:
        problem = f"the isolated process of {target!r} {error}{received.progress_so_far}"
        raise DataError(problem, reason="bad_run") from None
    finally:
        _end(process)
    return Retrieved(received.answers, (), received.again, tuple(received.seconds))


def _silence(asking: Asking) -> float | None:
    """Seconds without a line after which the process counts as hung: it enforces the time limits itself."""
    return None if asking.timeout is None else asking.timeout + MAX_PAUSE + GRACE


class _Received:
    """The messages of the process so far, checked."""

    def __init__(self, queries: Mapping[str, Topic], depth: int, progress: Progress | None) -> None:
        self.answers: dict[str, Pairs] = {}
        self.again: dict[str, Pairs] = {}
        self.seconds: list[float] = []
        self._queries, self._depth, self._progress = queries, depth, progress
        self._is_started = False

    @property
    def progress_so_far(self) -> str:
        """How many topics the process has answered."""
        return f"; it had answered for {len(self.answers)} of {counted(len(self._queries), 'topic')}"

    def take(self, message: dict[str, Any]) -> None:
        """Take one message; raise the failure that it reports."""
        match message:
            case {"refused": str(text)}:
                raise RefusedSearchError(clean(text, limit=2000))
            case {"failed": str(text), "problem": str(problem), "reason": "bad_run" | "missing_input" as reason}:
                raise DataError(clean(text, limit=10_000), reason=reason, problem=clean(problem, limit=10_000))
            case {"topic": str(topic), "pairs": list(pairs)} if self._is_answer(topic, pairs, self.answers):
                self.answers[topic] = [(document, float(score)) for document, score in pairs]
                self._take_time(message.get("seconds"))
                if self._progress is not None:
                    self._progress(len(self.answers), len(self._queries))
            case {"topic": str(topic), "again": list(pairs)} if self._is_answer(topic, pairs, self.again):
                self.again[topic] = [(document, float(score)) for document, score in pairs]
            case {"started": True} if not self._is_started:  # repeated forever, it would hide the silence
                self._is_started = True
            case {"done": True} if self.answers.keys() == self._queries.keys():
                self.answers = {topic: self.answers[topic] for topic in self._queries}
            case _:
                raise _DeadError("wrote something other than an answer")

    def _take_time(self, seconds: object) -> None:
        """How long an answer took, as the process says."""
        if isinstance(seconds, float) and 0 <= seconds < MAX_SECONDS:
            self.seconds.append(seconds)

    def _is_answer(self, topic: str, pairs: list[Any], before: Mapping[str, Pairs]) -> bool:
        return (
            topic in self._queries
            and topic not in before
            and len(pairs) <= self._depth
            and all(is_pair(pair) and isinstance(pair[0], str) and isinstance(pair[1], int | float) for pair in pairs)
        )


def _hand_over(process: subprocess.Popen[bytes], task: bytes) -> None:
    # if it has ended already, the missing answers will show that
    with suppress(OSError), cast("IO[bytes]", process.stdin) as stdin:
        stdin.write(task)


def _lines(process: subprocess.Popen[bytes], silence: float | None, longest: int) -> Iterator[dict[str, Any]]:
    """The messages of the process up to the one that says it is done; ``_DeadError`` if it never comes."""
    inbox: queue.Queue[bytes] = queue.Queue(maxsize=10)
    reading = (process.stdout, inbox, longest)
    threading.Thread(target=_read, args=reading, name="riskguard-reader", daemon=True).start()
    size, wait = 0, MAX_START
    while True:
        line = _next(inbox, process, wait if silence is not None else None)
        wait = silence if silence is not None else wait
        size += len(line)
        if not line:
            raise _DeadError(_ending(process))
        if len(line) > longest or size > MAX_BYTES:
            raise _DeadError(f"wrote more than {longest if len(line) > longest else MAX_BYTES:,} bytes")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise _DeadError(f"wrote something other than an answer: {clean(repr(line[:60]))}") from None
        yield message if isinstance(message, dict) else {}
        if message == {"done": True}:
            return


def _next(inbox: queue.Queue[bytes], process: subprocess.Popen[bytes], wait: float | None) -> bytes:
    """The next line; an empty one if the process has ended, even if other processes keep its output open."""
    last = math.inf if wait is None else time.monotonic() + wait
    while True:
        has_ended = process.poll() is not None
        now = time.monotonic()
        try:
            return inbox.get(timeout=max(min(MAX_END if has_ended else _GLANCE, last - now), 0.0))
        except queue.Empty:
            if has_ended:
                return b""
            if now >= last:
                raise _DeadError(f"was silent for {wait:g} s") from None


def _read(stream: IO[bytes], inbox: queue.Queue[bytes], longest: int) -> None:
    """Put each line into the inbox, and an empty one at the end.

    The stream is closed here: elsewhere, closing it would wait for a read that may never end.
    """
    with suppress(OSError, ValueError), stream:
        while line := stream.readline(longest + 1):
            inbox.put(line)
    inbox.put(b"")


def _ending(process: subprocess.Popen[bytes]) -> str:
    try:
        status = process.wait(MAX_END)
    except subprocess.TimeoutExpired:
        return "closed its output"
    if status < 0:
        return f"was killed by signal {-status}"
    return f"ended with exit status {status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(MAX_END)
    if process.stdin is not None:
        with suppress(OSError, ValueError):
            process.stdin.close()
