"""Every error that a person can correct.

Three families, by what they mean for a gate: a ``UsageError`` is a wrong question (exit status 2),
a ``DataError`` makes a gate *incomparable* (exit status 3, a failing item in pytest), and ``RiskyError`` is the
answer "no" itself, which is why it is an ``AssertionError``.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_riskguard.text import clean, counted, program, relative

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict


_MAX_SHOWN = 50
#: Characters of a path: of one that is longer than any file's both ends are shown, or the problem would be cut.
_MAX_PATH = 400
#: Characters of what is wrong with a riskguard.yaml.
_MAX_PROBLEM = 10_000


class Remedy:
    """What to do about an error; each ``{}`` of the text is one of the commands, such as ``add prod RUN``.

    Commands are those of ``riskguard baseline``.
    """

    def __init__(self, text: str, *commands: str) -> None:
        self.text, self.commands = text, commands

    def __str__(self) -> str:
        typed = [f"`{program()} baseline {command}`" for command in self.commands]
        return self.text.format(*typed) if typed else self.text

    def here(self, words: Callable[[str], Sequence[str]]) -> Remedy:
        """The same with the words that each command needs where it is typed, by the command's name."""
        return Remedy(
            self.text, *(" ".join([one, *map(shlex.quote, words(one.partition(" ")[0]))]) for one in self.commands)
        )


class RiskguardError(Exception):
    """Something that a person can correct.

    Attributes
    ----------
    where : Path or str, optional
        The file, folder or address at fault; ``line`` is where in it.
    fault : str
        What was expected and what was found.
    remedy : Remedy, optional
        What to do about it; given as text where it names no command.
    reason : str
        The machine-readable reason of the report.
    name : str
        What reports call ``where``: the file's name without its folder, unless it is given.
    """

    reason = ""

    def __init__(
        self,
        fault: str,
        *,
        where: Path | str | None = None,
        line: int | None = None,
        name: str | None = None,
        reason: str | None = None,
        remedy: Remedy | str | None = None,
    ) -> None:
        super().__init__(fault)
        self.where, self.line, self.fault = where, line, fault
        self.name = name or Path(where or "").name
        self.reason = reason or self.reason
        self.remedy = Remedy(remedy) if isinstance(remedy, str) else remedy

    def __str__(self) -> str:
        return self._whole(self.found_at(str(self.where)))

    def _whole(self, text: str) -> str:
        return text if self.remedy is None else f"{text}; {self.remedy}"

    def found_at(self, place: str) -> str:
        """Where it is and what is wrong there, without the remedy; ``place`` is what this calls ``where``."""
        if self.where is None:
            return self.fault
        if len(place) > _MAX_PATH:
            place = f"{place[: _MAX_PATH // 2]}…{place[-_MAX_PATH // 2 :]}"
        return f"{place}{'' if self.line is None else f':{self.line}'}: {self.fault}"

    @property
    def problem(self) -> str:
        """The message for reports, which must not carry paths."""
        return self._whole(self.found_at(self.name))

    def in_report(self, folder: Path | None) -> str:
        """What is wrong, for a report about this folder: what is inside it is named by its path there."""
        return self.found_at((folder and nearby(self.where, folder)) or self.name)

    def seen_from(self, *folders: Path) -> str:
        """What is wrong, with a path in one of the folders as it is typed in the first of them."""
        return self.found_at(nearby(self.where, *folders) or str(self.where))

    def __reduce__(self) -> tuple[object, ...]:
        return Exception.__new__, (type(self), *self.args), self.__dict__  # other processes raise it again


def nearby(path: Path | str | None, *folders: Path) -> str | None:
    """A path in one of the folders as it is typed in the first of them; None for any other, and for an address."""
    absolute = Path(os.path.abspath(path or ""))  # noqa: PTH100 - Path.absolute keeps ".."
    is_inside = any(absolute.is_relative_to(folder) and folder.parent != folder for folder in folders)
    if not is_inside or not isinstance(path, Path):
        return None
    return relative(absolute, folders[0])


class InternalError(Exception):
    """What is wrong with riskguard itself: no answer of a gate, whatever it is."""


class UsageError(RiskguardError):
    """The question is wrong: an option, a measure, a setting."""


class ConfigError(UsageError):
    """A riskguard.yaml is wrong; ``errors`` are all of the file, ordered by line."""

    def __init__(self, path: Path, line: int, fault: str) -> None:
        super().__init__(clean(fault, limit=_MAX_PROBLEM), where=path, line=line)
        self.errors: Sequence[ConfigError] = [self]

    def __str__(self) -> str:
        """The first error, and below it the others."""
        first, others = super().__str__(), [super(ConfigError, error).__str__() for error in self.errors[1:]]
        if not others:
            return first
        return "\n".join([f"{first} (and {counted(len(others), 'more error')})", *others[:_MAX_SHOWN]])

    @classmethod
    def of(cls, errors: Sequence[ConfigError]) -> ConfigError:
        """The first of a file's errors; if there are several it carries and names them all."""
        errors[0].errors = errors
        return errors[0]


class DataError(RiskguardError):
    """Data are bad, missing or do not match, so nothing can be compared."""

    reason = "missing_input"


class FileError(DataError):
    """A file is not what it should be, in this line or as a whole."""

    def __init__(self, path: Path | str, line: int | None, fault: str, remedy: Remedy | str | None = None) -> None:
        super().__init__(fault, where=path, line=line, remedy=remedy)


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
