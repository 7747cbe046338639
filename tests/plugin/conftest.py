"""Small projects to run pytest in, as their users would.

``pytester.runpytest`` runs pytest in the process of the test, which takes a fifth of the time that a process of its
own does. ``runpytest_subprocess`` is for what depends on the process: what it has imported, how it ends, its
terminal. ``pytest --runpytest=subprocess tests/plugin`` runs all of them in processes of their own.
"""

import importlib
import pkgutil
import shutil
from pathlib import Path

import pytest

from tests.plugin import world

#: pytester forgets what is imported while it runs pytest: without these each run would import modules, and define
#: their classes, again.
JUDGING = ("baselines", "config", "engine", "data", "gates", "live", "plugin", "reports")
for name in JUDGING:
    package = importlib.import_module(f"pytest_riskguard.{name}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)

WORLDS = {
    "loss": (world.LOSS, "1"),
    "churn": (world.CHURN, "5"),
    "good": (world.GOOD, "1"),
}


@pytest.fixture(scope="session")
def worlds(tmp_path_factory):
    """One folder per made-up project, written once."""
    folder = tmp_path_factory.mktemp("worlds")
    for name, (candidate, alpha) in WORLDS.items():
        world.write_world(folder / name, candidate, alpha=alpha)
    return folder


@pytest.fixture(autouse=True)
def _quiet_surroundings(monkeypatch):
    """No colour or width of the machine that runs these tests."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    # hypothesis takes longer to load than everything else, and no test here needs it
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")


@pytest.fixture
def project(pytester, worlds):
    """Put a made-up project into pytester's folder."""

    def copy(name: str, into: str = ".") -> Path:
        folder = pytester.path / into
        shutil.copytree(worlds / name, folder, dirs_exist_ok=True)
        return folder

    return copy
