"""A command as a live system, in any language: started for each query, or once and asked line by line."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from pytest_riskguard.config.candidate_settings import CommandCandidate
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import ANSWER_BYTES
from pytest_riskguard.live.retrieval import FailedSearchError, Search, Topic
from pytest_riskguard.serialization import JsonError, parsed_value
from pytest_riskguard.text import clean

#: Bytes from the end of standard error, and characters of its last line that a message repeats.
_ERROR_BYTES, _MAX_SAID = 10_000, 200
#: Seconds that a process may take to end when it is asked nothing more.
_MAX_END = 10.0
_PLACEHOLDER = re.compile(r"\{(query|topic|depth)\}")


@contextmanager
def command_search(asking: CommandCandidate, folder: Path) -> Iterator[Search]:
    """A search that runs a command in a folder; it enforces the time limit itself."""
    if asking.runs_for_each:
        yield lambda topic: _output(_filled(asking, topic), folder, asking.timeout)
        return
    command = [part.replace("{depth}", str(asking.depth)) for part in asking.command]
    with TemporaryFile() as errors, closing(_Process(command, folder, asking, errors)) as process:
        yield process.ask
        process.check_end()


def _filled(asking: CommandCandidate, topic: Topic) -> list[str]:
    fields = {"query": topic.text, "topic": topic.id, "depth": str(asking.depth)}
    program, *arguments = asking.command
    return [program, *(_PLACEHOLDER.sub(lambda name: fields[name[1]], part) for part in arguments)]


def _output(command: Sequence[str], folder: Path, timeout: float | None) -> object:
    """What a command writes, JSON or ids, one per line; ``FailedSearchError`` unless it ends in time with 0."""
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
            raise _failure(command, _ending(done.returncode, errors))
        output.seek(0)
        content = output.read(ANSWER_BYTES.value + 1)
    if len(content) > ANSWER_BYTES.value:
        raise _failure(command, ANSWER_BYTES.problem(len(content)))
    try:
        if content.lstrip().startswith((b"[", b"{")):
            return parsed_value(content)
        return [line.strip() for line in content.decode().split("\n") if line.strip()]
    except (JsonError, UnicodeDecodeError) as error:
        problem = f"expected JSON, or ids, one per line, in UTF-8, found other output ({error})"
        raise _failure(command, problem) from None


class _Process:
    """A process that is asked for every query: a line of JSON in, a line of JSON out.

    It is started for the first query. After a failure it is not asked again, since its next line could be the answer
    to another query.
    """

    def __init__(self, command: Sequence[str], folder: Path, asking: CommandCandidate, errors: IO[bytes]) -> None:
        self._command, self._folder, self._asking, self._errors = command, folder, asking, errors
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._failed: FailedSearchError | None = None

    def ask(self, topic: Topic) -> object:
        """The results for a topic."""
        if self._failed is None:
            try:
                return self._answer(topic)
            except FailedSearchError as error:
                self._failed = error
        raise self._failed

    def check_end(self) -> None:
        """``DataError`` if the process leaves more than was asked for, or fails, when it is asked nothing more."""
        process = self._process
        if process is None or self._failed is not None:
            return
        problem = ""
        _close(process.stdin)
        with suppress(subprocess.TimeoutExpired, queue.Empty):
            process.wait(_MAX_END)  # one that does not end by itself is killed
            if left := self._lines.get(timeout=_MAX_END).strip():
                problem = f"it wrote more than one line for each query: {_shown(left)}"
        if process.returncode and not problem:
            problem = f"it failed after its last answer: {_ending(process.returncode, self._errors)}"
        if problem:
            raise DataError(str(_failure(self._command, problem)), reason="bad_run")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            _close(self._process.stdin)
            self._process.wait()

    def _answer(self, topic: Topic) -> object:
        process = self._process or self._started()
        line = json.dumps({"id": topic.id, "query": topic.text, "depth": self._asking.depth}) + "\n"
        with suppress(OSError):  # it need not read its input
            assert process.stdin is not None
            process.stdin.write(line.encode())
            process.stdin.flush()
        try:
            written = self._lines.get(timeout=self._asking.timeout)
        except queue.Empty:
            problem = f"no answer to {topic.id!r} within {self._asking.timeout:g} s; it was killed"
            raise _failure(self._command, problem) from None
        if not written:
            how = "it closed its output"
            with suppress(subprocess.TimeoutExpired):
                how = _ending(process.wait(_MAX_END), self._errors)
            raise _failure(self._command, f"it ended without an answer to {topic.id!r}: {how}")
        if len(written) > ANSWER_BYTES.value:
            raise _failure(self._command, ANSWER_BYTES.problem(len(written)))
        answer = None
        with suppress(JsonError):
            answer = parsed_value(written)
        if not isinstance(answer, dict) or answer.get("id") != topic.id or "results" not in answer:
            expected = f'a line of JSON such as {{"id": "{topic.id}", "results": ["d1", "d2"]}}'
            raise _failure(self._command, f"expected {expected}, found {_shown(written)}")
        return answer["results"]

    def _started(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603 - as above
                self._command, cwd=self._folder, stdin=pipe, stdout=pipe, stderr=self._errors
            )
        except (OSError, ValueError) as error:
            raise _not_started(self._command, self._folder, error) from None
        self._process = process
        threading.Thread(target=self._read, args=(process.stdout,), name="riskguard-command", daemon=True).start()
        return process

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while line := stream.readline(ANSWER_BYTES.value + 1):
                self._lines.put(line)
        self._lines.put(b"")


def _close(stream: IO[bytes] | None) -> None:
    with suppress(OSError):
        if stream is not None:
            stream.close()


def _failure(command: Sequence[str], problem: str) -> FailedSearchError:
    return FailedSearchError(f"{clean(command[0], limit=80)}: {problem}")


def _not_started(command: Sequence[str], folder: Path, error: OSError | ValueError) -> FailedSearchError:
    said = getattr(error, "strerror", None) or error  # ValueError: an argument with a NUL
    return _failure(command, f"cannot be started in {folder}: {said}")


def _ending(status: int, errors: IO[bytes]) -> str:
    """How a command ended, and what it said last on standard error, if anything."""
    errors.seek(max(errors.seek(0, 2) - _ERROR_BYTES, 0))
    said = [clean(line, limit=_MAX_SAID) for line in errors.read().decode(errors="replace").splitlines()]
    how = f"was killed by signal {-status}" if status < 0 else f"exit status {status}"
    return ": ".join([how, *[line for line in said if line][-1:]])


def _shown(line: bytes) -> str:
    return clean(repr(line[:_MAX_SAID].decode(errors="replace")))
