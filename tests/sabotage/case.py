"""One case of the matrix: what is broken, how it is run, and the expected result."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from tests.sabotage.project import PLANTED

#: Breaks something in a copy of the project, whose folder it is given.
Sabotage = Callable[[Path], Any]


class Way(Enum):
    """How a case is run."""

    CLI = "command"
    SERIAL = "pytest"
    XDIST = "pytest -n 2"


CLI: tuple[Way, ...] = (Way.CLI,)
SERIAL: tuple[Way, ...] = (Way.SERIAL,)
XDIST: tuple[Way, ...] = (Way.XDIST,)
PYTEST: tuple[Way, ...] = (Way.SERIAL, Way.XDIST)
EVERY: tuple[Way, ...] = tuple(Way)
#: The command for every case, and pytest, which takes longer but reads data by the same engine, for a quarter of
#: them: which ways a case takes is drawn by its name, from these.
USUAL: tuple[tuple[Way, ...], ...] = (*[CLI] * 12, *[(Way.CLI, Way.SERIAL)] * 3, (Way.CLI, Way.XDIST))

#: The exit status of pytest for each of the command's: a failed gate and bad data are failing items.
IN_PYTEST = {0: 0, 1: 1, 2: 1, 3: 1}
COMPARE = "runs/candidate.run --baseline prod"


@dataclass(frozen=True)
class Case:
    """A line of the table.

    Parameters
    ----------
    name : str
        Unique in its area; ``AREA/NAME`` names the case.
    breaks : Sabotage or sequence of Sabotage
        Applied in order to a copy of the project.
    status : int
        Exit status of the command; 3 (incomparable) by default.
    words : sequence of str
        Each must be in what was printed, on stdout or stderr, by every way. White space counts as one space.
    in_pytest : int, optional
        Exit status of pytest, where it is not what ``IN_PYTEST`` has for ``status``.
    cli_words, pytest_words : sequence of str
        Further words, by the command or by pytest only.
    absent : sequence of str
        Words that must not be printed.
    ways : tuple of Way
        ``CLI``, ``SERIAL``, ``XDIST``, ``PYTEST`` (the latter two) or ``EVERY``; drawn from ``USUAL`` by default.
    command : str, optional
        Arguments of ``riskguard``, in place of ``compare ...``; the way is then the command alone.
    compare : str
        Arguments of ``riskguard compare`` where they are not ``runs/candidate.run --baseline prod``.
    options : str
        Further arguments of ``compare`` and of pytest alike; with one of the two, set ``ways``.
    riskguard : str
        How pytest is told to judge: ``--riskguard``, or nothing if a case is about that.
    env : mapping
        Environment variables that are added; None removes one.
    project : str
        ``PLANTED`` (red when nothing is broken) or ``IMPROVED`` (green).
    passes : int
        How many tests of pytest may pass although the run must be red; with status 0 any number may.
    writes : bool
        Whether the command may change files of the project.
    allows : sequence of str
        Words that are printed on purpose although they look like a problem, such as an error that a case plants.
    line : str, optional
        A line for ``/bin/sh``: ``{}`` stands for the command line, as in ``{} > /dev/full``.
    cwd : str
        Folder of the run, relative to the project.
    seconds, megabytes : float
        Limits of processor time and memory of this case, where they are lower than those of every case.
    kill_after : float, optional
        Seconds until a run counts as a hang, in place of 30 (more on a machine that is busy with other things).
    """

    name: str
    breaks: Sabotage | Sequence[Sabotage] = ()
    status: int = 3
    words: Sequence[str] = ()
    in_pytest: int | None = None
    cli_words: Sequence[str] = ()
    pytest_words: Sequence[str] = ()
    absent: Sequence[str] = ()
    ways: tuple[Way, ...] = ()
    command: str | None = None
    compare: str = COMPARE
    options: str = ""
    riskguard: str = "--riskguard"
    env: Mapping[str, str | None] = field(default_factory=dict)
    project: str = PLANTED
    passes: int = 0
    writes: bool = False
    allows: Sequence[str] = ()
    line: str | None = None
    cwd: str = "."
    seconds: float | None = None
    kill_after: float | None = None
    megabytes: float | None = None

    def __post_init__(self) -> None:
        if self.command is not None:
            object.__setattr__(self, "ways", CLI)
        if not self.ways:
            object.__setattr__(self, "ways", USUAL[zlib.crc32(self.name.split("/")[-1].encode()) % len(USUAL)])
        if callable(self.breaks):
            object.__setattr__(self, "breaks", (self.breaks,))
        for name in ("words", "cli_words", "pytest_words", "absent", "allows"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{self.name}: {name} is a list of words")

    def expected_status(self, way: Way) -> int:
        """The expected exit status."""
        if way is Way.CLI:
            return self.status
        return IN_PYTEST[self.status] if self.in_pytest is None else self.in_pytest

    def expected_words(self, way: Way) -> tuple[str, ...]:
        """All words that must be printed."""
        return (*self.words, *(self.cli_words if way is Way.CLI else self.pytest_words))

    def arguments(self, way: Way) -> str:
        """What follows ``riskguard`` or ``pytest`` on the command line."""
        if way is Way.CLI:
            return f"compare {self.compare} {self.options}" if self.command is None else self.command
        workers = " -n 2" if way is Way.XDIST else ""
        return f"{self.riskguard}{workers} {self.options}"
