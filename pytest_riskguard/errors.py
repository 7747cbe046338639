"""Every error that a person can correct.

Three families, by what they mean for a gate: a ``UsageError`` is a wrong question (exit status 2),
a ``DataError`` makes a gate *incomparable* (exit status 3, a failing item in pytest), and ``RiskyError`` is the
answer "no" itself, which is why it is an ``AssertionError``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.text import clean

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict


_MAX_SHOWN = 50
#: Characters of a path.
_MAX_PATH = 400
#: Characters of what is wrong with a riskguard.yaml.
_MAX_PROBLEM = 10_000


class RiskguardError(Exception):
    """Something that a person can correct; the message says where, what was expected, what was found."""

    def __reduce__(self) -> tuple[object, ...]:
        return _same_error, (type(self), self.args), self.__dict__  # other processes raise it again


def _same_error(kind: type[RiskguardError], args: tuple[object, ...]) -> RiskguardError:
    return kind.__new__(kind, *args)


class UsageError(RiskguardError):
    """The question is wrong: an option, a measure, a setting."""


class ConfigError(UsageError):
    """A riskguard.yaml is wrong; the message begins ``path:line:``."""

    def __init__(self, path: Path, line: int, problem: str, *, errors: Sequence[ConfigError] = ()) -> None:
        problem = clean(problem, limit=_MAX_PROBLEM)
        message = f"{path}:{line}: {problem}"
        if len(errors) > 1:
            others = "error" if len(errors) == 2 else "errors"
            shown = [*map(str, errors[1:_MAX_SHOWN]), *(["..."] if len(errors) > _MAX_SHOWN else [])]
            message = "\n".join([f"{message} (and {len(errors) - 1} more {others})", *shown])
        super().__init__(message)
        self.path, self.line, self.problem = path, line, problem
        #: Every error of the file, ordered by line.
        self.errors = tuple(errors) or (self,)

    @classmethod
    def of(cls, errors: Sequence[ConfigError]) -> ConfigError:
        """The first of a file's errors; if there are several it carries and names them all."""
        first = errors[0]
        return first if len(errors) == 1 else cls(first.path, first.line, first.problem, errors=errors)


class DataError(RiskguardError):
    """Data are bad, missing or do not match, so nothing can be compared.

    ``reason`` is the machine-readable reason of the report; ``problem`` is the message with the file's name
    but without its folder, for reports that must not carry paths.
    """

    reason = "missing_input"

    def __init__(self, message: str, *, reason: str | None = None, problem: str | None = None) -> None:
        super().__init__(message)
        if reason is not None:
            self.reason = reason
        self.problem = message if problem is None else problem

    def problem_seen_from(self, _folder: Path | None) -> str:
        """The ``problem`` for a report about this folder: a file inside it is named by its path there."""
        return self.problem


class FileError(DataError):
    """A file is not what it should be; the message begins ``path:line:`` (or ``path:`` for the whole file)."""

    def __init__(self, path: Path | str, line: int | None, problem: str) -> None:
        where = "" if line is None else f":{line}"
        super().__init__(f"{_named(path)}{where}: {problem}", problem=f"{_named(Path(path).name)}{where}: {problem}")
        self.path, self.line = Path(path), line

    def problem_seen_from(self, folder: Path | None) -> str:
        """A file outside the folder keeps its name alone: no report says where somebody's other files are."""
        try:
            path = Path(self.path.name if folder is None else os.path.relpath(self.path, folder))
        except ValueError:  # on another drive
            return self.problem
        if ".." in path.parts or _named(path) != str(path):
            return self.problem
        return path.as_posix() + self.problem.removeprefix(self.path.name)


def _named(path: Path | str) -> str:
    """A path as messages name it: of one that is longer than any file's, both ends, or the problem would be cut."""
    text = str(path)
    return text if len(text) <= _MAX_PATH else f"{text[: _MAX_PATH // 2]}…{text[-_MAX_PATH // 2 :]}"


class MissingFileError(FileError):
    """A path that does not exist or cannot be read."""


class RunFormatError(FileError):
    """A run file does not follow the TREC format."""

    reason = "bad_run"


class QrelsFormatError(FileError):
    """A qrels file does not follow the TREC format."""

    reason = "bad_qrels"


class TopicsFormatError(FileError):
    """A topics file is not a table of topics and query texts."""

    reason = "bad_topics"


class DocumentsFormatError(FileError):
    """A documents file is neither JSON Lines nor a table of documents."""


class ScoresFormatError(FileError):
    """A file of per-topic scores is not a table of topics and measures."""

    reason = "bad_scores"


class ReportFormatError(FileError):
    """A file is not a JSON report that this version reads."""


class BaselineError(DataError):
    """A stored baseline is missing, damaged or was made from other inputs."""

    reason = "bad_baseline"


class ScoringError(DataError):
    """Scores do not belong to the topics asked for, or lie outside the measure's range."""

    reason = "bad_scores"


class RiskyError(AssertionError):
    """A gate did not pass; carries the verdict that says why."""

    #: Python and pytest write the name of a built-in exception without its module. `FAILED id - RiskyError: ...` then
    #: leaves room for the verdict on a line of 80 columns.
    __module__ = "builtins"

    def __init__(self, message: str, verdict: Verdict) -> None:
        super().__init__(message)
        self.verdict = verdict

    def __reduce__(self) -> tuple[object, ...]:
        return _risky_error, (str(self), self.verdict)  # builtins, where pickle would look, has no such class


def _risky_error(message: str, verdict: Verdict) -> RiskyError:
    return RiskyError(message, verdict)
