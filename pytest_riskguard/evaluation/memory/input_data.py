"""What an error says of data in memory: the name they go by, and the row."""

from __future__ import annotations

from typing import Protocol

from pytest_riskguard.errors import DataError


class Input(Protocol):
    """Where rows come from, a file or an object in memory: its name, and the error to raise for one of its rows."""

    @property
    def name(self) -> str:
        """What errors and verdicts call it."""

    def refuse(self, line: int | None, problem: str) -> DataError:
        """The error to raise; ``line`` is None if it concerns the whole."""


class InputData:
    """An object in memory; ``reason`` is that of the ``DataError`` to raise for its content."""

    def __init__(self, name: str, *, reason: str) -> None:
        self.name, self._reason = name, reason

    def refuse(self, line: int | None, problem: str) -> DataError:
        """The error to raise; ``line`` is the row, from 1."""
        where = self.name if line is None else f"{self.name}, row {line}"
        return DataError(f"{where}: {problem}", reason=self._reason)
