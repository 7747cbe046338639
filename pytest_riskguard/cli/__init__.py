"""The command ``riskguard``: the same gates outside pytest."""

from __future__ import annotations

from pytest_riskguard.cli.main import main

__all__ = ["main"]
