"""Runs a case in a separate process and lists what is wrong with the result."""

import hashlib
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from tests.sabotage import processes
from tests.sabotage.case import Case, Way
from tests.sabotage.prepared import Prepared
from tests.sabotage.processes import Ended

MAX_SECONDS = 30.0
MAX_MEGABYTES = 1000.0
#: Of larger files, which cases plant to exhaust a reader, only the size is compared.
MAX_DIGESTED = 100_000_000
#: Folders and files that a run may write: caches, bytecode, and the reports that were asked for.
WRITTEN_BY_RUNS = (".pytest_cache", "__pycache__", "reports")
#: Files of the project's folder that can hide a library of the same name, and the names of those that do not.
IMPORTABLE, OWN_MODULES = (".py", ".pyc", ".so", ".pth"), {"conftest", "search", "test_ranking"}

#: What only a fault of riskguard prints, such as one of its files with a line in pytest's kind of traceback.
_OURS = (
    r"Traceback \(most recent call last\)",
    r"INTERNALERROR",
    r"(?i)internal error",
    r"pytest_riskguard[/\\][\w/\\]+\.py(:\d+|\", line)",
)


class Fault(Enum):
    """What can be wrong with a run."""

    GREEN = "green"
    TRACEBACK = "traceback"
    HANG = "hang"
    CHANGED = "changed"
    MEMORY = "memory"
    STATUS = "status"
    WORDS = "words"
    RED = "wrongly red"


@dataclass(frozen=True)
class Run:
    """A case run in one of its ways, and what is wrong with it: faults with a line each."""

    case: Case
    way: Way
    ended: Ended
    problems: list[tuple[Fault, str]] = field(default_factory=list)

    def __str__(self) -> str:
        problems = [f"  {fault.value}: {line}" for fault, line in self.problems]
        heading = f"{self.case.name} by {self.way.value}: exit status {self.ended.status}, {self.ended.seconds:.1f} s"
        return "\n".join([heading, *problems])


def run(
    case: Case,
    way: Way,
    template: Path,
    scratch: Path,
    prepared: Prepared | None = None,
) -> Run:
    """Break a copy of the project, run it, remove the copy.

    Parameters
    ----------
    template : Path
        The folder that ``project.write`` wrote.
    scratch : Path
        An existing folder for copies.
    prepared : Prepared, optional
        Runs cases that change nothing about how Python starts and loads modules; the others start afresh.
    """
    place = Path(tempfile.mkdtemp(dir=scratch))
    folder = place / "project"
    try:
        shutil.copytree(template / case.project, folder, symlinks=True)
        for sabotage in case.breaks if not callable(case.breaks) else (case.breaks,):
            sabotage(folder)
        before = digests(folder)
        limit = case.kill_after or MAX_SECONDS * _business()
        if prepared is not None and _starts_as_usual(case, folder):
            ended = prepared.run(way, arguments(case, way, folder), folder, limit)
        else:
            environment = processes.environment(case.env, folder)
            ended = processes.run(command_line(case, way, folder), folder / case.cwd, environment, limit)
        after = before if case.writes else digests(folder)
        problems = list(find_problems(case, way, ended, before, after))
        return Run(case, way, ended, problems)
    finally:
        removed(place)


def find_problems(
    case: Case, way: Way, ended: Ended, before: dict[str, str], after: dict[str, str]
) -> Iterator[tuple[Fault, str]]:
    """Everything that is wrong with a run; nothing if it ended as expected."""
    if ended.is_killed:
        yield Fault.HANG, f"still running after {ended.seconds:.0f} s"
        return
    if ended.processor_seconds > (most := min(MAX_SECONDS, case.seconds or MAX_SECONDS)):
        yield Fault.HANG, f"{ended.processor_seconds:.1f} s of processor time, at most {most:g}"
    expected = case.expected_status(way)
    if ended.status == 0 != expected:
        yield Fault.GREEN, f"exit status 0, expected {expected}"
    elif ended.status != expected:
        yield Fault.RED if expected == 0 else Fault.STATUS, f"exit status {ended.status}, expected {expected}"
    passed = re.search(r"\b(\d+) passed\b.* in [\d.]+s", ended.output)
    if way is not Way.CLI and expected != 0 and passed and int(passed[1]) > case.passes:
        yield Fault.GREEN, f"{passed[1]} tests passed, expected at most {case.passes}"
    text = " ".join(ended.output.split())
    for words in case.expected_words(way):
        if " ".join(words.split()) not in text:
            yield Fault.WORDS, f"not printed: {words}"
    for words in case.absent:
        if words in text:
            yield Fault.WORDS, f"printed: {words}"
    allowed = ended.output
    for words in case.allows:
        allowed = allowed.replace(words, "")
    for pattern in _OURS:
        if match := re.search(pattern, allowed):
            yield Fault.TRACEBACK, f"printed: {match[0]}"
    if before != after:
        names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        yield Fault.CHANGED, ", ".join(names[:5])
    if ended.megabytes > (limit := min(MAX_MEGABYTES, case.megabytes or MAX_MEGABYTES)):
        yield Fault.MEMORY, f"{ended.megabytes:.0f} MB, at most {limit:g}"


def digests(folder: Path) -> dict[str, str]:
    """What each file of a folder holds, by its name; links and devices are not followed."""
    entries = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in WRITTEN_BY_RUNS and name != ".git"]
        for name in (*folders, *names):
            path = Path(parent, name)
            if name in WRITTEN_BY_RUNS or name == ".git":
                continue
            entries[path.relative_to(folder).as_posix()] = _content(path)
    return entries


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if path.is_dir():
        return "folder"
    if not path.is_file():
        return "neither file nor folder"
    if path.stat().st_size > MAX_DIGESTED:
        return f"{path.stat().st_size} bytes"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _business() -> float:
    """How many processes wait for each processor: what others do on a busy machine is not the run's fault."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def command_line(case: Case, way: Way, folder: Path) -> list[str] | str:
    """What is run: a list of arguments, or a line for the shell."""
    starts = processes.RISKGUARD if way is Way.CLI else processes.PYTEST
    line = [*starts, *arguments(case, way, folder)]
    return line if case.line is None else case.line.replace("{}", shlex.join(line))


def arguments(case: Case, way: Way, folder: Path) -> list[str]:
    """What follows the command, or pytest and its own options."""
    return [part.replace("{project}", str(folder)) for part in shlex.split(case.arguments(way))]


def _starts_as_usual(case: Case, folder: Path) -> bool:
    """Whether Python starts and loads libraries as in most cases; a case with its own limits starts afresh."""
    own = {path.stem for path in folder.glob("*") if path.suffix in IMPORTABLE} - OWN_MODULES
    usual = Case("usual")
    settings = ("env", "line", "cwd", "seconds", "megabytes")
    return not own and all(getattr(case, name) == getattr(usual, name) for name in settings)


def removed(place: Path) -> None:
    """Remove a folder, even if a sabotage took permissions away."""

    def allow(function: Callable[[str], None], path: str, _: BaseException) -> None:
        Path(path).parent.chmod(0o700)  # a sabotage took the permission away
        function(path)

    if sys.version_info >= (3, 12):
        shutil.rmtree(place, onexc=allow)
    else:
        shutil.rmtree(place, onerror=lambda function, path, info: allow(function, path, info[1]))
