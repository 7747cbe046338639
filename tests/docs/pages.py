"""Reads the pages of ``docs/`` and does what they tell a reader to do.

A comment that a rendered page does not show stands before each block that is played:

``<!-- file: NAME -->``
    the block is the content of a file;
``<!-- run -->``
    the block is a console: ``$ command`` lines, each with the output that it must give;
``<!-- python -->``
    the block is a script; an ``<!-- output -->`` block after it is what it must print;
``<!-- python: lightgbm numba -->``
    a script that is left out, with its output, where one of these modules is not installed;
``<!-- start: tutorial -->``
    the page goes on in the folder that the tutorial leaves; ``help_center``: in a copy of that example; ``quepid`` or
    ``mteb``: in the tutorial's with what these tools export (``tests/docs/exports.py``).
``<!-- server: elasticsearch SYSTEM -->``
    from here on that engine answers at ``localhost:9200`` as this version of the example's search.

In expected output ``...`` stands for any text of a line, and alone on a line for any number of lines.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import pytest

from examples.help_center.help_search import search
from pytest_riskguard.cli.main import run
from tests.house import CHECKOUT
from tests.live.http.servers import ENGINES, Server, serving

DOCS = CHECKOUT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

_MARK = re.compile(r"<!-- (file|run|python|output|start|server)(?:: (\S+(?: \S+)?))? -->\Z")
_FENCE = re.compile(r"(`{3,})(\w*)\Z")
#: A command that needs no shell, and no process of its own.
_PLAIN = re.compile(r"(riskguard|pytest)( [^|&;<>$`*?(){}#~]*)?")


#: Where pages say that an engine is, and what stands there meanwhile.
ADDRESS = "localhost:9200"


@dataclass(frozen=True)
class Block:
    """A marked block: what to do with it, the mark's argument, the text, and the line it begins on."""

    action: str
    argument: str | None
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The marked blocks of a page, in order."""
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        mark = _MARK.match(line)
        if mark is None:
            if line.startswith("<!--"):
                raise ValueError(f"{page}:{number}: a comment that is not a mark: {line}")
            continue
        action, argument = mark.groups()
        if action in ("start", "server"):
            yield Block(action, argument, "", number)
            continue
        _, fence_line = next(lines)
        fence = _FENCE.match(fence_line)
        if fence is None:
            raise ValueError(f"{page}:{number}: expected a block after the mark, found {fence_line!r}")
        body: list[str] = []
        for _, inner in lines:
            if inner == fence[1]:
                break
            body.append(inner)
        yield Block(action, argument, "".join(f"{inner}\n" for inner in body), number)


def played(page: Path) -> bool:
    """Whether a page has anything to play."""
    return any(block.action in {"run", "python"} for block in blocks(page))


class Player:
    """Plays one page in a folder; every difference from what the page says is an ``AssertionError``."""

    def __init__(self, folder: Path, page: Path) -> None:
        self.folder, self.page = folder, page
        self._output = ""
        self._status = 0
        self._server: Server | None = None
        self._left_out = False

    def play(self) -> None:
        """All of it, in order."""
        found = list(blocks(self.page))
        with contextlib.ExitStack() as servers:
            for number, block in enumerate(found):
                self._play(block, found[number + 1] if number + 1 < len(found) else None, servers)

    def _play(self, block: Block, following: Block | None, servers: contextlib.ExitStack) -> None:
        match block.action:
            case "server":
                engine, system = str(block.argument).split()
                answers = partial(_help_center, system)
                if self._server is None:
                    self._server = servers.enter_context(serving(engine, answers))
                self._server.answer = partial(ENGINES[engine], answers)
            case "file":
                path = self.folder / str(block.argument)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text.replace(ADDRESS, self._address), encoding="utf-8")
            case "run":
                self._console(block)
            case "python":
                self._left_out = any(find_spec(module) is None for module in (block.argument or "").split())
                if self._left_out:
                    return
                self._call(partial(exec, compile(block.text, self.page.name, "exec"), {}))
                if following is None or following.action != "output":
                    assert self._output == "", f"{self.page.name}:{block.line}: prints {self._output!r}"
            case "output" if not self._left_out:
                self._compare("the script", block.text, block.line)

    @property
    def _address(self) -> str:
        """Where the page's server is."""
        return ADDRESS if self._server is None else self._server.url.removeprefix("http://")

    def _console(self, block: Block) -> None:
        commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        assert commands[0] == "", f"{self.page.name}:{block.line}: a console begins with a command"
        for position, text in enumerate(commands[1:], start=1):
            command, _, expected = text.partition("\n")
            self._shell(command)
            self._compare(command, expected, block.line)
            last = position == len(commands) - 1
            asked = not last and commands[position + 1].startswith("echo $?")
            assert self._status == 0 or asked, f"{command}: status {self._status}, and the page does not say so"

    def _shell(self, command: str) -> None:
        if _PLAIN.fullmatch(command):
            program, *arguments = shlex.split(command)
            self._call(partial(self._forgetful, run if program == "riskguard" else pytest.main, arguments))
            return
        done = subprocess.run(
            ["bash", "-c", f"(exit {self._status}); {command}"],
            cwd=self.folder,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=180,
            check=False,
        )
        self._output, self._status = done.stdout, done.returncode

    def _forgetful(self, program: Callable[[list[str]], int], arguments: list[str]) -> int:
        """A program in this process, which then forgets the modules of the folder: others may have their names."""
        before, sys.dont_write_bytecode = list(sys.path), True  # a module is edited within the second
        try:
            return program(arguments)
        finally:
            sys.path[:], sys.dont_write_bytecode = before, False
            for name, module in list(sys.modules.items()):
                if Path(getattr(module, "__file__", None) or "/").is_relative_to(self.folder):
                    del sys.modules[name]

    def _call(self, function: Callable[[], int | None]) -> None:
        """Call a function in the page's folder, with what it prints as output and what it returns as status."""
        printed = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            mock.patch.dict(os.environ, _environment(), clear=True),
        ):
            status = function()
        self._output, self._status = printed.getvalue(), int(status or 0)

    def _compare(self, command: str, expected: str, line: int) -> None:
        pattern = as_pattern(expected)
        printed = self._output.replace(self._address, ADDRESS)
        assert re.fullmatch(pattern, normalised(printed)), (
            f"{self.page.name}:{line}: {command}\n--- the page says\n{expected}\n--- it prints\n{printed}"
        )


def _help_center(system: str, query: str, depth: int) -> list[tuple[str, float]]:
    """What a version of the example's search answers."""
    return search(query, system=system, depth=depth)


def _environment() -> dict[str, str]:
    """That of a person at a terminal of 100 columns, outside CI, with this Python's programs first."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "COV_", "RISKGUARD", "GITHUB_"))
    }
    programs = str(Path(sys.executable).parent)
    return {
        **kept,
        "PATH": os.pathsep.join([programs, kept.get("PATH", os.defpath)]),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "NO_PROXY": "127.0.0.1",
        "PYTHONUTF8": "1",
        # A plugin of our test suite, not of the reader's, that takes longer to start than pytest itself.
        "PYTEST_ADDOPTS": "-p no:hypothesispytest",
    }


def normalised(text: str) -> str:
    """Text without what differs from run to run: seconds, times of day, digests, rules as long as the line."""
    text = re.sub(r"\bin \d+\.\d\ds\b", "in 1.00s", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-01-31T12:00:00Z", text)
    text = re.sub(r"sha256:[0-9a-f]{64}", "sha256:0", text)
    text = re.sub(r"([=_-])\1{3,}", r"\1\1\1\1", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def as_pattern(expected: str) -> str:
    """Expected output as a regular expression."""
    lines = []
    for line in normalised(expected).splitlines():
        if line == "...":
            lines.append(r"(?:.*\n)*")
        else:
            lines.append(".*".join(re.escape(part) for part in line.split("...")) + r"\n")
    return "".join(lines)
