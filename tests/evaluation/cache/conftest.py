"""A cache of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.evaluation.cache.cache_folder import VARIABLE, CacheFolder, cache_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CacheFolder:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    found = cache_folder()
    assert found is not None
    return found
