"""A command as a live system, in any language: started for each query, or once and asked line by line.

It is ended with everything that it started.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.config.candidate_settings import CommandCandidate
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import ANSWER_BYTES
from pytest_riskguard.live_systems.retrieval import FailedSearchError, Search, Topic
from pytest_riskguard.serialization import JsonError, parsed_value
from pytest_riskguard.text import clean

#: Bytes of standard error that are kept, from its end, and the characters of its last line that a message repeats.
_ERROR_BYTES, _MAX_SAID = 10_000, 200
#: Seconds between two looks at whether a process has ended whose output is still open.
_GLANCE = 0.5
#: Seconds that the end of a killed process may take.
_MAX_END = 10.0
_PLACEHOLDER = re.compile(r"\{(query|topic|depth)\}")


@contextmanager
def command_search(candidate: CommandCandidate, asking: Asking, folder: Path) -> Iterator[Search]:
    """A search that runs a command in a folder; it enforces the time limit of ``asking`` itself.

    Commands that still run when the context ends are killed.
    """
    program, *arguments = candidate.command
    if not candidate.runs_for_each:
        command = [program, *(part.replace("{depth}", str(asking.depth)) for part in arguments)]
        with _Lines(command, folder, asking) as lines:
            yield lines.ask
        return
    runs = _Runs(program, folder, asking.timeout)

    def search(topic: Topic) -> object:
        fields = {"query": topic.text, "topic": topic.id, "depth": str(asking.depth)}
        filled = [_PLACEHOLDER.sub(lambda match: fields[match[1]], part) for part in arguments]
        return _results(runs.output(filled), runs.failure)

    try:
        yield search
    finally:
        runs.end()


class _Lines:
    """A process that is asked for every query: a line of JSON in, a line of JSON out.

    It is started for the first query. After a failure it is not asked again, since its next line could be the answer
    to another query.
    """

    def __init__(self, command: Sequence[str], folder: Path, asking: Asking) -> None:
        self._command, self._folder, self._asking = command, folder, asking
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._failed: FailedSearchError | None = None

    def __enter__(self) -> _Lines:
        return self

    def ask(self, topic: Topic) -> object:
        """The results for a topic; ``FailedSearchError`` for anything but its answer, and ever after."""
        if self._failed is None:
            try:
                return self._answer(topic)
            except FailedSearchError as error:
                self._failed = error
                self._kill()
        raise self._failed

    def _answer(self, topic: Topic) -> object:
        process = self._started()
        line = json.dumps({"id": topic.id, "query": topic.text, "depth": self._asking.depth}) + "\n"
        stdin = cast("IO[bytes]", process.stdin)
        threading.Thread(target=_write, args=(stdin, line), name="riskguard-command", daemon=True).start()
        try:
            written = self._lines.get(timeout=self._asking.timeout)
        except queue.Empty:
            raise self._failure(
                f"no answer to {topic.id!r} within {self._asking.timeout:g} s; it was killed"
            ) from None
        if not written:
            raise self._failure(f"it ended without an answer to {topic.id!r}{self._how_it_ended()}")
        if len(written) > ANSWER_BYTES.value:
            raise self._failure(ANSWER_BYTES.problem(len(written)))
        try:
            answer = parsed_value(written)
        except JsonError:
            answer = None
        if not isinstance(answer, dict) or "id" not in answer or "results" not in answer:
            expected = 'a line of JSON such as {"id": "q1", "results": ["d1", "d2"]}'
            raise self._failure(f"expected {expected}, found {_shown(written)}")
        if answer["id"] != topic.id:
            raise self._failure(f"expected the answer to {topic.id!r}, found one to {str(answer['id'])[:80]!r}")
        return answer["results"]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            process = self._process = _start(self._command, self._folder, self._failure, stdin=subprocess.PIPE)
            self._errors = _Reader(cast("IO[bytes]", process.stderr), most=None)
            stdout = cast("IO[bytes]", process.stdout)
            threading.Thread(target=self._read, args=(stdout,), name="riskguard-command", daemon=True).start()
        return self._process

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while line := stream.readline(ANSWER_BYTES.value + 1):
                self._lines.put(line)
        self._lines.put(b"")

    def _how_it_ended(self) -> str:
        process = cast("subprocess.Popen[bytes]", self._process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GLANCE)
        status = process.poll()
        self._kill()
        self._errors.finish()
        return f" ({'it closed its output' if status is None else _ending(status)}){_last_line(self._errors.content)}"

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the process; ``DataError`` if it leaves more than was asked for, or fails at its end."""
        process = self._process
        if process is None:
            return
        try:
            if kind is None and self._failed is None:
                self._check_end(process)
        finally:
            self._kill()
            _close(process.stdin)

    def _check_end(self, process: subprocess.Popen[bytes]) -> None:
        _close(process.stdin)
        with suppress(subprocess.TimeoutExpired, queue.Empty):
            process.wait(_MAX_END)  # one that does not end by itself is killed
            if left := self._lines.get(timeout=_MAX_END).strip():
                problem = f"it wrote more than one line for each query: {_shown(left)}"
                raise DataError(str(self._failure(problem)), reason="bad_run")
        if process.returncode:
            problem = f"it failed after its last answer{self._how_it_ended()}"
            raise DataError(str(self._failure(problem)), reason="bad_run")

    def _kill(self) -> None:
        if self._process is not None:
            _kill(self._process)

    def _failure(self, problem: str) -> FailedSearchError:
        return FailedSearchError(f"{clean(self._command[0], limit=80)}: {problem}")


def _shown(line: bytes) -> str:
    return clean(repr(line[:_MAX_SAID].decode(errors="replace")))


def _results(output: bytes, failure: Callable[[str], FailedSearchError]) -> object:
    """What a command wrote: JSON, or ids, one per line."""
    output = output.strip()
    if output.startswith((b"[", b"{")):
        try:
            return parsed_value(output)
        except JsonError as error:
            raise failure(
                f"expected JSON, or ids, one per line; its output begins like JSON, but is {error}"
            ) from None
    try:
        text = output.decode()
    except UnicodeDecodeError:
        raise failure("expected JSON, or ids, one per line, in UTF-8; its output is not UTF-8") from None
    return [line.strip() for line in text.split("\n") if line.strip()]


class _Runs:
    """Runs of one program; several threads may start them."""

    def __init__(self, program: str, folder: Path, timeout: float | None) -> None:
        self._program, self._folder, self._timeout = program, folder, timeout
        self._lock, self._running = threading.Lock(), set[subprocess.Popen[bytes]]()
        self._has_ended = False

    def output(self, arguments: Sequence[str]) -> bytes:
        """Standard output; ``FailedSearchError`` unless the command ends in time with 0."""
        started = time.monotonic()
        process = self._started(arguments)
        try:
            return self._finished(process, started)
        finally:
            _kill(process)
            with self._lock:
                self._running.discard(process)

    def end(self) -> None:
        """Kill what runs, and start nothing more."""
        with self._lock:
            self._has_ended = True
            running = list(self._running)
        for process in running:
            _kill(process)

    def failure(self, problem: str) -> FailedSearchError:
        """An error that names the command."""
        return FailedSearchError(f"{clean(self._program, limit=80)}: {problem}")

    def _started(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._has_ended:
                raise self.failure("not started, since the run has ended")
            process = _start([self._program, *arguments], self._folder, self.failure, stdin=subprocess.DEVNULL)
            self._running.add(process)
            return process

    def _finished(self, process: subprocess.Popen[bytes], started: float) -> bytes:
        limit = ANSWER_BYTES.value
        stdout, stderr = cast("tuple[IO[bytes], ...]", (process.stdout, process.stderr))
        answer = _Reader(stdout, most=limit, full=lambda: _kill(process))
        errors = _Reader(stderr, most=None)
        deadline = float("inf") if self._timeout is None else started + self._timeout
        while answer.is_open or process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                _kill(process)
                raise self.failure(f"no answer within {self._timeout:g} s; it was killed")
            answer.wait(min(left, _GLANCE))
            if not answer.is_open:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(min(left, _GLANCE))
            elif process.poll() is not None:
                break  # a process that it started keeps its output open
        _kill(process)
        answer.finish()
        if answer.is_full:
            raise self.failure(ANSWER_BYTES.problem(limit + 1))
        if process.returncode != 0:
            errors.finish()
            raise self.failure(f"{_ending(process.returncode)}{_last_line(errors.content)}")
        return answer.content


def _start(
    command: Sequence[str], folder: Path, failure: Callable[[str], FailedSearchError], *, stdin: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the command that riskguard.yaml names; no shell reads it
            command,
            cwd=folder,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: an argument with a NUL
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise failure(f"cannot be started in {folder}: {said}") from None


class _Reader:
    """Reads a stream in a thread of its own, up to ``most`` bytes, or without such a limit only the end of it."""

    def __init__(self, stream: IO[bytes], *, most: int | None, full: Callable[[], None] = lambda: None) -> None:
        self._stream, self._most, self._full = stream, most, full
        self._content, self.is_full = bytearray(), False
        self._thread = threading.Thread(target=self._read, name="riskguard-command", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._thread.is_alive()

    @property
    def content(self) -> bytes:
        """What has been read."""
        return bytes(self._content)

    def wait(self, seconds: float) -> None:
        """Wait until everything has been read, at most so long."""
        self._thread.join(seconds)

    def finish(self) -> None:
        """Wait until nothing more comes from a process that has ended; one outside its group may keep this open."""
        deadline, length = time.monotonic() + _MAX_END, -1
        while self.is_open and length < len(self._content) and time.monotonic() < deadline:
            length = len(self._content)
            self.wait(2 * _GLANCE)

    def _read(self) -> None:
        with suppress(OSError, ValueError), self._stream:
            while block := self._stream.read1(65536):  # type: ignore[attr-defined]
                self._content += block
                if self._most is None:
                    del self._content[:-_ERROR_BYTES]
                elif len(self._content) > self._most:
                    self.is_full = True
                    self._full()
                    return


def _write(stream: IO[bytes], text: str) -> None:
    with suppress(OSError, ValueError):  # it need not read its input
        stream.write(text.encode())
        stream.flush()


def _close(stream: IO[bytes] | None) -> None:
    with suppress(OSError, ValueError):
        if stream is not None:
            stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_MAX_END)


def _ending(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"exit status {status}"


def _last_line(errors: bytes) -> str:
    """What a command said last on standard error, after a colon."""
    lines = [said for line in errors.decode(errors="replace").splitlines() if (said := clean(line, limit=_MAX_SAID))]
    return f": {lines[-1]}" if lines else ""
