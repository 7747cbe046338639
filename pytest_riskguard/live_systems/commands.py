"""A command as a live system, in any language: started for each query, or once and asked line by line."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, cast

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.config.candidate_settings import CommandCandidate
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import ANSWER_BYTES
from pytest_riskguard.live_systems.retrieval import FailedSearchError, Search, Topic
from pytest_riskguard.serialization import JsonError, parsed_value
from pytest_riskguard.text import clean

#: Bytes from the end of standard error, and characters of its last line that a message repeats.
_ERROR_BYTES, _MAX_SAID = 10_000, 200
#: Seconds that a process may take to end when it is asked nothing more.
_MAX_END = 10.0
_PLACEHOLDER = re.compile(r"\{(query|topic|depth)\}")


@contextmanager
def command_search(candidate: CommandCandidate, asking: Asking, folder: Path) -> Iterator[Search]:
    """A search that runs a command in a folder; it enforces the time limit of ``asking`` itself."""
    if not candidate.runs_for_each:
        command = [part.replace("{depth}", str(asking.depth)) for part in candidate.command]
        with TemporaryFile() as errors, _Lines(command, folder, asking, errors).asked() as search:
            yield search
        return

    def run(topic: Topic) -> object:
        fields = {"query": topic.text, "topic": topic.id, "depth": str(asking.depth)}
        program, *arguments = candidate.command
        filled = [_PLACEHOLDER.sub(lambda match: fields[match[1]], part) for part in arguments]
        return _output([program, *filled], folder, asking.timeout)

    yield run


def _output(command: Sequence[str], folder: Path, timeout: float | None) -> object:
    """What a command writes; ``FailedSearchError`` unless it ends in time with 0."""
    # Into files: a pipe would stay open as long as any process that the command has started.
    with TemporaryFile() as output, TemporaryFile() as errors:
        try:
            done = subprocess.run(  # noqa: S603 - the command that riskguard.yaml names; no shell reads it
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise _failure(command, f"no answer within {timeout:g} s; it was killed") from None
        except (OSError, ValueError) as error:
            raise _not_started(command, folder, error) from None
        if done.returncode:
            raise _failure(command, ": ".join(_ending(done.returncode, errors)))
        output.seek(0)
        content = output.read(ANSWER_BYTES.value + 1)
    if len(content) > ANSWER_BYTES.value:
        raise _failure(command, ANSWER_BYTES.problem(len(content)))
    return _results(command, content.strip())


def _results(command: Sequence[str], output: bytes) -> object:
    """JSON, or ids, one per line."""
    if output.startswith((b"[", b"{")):
        try:
            return parsed_value(output)
        except JsonError as error:
            problem = f"expected JSON, or ids, one per line; its output begins like JSON, but is {error}"
            raise _failure(command, problem) from None
    try:
        text = output.decode()
    except UnicodeDecodeError:
        problem = "expected JSON, or ids, one per line, in UTF-8; its output is not UTF-8"
        raise _failure(command, problem) from None
    return [line.strip() for line in text.split("\n") if line.strip()]


class _Lines:
    """A process that is asked for every query: a line of JSON in, a line of JSON out.

    It is started for the first query. After a failure it is not asked again, since its next line could be the answer
    to another query.
    """

    def __init__(self, command: Sequence[str], folder: Path, asking: Asking, errors: IO[bytes]) -> None:
        self._command, self._folder, self._asking, self._errors = command, folder, asking, errors
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._failed: FailedSearchError | None = None

    @contextmanager
    def asked(self) -> Iterator[Search]:
        """The search; at its end ``DataError`` if the process leaves more than was asked for, or fails."""
        try:
            yield self._ask
            if self._process is not None and self._failed is None:
                self._check_end(self._process)
        finally:
            if self._process is not None:
                self._process.kill()
                _close(self._process)
                self._process.wait()

    def _ask(self, topic: Topic) -> object:
        if self._failed is None:
            try:
                return self._answer(topic)
            except FailedSearchError as error:
                self._failed = error
        raise self._failed

    def _answer(self, topic: Topic) -> object:
        process = self._started()
        line = json.dumps({"id": topic.id, "query": topic.text, "depth": self._asking.depth}) + "\n"
        with suppress(OSError):  # it need not read its input
            stdin = cast("IO[bytes]", process.stdin)
            stdin.write(line.encode())
            stdin.flush()
        try:
            written = self._lines.get(timeout=self._asking.timeout)
        except queue.Empty:
            problem = f"no answer to {topic.id!r} within {self._asking.timeout:g} s; it was killed"
            raise _failure(self._command, problem) from None
        if not written:
            raise _failure(self._command, f"it ended without an answer to {topic.id!r} {self._end(process)}")
        if len(written) > ANSWER_BYTES.value:
            raise _failure(self._command, ANSWER_BYTES.problem(len(written)))
        try:
            answer = parsed_value(written)
        except JsonError:
            answer = None
        if not isinstance(answer, dict) or "id" not in answer or "results" not in answer:
            expected = 'a line of JSON such as {"id": "q1", "results": ["d1", "d2"]}'
            raise _failure(self._command, f"expected {expected}, found {_shown(written)}")
        if answer["id"] != topic.id:
            problem = f"expected the answer to {topic.id!r}, found one to {str(answer['id'])[:80]!r}"
            raise _failure(self._command, problem)
        return answer["results"]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            pipe = subprocess.PIPE
            try:
                self._process = subprocess.Popen(  # noqa: S603 - as above
                    self._command, cwd=self._folder, stdin=pipe, stdout=pipe, stderr=self._errors
                )
            except (OSError, ValueError) as error:
                raise _not_started(self._command, self._folder, error) from None
            stdout = cast("IO[bytes]", self._process.stdout)
            threading.Thread(target=self._read, args=(stdout,), name="riskguard-command", daemon=True).start()
        return self._process

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while line := stream.readline(ANSWER_BYTES.value + 1):
                self._lines.put(line)
        self._lines.put(b"")

    def _check_end(self, process: subprocess.Popen[bytes]) -> None:
        _close(process)
        with suppress(subprocess.TimeoutExpired, queue.Empty):
            process.wait(_MAX_END)  # one that does not end by itself is killed
            if left := self._lines.get(timeout=_MAX_END).strip():
                problem = f"it wrote more than one line for each query: {_shown(left)}"
                raise DataError(str(_failure(self._command, problem)), reason="bad_run")
        if process.returncode:
            problem = f"it failed after its last answer {self._end(process)}"
            raise DataError(str(_failure(self._command, problem)), reason="bad_run")

    def _end(self, process: subprocess.Popen[bytes]) -> str:
        """How the process ended, which has closed its output."""
        try:
            status, *said = _ending(process.wait(_MAX_END), self._errors)
        except subprocess.TimeoutExpired:
            return "(it closed its output)"
        return ": ".join([f"({status})", *said])


def _close(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        cast("IO[bytes]", process.stdin).close()


def _failure(command: Sequence[str], problem: str) -> FailedSearchError:
    return FailedSearchError(f"{clean(command[0], limit=80)}: {problem}")


def _not_started(command: Sequence[str], folder: Path, error: OSError | ValueError) -> FailedSearchError:
    said = getattr(error, "strerror", None) or error  # ValueError: an argument with a NUL
    return _failure(command, f"cannot be started in {folder}: {said}")


def _ending(status: int, errors: IO[bytes]) -> list[str]:
    """How a command ended, and what it said last on standard error, if anything."""
    errors.seek(max(errors.seek(0, 2) - _ERROR_BYTES, 0))
    said = [clean(line, limit=_MAX_SAID) for line in errors.read().decode(errors="replace").splitlines()]
    how = f"was killed by signal {-status}" if status < 0 else f"exit status {status}"
    return [how, *[line for line in said if line][-1:]]


def _shown(line: bytes) -> str:
    return clean(repr(line[:_MAX_SAID].decode(errors="replace")))
