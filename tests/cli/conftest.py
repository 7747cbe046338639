"""A working folder with runs, qrels and a riskguard.yaml, and the command in this process."""

import json
import shlex
import shutil
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_riskguard.cli.main import run
from tests.plugin import world


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """Those of the report on standard output."""
        return list(json.loads(self.out)["verdicts"])


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """The folder, written once; runs ``loss.run``, ``churn.run``, ``good.run`` and ``prod.run``, which is stored."""
    folder = tmp_path_factory.mktemp("cli") / "project"
    world.write_world(folder, world.GOOD)
    for name, ranks in {"loss": world.LOSS, "churn": world.CHURN, "good": world.GOOD}.items():
        world.write_run(folder / f"{name}.run", ranks)
    return folder


@pytest.fixture(autouse=True)
def folder(template, tmp_path, monkeypatch):
    """The working folder."""
    copy = tmp_path / "project"
    shutil.copytree(template, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("RISKGUARD_TRACEBACK", raising=False)
    return copy


@pytest.fixture
def command(capsys):
    """The command, given its arguments as a line."""

    def ended(line: str) -> Ended:
        capsys.readouterr()
        status = run(shlex.split(line))
        said = capsys.readouterr()
        return Ended(status, said.out, said.err)

    return ended


@pytest.fixture
def done(command):
    """The command does what it is asked, and has nothing to say about it: what it prints."""

    def out(line: str) -> str:
        ended = command(line)
        assert (ended.status, ended.err) == (0, ""), ended.out
        return ended.out

    return out


@pytest.fixture
def refused(command):
    """Nothing is done: this status, nothing on standard output, and on the other what is wrong."""

    def ended(line: str, *said: str, status: int = 2) -> None:
        ended = command(line)
        text = " ".join(ended.err.split())
        assert (ended.status, ended.out) == (status, ""), text
        assert [part for part in said if part not in text] == [], text

    return ended
