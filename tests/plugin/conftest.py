"""Small projects to run pytest in, always in a process of its own, as their users would."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugin import world

WORLDS = {
    "loss": (world.LOSS, "1"),
    "churn": (world.CHURN, "5"),
    "good": (world.GOOD, "1"),
}


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder per made-up project, written once."""
    folder = tmp_path_factory.mktemp("worlds")
    for name, (candidate, alpha) in WORLDS.items():
        world.write_world(folder / name, candidate, alpha=alpha)
    return folder


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the processes of these tests share compiled modules, so that not each compiles them anew."""
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture(autouse=True)
def _quiet_surroundings(monkeypatch: pytest.MonkeyPatch, bytecode: Path) -> None:
    """No colour, width or CI of the machine that runs these tests."""
    github = ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE")
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CI", "PYTEST_ADDOPTS", *github):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(bytecode))
    # hypothesis takes longer to load than everything else, and no test here needs it
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")


@pytest.fixture
def project(pytester: pytest.Pytester, worlds: Path) -> Callable[[str], Path]:
    """Put a made-up project into pytester's folder."""

    def copy(name: str, into: str = ".") -> Path:
        folder = pytester.path / into
        shutil.copytree(worlds / name, folder, dirs_exist_ok=True)
        return folder

    return copy
