"""A cache of its own for each test, and projects whose files count as having rested."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard.evaluation.cache import file_digests
from pytest_riskguard.evaluation.cache.cache_folder import VARIABLE, CacheFolder, cache_folder
from tests.engine.kept_verdicts import asked_project
from tests.plugin import world


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CacheFolder:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    found = cache_folder()
    assert found is not None
    return found


@pytest.fixture
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_digests, "RESTING_NS", -(10**15))


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Projects by their candidate, written once."""
    candidates = {"loss": world.LOSS, "churn": world.CHURN, "good": world.GOOD}
    folders = {name: tmp_path_factory.mktemp(name) for name in candidates}
    for name, candidate in candidates.items():
        asked_project.write_project(folders[name], candidate)
    return folders


@pytest.fixture
def project(tmp_path: Path, projects: dict[str, Path]) -> Callable[[str], Path]:
    """A copy of a project."""

    def copy(name: str) -> Path:
        folder = tmp_path / "project"
        shutil.copytree(projects[name], folder)
        return folder

    return copy
