"""A command as a live system, in any language: started once, and asked line by line."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from pytest_riskguard.config.candidate_settings import CommandCandidate
from pytest_riskguard.errors import DataError
from pytest_riskguard.limits import ANSWER_BYTES
from pytest_riskguard.live.retrieval import Search, SearchError, Topic
from pytest_riskguard.serialization import JsonError, parsed
from pytest_riskguard.text import clean

#: Bytes from the end of standard error, and characters of its last line that a message repeats.
_ERROR_BYTES, _MAX_SAID = 10_000, 200
#: Seconds that a process may take to end after it closed its output.
_MAX_END = 10.0


@contextmanager
def command_search(asking: CommandCandidate, folder: Path) -> Iterator[Search]:
    """A search that asks a command, which runs in a folder and ends with the context.

    It enforces the time limit itself. ``DataError`` if the command cannot be started.
    """
    command = [part.replace("{depth}", str(asking.depth)) for part in asking.command]
    with TemporaryFile() as errors:
        try:
            process = subprocess.Popen(  # noqa: S603 - the command that riskguard.yaml names; no shell reads it
                command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        except OSError as error:
            fault = f"{clean(command[0], limit=80)}: cannot be started in {folder}: {error.strerror}"
            raise DataError(fault, remedy="install the command, or correct it") from None
        try:
            yield _Process(process, asking, errors)
        finally:
            process.kill()
            with suppress(OSError):
                _pipe(process.stdin).close()
            process.wait()


class _Process:
    """A process that is asked for every query: a line of JSON in, a line of JSON out.

    After a failure it is not asked again, since its next line could be the answer to another query.
    """

    def __init__(self, process: subprocess.Popen[bytes], asking: CommandCandidate, errors: IO[bytes]) -> None:
        self._process, self._asking, self._errors = process, asking, errors
        self._failed: SearchError | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="riskguard-command", daemon=True).start()

    def __call__(self, topic: Topic) -> object:
        """The results for a topic."""
        if self._failed is None:
            try:
                return self._answer(topic)
            except SearchError as error:
                self._failed = error
        raise self._failed

    def _answer(self, topic: Topic) -> object:
        line = json.dumps({"id": topic.id, "query": topic.text, "depth": self._asking.depth}) + "\n"
        with suppress(OSError):  # it need not read its input
            _pipe(self._process.stdin).write(line.encode())
            _pipe(self._process.stdin).flush()
        try:
            written = self._lines.get(timeout=self._asking.timeout)
        except queue.Empty:
            raise self._failure(
                f"no answer to {topic.id!r} within {self._asking.timeout:g} s; it was killed"
            ) from None
        if not written:
            raise self._failure(f"it ended without an answer to {topic.id!r}: {self._ending()}")
        if len(written) > ANSWER_BYTES.value:
            raise self._failure(ANSWER_BYTES.problem(len(written)))
        with suppress(JsonError, KeyError):
            answer = parsed(written)
            if answer["id"] == topic.id:
                return answer["results"]
        expected = f'a line of JSON such as {{"id": "{topic.id}", "results": ["d1", "d2"]}}'
        found = clean(repr(written[:_MAX_SAID].decode(errors="replace")))
        raise self._failure(f"expected {expected}, found {found}")

    def _read(self) -> None:
        with suppress(OSError, ValueError), _pipe(self._process.stdout) as stream:
            while line := stream.readline(ANSWER_BYTES.value + 1):
                self._lines.put(line)
        self._lines.put(b"")

    def _failure(self, problem: str) -> SearchError:
        return SearchError(f"{clean(self._asking.command[0], limit=80)}: {problem}")

    def _ending(self) -> str:
        """How it ended, and what it said last on standard error, if anything."""
        try:
            status = self._process.wait(_MAX_END)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        self._errors.seek(max(self._errors.seek(0, 2) - _ERROR_BYTES, 0))
        said = self._errors.read().decode(errors="replace").splitlines()
        lines = list(filter(None, (clean(line, limit=_MAX_SAID) for line in said)))
        return ": ".join([f"exit status {status}", *lines[-1:]])


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
