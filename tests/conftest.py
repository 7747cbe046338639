"""Fixtures for the whole suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared_data import SHARED

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real runs, published tables and reference intervals; skips where it is not at hand."""
    if not (SHARED / "data").is_dir():
        pytest.skip("no folder 'shared' beside the checkout (set RISKGUARD_SHARED): real runs are not at hand")
    return SHARED
